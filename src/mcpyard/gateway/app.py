"""The gateway as an ASGI application, to stand behind the guard under `/mcp`."""

import asyncio
from collections.abc import Coroutine
from typing import Any, Final

from starlette.types import Receive, Scope, Send

from mcpyard.asgi_scope import BODY, KNOWN_HEAD, KnownHead
from mcpyard.domain.edges import edge
from mcpyard.domain.errors import YardError
from mcpyard.domain.node_channel import NodeChannel
from mcpyard.gateway.change_notifications import ChangeNotifier
from mcpyard.gateway.exchange import send_empty, send_json
from mcpyard.gateway.handshake import HandshakeEra
from mcpyard.gateway.introduction import Introduction
from mcpyard.gateway.listening import Listening
from mcpyard.gateway.methods import Methods
from mcpyard.gateway.modern import ModernEra
from mcpyard.gateway.pending_input import PendingInput
from mcpyard.gateway.posts import (
    SESSION,
    VERSION,
    Post,
    Refused,
    accepts,
    check_types,
    read_body,
    take,
)
from mcpyard.gateway.protocol import MODERN_VERSION, PROTOCOL_VERSION
from mcpyard.gateway.refusing import rpc_error
from mcpyard.gateway.relaying import OutgoingRequest, Relay
from mcpyard.gateway.requests import ClientEnvelope
from mcpyard.gateway.selection import Selections
from mcpyard.gateway.streams import HEADERS, Stream
from mcpyard.wire.handshake import VERSIONS
from mcpyard.wire.jsonrpc import INVALID_REQUEST, Id, RpcError, failure
from mcpyard.yard.yard import YardCore

_EVENTS: Final = "text/event-stream"
_NO_CONTENT: Final = 204
_NOT_ALLOWED: Final = 405
_NOT_ACCEPTABLE: Final = 406
_ALLOWED: Final = (b"allow", b"POST, GET, DELETE")
_ABOUT_SESSIONS: Final = frozenset({"GET", "DELETE"})
_POST_ONLY: Final = (b"allow", b"POST")
_GLANCE: Final = 4096
_MODERN: Final = MODERN_VERSION.encode()
_MARK: Final = f'"{PROTOCOL_VERSION}"'.encode()


