"""The two halves of a stdio link: bytes in turns, bytes out in one write a turn."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final, cast

from mcpyard.domain.cause import Cause, Code
from mcpyard.wire.framer import Event, LineFramer
from mcpyard.wire.link import Busy

FLOOD_LIMIT: Final = 256 * 1024 * 1024
"""A line this long has no end; reading on would keep a core busy for nothing."""

_LONG_PIECE: Final = 32 * 1024
"""A piece of a line this long is the beginning of many."""

_TURN_BYTES: Final = 1024 * 1024
_TURN_FRAMES: Final = 256
"""Read, and handed on, before the event loop serves somebody else."""

USELESS_BURST: Final = 5000
USELESS_PER_SECOND: Final = 2000
"""Lines of no use that are read at once, and then every second: at that rate they cost about a
hundredth of a core, and an answer behind a full pipe of them still comes within seconds."""

_USELESS_BYTES: Final = 1024
"""Of a line of no use, so many count as another one."""

_FLOODED_FRAMES: Final = 16
"""Handed on in a turn once a flood was noticed: a neighbour's answer waits for no more of them."""

_LONGEST_PAUSE: Final = 0.25

_OUTPUT_CLOSED: Final = Cause(Code.CLOSED, "the server closed its output")
_INPUT_CLOSED: Final = Cause(Code.CLOSED, "the server closed its input")
_FLOODED: Final = Cause(Code.GARBAGE, "the server writes output without line breaks")


