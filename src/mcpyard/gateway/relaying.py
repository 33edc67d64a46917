"""Requests for what another node of a cluster holds: sessions, and calls that wait for input.

The node that is asked has checked the caller. It sends the request on as it came, and the response
back as it comes, piece by piece: a stream reaches a client at the pace at which it reads. A client
that goes away is gone for the other node too.
"""

import asyncio
import logging
from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec import Struct
from starlette.types import Message, Receive, Scope, Send

from mcpyard.asgi_scope import BODY, PRINCIPAL, Application, Principal
from mcpyard.domain.edges import edge
from mcpyard.domain.errors import Disconnected, YardError
from mcpyard.domain.node_channel import NodeChannel, SendPart, owner_of
from mcpyard.gateway.exchange import send_json
from mcpyard.gateway.pending_input import EXPIRED, node_of_state
from mcpyard.gateway.posts import SESSION, Post, Refused, no_session
from mcpyard.gateway.protocol import REQUEST_STATE
from mcpyard.gateway.refusing import BAD_REQUEST, rpc_error
from mcpyard.gateway.requests import ClientEnvelope, members_of, text_of
from mcpyard.gateway.streams import framed
from mcpyard.wire.jsonrpc import Id, RpcError, failure

log = logging.getLogger(__name__)

RELAYED: Final = "mcpyard.relayed"
"""Marks a request in its scope that came from another node: it is not sent on again."""

_TOPIC: Final = "exchange"
_PIECE: Final = 1024 * 1024
_STATE: Final = f'"{REQUEST_STATE}"'.encode()
_TYPE: Final = b"content-type"
_EVENTS: Final = b"text/event-stream"
_FAILED: Final = 500
_SECRETS: Final = frozenset({b"authorization", b"cookie"})
"""What only the node that checks the caller needs."""

HeaderTexts = tuple[tuple[str, str], ...]


class RelayedRequest(Struct, frozen=True):
    """A request on its way to the node that can answer it."""

    method: str
    path: str
    who: str
    headers: HeaderTexts
    body: bytes


class OutgoingRequest(Struct, frozen=True):
    """A request as it came.

    Attributes:
        method: Its HTTP method.
        post: Its head and body.
        message: The message in its body, if it is one.
    """

    method: str
    post: Post
    message: ClientEnvelope | None = None

    @property
    def is_open_ended(self) -> bool:
        """Whether its response lasts until somebody ends it, and no call waits for it."""
        return self.method == "GET"

    @property
    def number(self) -> Id | None:
        """The id of the answer that the client waits for; None where it waits for none."""
        message = self.message
        return message.id if message is not None and message.method is not None else None

    def relayed(self) -> RelayedRequest:
        """The request as it is sent to another node."""
        post = self.post
        headers = _texts(each for each in post.raw_headers if each[0] not in _SECRETS)
        return RelayedRequest(self.method, post.path, post.who, headers, post.body)


class ResponsePiece(Struct, frozen=True, omit_defaults=True):
    """A piece of its response; the first one has the status and the headers."""

    status: int = 0
    headers: HeaderTexts = ()
    body: bytes = b""


_read_request: Final = msgspec.json.Decoder(RelayedRequest).decode
_read_piece: Final = msgspec.json.Decoder(ResponsePiece).decode