class Gateway:
    """Every server of a yard through one address.

    Args:
        yard: Whose servers they are.
        closing: Ends what may last.
        channel: The way to the other nodes of a cluster, which may hold what a request is about.
    """

    def __init__(
        self, yard: YardCore, closing: asyncio.Event, channel: NodeChannel | None = None
    ) -> None:
        node = channel.node if channel else ""
        selections = Selections(yard)
        introduction = Introduction(yard.instance)
        self._calls = yard.calls
        self._selections = selections
        self.pending_input = PendingInput(yard.instance, node)
        self._changes = ChangeNotifier(yard, selections)
        methods = Methods(yard, self.pending_input)
        self._listening = Listening(yard.notifications, self._changes, yard.calls.callers)
        self._modern = ModernEra(
            selections, methods, introduction, self._listening, yard.seen_clients
        )
        self._handshake = HandshakeEra(yard, selections, methods, introduction, self._changes)
        self._handshake.node = node
        self._relay = Relay(channel, self, closing) if channel else None
        self._closing = closing
        self._closer: asyncio.Task[None] | None = None

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Coroutine[Any, Any, None]:
        """Answer one HTTP request."""
        if self._closer is None:
            self._closer = asyncio.create_task(self._close_in_time(), name="gateway")
        way = self._post if scope["method"] == "POST" else self._manage
        return way(scope, receive, send)

    def dismiss(self, who: str) -> None:
        """End the sessions, streams, waiting calls and processes of a client that lost its key."""
        self.pending_input.dismiss(who)
        self._handshake.dismiss(who)
        self._listening.dismiss(who)
        # A client of the modern era has no session whose end would end them.
        self._calls.release(who)

    async def _manage(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer what is about a session, not in it."""
        method: str = scope["method"]
        try:
            if method not in _ABOUT_SESSIONS:
                await send_empty(send, _NOT_ALLOWED, [_ALLOWED])
                return
            post = take(scope)
            if self._relay is not None and (node := self._relay.target(scope, post)):
                await self._relay.forward(node, OutgoingRequest(method, post), receive, send)
            elif method == "GET":
                await self._get(post, receive, send)
            else:
                await self._delete(post, send)
        except (Refused, YardError) as error:
            await _refuse(send, None, error)

    async def _post(self, scope: Scope, receive: Receive, send: Send) -> None:
        message: ClientEnvelope | None = None
        try:
            body: bytes | None = scope.get(BODY)
            if body is None and (body := await read_body(receive)) is None:
                return
            post = take(scope, body)
            check_types(post.headers)
            if self._relay is not None and (node := self._relay.target(scope, post)):
                message = None if post.is_batch else post.envelope()
                request = OutgoingRequest("POST", post, message)
                await self._relay.forward(node, request, receive, send)
                return
            if post.is_batch and SESSION in post.headers:
                exposure = self._selections.exposure(post.path)
                await self._handshake.batch(post, exposure, receive, send)
                return
            message = post.envelope()
            era = self._modern if _is_modern(post, message) else self._handshake
            exposure = self._selections.exposure(post.path)
            if era is self._handshake and SESSION in post.headers:
                self._remember(scope, post)
            await era.post(post, message, exposure, receive, send)
        except (Refused, YardError) as error:
            await _refuse(send, message.id if message else None, error)

    def _remember(self, scope: Scope, post: Post) -> None:
        """Let plain calls with the same head go directly, as far as this connection knows it."""
        head: KnownHead | None = scope.get(KNOWN_HEAD)
        if head is not None and head.answer is None:
            head.answer = self._handshake.direct(post)

    async def _close_in_time(self) -> None:
        """End every stream, and cancel the calls that wait for clients; the others may finish."""
        await self._closing.wait()
        self.pending_input.dismiss()
        self._handshake.stop_notifying()
        self._listening.dismiss()
        await self._changes.close()

    async def _get(self, post: Post, receive: Receive, send: Send) -> None:
        if not _speaks_handshake(post):
            await send_empty(send, _NOT_ALLOWED, [_POST_ONLY])
            return
        if not accepts(post.headers.get(b"accept", b""), _EVENTS):
            text = f"{_EVENTS} must be accepted"
            raise Refused(_NOT_ACCEPTABLE, RpcError(INVALID_REQUEST, text))
        session = self._handshake.session(post)
        last_event = post.header(b"last-event-id")
        resumed = session.resumed(last_event) if last_event else None
        if last_event and resumed is None:
            text = "the events after that one are no longer available"
            raise Refused(404, RpcError(INVALID_REQUEST, text))
        again = session.push_stream is not None and session.push_stream.writing
        with session.caller.streaming(again=again):
            stream, after = resumed or (session.listen(), 0)
            await _stream_out(stream, after, receive, send)

    async def _delete(self, post: Post, send: Send) -> None:
        if not _speaks_handshake(post):
            await send_empty(send, _NOT_ALLOWED, [_POST_ONLY])
            return
        self._handshake.end(self._handshake.session(post))
        await send_empty(send, _NO_CONTENT)


async def _refuse(send: Send, number: Id | None, error: Refused | YardError) -> None:
    """Answer with an error; the id is null where none could be read."""
    if isinstance(error, Refused):
        status, rpc = error.status, error.error
    else:
        status, rpc = edge(error).status, rpc_error(error)
    body = failure(0 if number is None else number, rpc)
    if number is None:
        body = body.replace(b'"id":0', b'"id":null', 1)
    await send_json(send, body, status)


async def _stream_out(stream: Stream, after: int, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
    writing = asyncio.create_task(stream.write(send, after=after))
    leaving = asyncio.create_task(_until_gone(receive))
    try:
        await asyncio.wait({writing, leaving}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (writing, leaving):
            task.cancel()
        await asyncio.gather(writing, leaving, return_exceptions=True)
    await send({"type": "http.response.body", "body": b""})


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _is_modern(post: Post, message: ClientEnvelope) -> bool:
    """Which era a message is of: by its header, else by what its body says."""
    if post.headers.get(VERSION) == _MODERN:
        return SESSION not in post.headers
    if SESSION in post.headers:
        return False
    version = post.header(VERSION)
    if version is not None:
        return version not in VERSIONS
    return _MARK in bytes(message.params)[:_GLANCE]


def _speaks_handshake(post: Post) -> bool:
    return SESSION in post.headers or post.header(VERSION) in {None, *VERSIONS}
