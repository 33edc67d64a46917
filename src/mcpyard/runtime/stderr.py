"""What servers write to their standard error, and the log messages they send: never unbounded.

A child whose standard error nobody reads blocks for good once the pipe is full. One that floods it
is slowed down by its own pipe: no more than a set amount is read in a set time.
"""

import asyncio
import contextlib
import os
from collections import deque
from collections.abc import Iterable, Sequence
from datetime import datetime
from heapq import merge
from itertools import islice, repeat
from operator import attrgetter
from typing import Final

import orjson
from msgspec import Raw, Struct
from msgspec.json import Decoder

from mcpyard.domain import limits
from mcpyard.domain.definition.secret_text import MASKED, longest_first, shown_text
from mcpyard.domain.interests import LEVELS
from mcpyard.domain.ports import Clock, LogLine

_WINDOW: Final = 0.1
_BYTES_A_WINDOW: Final = 256 * 1024
"""Ten windows a second: 2.5 MB/s of log, far more than anybody reads, at little cost."""


_MASKED: Final = MASKED.encode()
_LONGEST_LOGGER: Final = 200

_KEY: Final = b"PRIVATE KEY-----"
_KEY_BEGINS: Final = b"-----BEGIN"
_KEY_ENDS: Final = b"-----END"
_MOST_KEY_LINES: Final = 200
"""The longest private keys have about 100."""

_LEAST_OF_A_LINE: Final = 16
"""Characters of a line of a secret that is masked by itself; a shorter one may be a common word."""

_Line = tuple[int, datetime, bytes]
"""A line as it came, with its number and time: made into a `LogLine` only for those who look."""


_LEVELS: Final = frozenset(LEVELS)
_LEVEL: Final = "info"
"""The level of a message whose own is none of the protocol's."""


class _Message(Struct):
    """The parameters of a log message."""

    level: object = None
    logger: object = None
    data: Raw = Raw(b"null")


_read_message = Decoder(_Message).decode


class StderrRing:
    """The last lines and log messages of one server, over all its restarts.

    Each kind has its own bound, so that neither drives out the other.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lines: deque[_Line] = deque()
        self._size = 0
        self._count = 0
        self._secrets: frozenset[str] = frozenset()
        self._masks: tuple[bytes, ...] = ()
        self._key_lines = 0
        self._texts: dict[int, str] = {}
        self._messages: deque[LogLine] = deque(maxlen=limits.LOG_MESSAGES)

    def keep_secret(self, values: Iterable[str]) -> None:
        """Mask these values in every line that comes from now on, besides those named before."""
        values = {*values}
        # A key of several lines is printed line by line.
        lines = (line.strip() for each in values for line in each.splitlines()[:_MOST_KEY_LINES])
        self._secrets |= values | {line for line in lines if len(line) >= _LEAST_OF_A_LINE}
        self._masks = tuple(each.encode(errors="replace") for each in longest_first(self._secrets))

    def lines(self) -> tuple[LogLine, ...]:
        """What is kept, oldest first."""
        texts = self._texts
        # Those who follow a log look five times a second; each line is made into a text once.
        self._texts = {
            number: texts[number] if number in texts else _text(raw)
            for number, _, raw in self._lines
        }
        lines = (LogLine(number, at, self._texts[number]) for number, at, _ in self._lines)
        if not self._messages:
            return tuple(lines)
        return tuple(merge(lines, self._messages, key=attrgetter("number")))

    @property
    def mark(self) -> int:
        """How many lines and messages there were so far."""
        return self._count

    def tail(self, since: int = 0) -> tuple[str, ...]:
        """The last few lines that came after `since` of them."""
        newest = islice(reversed(self._lines), limits.STDERR_TAIL)
        return tuple(_text(raw) for number, _, raw in newest if number > since)[::-1]

    def add(self, lines: Sequence[bytes]) -> None:
        """Keep lines, without their line ends; a flood brings a thousand at a time."""
        newest = (self._masked(self._without_key(line)) for line in lines[-limits.STDERR_LINES :])
        cut = [line[: limits.STDERR_LINE_BYTES] for line in newest]
        self._count += len(lines)
        numbers = range(self._count - len(cut) + 1, self._count + 1)
        self._lines.extend(zip(numbers, repeat(self._clock.now()), cut, strict=False))
        self._size += sum(map(len, cut))
        while len(self._lines) > limits.STDERR_LINES or self._size > limits.STDERR_BYTES:
            _, _, raw = self._lines.popleft()
            self._size -= len(raw)

    def add_message(self, params: bytes) -> None:
        """Keep a log message; one that cannot be read is kept as it came."""
        try:
            message = _read_message(params)
        except (ValueError, RecursionError):
            message = _Message(data=Raw(params))
        data = bytes(message.data)
        try:
            # A text is shown without its quotes.
            text = orjson.loads(data) if data.startswith(b'"') else None
        except ValueError:
            text = None
        raw = text.encode("utf-8", "replace") if isinstance(text, str) else data
        level, logger = message.level, message.logger
        self._count += 1
        line = LogLine(
            self._count,
            self._clock.now(),
            _text(self._masked(raw)[: limits.LOG_MESSAGE_BYTES]),
            level if isinstance(level, str) and level in _LEVELS else _LEVEL,
            shown_text(logger[:_LONGEST_LOGGER]) if isinstance(logger, str) and logger else None,
        )
        self._messages.append(line)

    def _without_key(self, line: bytes) -> bytes:
        """A line, masked if it is inside a private key that is printed over several lines."""
        if _KEY in line:
            begins = _KEY_BEGINS in line and _KEY_ENDS not in line
            self._key_lines = _MOST_KEY_LINES if begins else 0
        elif self._key_lines:
            self._key_lines -= 1
            return _MASKED
        return line

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