class Inlet(asyncio.Protocol):
    """Reads frames. A child that floods us is read in turns, so that its neighbours get theirs.

    One that writes mostly lines of no use (`frame` says False of them) is not read faster than a
    fixed rate of these.

    Attributes:
        flooding: Whether that has become necessary.
        flooded: Called once, when it does.
        widen: Makes the pipe hold more; called once, when long lines turn out to come.
        gone: Done when the pipe is closed.
    """

    widen: Callable[[], None] | None = None
    flooded: Callable[[], None] | None = None

    def __init__(
        self, framer: LineFramer, frame: Callable[[Event], bool], ended: Callable[[Cause], None]
    ) -> None:
        self.flooding = False
        self._framer = framer
        self._frame = frame
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._backlog: deque[Event] = deque()
        self._received = 0
        self._turn_frames = _TURN_FRAMES
        self._useless = 0
        self._credit = float(USELESS_BURST)
        self._credited = self._loop.time()
        self._over = False
        self._turn: asyncio.Handle | None = None
        self._transport: asyncio.ReadTransport | None = None
        self.gone = self._loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The pipe is being read."""
        self._transport = cast("asyncio.ReadTransport", transport)

    def data_received(self, data: bytes) -> None:
        """Bytes came."""
        self._received += len(data)
        events = self._framer.feed(data)
        if self.widen and not events and len(data) >= _LONG_PIECE:
            self.widen()
            self.widen = None
        if self._turn is None and len(events) <= self._turn_frames:
            for event in events:
                if not self._frame(event):
                    self._waste(event)
        else:
            self._backlog.extend(events)
        if self._turn is None:
            self._go_on()
        if self._framer.skipped > FLOOD_LIMIT:
            self._ended(_FLOODED)

    def connection_lost(self, exc: Exception | None) -> None:
        """The stream is at its end, or we closed it."""
        del exc
        self._over = True
        if not self.gone.done():
            self.gone.set_result(None)
        if self._turn is None:
            self._ended(_OUTPUT_CLOSED)
        else:
            # Nothing more comes: what came before is handed on at once.
            self._turn.cancel()
            self._take_turn(0.0)

    def close(self) -> None:
        """Read no more, and hand nothing on."""
        self._backlog.clear()
        if self._turn is not None:
            self._turn.cancel()
        if self._transport is not None:
            self._transport.close()

    def _waste(self, event: Event) -> None:
        size = len(event) if isinstance(event, bytes) else 0
        self._useless += 1 + size // _USELESS_BYTES

    def _throttle(self) -> float:
        """Seconds to wait after what was of no use."""
        self._useless += self._framer.empty
        self._framer.empty = 0
        if not self._useless:
            return 0.0
        now = self._loop.time()
        earned = (now - self._credited) * USELESS_PER_SECOND
        credit = min(USELESS_BURST, self._credit + earned) - self._useless
        self._credit = max(credit, -USELESS_PER_SECOND * _LONGEST_PAUSE)
        self._credited, self._useless = now, 0
        if credit >= 0 or self._over:
            return 0.0
        if not self.flooding:
            self.flooding, self._turn_frames = True, _FLOODED_FRAMES
            if self.flooded:
                self.flooded()
        return -self._credit / USELESS_PER_SECOND

    def _go_on(self) -> None:
        """Read on at once, unless others have their turn first."""
        seconds = self._throttle()
        if seconds or self._backlog or self._received >= _TURN_BYTES:
            if self._transport is not None and not self._transport.is_closing():
                self._transport.pause_reading()
            self._take_turn(seconds)

    def _take_turn(self, seconds: float) -> None:
        later = self._loop.call_later
        self._turn = later(seconds, self._resume) if seconds else self._loop.call_soon(self._resume)

    def _resume(self) -> None:
        self._received = 0
        for _ in range(min(self._turn_frames, len(self._backlog))):
            event = self._backlog.popleft()
            if not self._frame(event):
                self._waste(event)
        seconds = self._throttle()
        if self._backlog or seconds:
            self._take_turn(seconds)
            return
        self._turn = None
        if self._over:
            self._ended(_OUTPUT_CLOSED)
        elif self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()


class Outlet(asyncio.BaseProtocol):
    """Writes lines: those of one turn of the loop in one write, up to a limit that may wait.

    Attributes:
        widen: Makes the pipe hold more; called once, before the first long line.
        gone: Done when the pipe is closed.
    """

    widen: Callable[[], None] | None = None

    def __init__(self, limit: int, ended: Callable[[Cause], None]) -> None:
        self._limit = limit
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._lines: list[bytes] = []
        self._queued = 0
        self._full = False
        self._transport: asyncio.WriteTransport | None = None
        self.gone = self._loop.create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The pipe can be written to."""
        self._transport = cast("asyncio.WriteTransport", transport)
        self._transport.set_write_buffer_limits(high=self._limit)

    def pause_writing(self) -> None:
        """More than the limit waits."""
        self._full = True

    def resume_writing(self) -> None:
        """The child has read most of it."""
        self._full = False

    def connection_lost(self, exc: Exception | None) -> None:
        """The child reads no more, or we closed it."""
        del exc
        if not self.gone.done():
            self.gone.set_result(None)
        self._ended(_INPUT_CLOSED)

    def write(self, body: bytes, *, at_once: bool = False) -> None:
        """Queue one message; or write it at once, where no other can be expected in this turn."""
        if self._full or self._queued > self._limit:
            raise Busy
        # Outside its strings JSON may be broken over lines; on a pipe a line end ends the message.
        if b"\n" in body or b"\r" in body:
            body = body.replace(b"\n", b" ").replace(b"\r", b" ")
        if self.widen and len(body) >= _LONG_PIECE:
            self.widen()
            self.widen = None
        if at_once and not self._lines and self._transport is not None:
            if not self._transport.is_closing():
                self._transport.writelines((body, b"\n"))
            return
        if not self._lines:
            self._loop.call_soon(self._flush)
        self._lines.append(body)
        self._lines.append(b"\n")
        self._queued += len(body)

    def close(self) -> None:
        """Close the pipe; what the child has not taken by now is dropped."""
        if self._transport is None:
            return
        self._flush()
        if self._transport.get_write_buffer_size():
            self._transport.abort()
        else:
            self._transport.close()

    def _flush(self) -> None:
        lines, self._lines, self._queued = self._lines, [], 0
        if lines and self._transport is not None and not self._transport.is_closing():
            self._transport.write(b"".join(lines))
