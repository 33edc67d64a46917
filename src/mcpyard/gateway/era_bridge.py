"""A request on its way to a server and back, whatever the eras of the two ends.

| client, server | what becomes of a server's questions |
|---|---|
| handshake, handshake | asked as they come |
| handshake, modern | a result that asks becomes questions, then a retry |
| modern, handshake | a question becomes a result that asks, while the call is parked |
| modern, modern | results as they come |
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any, Final
from uuid import UUID

import orjson

from mcpyard.domain.interests import LEVELS
from mcpyard.domain.narrowing import is_object
from mcpyard.domain.observed import Era
from mcpyard.domain.ports import NotificationInterest, RequestHandler
from mcpyard.gateway.abilities import check, require
from mcpyard.gateway.pending_input import PendingInput
from mcpyard.gateway.protocol import (
    INPUT_RESPONSES,
    MESSAGE,
    PROGRESS,
    PROGRESS_TOKEN,
    REQUEST_STATE,
)
from mcpyard.gateway.requests import GatewayClient, Request, decoded
from mcpyard.gateway.translating import (
    InputRequired,
    input_required,
    questions,
    to_handshake,
    to_modern,
    without_task,
)
from mcpyard.wire.jsonrpc import ABSENT, INTERNAL_ERROR, RpcError, quoted
from mcpyard.yard.calls.call_context import CallContext
from mcpyard.yard.yard import YardCore

_MOST_ROUNDS: Final = 16
"""A server that keeps asking is not going to answer."""

_LOG_SECONDS: Final = 600.0
"""Seconds for which a server goes on logging for a client of the modern era.

