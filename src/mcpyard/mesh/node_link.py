"""The link to one other node: calls to its servers, calls from it, and whether it is there."""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, Protocol

import msgspec
from msgspec import Raw, Struct

from mcpyard.domain.cause import Cause
from mcpyard.domain.errors import ServerBusy, ServerFault, TimedOut, YardError
from mcpyard.domain.ports import CallTerms
from mcpyard.mesh import messages
from mcpyard.mesh.error_transfer import read_error, write_error
from mcpyard.mesh.messages import FarCall, FarRequest, Hello, OfCall
from mcpyard.mesh.socket_link import SocketLink
from mcpyard.wire.jsonrpc import METHOD_NOT_FOUND, RpcError
from mcpyard.wire.link import Busy
from mcpyard.wire.peer import Peer
from mcpyard.wire.pending import PendingCall, take_note

log = logging.getLogger(__name__)

MOST_REQUESTS: Final = 10_000
"""Calls of one node that are answered at once."""

PING_EVERY: Final = 1.0
SILENCE: Final = 3.0
"""A connection over which nothing came for so many seconds is cut: calls in flight must fail."""

_HELLO_SECONDS: Final = 3.0
_QUESTION_SECONDS: Final = 5.0
_GRACE: Final = 1.0
"""The owner of a server says that a call timed out; the asking node waits so much longer for it."""


class LinkHandler(Protocol):
    """What a node does about what comes over its links."""

    def accept(self, hello: Hello) -> None:
        """Refuse a node that is not to be linked, by an error."""
        ...

    def on_up(self, link: "NodeLink") -> None:
        """A link can be used."""
        ...

    def on_down(self, link: "NodeLink") -> None:
        """A link is lost."""
        ...

    def answer(self, link: "NodeLink", method: str, params: bytes) -> Coroutine[Any, Any, bytes]:
        """Answer a request of another node."""
        ...

    def on_notice(self, link: "NodeLink", method: str, params: bytes) -> None:
        """Take a notification of another node."""
        ...


def _ignore(_progress: Mapping[str, object]) -> None:
    """Nobody wants the progress; it extends the time limit all the same."""


