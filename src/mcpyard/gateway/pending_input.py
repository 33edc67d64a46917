"""Calls that wait for their client to answer a question.

A server of the handshake era asks in the middle of a call; a client of the modern era is asked by a
result, and answers with another request. So the call goes on by itself, parked under a state that
only this yard can make and that expires. Expiry, a client that went away, or the end of the yard
cancel it at the server.
"""

import asyncio
import base64
import hashlib
import hmac
import secrets
from collections.abc import Callable, Coroutine
from typing import Any, Final

import orjson
from msgspec import Raw, Struct, field

from mcpyard.domain.node_channel import owned, owner_of
from mcpyard.domain.ports import RequestHandler
from mcpyard.gateway.abilities import check
from mcpyard.gateway.protocol import INPUT_RESPONSES, REQUEST_STATE
from mcpyard.gateway.requests import Request, decoded, members_of
from mcpyard.gateway.translating import asking_result, without_task
from mcpyard.wire.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, RpcError
from mcpyard.wire.pending import take_note

LONGEST: Final = 600.0
"""Seconds that a client may take for its answer."""

MOST: Final = 1_000
"""Calls that may wait at once."""

_MARK: Final = "mcpyard"
_OURS: Final = f'"{_MARK}.'.encode()
_PARTS: Final = 5

EXPIRED: Final = RpcError(
    INVALID_PARAMS,
    "the call is no longer pending: its node is gone, so call again",
    {"problem": "request-state"},
)
"""What is said of a call whose node cannot be reached any more; it is never run again."""

Begin = Callable[[RequestHandler], Coroutine[Any, Any, bytes]]
"""Begins a call whose questions are answered by somebody."""


class _Parked(Struct, eq=False):
    """One call under way, and what it asks.

    Attributes:
        request: The client's newest request about it: where progress and the result go.
        name: What it is parked under.
        questions: What was asked and is not answered: method, parameters, where the answer goes.
        news: Set when something was asked, or the call is over.
        work: The call.
        expiry: Ends it when no answer comes.
    """

    request: Request
    name: str
    questions: dict[str, tuple[str, bytes, asyncio.Future[bytes]]] = field(
        default_factory=dict[str, tuple[str, bytes, asyncio.Future[bytes]]]
    )
    news: asyncio.Event = field(default_factory=asyncio.Event)
    work: asyncio.Task[bytes] | None = None
    expiry: asyncio.TimerHandle | None = None
    count: int = 0

    async def ask(self, method: str, params: bytes) -> bytes:
        """Ask the client (see `Asking`)."""
        check(self.request.client, method, params)
        self.count += 1
        key = f"yard-{self.count}"
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        answer.add_done_callback(take_note)
        self.questions[key] = (method, without_task(params), answer)
        self.news.set()
        try:
            return await answer
        finally:
            self.questions.pop(key, None)

    def cancel(self) -> None:
        """Give it up; its server is told."""
        if self.expiry:
            self.expiry.cancel()
        if self.work:
            self.work.cancel()


