"""The handshake era's side of the gateway: meet once, then speak within a session."""

import asyncio
from collections.abc import Coroutine, Iterator
from functools import partial
from typing import Any, Final

from starlette.types import Receive, Send

from mcpyard.domain.interests import LEVELS
from mcpyard.domain.narrowing import object_of
from mcpyard.domain.node_channel import owned
from mcpyard.domain.observed import Era
from mcpyard.gateway.abilities import abilities_of, carried
from mcpyard.gateway.answering import answer, outcome
from mcpyard.gateway.change_notifications import ChangeNotifier
from mcpyard.gateway.direct_calls import DirectCalls
from mcpyard.gateway.exchange import Exchange, Watch, send_empty, send_json
from mcpyard.gateway.exposures import Exposure
from mcpyard.gateway.introduction import Introduction
from mcpyard.gateway.methods import Methods
from mcpyard.gateway.posts import NO_BATCHES, SESSION, VERSION, Post, Refused, no_session
from mcpyard.gateway.protocol import META, RESOURCE_NOT_FOUND
from mcpyard.gateway.refusing import BAD_REQUEST, unsupported
from mcpyard.gateway.requests import ClientEnvelope, GatewayClient, Request, decoded, members_of
from mcpyard.gateway.selection import Selections
from mcpyard.gateway.sessions import ClientSession, Sessions, new_session_id
from mcpyard.wire.handshake import LATEST, VERSIONS
from mcpyard.wire.jsonrpc import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    RpcError,
    failure,
    success,
)
from mcpyard.yard.seen_clients import OpenSession, introduced
from mcpyard.yard.yard import YardCore

_EMPTY: Final = b"{}"
_ACCEPTED: Final = 202
_WITH_BATCHES: Final = "2025-03-26"
_SWEEP: Final = 60.0
_SPOKEN: Final = frozenset({None, *(version.encode() for version in VERSIONS)})