It has no session with which its interest could end, and repeats it with each request.
"""

Work = Callable[[CallContext, Mapping[str, bytes]], Coroutine[Any, Any, bytes]]
"""Asks a server, with these members added to the parameters."""

Ask = Callable[[Mapping[str, bytes]], Coroutine[Any, Any, bytes]]
"""`Work` whose context is known."""


class EraBridge:
    """Carries requests."""

    def __init__(self, yard: YardCore, pending: PendingInput) -> None:
        self._directory = yard.directory
        self._notifications = yard.notifications
        self._pending = pending
        self._log_interests: dict[tuple[str, str], asyncio.TimerHandle] = {}

    def carry(
        self, request: Request, server: UUID, work: Work, era: Era | None = None
    ) -> Coroutine[Any, Any, bytes]:
        """The result of a request, in the words of the client's era.

        Args:
            request: The request.
            server: Who is asked.
            work: Asks it.
            era: The server's, where that is known already.
        """
        era = era or self._directory.era(server)
        if request.modern:
            return self._for_modern(request, server, work, era)
        context = self._handshake_context(request, server)
        if era is Era.HANDSHAKE:
            return work(context, {})
        return self._for_handshake(request, server, partial(work, context), era)

    def direct(self, request: Request, server: UUID, era: Era | None) -> CallContext | None:
        """The context of a request that needs no bridge: both ends are of the handshake era."""
        if era is not Era.HANDSHAKE or request.modern:
            return None
        return self._handshake_context(request, server)

    def _handshake_context(self, request: Request, server: UUID) -> CallContext:
        on_request = partial(_ask, request) if request.client.abilities else None
        return self._context(request, server, on_request)

    async def _for_modern(
        self, request: Request, server: UUID, work: Work, era: Era | None
    ) -> bytes:
        if self._pending.is_ours(request) and not self._directory.is_yard(server):
            raw, asks = await self._pending.resume(request)
        elif era is Era.MODERN or not request.client.abilities:
            raw, asks = await work(self._context(request, server, None), {}), False
        else:
            begin = partial(self._begin, request, server, work)
            raw, asks = await self._pending.run(request, begin)
        if asks or (era or self._directory.era(server)) is Era.MODERN:
            return raw
        return to_modern(raw, request.method)

    async def _begin(
        self, request: Request, server: UUID, work: Work, on_request: RequestHandler
    ) -> bytes:
        return await work(self._context(request, server, on_request), {})

    async def _for_handshake(
        self, request: Request, server: UUID, ask: Ask, era: Era | None
    ) -> bytes:
        raw = await ask({})
        if (era or self._directory.era(server)) is not Era.MODERN:
            return raw
        for _ in range(_MOST_ROUNDS):
            required = input_required(raw)
            if required is None:
                return to_handshake(raw)
            raw = await ask(await _answers(request, required))
        raise RpcError(INTERNAL_ERROR, f"the server asked for input {_MOST_ROUNDS} times")

    def _context(
        self, request: Request, server: UUID, on_request: RequestHandler | None
    ) -> CallContext:
        client = request.client
        progress = None
        if request.progress_token is not None:
            progress = partial(_on_progress, request)
        if request.modern and client.log_level:
            self._request_logs((client.who, client.log_level), server)
        return CallContext(
            client.who,
            None,
            request.extras,
            progress,
            on_request,
            partial(_notify, request),
            client.capabilities,
            client.log_level,
            client.client_key,
            request.exposure.allows,
            # An answer to a question belongs to the server that asked it.
            not request.answers_a_question,
        )

    def _request_logs(self, interest: tuple[str, str], server: UUID) -> None:
        """Have a server log at a level: it can do so only for all of its clients at once."""
        if timer := self._log_interests.pop(interest, None):
            timer.cancel()
        self._notifications.set_interest(interest, server, NotificationInterest(interest[1]))
        loop = asyncio.get_running_loop()
        self._log_interests[interest] = loop.call_later(_LOG_SECONDS, self._forget_logs, interest)

    def _forget_logs(self, interest: tuple[str, str]) -> None:
        del self._log_interests[interest]
        self._notifications.drop_interests(interest)


async def _answers(request: Request, required: InputRequired) -> dict[str, bytes]:
    """What the client answers, as the members of the retry."""
    requests = questions(required)
    for each in requests.values():
        require(request.client, each.method, bytes(each.params))
    results = await asyncio.gather(
        *(_ask(request, each.method, bytes(each.params)) for each in requests.values())
    )
    members = (
        b"%b:%b" % (quoted(key), answer) for key, answer in zip(requests, results, strict=True)
    )
    answers = {INPUT_RESPONSES: b"{%b}" % b",".join(members)}
    if required.request_state is not ABSENT:
        answers[REQUEST_STATE] = bytes(required.request_state)
    return answers


async def _ask(request: Request, method: str, params: bytes) -> bytes:
    check(request.client, method, params)
    if request.ask is None:
        raise RpcError(INTERNAL_ERROR, "the client cannot be sent requests")
    return await request.ask(method, without_task(params))


def _notify(request: Request, method: str, params: bytes) -> None:
    if is_wanted(request.client, method, params):
        request.notify(method, params)


def is_wanted(client: GatewayClient, method: str, params: bytes) -> bool:
    """Whether a client wants a notification about its request."""
    unsaid = client.era is not Era.MODERN
    return method != MESSAGE or wants(client.log_level, params, unsaid=unsaid)


def wants(level: str | None, message: bytes, *, unsaid: bool) -> bool:
    """Whether somebody with this log level wants a log message.

    Args:
        level: The level; None when it said nothing.
        message: The parameters of the message.
        unsaid: Whether to take silence for a yes.
    """
    if level is None:
        return unsaid
    params = decoded(message)
    of = params.get("level") if is_object(params) else None
    return of not in LEVELS or LEVELS.index(str(of)) >= LEVELS.index(level)


def _on_progress(request: Request, progress: Mapping[str, object]) -> None:
    token = request.progress_token
    if token is None:
        return
    params = {key: value for key, value in progress.items() if value is not None}
    params[PROGRESS_TOKEN] = orjson.Fragment(token)
    request.notify(PROGRESS, orjson.dumps(params))