class PendingInput:
    """The parked calls of a gateway."""

    def __init__(self, instance: str, node: str = "") -> None:
        # Another node of the cluster reads there who holds the call.
        self._instance = owned(node, instance)
        self._key = secrets.token_bytes(32)
        self._parked: dict[str, _Parked] = {}

    def __len__(self) -> int:
        """How many calls wait."""
        return len(self._parked)

    async def run(self, request: Request, begin: Begin) -> tuple[bytes, bool]:
        """Run a call until it is over or asks something.

        Returns:
            The result, and whether it is one of ours that asks.
        """
        parked = _Parked(request, secrets.token_hex(8))
        parked.work = asyncio.create_task(begin(parked.ask))
        parked.work.add_done_callback(take_note)
        parked.work.add_done_callback(lambda _: parked.news.set())
        return await self._next(parked)

    def is_ours(self, request: Request) -> bool:
        """Whether a request goes on with a call that is parked here, or was."""
        state = request.params.get(REQUEST_STATE)
        return state is not None and bytes(state).startswith(_OURS)

    async def resume(self, request: Request) -> tuple[bytes, bool]:
        """Go on with a parked call (see `run`).

        Raises:
            RpcError: The state is not ours, expired, or belongs to something else; or the answers
                are none.
        """
        name = self._read(request.text(REQUEST_STATE), request)
        # Before anything is touched: the call goes on waiting for an answer that can be read.
        answers = members_of(request.params.get(INPUT_RESPONSES, Raw(b"")), INPUT_RESPONSES)
        parked = self._parked.pop(name, None)
        if parked is None:
            raise _refused("the call is no longer pending: it was answered or cancelled")
        if parked.expiry:
            parked.expiry.cancel()
        for key, answer in answers.items():
            question = parked.questions.get(key)
            if question and not question[2].done():
                del parked.questions[key]
                question[2].set_result(bytes(answer))
        parked.request.exchange = request.exchange
        parked.request.meta = request.meta
        return await self._next(parked)

    def dismiss(self, who: str | None = None) -> None:
        """Give up the calls that wait for a client, or all."""
        for parked in [*self._parked.values()]:
            if who in {None, parked.request.client.who}:
                self._expire(parked)

    async def _next(self, parked: _Parked) -> tuple[bytes, bool]:
        work = parked.work
        try:
            while not parked.questions and work and not work.done():
                parked.news.clear()
                await parked.news.wait()
        except asyncio.CancelledError:
            parked.cancel()
            raise
        if work and work.done():
            return work.result(), False
        return self._park(parked), True

    def _park(self, parked: _Parked) -> bytes:
        if len(self._parked) >= MOST:
            parked.cancel()
            raise RpcError(INTERNAL_ERROR, f"{MOST} calls are already waiting for client input")
        loop = asyncio.get_running_loop()
        self._parked[parked.name] = parked
        parked.expiry = loop.call_later(LONGEST, self._expire, parked)
        state = self._state(parked.name, round(loop.time() + LONGEST), parked.request)
        parked.request.exchange = None
        questions = {key: (method, params) for key, (method, params, _) in parked.questions.items()}
        return asking_result(questions, state)

    def _expire(self, parked: _Parked) -> None:
        self._parked.pop(parked.name, None)
        parked.cancel()

    def _state(self, name: str, expires: int, request: Request) -> str:
        head = f"{_MARK}.{self._instance}.{name}.{expires}"
        return f"{head}.{self._signature(head, request)}"

    def _signature(self, head: str, request: Request) -> str:
        signed = hmac.new(self._key, head.encode() + _binding(request), hashlib.sha256).digest()
        return base64.urlsafe_b64encode(signed).decode().rstrip("=")

    def _read(self, state: str, request: Request) -> str:
        parts = state.split(".")
        if len(parts) != _PARTS:
            raise _refused("the request state was not issued by this gateway")
        _, instance, name, expires, signature = parts
        if instance != self._instance:
            raise _refused("mcpyard was restarted in the meantime, so the call was cancelled")
        expected = self._signature(state.rpartition(".")[0], request)
        if not hmac.compare_digest(signature.encode(), expected.encode()):
            raise _refused("the request state does not belong to this request")
        if int(expires) < asyncio.get_running_loop().time():
            raise _refused("the answer came too late, so the call was cancelled")
        return name


def node_of_state(state: str) -> str:
    """The node that issued a request state; empty for one that no node of a cluster did."""
    parts = state.split(".")
    return owner_of(parts[1]) if len(parts) == _PARTS and parts[0] == _MARK else ""


def _binding(request: Request) -> bytes:
    """What a state is good for: this client, this address, this very request."""
    client = request.client
    named = [
        decoded(request.params[key])
        for key in ("name", "uri", "arguments")
        if key in request.params
    ]
    parts = [client.who, request.path, request.method, named]
    return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).digest()


def _refused(why: str) -> RpcError:
    return RpcError(INVALID_PARAMS, why, {"problem": "request-state"})