class HandshakeEra:
    """Answers requests of the handshake era.

    Attributes:
        node: The node of a cluster whose name the ids of its sessions have; empty for none.
    """

    def __init__(
        self,
        yard: YardCore,
        selections: Selections,
        methods: Methods,
        introduction: Introduction,
        changes: ChangeNotifier,
    ) -> None:
        self.node = ""
        self.sessions = Sessions(self.end)
        self._selections = selections
        self._methods = methods
        self._introduction = introduction
        self._changes = changes
        self._calls = yard.calls
        self._notifications = yard.notifications
        self._watch = Watch()
        self._seen = yard.seen_clients
        self._seen.sessions = self._open_sessions
        self._own = {
            "ping": _ping,
            "logging/setLevel": self._set_level,
            "resources/subscribe": self._subscribe,
            "resources/unsubscribe": self._unsubscribe,
        }
        self._sweeper: asyncio.TimerHandle | None = None

    async def post(
        self, post: Post, message: ClientEnvelope, exposure: Exposure, receive: Receive, send: Send
    ) -> None:
        """Answer one POST."""
        if message.method == "initialize" and message.id is not None:
            await self._initialize(post, message, exposure, send)
            return
        session = self.session(post)
        if message.id is None or message.method is None:
            self._on_notification(session, message)
            await send_empty(send, _ACCEPTED)
            return
        if message.id in session.running:
            raise Refused(BAD_REQUEST, RpcError(INVALID_REQUEST, "the id is already in use"))
        stream = session.open_stream
        with Exchange(self._watch, receive, send, post.whole, stream) as exchange:
            work = partial(self._work, session, message, exposure)
            await answer(exchange, message.id, *await outcome(session, message.id, exchange, work))

    def direct(self, post: Post) -> DirectCalls | None:
        """Answers plain calls of tools with the head of this request, without tasks."""
        if not _is_spoken(post):
            return None
        name = post.header(SESSION) or ""
        find = partial(self.sessions.find, name, post.path, post.who)
        exposure = partial(self._selections.exposure, post.path)
        return DirectCalls(find, exposure, self._calls, self._watch)

    async def batch(self, post: Post, exposure: Exposure, receive: Receive, send: Send) -> None:
        """Answer a batch, which one revision alone has.

        Raises:
            Refused: The session is of another, or the batch cannot be read.
        """
        session = self.session(post)
        if session.client.version != _WITH_BATCHES:
            raise Refused(BAD_REQUEST, RpcError(INVALID_REQUEST, NO_BATCHES))
        requests: list[ClientEnvelope] = []
        for message in post.batch():
            if message.id is None or message.method is None:
                self._on_notification(session, message)
            else:
                requests.append(message)
        if not requests:
            await send_empty(send, _ACCEPTED)
            return
        stream = session.open_stream
        with Exchange(self._watch, receive, send, post.whole, stream) as exchange:
            answers = [self._in_batch(session, each, exposure, exchange) for each in requests]
            await exchange.answer(b"[%b]" % b",".join(await asyncio.gather(*answers)))

    async def _in_batch(
        self,
        session: ClientSession,
        message: ClientEnvelope,
        exposure: Exposure,
        exchange: Exchange,
    ) -> bytes:
        number = message.id or 0
        work = partial(self._work, session, message, exposure)
        result, refusal = await outcome(session, number, exchange, work)
        return success(number, result) if refusal is None else failure(number, refusal)

    def _work(
        self,
        session: ClientSession,
        message: ClientEnvelope,
        exposure: Exposure,
        exchange: Exchange,
    ) -> Coroutine[Any, Any, bytes]:
        """The result of a request."""
        request = _request(session, message, exposure, exchange)
        own = self._own.get(request.method)
        return own(session, request) if own else self._methods.answer(request)

    def session(self, post: Post) -> ClientSession:
        """The session that a request names.

        Raises:
            Refused: It names none, one that is over, or one of somebody else.
        """
        if not _is_spoken(post):
            raise Refused(BAD_REQUEST, unsupported((post.header(VERSION) or "")[:80]))
        name = post.header(SESSION)
        if name is None:
            text = "Mcp-Session-Id is missing: initialize first"
            raise Refused(BAD_REQUEST, RpcError(INVALID_REQUEST, text))
        session = self.sessions.find(name, post.path, post.who)
        if session is None:
            raise no_session()
        return session

    def _open_sessions(self) -> Iterator[OpenSession]:
        yield from map(self._open, self.sessions)

    def _open(self, session: ClientSession) -> OpenSession:
        idle = asyncio.get_running_loop().time() - session.used
        return OpenSession(session.client.name, session.client.release, idle)

    def end(self, session: ClientSession) -> None:
        """End a session."""
        self._seen.note_session(self._open(session))
        self.sessions.remove(session)
        self._changes.remove(session)
        session.end(self._notifications)
        self._calls.release(session.id)

    def dismiss(self, who: str) -> None:
        """End the sessions of a client."""
        for session in self.sessions:
            if session.client.who == who:
                self.end(session)

    def stop_notifying(self) -> None:
        """Send no notifications any more, only the answers to requests."""
        if self._sweeper:
            self._sweeper.cancel()
        self._seen.note_sessions()
        for session in self.sessions:
            session.stop_notifying()

    async def _initialize(
        self, post: Post, message: ClientEnvelope, exposure: Exposure, send: Send
    ) -> None:
        try:
            params = members_of(message.params, "params")
        except RpcError as error:
            raise Refused(BAD_REQUEST, error) from None
        requested = decoded(params.get("protocolVersion", b"null"))
        version = str(requested) if requested in VERSIONS else LATEST
        capabilities = decoded(params.get("capabilities", _EMPTY))
        abilities = abilities_of(capabilities)
        name, release = introduced(decoded(params.get("clientInfo", _EMPTY)))
        client = GatewayClient(
            *(post.who, Era.HANDSHAKE, version, carried(capabilities), abilities),
            name=name,
            release=release,
        )
        caller = self._calls.callers.of(post.who)
        self.sessions.make_room(caller, len(client.capabilities))
        now, number = asyncio.get_running_loop().time(), owned(self.node, new_session_id())
        session = ClientSession(number, post.path, client, caller, now)
        self.sessions.add(session)
        self._seen.note(name, release)
        self._changes.add(session)
        self._sweep()
        one = self._selections.one_server(post.path) is not None
        result = self._introduction.initialized(version, exposure, one=one)
        headers = [(SESSION, session.id.encode())]
        await send_json(send, success(message.id or 0, result), headers=headers)

    async def _set_level(self, session: ClientSession, request: Request) -> bytes:
        level = request.text("level")
        if level not in LEVELS:
            raise RpcError(INVALID_PARAMS, f"level must be one of {', '.join(LEVELS)}")
        session.set_level(level, request.exposure, self._notifications)
        return _EMPTY

    async def _subscribe(self, session: ClientSession, request: Request) -> bytes:
        uri = request.text("uri")
        place = request.exposure.addresses.find(uri)
        if place is None:
            raise RpcError(RESOURCE_NOT_FOUND, "Resource not found", {"uri": uri})
        session.subscribe(uri, place, self._notifications)
        return _EMPTY

    async def _unsubscribe(self, session: ClientSession, request: Request) -> bytes:
        session.unsubscribe(request.text("uri"), self._notifications)
        return _EMPTY

    def _on_notification(self, session: ClientSession, message: ClientEnvelope) -> None:
        if message.is_answer:
            session.on_reply(message)
        elif message.method == "notifications/cancelled":
            named = decoded(message.params if bytes(message.params) else _EMPTY)
            params = object_of(named)
            number = params.get("requestId")
            if isinstance(number, int | str) and (running := session.running.get(number)):
                running.withdraw()

    def _sweep(self) -> None:
        """End what is overdue; again after a while, as long as there are sessions."""
        loop = asyncio.get_running_loop()
        self._seen.note_sessions()
        for session in self.sessions.overdue(loop.time()):
            self.end(session)
        if self._sweeper:
            self._sweeper.cancel()
        self._sweeper = loop.call_later(_SWEEP, self._sweep) if len(self.sessions) else None


async def _ping(_session: ClientSession, _request: Request) -> bytes:
    return _EMPTY


def _request(
    session: ClientSession, message: ClientEnvelope, exposure: Exposure, exchange: Exchange
) -> Request:
    params = members_of(message.params, "params")
    return Request(
        session.client,
        exposure,
        exchange,
        session.path,
        message.id or 0,
        message.method or "",
        params,
        members_of(params[META], META) if META in params else {},
        partial(session.ask, exchange) if session.client.abilities else None,
    )


def _is_spoken(post: Post) -> bool:
    """Whether a request is in a version of this era, as far as its head says."""
    return post.headers.get(VERSION) in _SPOKEN or post.header(VERSION) in VERSIONS