class NodeLink:
    """A connection to another node, dialed or accepted.

    Attributes:
        node: The other node's name; empty before it said hello.
        epoch: How often it had joined.
        protocol: The number of the protocol that both sides speak.
        lost: Set when the connection is gone.
    """

    def __init__(self, socket: SocketLink, handler: LinkHandler) -> None:
        self.node = ""
        self.epoch = self.protocol = 0
        self.lost = asyncio.Event()
        self._socket = socket
        self._handler = handler
        self._asked: dict[int, CallTerms] = {}
        self._ping: PendingCall | None = None
        self._alive: asyncio.Task[None] | None = None
        self._begun = asyncio.Event()
        self._early: list[tuple[str, bytes]] = []
        self._peer = Peer(
            socket,
            on_request=self._answer,
            on_notification=self._on_notice,
            on_lost=self._on_lost,
        )
        self._peer.server_requests.most = MOST_REQUESTS
        socket.attach(self._peer)
        self._on_hello: Callable[[Hello], Hello] | None = None

    @property
    def is_up(self) -> bool:
        """Whether calls can be made over it."""
        return bool(self.node) and self._peer.gone is None

    def expect_hello(self, on_hello: Callable[[Hello], Hello]) -> None:
        """Wait for the other node to say who it is; the callback checks that, and answers."""
        self._on_hello = on_hello

    async def say_hello(self, hello: Hello) -> Hello:
        """Say who we are, and return who the other one is.

        Raises:
            YardError: It refuses, or does not answer.
        """
        return messages.read_hello(await self._question("hello", hello, _HELLO_SECONDS))

    def begin(self, other: Hello, protocol: int) -> None:
        """The other node is known, and how to speak with it: use the link."""
        self.node, self.epoch, self.protocol = other.node, other.epoch, protocol
        self._socket.closed_text = f'the connection to node "{self.node}" was lost'
        self._alive = asyncio.create_task(self._keep_alive(), name=f"link to {self.node}")
        self._handler.on_up(self)
        self._begun.set()
        for method, params in self._early:
            self._handler.on_notice(self, method, params)
        self._early.clear()

    async def call(self, call: FarCall, terms: CallTerms) -> bytes:
        """Make a call to a server of the other node, and return the result as it came.

        Raises:
            Disconnected: The link was lost; nobody knows whether the call was carried out.
            YardError: What the other node raised.
        """
        method = "request" if isinstance(call, FarRequest) else "call"
        return await self.converse(method, msgspec.json.encode(call), terms)

    async def converse(self, method: str, params: bytes, terms: CallTerms) -> bytes:
        """Ask the other node something during which it may ask back (see `call`)."""
        talks = terms.progress or terms.on_request or terms.on_notification
        limits = CallTerms(
            timeout=_longer(terms.timeout),
            longest=_longer(terms.longest),
            progress=terms.progress or (_ignore if talks else None),
        )
        pending = self._start(method, params, limits)
        if talks:
            self._asked[pending.id] = terms
        try:
            reply = await self._peer.wait(pending)
            return reply.result if reply.is_short else await reply.copy_result()
        except RpcError as error:
            raise read_error(error, self.node) from None
        except TimedOut:
            text = f'node "{self.node}" did not answer in time ({terms.timeout:g} s)'
            raise TimedOut(text) from None
        finally:
            self._asked.pop(pending.id, None)

    async def question(self, method: str, params: Struct | None = None) -> bytes:
        """Ask the other node something that takes no time.

        Raises:
            YardError: It does not answer, or with an error.
        """
        return await self._question(method, params, _QUESTION_SECONDS)

    def notify(self, method: str, params: Struct) -> None:
        """Tell the other node something; nothing happens if it is gone."""
        if self._peer.gone is None:
            self._peer.notify(method, msgspec.json.encode(params))

    async def finish(self) -> None:
        """Send the answers to what was asked over it, if they come soon."""
        await self._peer.server_requests.finish(_GRACE)

    async def close(self) -> None:
        """Close the connection."""
        await self._peer.close()
        self._end()

    async def ask_back(self, token: int, method: str, params: bytes) -> bytes:
        """Ask the caller of a call that came over this link; takes as long as a person does."""
        question = msgspec.json.encode(OfCall(token, method, Raw(params)))
        return (await self._peer.request("ask", question, CallTerms())).result

    def notify_progress(self, token: int, progress: Mapping[str, object]) -> None:
        """Tell the caller how far its call is."""
        if self._peer.gone is None:
            self._peer.notify("notifications/progress", {**progress, "progressToken": token})

    async def _question(self, method: str, params: Struct | None, seconds: float) -> bytes:
        body = b"{}" if params is None else msgspec.json.encode(params)
        pending = self._start(method, body, CallTerms(timeout=seconds))
        try:
            return (await self._peer.wait(pending)).result
        except RpcError as error:
            raise read_error(error, self.node) from None

    def _start(self, method: str, body: bytes, terms: CallTerms) -> PendingCall:
        try:
            return self._peer.start(method, body, terms)
        except Busy:
            raise ServerBusy(f'too much waits to be sent to node "{self.node}"') from None

    async def _answer(self, method: str, params: bytes, _stream: int | None) -> bytes:
        try:
            if method == "ask":
                return await self._answer_call(messages.read_of_call(params))
            if method == "hello":
                return self._answer_hello(params)
            if self._on_hello and not self.node:
                raise RpcError(METHOD_NOT_FOUND, "say hello first")
            if not self.node:
                await self._begun.wait()
            return await self._handler.answer(self, method, params)
        except YardError as error:
            raise write_error(error) from None

    def _answer_hello(self, params: bytes) -> bytes:
        if self._on_hello is None or self.node:
            raise RpcError(METHOD_NOT_FOUND, "hello was said already")
        return msgspec.json.encode(self._on_hello(messages.read_hello(params)))

    async def _answer_call(self, question: OfCall) -> bytes:
        terms = self._asked.get(question.call)
        if terms is None or terms.on_request is None:
            raise RpcError(METHOD_NOT_FOUND, f"no client here supports {question.method}")
        self._peer.hold(question.call)
        try:
            return await terms.on_request(question.method, bytes(question.params))
        finally:
            self._peer.release(question.call)

    def _on_notice(self, method: str, params: bytes, _stream: int | None) -> None:
        if method == "notice":
            notice = messages.read_of_call(params)
            terms = self._asked.get(notice.call)
            if terms is not None and terms.on_notification is not None:
                terms.on_notification(notice.method, bytes(notice.params))
        elif self.node:
            self._handler.on_notice(self, method, params)
        elif self._on_hello is None:
            # It follows the answer to our hello, which is about to be looked at.
            self._early.append((method, params))

    async def _keep_alive(self) -> None:
        """Notice that the other node, or the way to it, is gone."""
        loop = asyncio.get_running_loop()
        looked_at = loop.time()
        while self._peer.gone is None:
            await asyncio.sleep(PING_EVERY)
            now = loop.time()
            if now - looked_at > SILENCE:
                # This node slept; what came meanwhile is read first.
                self._socket.excuse_silence()
            looked_at = now
            if now - self._socket.heard_at > SILENCE:
                self._socket.cut(f'node "{self.node}" does not respond')
            elif self._ping is None or self._ping.future.done():
                self._send_ping()

    def _send_ping(self) -> None:
        try:
            self._ping = self._peer.start("ping", None, CallTerms())
        except (Busy, ServerFault):
            return
        self._ping.future.add_done_callback(take_note)

    def _on_lost(self, cause: Cause) -> None:
        log.info("%s", cause.message)
        self._end()

    def _end(self) -> None:
        if self._alive is not None:
            self._alive.cancel()
        if not self.lost.is_set():
            self.lost.set()
            if self.node:
                self._handler.on_down(self)


def _longer(seconds: float | None) -> float | None:
    return None if seconds is None else seconds + _GRACE
