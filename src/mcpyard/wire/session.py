"""A session: one server, met and spoken with in whichever era it is of.

The rest of the yard asks for tools and calls them here, and need not know of eras, streams or
handshakes.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol, runtime_checkable

import msgspec

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.errors import ServerFault, TimedOut
from mcpyard.domain.ports import CallTerms
from mcpyard.wire import jsonrpc
from mcpyard.wire.call_attribution import Lanes
from mcpyard.wire.calls import NO_HEADERS, PendingCall, RequestExtras, Stats, take_note
from mcpyard.wire.eras import ClientFace, Codec, Era, InitializeResult, members
from mcpyard.wire.handshake import Handshake
from mcpyard.wire.jsonrpc import Params, Reply
from mcpyard.wire.link import Link, LinkFailed
from mcpyard.wire.listen import ChangeStream, OnChange
from mcpyard.wire.lists import ToolList, all_pages
from mcpyard.wire.modern import Modern
from mcpyard.wire.peer import OnNoise, OnNotification, Peer
from mcpyard.wire.probe import DISCOVER, SILENCE, probe
from mcpyard.wire.remote.request_headers import NAMED_BY, Path, headers_for, mirrored
from mcpyard.wire.server_requests import OnRequest, nobody

_CALL: Final = "tools/call"
_LIST: Final = "tools/list"
_CHANGES: Final[Mapping[str, str]] = {
    f"notifications/{kind}/list_changed": kind for kind in ("tools", "prompts", "resources")
}
_PLAIN: Final = CallTerms()


class _Named(msgspec.Struct):
    """The parameters that headers repeat."""

    name: str = ""
    uri: str = ""
    arguments: msgspec.Raw = msgspec.Raw(b"{}")


_named = msgspec.json.Decoder(_Named)


@dataclass(frozen=True, slots=True)
class Handlers:
    """Who is told and asked what; all of them are called in the event loop's own turn.

    Attributes:
        on_list_changed: A list of the server changed.
        on_notification: Everything else a server tells, unless a call's own terms hear of it.
        on_request: What a server asks outside any call; refused by default.
        on_lost: The link is gone; told once, and not after `close`.
        on_noise: Something came that is no message.
    """

    on_list_changed: OnChange | None = None
    on_notification: OnNotification | None = None
    on_request: OnRequest = nobody
    on_lost: Callable[[Cause], None] | None = None
    on_noise: OnNoise | None = None


@dataclass(frozen=True, slots=True)
class Opening:
    """How a session is begun.

    Attributes:
        deadline: Seconds until the server must have been met.
        remembered: The era that served last time.
        silence: Seconds of waiting before the other era is tried too.
        pause: Seconds before listening is asked for again, at first.
    """

    deadline: float
    remembered: Era | None = None
    silence: float = SILENCE
    pause: float = 1.0


@runtime_checkable
class EraAware(Protocol):
    """A link that behaves by era: streamable HTTP does."""

    modern: bool
    protocol_version: str | None

    def open_get_stream(self) -> None:
        """Listen for what a server of the handshake era says unasked."""
        ...


async def open_session(
    link: Link, face: ClientFace, opening: Opening, handlers: Handlers | None = None
) -> "ServerSession":
    """Open the link and meet the server; on failure the link is closed.

    Raises:
        LinkFailed: With the cause; the caller may try again with `remembered="handshake"` when
            the server died of the question.
    """
    told = handlers or Handlers()
    lanes = Lanes(told.on_request)
    notices = _Notices(told, lanes)
    peer = Peer(
        link,
        on_request=lanes.asked,
        on_notification=notices.told,
        on_lost=told.on_lost,
        on_noise=told.on_noise,
    )
    lanes.clocks = peer
    try:
        async with asyncio.timeout(opening.deadline):
            await peer.open()
            greeting = await probe(peer, face, opening.remembered, opening.silence)
        _settle(link, peer, greeting)
    except TimeoutError as error:
        await peer.close()
        text = f"the server did not answer within {opening.deadline:g} s of its start"
        raise LinkFailed(Cause(Code.START_TIMEOUT, text)) from error
    except ServerFault as error:
        await peer.close()
        raise LinkFailed(error.cause or Cause(Code.CLOSED, error.message)) from error
    except BaseException:
        await peer.close()
        raise
    session = ServerSession(peer, face, greeting, lanes, opening.pause)
    session.listen(notices.changed)
    return session


def _settle(link: Link, peer: Peer, greeting: InitializeResult) -> None:
    handshake = greeting.era == "handshake"
    if isinstance(link, EraAware):
        link.modern = not handshake
        link.protocol_version = greeting.version
    if handshake:
        peer.notify("notifications/initialized")
        if isinstance(link, EraAware):
            link.open_get_stream()


class _Notices:
    """Sorts what a server tells."""

    def __init__(self, handlers: Handlers, lanes: Lanes) -> None:
        self._handlers = handlers
        self._lanes = lanes

    def told(self, method: str, params: bytes, stream: int | None) -> None:
        if kind := _CHANGES.get(method):
            self.changed(kind)
        elif self._lanes.told(method, params, stream):
            return
        elif self._handlers.on_notification is not None:
            self._handlers.on_notification(method, params, stream)

    def changed(self, kind: str) -> None:
        if self._handlers.on_list_changed is not None:
            self._handlers.on_list_changed(kind)


class ServerSession:
    """A server that was met; made by `open_session`."""

    def __init__(
        self,
        peer: Peer,
        face: ClientFace,
        greeting: InitializeResult,
        lanes: Lanes,
        pause: float = 1.0,
    ) -> None:
        self._peer = peer
        self._greeting = greeting
        self._lanes = lanes
        self._modern = Modern(face)
        self._codec: Codec = self._modern if greeting.era == "modern" else Handshake()
        self._mirrored: dict[str, dict[Path, str]] = {}
        self._listener: ChangeStream | None = None
        if greeting.era == "modern":
            self._listener = ChangeStream(peer, self._modern, greeting.capabilities, pause)
        self._watched: frozenset[str] = frozenset()

    @property
    def era(self) -> Era:
        """The era the server was met in."""
        return self._greeting.era

    @property
    def protocol_version(self) -> str:
        """The protocol version spoken."""
        return self._greeting.version

    @property
    def server_info(self) -> Mapping[str, Any]:
        """What the server calls itself; for display only."""
        return self._greeting.server_info

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """What the server offers."""
        return self._greeting.capabilities

    @property
    def instructions(self) -> str | None:
        """The server's words to a model."""
        return self._greeting.instructions

    @property
    def lanes(self) -> int | None:
        """1 when calls run one at a time (see `Lanes`), None when they need not."""
        return self._lanes.lanes

    def run_singly(self) -> None:
        """Run calls one at a time from now on, because the user wants it so."""
        self._lanes.lanes = 1

    @property
    def stats(self) -> Stats:
        """What went over the link."""
        return self._peer.stats

    @property
    def lost(self) -> bool:
        """Whether the link is gone: nothing can be asked any more."""
        return self._peer.gone is not None

    @property
    def in_flight(self) -> int:
        """Requests that wait for an answer."""
        return self._peer.in_flight

    @property
    def working(self) -> bool:
        """Whether a request within its time limit waits for an answer."""
        return self._peer.working

    def fail(self, cause: Cause) -> None:
        """Fail what waits, and whatever is asked from now on, with a cause."""
        self._peer.fail(cause)

    async def list_tools(self, within: float = 30.0) -> ToolList:
        """All tools, whole; each page must come in that many seconds.

        A tool whose schema asks for headers that the specification forbids is left out.
        """
        terms = CallTerms(timeout=within)
        listed = await all_pages(lambda params: self.request(_LIST, params, terms))
        if self.era == "handshake":
            return listed
        self._mirrored = {}
        kept = tuple(tool for tool in listed.tools if self._remember(tool))
        return ToolList(kept, listed.ttl_ms, listed.public)

    async def list_items(self, method: str, member: str, within: float = 30.0) -> ToolList:
        """All items of another list, whole; each page must come in that many seconds."""
        terms = CallTerms(timeout=within)
        return await all_pages(lambda params: self.request(method, params, terms), member)

    def call_tool(
        self, name: str, arguments: bytes | Mapping[str, Any], terms: CallTerms
    ) -> Coroutine[Any, Any, Reply]:
        """Call a tool; its result as it came, `input_required` ones included."""
        raw = jsonrpc.encode(arguments)
        params = b'{"name":%b,"arguments":%b}' % (jsonrpc.quoted(name), raw)
        return self._in_lane(_CALL, params, name, terms, self._mirror(name, raw))

    async def request(self, method: str, params: Params, terms: CallTerms = _PLAIN) -> Reply:
        """Anything else, and calls whose parameters are more than a name and arguments."""
        key = NAMED_BY.get(method)
        if key is None:
            return await self._peer.wait(self._start(method, params, None, terms))
        raw = jsonrpc.encode(params)
        named = _named.decode(raw)
        name = named.uri if key == "uri" else named.name
        headers = self._mirror(name, bytes(named.arguments)) if method == _CALL else NO_HEADERS
        return await self._in_lane(method, raw, name, terms, headers)

    def post(self, method: str, params: Params, within: float = 30.0) -> None:
        """Ask for something whose answer changes nothing; sent before anything asked later."""
        call = self._start(method, params, None, CallTerms(timeout=within))
        call.future.add_done_callback(take_note)

    def watch(self, uris: frozenset[str]) -> None:
        """Hear of the changes of these resources, and of no others."""
        if self._listener is not None:
            self._listener.watch(uris)
        else:
            for uri in uris - self._watched:
                self.post("resources/subscribe", {"uri": uri})
            for uri in self._watched - uris:
                self.post("resources/unsubscribe", {"uri": uri})
        self._watched = uris

    async def ping(self, within: float) -> None:
        """Have the server show that it is alive: any answer does, an error too."""
        method = "ping" if self.era == "handshake" else DISCOVER
        try:
            await self.request(method, None, CallTerms(timeout=within))
        except jsonrpc.RpcError:
            return

    def listen(self, changed: OnChange) -> None:
        """Hear of changes in the modern era; a server of the other tells them by itself."""
        if self._listener is not None:
            self._listener.start(changed)

    async def close(self) -> None:
        """Fail what waits and let go of the link."""
        if self._listener is not None:
            await self._listener.stop()
        await self._peer.close()

    def _remember(self, tool: Mapping[str, Any]) -> bool:
        """Keep what a tool wants repeated in headers; False when it wants the forbidden."""
        try:
            paths = mirrored(tool.get("inputSchema"))
        except ValueError:
            return False
        if paths:
            self._mirrored[str(tool.get("name"))] = paths
        return True

    def _mirror(self, name: str, arguments: bytes) -> Mapping[str, str]:
        """The headers in which a call must repeat some of its arguments."""
        paths = self._mirrored.get(name)
        if not paths:
            return NO_HEADERS
        return headers_for(paths, members(msgspec.json.decode(arguments)))

    async def _in_lane(
        self, method: str, params: bytes, name: str, terms: CallTerms, headers: Mapping[str, str]
    ) -> Reply:
        if not self._lanes.take():
            terms = await self._turn(terms)
        call: PendingCall | None = None
        try:
            call = self._start(method, params, name, terms, headers)
            self._lanes.run(call.id, terms)
            return await call.future
        finally:
            if call:
                self._peer.leave(call)
            self._lanes.leave(call.id if call else None)

    async def _turn(self, terms: CallTerms) -> CallTerms:
        """Wait for a turn; the terms with what is left of the time-out."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            async with asyncio.timeout(terms.timeout):
                await self._lanes.wait()
        except TimeoutError as error:
            text = "this server handles one call at a time, and the call waited too long"
            raise TimedOut(text, sent=False) from error
        if terms.timeout is None:
            return terms
        left = terms.timeout - (loop.time() - started)
        return terms._replace(timeout=max(0.0, left))

    def _start(
        self,
        method: str,
        params: Params,
        name: str | None,
        terms: CallTerms,
        headers: Mapping[str, str] = NO_HEADERS,
    ) -> PendingCall:
        stamp = self._codec.stamp(method, name, terms)
        if headers:
            stamp = RequestExtras(stamp.meta, {**stamp.headers, **headers})
        return self._peer.start(method, params, terms, stamp)
