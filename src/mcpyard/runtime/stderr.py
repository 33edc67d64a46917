"""What servers write to their standard error: always drained, never unbounded.

A child whose standard error nobody reads blocks for good once the pipe is full. One that floods it
is slowed down by its own pipe: no more than a set amount is read in a set time.
"""

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice, repeat
from typing import Final

from mcpyard.domain import limits
from mcpyard.domain.definition.secret_text import MASKED, shown_text
from mcpyard.domain.definition.secrets import longest_first
from mcpyard.domain.ports import Clock, LogLine

_WINDOW: Final = 0.1
_BYTES_A_WINDOW: Final = 256 * 1024
"""Ten windows a second: 2.5 MB/s of log, far more than anybody reads, at little cost."""


_MASKED: Final = MASKED.encode()

_Line = tuple[int, datetime, bytes]
"""A line as it came, with its number and time: made into a `LogLine` only for those who look."""


class StderrRing:
    """The last lines of one server, over all its restarts."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lines: deque[_Line] = deque()
        self._size = 0
        self._count = 0
        self._secrets: frozenset[str] = frozenset()
        self._masks: tuple[bytes, ...] = ()
        self._texts: dict[int, str] = {}

    def keep_secret(self, values: Iterable[str]) -> None:
        """Mask these values in every line that comes from now on, besides those named before."""
        self._secrets |= {*values}
        self._masks = tuple(each.encode(errors="replace") for each in longest_first(self._secrets))

    def lines(self) -> tuple[LogLine, ...]:
        """What is kept, oldest first."""
        texts = self._texts
        # Those who follow a log look five times a second; each line is made into a text once.
        self._texts = {
            number: texts[number] if number in texts else _text(raw)
            for number, _, raw in self._lines
        }
        return tuple(LogLine(number, at, self._texts[number]) for number, at, _ in self._lines)

    @property
    def mark(self) -> int:
        """How many lines there were so far."""
        return self._count

    def tail(self, since: int = 0) -> tuple[str, ...]:
        """The last few lines that came after `since` of them."""
        newest = islice(reversed(self._lines), limits.STDERR_TAIL)
        return tuple(_text(raw) for number, _, raw in newest if number > since)[::-1]

    def add(self, lines: Sequence[bytes]) -> None:
        """Keep lines, without their line ends; a flood brings a thousand at a time."""
        newest = (self._masked(line) for line in lines[-limits.STDERR_LINES :])
        cut = [line[: limits.STDERR_LINE_BYTES] for line in newest]
        self._count += len(lines)
        numbers = range(self._count - len(cut) + 1, self._count + 1)
        self._lines.extend(zip(numbers, repeat(self._clock.now()), cut, strict=False))
        self._size += sum(map(len, cut))
        while len(self._lines) > limits.STDERR_LINES or self._size > limits.STDERR_BYTES:
            _, _, raw = self._lines.popleft()
            self._size -= len(raw)

    def _masked(self, line: bytes) -> bytes:
        for each in self._masks:
            line = line.replace(each, _MASKED)
        return line


def _text(raw: bytes) -> str:
    return shown_text(raw.decode("utf-8", "replace").rstrip("\r"))


class StderrReader:
    """Reads one child's standard error into a ring until the pipe ends."""

    def __init__(self, fd: int, ring: StderrRing) -> None:
        self._fd = fd
        self._ring = ring
        self._loop = asyncio.get_running_loop()
        self._partial = b""
        self._read_in_window = 0
        self._timer: asyncio.TimerHandle | None = None
        self._open = True
        os.set_blocking(fd, False)
        self._loop.add_reader(fd, self._readable)

    def drain(self) -> None:
        """Take what is there, without waiting for more."""
        while self._open and self._take():
            pass

    def close(self) -> None:
        """Take what is still there, and let go of the pipe."""
        self.drain()
        self._end()

    def _readable(self) -> None:
        if not self._take():
            return
        if self._read_in_window >= _BYTES_A_WINDOW and self._timer is None:
            self._loop.remove_reader(self._fd)
            self._timer = self._loop.call_later(_WINDOW, self._resume)

    def _resume(self) -> None:
        self._timer = None
        self._read_in_window = 0
        self._loop.add_reader(self._fd, self._readable)

    def _take(self) -> bool:
        """Read once; whether there may be more."""
        try:
            data = os.read(self._fd, 64 * 1024)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self._end()
            return False
        self._read_in_window += len(data)
        *lines, partial = (self._partial + data).split(b"\n")
        self._ring.add(lines)
        # A line without end is cut: what is kept of it would be cut later anyway.
        self._partial = partial[: limits.STDERR_LINE_BYTES]
        return self._read_in_window < 4 * _BYTES_A_WINDOW

    def _end(self) -> None:
        if not self._open:
            return
        self._open = False
        if self._partial:
            self._ring.add([self._partial])
        if self._timer:
            self._timer.cancel()
        else:
            self._loop.remove_reader(self._fd)
        with contextlib.suppress(OSError):
            os.close(self._fd)
