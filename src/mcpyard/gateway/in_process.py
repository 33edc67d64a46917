"""The gateway for the program that it runs in: the requests of clients, without HTTP."""

from collections.abc import Mapping, Sequence
from copy import copy
from functools import cached_property, partial
from itertools import count
from typing import Final
from urllib.parse import quote

import msgspec
import orjson
from msgspec import Raw

from mcpyard.catalog.routes import Route
from mcpyard.domain.errors import CallRefused
from mcpyard.domain.observed import Era
from mcpyard.domain.ports import RequestHandler
from mcpyard.gateway.abilities import abilities_of, carried
from mcpyard.gateway.change_notifications import ChangeNotifier
from mcpyard.gateway.listening import ACKNOWLEDGED, URIS, Listening
from mcpyard.gateway.methods import Methods, with_answers
from mcpyard.gateway.pending_input import PendingInput
from mcpyard.gateway.protocol import UPDATED
from mcpyard.gateway.requests import (
    GatewayClient,
    ReplyChannel,
    Request,
    decoded,
    members_of,
    text_of,
)
from mcpyard.gateway.selection import ROOT, Selections
from mcpyard.wire.handshake import VERSIONS
from mcpyard.wire.jsonrpc import RpcError, read
from mcpyard.yard.calls.call_context import LIBRARY, CallContext
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.profiles import RESERVED
from mcpyard.yard.server_content import UpdateListener
from mcpyard.yard.server_questions import NO_ANSWERS, QuestionAnswerer
from mcpyard.yard.yard import YardCore

LISTEN: Final = "subscriptions/listen"


def gateway_path(server: str | None) -> str:
    """The address of the gateway for one server under its own names, or for all of them."""
    return ROOT if server is None else f"{ROOT}/{RESERVED}/{quote(server, safe='')}"


class InProcessClient:
    """A client of the gateway in the same process (see `ContentRequests`).

    It speaks the session-based protocol, in which a server asks in the middle of a call.
    """

    def __init__(self, yard: YardCore, answerer: QuestionAnswerer) -> None:
        self._yard = yard
        self._answerer = answerer
        self._client = _client(LIBRARY, answerer)
        self._selections = Selections(yard)
        self._methods = Methods(yard, PendingInput(yard.instance))
        self._subscriptions = _Subscriptions(yard, self._selections)
        self._ids = count(1)

    def of(self, who: str, answerer: QuestionAnswerer = NO_ANSWERS) -> "InProcessClient":
        """The same for another caller, and for somebody else who answers questions."""
        other = copy(self)
        other._answerer = answerer  # noqa: SLF001  of the same class
        other._client = _client(who, answerer)  # noqa: SLF001
        return other

    async def request(self, server: str | None, method: str, params: Mapping[str, object]) -> bytes:
        """The result of a request (see `ContentRequests`)."""
        request = self._request(server, method, params)
        try:
            return await self._methods.answer(request)
        except RpcError as error:
            raise _refusal(error) from error

    async def listen(
        self, server: str | None, uris: Sequence[str], listener: UpdateListener
    ) -> None:
        """Report changes of resources until cancelled (see `ContentRequests`)."""
        params = {"notifications": {URIS: [*uris]}}
        request = self._request(server, LISTEN, params, _UpdateChannel(listener))
        try:
            await self._subscriptions.listening.serve(request)
        except RpcError as error:
            raise _refusal(error) from error

    async def close(self) -> None:
        """End what is open, also what was opened for other callers."""
        await self._subscriptions.close()

    async def call_with(
        self, route: Route, arguments: Mapping[str, object] | None, context: CallContext
    ) -> Outcome:
        """Call a tool whose server may ask the application (see `CallPipeline.call_with`)."""
        outcomes: list[Outcome] = []

        async def work(bridged: CallContext, answers: Mapping[str, bytes]) -> bytes:
            interactive = msgspec.structs.replace(
                context, on_request=bridged.on_request, capabilities=bridged.capabilities
            )
            call = self._yard.calls.call_with(route, arguments, with_answers(interactive, answers))
            outcomes.append(await call)
            return outcomes[-1].raw

        request = self._request(None, "tools/call", {})
        request.ask = self._asking(route.server_name)
        try:
            raw = await self._methods.bridge.carry(request, route.server, work)
        except RpcError as error:
            raise _refusal(error).about(route.server_name) from error
        ms = sum(each.ms for each in outcomes)
        return msgspec.structs.replace(outcomes[-1], raw=raw, ms=ms)

    def _request(
        self,
        server: str | None,
        method: str,
        params: Mapping[str, object],
        channel: ReplyChannel | None = None,
    ) -> Request:
        path = gateway_path(server)
        return Request(
            self._client,
            self._selections.exposure(path),
            channel,
            path,
            next(self._ids),
            method,
            {key: Raw(orjson.dumps(value)) for key, value in params.items()},
            ask=self._asking(server or ""),
        )

    def _asking(self, server: str) -> RequestHandler:
        return partial(self._ask, server)

    async def _ask(self, server: str, method: str, params: bytes) -> bytes:
        try:
            answer = await self._answerer.answer(server, method, decoded(params))
        except CallRefused as refused:
            raise RpcError(refused.code, refused.message, refused.data) from refused
        return orjson.dumps(answer)


def _client(who: str, answerer: QuestionAnswerer) -> GatewayClient:
    able = answerer.capabilities
    return GatewayClient(who, Era.HANDSHAKE, VERSIONS[-1], carried(able), abilities_of(able))


class _Subscriptions:
    """The open subscriptions of all callers; begun with the first."""

    def __init__(self, yard: YardCore, selections: Selections) -> None:
        self._yard = yard
        self._selections = selections
        self._changes: ChangeNotifier | None = None

    @cached_property
    def listening(self) -> Listening:
        self._changes = ChangeNotifier(self._yard, self._selections)
        return Listening(self._yard.notifications, self._changes, self._yard.calls.callers)

    async def close(self) -> None:
        if self._changes:
            self.listening.dismiss()
            await self._changes.close()


class _UpdateChannel:
    """Hands the messages of a subscription to its listener (see `ReplyChannel`)."""

    def __init__(self, listener: UpdateListener) -> None:
        self._listener = listener

    def send(self, message: bytes) -> None:
        hand_update(message, self._listener)

    async def answer(self, body: bytes) -> None:
        """The subscription is over."""


def hand_update(message: bytes, listener: UpdateListener) -> None:
    """Tell a listener what a message of a subscription says."""
    envelope = read(message)
    if envelope.method == ACKNOWLEDGED:
        listener.begun()
    elif envelope.method == UPDATED:
        listener.updated(text_of(members_of(envelope.params, "params").get("uri")))


def _refusal(error: RpcError) -> CallRefused:
    return CallRefused(error.message, error.code, error.data)
