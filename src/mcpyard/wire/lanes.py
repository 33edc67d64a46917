"""Who asked? Which call a server's own request belongs to.

A server of the handshake era that wants an elicitation or a sampling names no call. Over HTTP the
stream it came on tells; over one pipe it is certain only while a single call is in flight. The
first doubt is answered with a refusal, and from then on the calls of that server run one at a time:
the answer of one user must never reach the call of another.
"""

import asyncio
from collections import deque
from typing import Final

from mcpyard.wire import messages
from mcpyard.wire.asked import OnRequest
from mcpyard.wire.eras import Asking
from mcpyard.wire.messages import RpcError

OF_A_CALL: Final = frozenset({"elicitation/create", "sampling/createMessage", "roots/list"})
"""What a server asks on behalf of a call."""


class Lanes:
    """The calls of one session that are in flight, and those that wait for their turn.

    Attributes:
        lanes: 1 once calls run one at a time, None before.
    """

    def __init__(self, otherwise: OnRequest) -> None:
        self.lanes: int | None = None
        self._otherwise = otherwise
        self._running: dict[int, Asking | None] = {}
        self._taken = 0
        self._queue: deque[asyncio.Future[None]] = deque()

    def take(self) -> bool:
        """Enter at once where that is allowed; `leave` must follow, or else `wait` first."""
        if self.lanes is not None and (self._taken or self._queue):
            return False
        self._taken += 1
        return True

    async def wait(self) -> None:
        """Enter when the turn has come; `leave` must follow."""
        turn = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            self._pass_on(turn)
            raise

    def run(self, number: int, asked: Asking | None) -> None:
        """The call that entered has this id, and this is who answers for it."""
        self._running[number] = asked

    def leave(self, number: int | None) -> None:
        """The call is over, or never came to run."""
        if number is not None:
            self._running.pop(number, None)
        self._taken -= 1
        self._next()

    async def asked(self, method: str, params: bytes, stream: int | None) -> bytes:
        """Answer a server's request (see `OnRequest`)."""
        if method not in OF_A_CALL or not self._running:
            return await self._otherwise(method, params, stream)
        handler = self._owner(stream)
        if handler is None:
            raise RpcError(messages.METHOD_NOT_FOUND, f"nobody here offers {method}")
        return await handler(method, params)

    def _owner(self, stream: int | None) -> Asking | None:
        if stream is not None and stream in self._running:
            return self._running[stream]
        handlers = list(self._running.values())
        # When nobody would answer it does not matter whose request it is.
        if len(handlers) == 1 or not any(handlers):
            return handlers[0]
        self.lanes = 1
        text = "several calls are in flight and the request names none; they run singly from now on"
        raise RpcError(messages.INVALID_REQUEST, text)

    def _pass_on(self, turn: asyncio.Future[None]) -> None:
        """A caller went away while it waited, perhaps just as its turn had come."""
        if turn.done() and not turn.cancelled():
            self._taken -= 1
            self._next()
        elif turn in self._queue:
            self._queue.remove(turn)

    def _next(self) -> None:
        while self._queue and not self._taken:
            turn = self._queue.popleft()
            if not turn.done():
                self._taken += 1
                turn.set_result(None)
