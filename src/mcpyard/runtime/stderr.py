"""What servers write to their standard error: always drained, never unbounded.

A child whose standard error nobody reads blocks for good once the pipe is full. One that floods it
is slowed down by its own pipe: no more than a set amount is read in a set time.
"""

import asyncio
import contextlib
import os
from collections import deque
from typing import Final

from mcpyard.domain import limits
from mcpyard.domain.ports import Clock, LogLine

_WINDOW: Final = 0.1
_BYTES_A_WINDOW: Final = 256 * 1024
"""Ten windows a second: 2.5 MB/s of log, far more than anybody reads, at little cost."""


class StderrRing:
    """The last lines of one server, over all its restarts."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lines: deque[LogLine] = deque()
        self._size = 0
        self._count = 0

    def lines(self) -> tuple[LogLine, ...]:
        """What is kept, oldest first."""
        return tuple(self._lines)

    @property
    def mark(self) -> int:
        """How many lines there were so far."""
        return self._count

    def tail(self, since: int = 0) -> tuple[str, ...]:
        """The last few lines that came after `since` of them."""
        recent = [line.text for line in self._lines if line.number > since]
        return tuple(recent[-limits.STDERR_TAIL :])

    def add(self, raw: bytes) -> None:
        """Keep one line, without its line end."""
        text = raw[: limits.STDERR_LINE_BYTES].decode("utf-8", "replace").rstrip("\r")
        self._count += 1
        self._lines.append(LogLine(self._count, self._clock.now(), text))
        self._size += len(text)
        while len(self._lines) > limits.STDERR_LINES or self._size > limits.STDERR_BYTES:
            self._size -= len(self._lines.popleft().text)


class StderrReader:
    """Reads one child's standard error into a ring until the pipe ends."""

    def __init__(self, fd: int, ring: StderrRing) -> None:
        self._fd = fd
        self._ring = ring
        self._loop = asyncio.get_running_loop()
        self._rest = b""
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
        *lines, rest = (self._rest + data).split(b"\n")
        for line in lines[-limits.STDERR_LINES :]:
            self._ring.add(line)
        # A line without end is cut: what is kept of it would be cut later anyway.
        self._rest = rest[: limits.STDERR_LINE_BYTES]
        return self._read_in_window < 4 * _BYTES_A_WINDOW

    def _end(self) -> None:
        if not self._open:
            return
        self._open = False
        if self._rest:
            self._ring.add(self._rest)
        if self._timer:
            self._timer.cancel()
        else:
            self._loop.remove_reader(self._fd)
        with contextlib.suppress(OSError):
            os.close(self._fd)
