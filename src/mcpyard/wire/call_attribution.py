"""Which call a server's own request belongs to.

A server of the handshake era that wants an elicitation or a sampling names no call. Over HTTP the
stream it came on tells; over one pipe it is certain only while a single call is in flight. The
first doubt is answered with a refusal, and from then on the calls of that server run one at a time:
the answer of one user must never reach the call of another.
"""

import asyncio
from collections.abc import Callable
from typing import Final, Protocol

from mcpyard.domain.errors import ServerBusy
from mcpyard.domain.ports import CallTerms, RequestHandler
from mcpyard.wire import jsonrpc
from mcpyard.wire.call_queue import FairQueue
from mcpyard.wire.jsonrpc import RpcError
from mcpyard.wire.server_requests import OnRequest

CALL_REQUESTS: Final = frozenset({"elicitation/create", "sampling/createMessage", "roots/list"})
"""What a server asks on behalf of a call."""

LOG_MESSAGE: Final = "notifications/message"

CALL_NOTIFICATIONS: Final = frozenset({LOG_MESSAGE, "notifications/elicitation/complete"})
"""The notifications that may belong to a call."""

QUESTION_LIMIT: Final = 120.0
"""Seconds that a question may still take once another call waits for its turn.

Whoever was asked may be gone for good, and must not keep a server from everybody else.
"""


class Clocks(Protocol):
    """Keeps the time limits of calls (see `Peer`)."""

    def hold(self, number: int) -> None:
        """Let the clock of a call stand still."""
        ...

    def release(self, number: int) -> None:
        """Let it go on."""
        ...


class CallsInFlight:
    """The calls of one session that are in flight, and those that wait for their turn.

    Attributes:
        concurrency: How many may be in flight at once; None for no limit.
        most_waiting: How many may wait for their turn; None for no limit.
        clocks: Whose clocks stand still while somebody is asked.
        on_turn: Called when the turn of a call that waited has come; what it raises, the call does.
    """

    def __init__(self, otherwise: OnRequest, on_turn: Callable[[], None] = lambda: None) -> None:
        self.on_turn = on_turn
        self.concurrency: int | None = None
        self.most_waiting: int | None = None
        self.clocks: Clocks | None = None
        self._otherwise = otherwise
        self._running: dict[int, CallTerms] = {}
        self._entered = 0
        self._queue = FairQueue()
        self._one_by_one = False
        self._questions: set[asyncio.Timeout] = set()

    def take(self) -> bool:
        """Enter at once where that is allowed; `leave` must follow, or else `wait` first."""
        # Whoever waits gets a free place at once, so that there is none while anybody waits.
        if self.concurrency is not None and self._entered >= self.concurrency:
            return False
        self._entered += 1
        return True

    def limit(self, concurrency: int, most_waiting: int) -> None:
        """Apply the limits of the user; one that has calls run one at a time stays in force."""
        self.most_waiting = most_waiting
        if not self._one_by_one:
            self.concurrency = concurrency
            self._next()

    async def wait(self, caller: object = None) -> None:
        """Enter when the turn has come; `leave` must follow.

        Args:
            caller: Whose call it is: callers take turns.

        Raises:
            ServerBusy: Too many wait already, and no other caller has more of them.
        """
        if self.most_waiting is not None and self._queue.waiting >= self.most_waiting:
            if (other := self._queue.make_room(caller)) is None:
                raise self._busy()
            if not other.done():
                other.set_exception(self._busy())
        turn = self._queue.add(caller)
        for question in self._questions:
            _limit(question)
        try:
            await turn
        except asyncio.CancelledError:
            self._pass_on(caller, turn)
            raise
        try:
            self.on_turn()
        except BaseException:
            self.leave(None)
            raise

    def run(self, number: int, terms: CallTerms) -> None:
        """The call that entered has this id, and its terms say who answers for it."""
        self._running[number] = terms

    def leave(self, number: int | None) -> None:
        """The call is over, or never came to run."""
        if number is not None:
            self._running.pop(number, None)
        self._entered -= 1
        if self._queue.waiting:
            self._next()

    async def answer(self, method: str, params: bytes, stream: int | None) -> bytes:
        """Answer a server's request (see `OnRequest`)."""
        if method not in CALL_REQUESTS or not self._running:
            return await self._otherwise(method, params, stream)
        number = self._owner(stream)
        handler = self._running[number].on_request
        if handler is None:
            raise RpcError(jsonrpc.METHOD_NOT_FOUND, f"no client here supports {method}")
        if self.clocks is None:
            return await self._answer(handler, method, params)
        self.clocks.hold(number)
        try:
            return await self._answer(handler, method, params)
        finally:
            self.clocks.release(number)

    async def _answer(self, handler: RequestHandler, method: str, params: bytes) -> bytes:
        try:
            async with asyncio.timeout(None) as question:
                if self._queue.waiting:
                    _limit(question)
                self._questions.add(question)
                try:
                    return await handler(method, params)
                finally:
                    self._questions.discard(question)
        except TimeoutError:
            text = "no answer in time; other calls are waiting"
            raise RpcError(jsonrpc.INTERNAL_ERROR, text) from None

    def notify(self, method: str, params: bytes, stream: int | None) -> bool:
        """Pass a notification on to the call it belongs to; False when that cannot be known."""
        if method not in CALL_NOTIFICATIONS:
            return False
        number = stream
        if stream is None and len(self._running) == 1:
            number = next(iter(self._running))
        terms = None if number is None else self._running.get(number)
        if terms is None or terms.on_notification is None:
            return False
        terms.on_notification(method, params)
        return True

    def _owner(self, stream: int | None) -> int:
        if stream is not None and stream in self._running:
            return stream
        # When nobody would answer it does not matter whose request it is.
        if len(self._running) == 1 or not any(each.on_request for each in self._running.values()):
            return next(iter(self._running))
        self._one_by_one = True
        self.concurrency = 1
        text = (
            "several calls are in flight and the request does not name its call; "
            "calls run one at a time from now on"
        )
        raise RpcError(jsonrpc.INVALID_REQUEST, text)

    def _busy(self) -> ServerBusy:
        # One that made room for another has left the queue already.
        running, waiting = self._entered, self.most_waiting
        return ServerBusy(f"{running} calls are in flight and {waiting} wait, which is the limit")

    def _pass_on(self, caller: object, turn: asyncio.Future[None]) -> None:
        """A caller went away while it waited, perhaps just as its turn had come."""
        if turn.done() and not turn.cancelled():
            self._entered -= 1
            self._next()
        else:
            self._queue.remove(caller, turn)

    def _has_room(self) -> bool:
        return self.concurrency is None or self._entered < self.concurrency

    def _next(self) -> None:
        while self._queue.waiting and self._has_room():
            turn = self._queue.pop()
            if not turn.done():
                self._entered += 1
                turn.set_result(None)


def _limit(question: asyncio.Timeout) -> None:
    if question.when() is None:
        question.reschedule(asyncio.get_running_loop().time() + QUESTION_LIMIT)
