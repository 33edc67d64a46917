"""Server-sent events out of bytes, however the bytes are cut.

The format is the one browsers read: lines ended by LF, CRLF or CR, fields `event`, `data`, `id`
and `retry`, a blank line to dispatch, a colon to start a comment. Servers use comments as
heartbeats, so they are counted.

An event longer than the limit must neither fill the memory nor end the connection. It is skipped
to its blank line and reported as `OversizeEvent`, with both of its ends, because the id of the
request that it answers stands at either end, depending on who wrote the server.
"""

from dataclasses import dataclass
from typing import Final

DEFAULT_LIMIT: Final = 16 * 1024 * 1024
"""The longest event taken, in bytes: the same as the longest line on stdio."""

_KEPT: Final = 4096
_RETRY_DIGITS: Final = 9
"""Eleven days; Python refuses to read a number of thousands of digits."""
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event.

    Attributes:
        data: The data lines, joined by LF.
        event: The event's type; `message` when it named none.
        id: The last id the stream has named, this event's own included; empty when none was.
        retry: The reconnection time in milliseconds, when this event brought one.
    """

    data: bytes
    event: str = "message"
    id: str = ""
    retry: int | None = None


@dataclass(frozen=True, slots=True)
class OversizeEvent:
    """An event that was skipped because it is longer than the limit.

    Attributes:
        head: Its first bytes, field names included.
        tail: Its last bytes.
        size: Its length in bytes.
    """

    head: bytes
    tail: bytes
    size: int


class EventParser:
    """Takes chunks of one stream and gives its events.

    Attributes:
        comments: How many comment lines came.
        received: How many comments and events came, those without data included.
        last_id: The id to resume after; only a dispatched event moves it.
        retry: The reconnection time in milliseconds that the server asked for last.
        overflowing: Whether the event being received is already over the limit.
    """

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self.comments = 0
        self.received = 0
        self.last_id = ""
        self.retry: int | None = None
        self._limit = limit
        self.restart()

    def restart(self) -> None:
        """Begin with a new connection; `last_id` and `retry` outlive the old one."""
        self.overflowing = False
        self._first = True
        self._after_cr = False
        self._line: list[bytes] = []
        self._line_size = 0
        self._clear_event()

    def feed(self, chunk: bytes) -> list[SseEvent | OversizeEvent]:
        """Take the next bytes and give what they completed."""
        lines = self._split(chunk)
        events = [item for line in lines[:-1] if (item := self._end_line(line))]
        self._grow_line(lines[-1])
        return events

    def _split(self, chunk: bytes) -> list[bytes]:
        if self._after_cr and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            self._after_cr = False
        if chunk:
            self._after_cr = chunk.endswith(b"\r")
        if b"\r" in chunk:
            chunk = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        return chunk.split(b"\n")

    def _grow_line(self, fragment: bytes) -> None:
        if not fragment:
            return
        self._line_size += len(fragment)
        if self.overflowing:
            self._skip(fragment)
            return
        self._line.append(fragment)
        if self._size + self._line_size > self._limit:
            self._overflow()

    def _end_line(self, fragment: bytes) -> SseEvent | OversizeEvent | None:
        self._grow_line(fragment)
        size, self._line_size = self._line_size, 0
        if self.overflowing:
            return None if size else self._end_oversize()
        line = b"".join(self._line)
        self._line.clear()
        if self._first:
            self._first = False
            line = line.removeprefix(_BOM)
        if not line:
            return self._dispatch()
        self._take(line)
        return None

    def _take(self, line: bytes) -> None:
        if line.startswith(b":"):
            self.comments += 1
            self.received += 1
            return
        self._size += len(line)
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._event = value.decode(errors="replace")
        elif name == b"id" and b"\0" not in value:
            self._id = value.decode(errors="replace")
        elif name == b"retry" and value.isdigit() and len(value) <= _RETRY_DIGITS:
            self._retry = self.retry = int(value)

    def _dispatch(self) -> SseEvent | None:
        self.received += bool(self._size)
        if self._id is not None:
            self.last_id = self._id
        event = None
        if self._data:
            data = b"\n".join(self._data)
            event = SseEvent(data, self._event or "message", self.last_id, self._retry)
        self._clear_event()
        return event

    def _clear_event(self) -> None:
        self._size = 0
        self._data: list[bytes] = []
        self._event = ""
        self._id: str | None = None
        self._retry: int | None = None

    def _overflow(self) -> None:
        received = b"\n".join([*self._data, b"".join(self._line)])
        self._skipped = self._size + self._line_size
        self._head = received[:_KEPT]
        self._tail = received[-_KEPT:]
        self._line.clear()
        self._clear_event()
        self._first = False
        self.overflowing = True

    def _skip(self, fragment: bytes) -> None:
        self._skipped += len(fragment)
        self._head += fragment[: _KEPT - len(self._head)]
        self._tail = (
            fragment[-_KEPT:] if len(fragment) >= _KEPT else (self._tail + fragment)[-_KEPT:]
        )

    def _end_oversize(self) -> OversizeEvent:
        self.overflowing = False
        return OversizeEvent(self._head, self._tail, self._skipped)
