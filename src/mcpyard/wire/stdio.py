"""A link over a pair of pipes to a child's stdin and stdout.

It spawns nothing and reaps nothing: the keeper hands over the descriptors, and whoever knows of the
child's exit explains the end of the stream.
"""

import asyncio
import contextlib
import fcntl
import os
from collections.abc import Awaitable, Callable
from io import FileIO
from typing import Final

from mcpyard.domain.cause import Cause, Code
from mcpyard.wire.faults import fault
from mcpyard.wire.framer import Event, LineFramer, OversizeLine
from mcpyard.wire.jsonrpc import find_id
from mcpyard.wire.link import LinkFailed, Outgoing, Receiver
from mcpyard.wire.pending import FLOOD, OVERSIZE
from mcpyard.wire.pipes import Inlet, Outlet

FRAME_LIMIT: Final = 16 * 1024 * 1024
QUEUE_LIMIT: Final = 8 * 1024 * 1024

PIPE_BYTES: Final = 1024 * 1024
"""What a pipe should hold that long messages go by, so that one takes few turns. The others keep
their 64 KiB: a user's pipes may hold so much in all, and there may be hundreds."""

_HUNG_UP: Final = Cause(Code.CLOSED, "the server closed the connection", untaken=True)
"""Told to whoever asks between the end of the stream and the news of why it ended."""

_LAST_WORDS_SECONDS: Final = 0.05
"""For what a child said before it hung up; a child of its own may hold the pipe open."""

ExplainLoss = Callable[[], Awaitable[Cause | None]]
"""Why the stream ended, as far as its owner knows: an exit status, the last lines of stderr. The
owner settles how long that may take."""


class StdioLink:
    """A `Link` that owns two descriptors: one to write to, one to read from."""

    cancels_by_closing = False

    def __init__(
        self,
        stdin: int,
        stdout: int,
        *,
        limit: int = FRAME_LIMIT,
        explain_loss: ExplainLoss | None = None,
    ) -> None:
        self._limit = limit
        self._explain_loss = explain_loss
        self._stdin = FileIO(stdin, "wb")
        self._stdout = FileIO(stdout, "rb")
        self._inlet: Inlet | None = None
        self._outlet: Outlet | None = None
        self._receiver: Receiver | None = None
        self._ending: asyncio.Task[None] | None = None
        self._closed = False

    async def open(self, receiver: Receiver) -> None:
        """Start to read and write."""
        loop = asyncio.get_running_loop()
        self._receiver = receiver
        outlet = Outlet(QUEUE_LIMIT, self._lose)
        inlet = Inlet(LineFramer(self._limit), self._frame, self._lose)
        inlet.flooded = lambda: receiver.noise(FLOOD, b"")
        try:
            input_ = _handed_over(self._stdin)
            outlet.widen = lambda: _widen(input_.fileno())
            await loop.connect_write_pipe(lambda: outlet, input_)
            self._outlet = outlet
            output = _handed_over(self._stdout)
            inlet.widen = lambda: _widen(output.fileno())
            await loop.connect_read_pipe(lambda: inlet, output)
            self._inlet = inlet
        except (OSError, ValueError) as error:
            await self.close()
            text = f"the server's pipes cannot be used: {error}"
            raise LinkFailed(Cause(Code.SPAWN_FAILED, text)) from error

    def send(self, message: Outgoing) -> None:
        """Queue a message; `Busy` when 8 MiB wait already, `Disconnected` when nobody reads it."""
        if self._ending is not None:
            if message.id is not None:
                raise fault(_HUNG_UP)
        elif self._outlet is not None:
            self._outlet.write(message.body, at_once=message.alone)

    def abandon(self, request: int) -> None:
        """Nothing to do: all answers share one stream."""

    async def close(self) -> None:
        """Close both pipes."""
        self._closed = True
        if self._ending is not None:
            self._ending.cancel()
        self._release()
        halves = [half.gone for half in (self._inlet, self._outlet) if half is not None]
        if halves:
            await asyncio.wait(halves)
        # The transports have closed their own; closing again is nothing, and a half-opened link
        # has one that no transport owns.
        self._stdin.close()
        self._stdout.close()

    def _release(self) -> None:
        if self._inlet is not None:
            self._inlet.close()
        if self._outlet is not None:
            self._outlet.close()

    def _frame(self, event: Event) -> bool:
        """Hand on what came; whether it was of use."""
        if self._receiver is None or self._closed:
            return True
        if isinstance(event, bytes):
            return self._receiver.message(event, None)
        if isinstance(event, OversizeLine):
            self._too_long(self._receiver, event)
        return False

    def _too_long(self, receiver: Receiver, event: OversizeLine) -> None:
        receiver.noise(OVERSIZE, event.head)
        number = find_id(event.head, event.tail)
        if number is not None:
            text = f"the answer has {event.size} bytes, more than the limit of {self._limit}"
            receiver.failed(number, Cause(Code.GARBAGE, text))

    def _lose(self, cause: Cause) -> None:
        if not self._closed and self._ending is None:
            self._ending = asyncio.get_running_loop().create_task(self._end(cause))

    async def _end(self, cause: Cause) -> None:
        try:
            if self._inlet is not None and cause.code is Code.CLOSED:
                # A child that died closed both pipes; what it said last is still to be read.
                await asyncio.wait({self._inlet.gone}, timeout=_LAST_WORDS_SECONDS)
            if self._explain_loss is not None:
                cause = await self._explain_loss() or cause
        finally:
            self._release()
            if self._receiver is not None and not self._closed:
                self._receiver.lost(cause)


class _Copy:
    """A descriptor that a transport closes by itself."""

    def __init__(self, number: int) -> None:
        self._number = number

    def fileno(self) -> int:
        """The descriptor."""
        return self._number

    def close(self) -> None:
        """Nothing: the transport has closed it, and by now the number may be another thread's."""


def _handed_over(pipe: FileIO) -> "FileIO | _Copy":
    """What to give to the loop: asyncio closes the file, uvloop the descriptor, then the file."""
    kinds = type(asyncio.get_running_loop()).__mro__
    if not any(kind.__module__.startswith("uvloop") for kind in kinds):
        return pipe
    with pipe:
        return _Copy(os.dup(pipe.fileno()))


def _widen(pipe: int) -> None:
    """Let a pipe hold more, where the system can and allows it."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        with contextlib.suppress(OSError):
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
