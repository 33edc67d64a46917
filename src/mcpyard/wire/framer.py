"""Lines out of a byte stream, however it was cut and however hostile it is.

A stdio server may write a hundred megabytes without a newline, or a newline after every byte. The
work is linear in the bytes fed, and no more than the limit plus one chunk is ever held. A line over
the limit costs its head and tail, which are kept because a JSON-RPC answer names its call at one
end or the other: one call fails, the stream goes on.
"""

from io import BytesIO
from typing import Final

from msgspec import Struct

KEPT: Final = 4096
"""Bytes kept of each end of a line that is too long."""

_CARRIAGE_RETURN: Final = 0x0D


class Crossed(Struct, frozen=True):
    """A line has just grown over the limit, and its end is not in sight."""

    head: bytes


class OversizeLine(Struct, frozen=True):
    """A line over the limit has ended; always told after its `Crossed`."""

    head: bytes
    tail: bytes
    size: int


Event = bytes | Crossed | OversizeLine
"""A frame without its line end, or news of a line that was too long to be one."""


class LineFramer:
    """Cuts a stream at its newlines.

    Attributes:
        empty: How many lines came that say nothing.
    """

    __slots__ = ("_head", "_held", "_limit", "_size", "_tail", "empty")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        # Gives its content away without a copy: one of 50 MB would stall the loop for 30 ms.
        self._held = BytesIO()
        self._head = b""
        self._tail = bytearray()
        self._size = 0
        self.empty = 0

    @property
    def skipped(self) -> int:
        """How long the too long line is that is being skipped now; 0 when none is."""
        return self._size

    def feed(self, data: bytes) -> list[Event]:
        """Take the next bytes; what they complete, in order."""
        events: list[Event] = []
        cut = data.find(b"\n")
        if cut < 0:
            self._grow(data, events)
            return events
        if self._size or self._held.tell():
            self._grow(data[:cut], events)
            self._end_line(events)
            data = data[cut + 1 :]
        lines = data.split(b"\n")
        rest = lines.pop()
        before = len(events)
        for line in lines:
            if len(line) > self._limit:
                self._grow(line, events)
                self._end_line(events)
            else:
                _append(line, events)
        self.empty += max(0, before + len(lines) - len(events))
        if rest:
            self._grow(rest, events)
        return events

    def _grow(self, data: bytes, events: list[Event]) -> None:
        if self._size:
            self._skip(data)
            return
        self._held.write(data)
        if self._held.tell() > self._limit:
            line = self._held.getvalue()
            # Not more than has certainly come by now: the same head however the stream was cut.
            self._head = line[: min(KEPT, self._limit + 1)]
            self._skip(line)
            self._held = BytesIO()
            events.append(Crossed(self._head))

    def _skip(self, data: bytes) -> None:
        self._size += len(data)
        self._tail += data[-KEPT:]
        # Trimmed at twice the size, not at every chunk: one byte at a time must stay linear.
        if len(self._tail) > 2 * KEPT:
            del self._tail[:-KEPT]

    def _end_line(self, events: list[Event]) -> None:
        if not self._size:
            _append(self._held.getvalue(), events)
            self._held = BytesIO()
            return
        events.append(OversizeLine(self._head, bytes(self._tail[-KEPT:]), self._size))
        self._head = b""
        self._tail = bytearray()
        self._size = 0


def _append(line: bytes, events: list[Event]) -> None:
    if line and line[-1] == _CARRIAGE_RETURN:
        line = line[:-1]
    if line:
        events.append(line)