class Relay:
    """Sends requests on to the nodes that can answer them, and answers those of other nodes.

    Args:
        channel: The way to the other nodes.
        app: Answers requests here.
        closing: This node ends: what it holds is over.
    """

    def __init__(self, channel: NodeChannel, app: Application, closing: asyncio.Event) -> None:
        self._closing = closing
        self._channel = channel
        self._app = app
        self._tasks: set[asyncio.Task[None]] = set()
        channel.answer_with(_TOPIC, self._serve)

    def target(self, scope: Scope, post: Post) -> str | None:
        """The other node that a request is for; None for one that is answered here."""
        if RELAYED in scope:
            return None
        if session := post.header(SESSION):
            node = owner_of(session)
        elif _STATE in post.body:
            node = _node_of_state(post.body)
        else:
            return None
        return node if node and node != self._channel.node else None

    async def forward(
        self, node: str, request: "OutgoingRequest", receive: Receive, send: Send
    ) -> None:
        """Have another node answer a request.

        Raises:
            Refused: The node is gone, and what it held with it.
            YardError: It was lost before it answered.
        """
        response, params = _Response(send), msgspec.json.encode(request.relayed())

        async def ask() -> None:
            await response.end(await self._channel.ask(node, _TOPIC, params, on_part=response.take))

        asking = asyncio.create_task(ask(), name=f"relay to {node}")
        ends: set[asyncio.Task[object]] = {asyncio.create_task(_until_gone(receive))}
        if request.is_open_ended:
            ends.add(asyncio.create_task(self._closing.wait()))
        try:
            await asyncio.wait({asking, *ends}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (asking, *ends):
                task.cancel()
            await asyncio.wait({asking, *ends})
        error = None if asking.cancelled() else asking.exception()
        if isinstance(error, YardError):
            await _explain(error, request, response)
        elif error is not None:
            raise error
        elif request.is_open_ended and self._closing.is_set():
            await self._end_stream(response)

    async def _end_stream(self, response: "_Response") -> None:
        """End a stream whose client goes on at another node, with `Last-Event-ID`."""
        if not response.begun:
            raise self._ending()
        await response.refuse(b"")

    def _ending(self) -> Disconnected:
        ending = Disconnected(f'node "{self._channel.node}" is shutting down')
        ending.untaken = True
        return ending

    async def _serve(self, params: bytes, send_part: SendPart) -> bytes:
        """Answer a request that another node got."""
        if self._closing.is_set():
            raise self._ending()
        request = _read_request(params)
        served = _Served(send_part)
        # A task of its own: a client that went away may come back for the answer of a call.
        task = asyncio.create_task(self._answer(_scope(request), served))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            await asyncio.wait({task})
        finally:
            served.leave()
        return msgspec.json.encode(served.last_piece())

    async def _answer(self, scope: Scope, served: "_Served") -> None:
        try:
            await self._app(scope, served.receive, served.send)
        except Exception:
            log.exception("a request that another node sent on failed")
            served.fail()


class _Served:
    """One request of another node: what the gateway here receives and sends."""

    def __init__(self, send_part: SendPart) -> None:
        self._send_part = send_part
        self._gone = asyncio.Event()
        self._head = ResponsePiece()
        self._rest = b""

    def leave(self) -> None:
        """Nobody reads the response any more."""
        self._gone.set()

    def fail(self) -> None:
        """Complete a response that cannot be made."""
        self._head = self._head if self._head.status else ResponsePiece(_FAILED)

    def last_piece(self) -> ResponsePiece:
        """What was not sent yet."""
        return msgspec.structs.replace(self._head, body=self._rest)

    async def receive(self) -> Message:
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._head = ResponsePiece(message["status"], _texts(message["headers"]))
            if (_TYPE, _EVENTS) in message["headers"]:
                # A client that listens is to know so before there is anything to tell.
                await self._send_piece(b"")
            return
        body: bytes = message.get("body", b"")
        last = not message.get("more_body", False)
        while len(body) > (_PIECE if last else 0):
            await self._send_piece(body[:_PIECE])
            body = body[_PIECE:]
        if last:
            self._rest = body

    async def _send_piece(self, body: bytes) -> None:
        head, self._head = self._head, ResponsePiece()
        piece = msgspec.structs.replace(head, body=body)
        if self._gone.is_set():
            return
        try:
            await self._send_part(msgspec.json.encode(piece))
        except (YardError, RpcError):
            # The asking node, or its client, is gone.
            self.leave()


class _Response:
    """The response to a client, whose pieces another node sends.

    Attributes:
        streams: Whether events are being sent.
        begun: Whether anything was sent.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self.begun = False
        self.streams = False

    async def take(self, part: bytes) -> None:
        """Send a piece."""
        piece = _read_piece(part)
        await self._begin(piece)
        if piece.body:
            await self._send({"type": "http.response.body", "body": piece.body, "more_body": True})

    async def end(self, part: bytes) -> None:
        """Send the last piece."""
        piece = _read_piece(part)
        await self._begin(piece)
        await self._send({"type": "http.response.body", "body": piece.body})

    async def refuse(self, body: bytes) -> None:
        """Say in the place of the last piece why there is none."""
        if self.streams:
            last = {"type": "http.response.body", "body": framed(body, None) if body else b""}
            await self._send(last)
        else:
            await send_json(self._send, body)

    async def _begin(self, piece: ResponsePiece) -> None:
        if self.begun:
            return
        if not piece.status:
            raise Disconnected("the node that holds the session gave no response")
        self.begun = True
        headers = [
            (name.encode("latin-1"), value.encode("latin-1")) for name, value in piece.headers
        ]
        self.streams = (_TYPE, _EVENTS) in headers
        await self._send(
            {"type": "http.response.start", "status": piece.status, "headers": headers}
        )


async def _explain(error: YardError, request: OutgoingRequest, response: _Response) -> None:
    """Tell a client that the node that was to answer is gone, or was lost meanwhile."""
    untaken = isinstance(error, Disconnected) and error.untaken
    if untaken and not response.begun:
        raise no_session() if SESSION in request.post.headers else Refused(BAD_REQUEST, EXPIRED)
    if response.begun and not response.streams:
        # Half of a body of a known length is no response: the connection is closed.
        raise ConnectionAbortedError(error.message) from error
    if (number := request.number) is not None:
        await response.refuse(failure(number, rpc_error(error)))
    elif response.begun:
        await response.refuse(b"")
    else:
        raise Refused(edge(error).status, rpc_error(error))


def _node_of_state(body: bytes) -> str:
    """The node that holds the call that a request goes on with; empty for any other request."""
    try:
        params = members_of(Post("", "", {}, [], body).envelope().params, "params")
    except (Refused, RpcError):
        # Whoever answers it says what is wrong with it.
        return ""
    return node_of_state(text_of(params.get(REQUEST_STATE)))


def _scope(request: RelayedRequest) -> Scope:
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in request.headers]
    return {
        "type": "http",
        "method": request.method,
        "path": request.path,
        "headers": headers,
        PRINCIPAL: Principal(request.who),
        BODY: request.body,
        RELAYED: True,
    }


def _texts(headers: Iterable[tuple[bytes, bytes]]) -> HeaderTexts:
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in headers)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        """More of a body that was read already."""
