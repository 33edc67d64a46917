"""A session: one server, met and spoken with in whichever era it is of.

The rest of the yard asks for tools and calls them here, and need not know of eras, streams or
handshakes.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.errors import ServerFault, TimedOut
from mcpyard.domain.ports import CallTerms, NotificationHandler
from mcpyard.domain.started_calls import CallWaiter
from mcpyard.wire import jsonrpc
from mcpyard.wire.call_attribution import LOG_MESSAGE, CallsInFlight
from mcpyard.wire.eras import ClientFace, Codec, Era, InitializeResult
from mcpyard.wire.handshake import Handshake
from mcpyard.wire.jsonrpc import Params, Reply
from mcpyard.wire.link import EraAware, Link, LinkFailed
from mcpyard.wire.listen import ChangeStream, OnChange
from mcpyard.wire.lists import ToolList, all_pages
from mcpyard.wire.mirrored_arguments import MirroredArguments
from mcpyard.wire.modern import Modern
from mcpyard.wire.peer import OnNoise, Peer
from mcpyard.wire.pending import NO_EXTRAS, PendingCall, RequestExtras, Stats, take_note
from mcpyard.wire.probe import DISCOVER, SILENCE, late_cause, probe
from mcpyard.wire.remote.request_headers import NAMED_BY
from mcpyard.wire.server_requests import OnRequest, refuse

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


def _ignore(*_arguments: object) -> None:
    """Nobody listens."""


class Handlers(Struct, frozen=True):
    """The callbacks of a session; all of them are called in the event loop's own turn.

    Attributes:
        on_list_changed: A list of the server changed.
        on_notification: Any other notification that belongs to no call: method, parameters.
        on_log: A log message, whether or not it belongs to a call: its parameters.
        on_request: What a server asks outside any call; refused by default.
        on_lost: The link is gone; called once, and not after `close`.
        on_noise: Something came that is no message.
        on_turn: See `CallsInFlight`.
    """

    on_list_changed: OnChange = _ignore
    on_notification: NotificationHandler = _ignore
    on_log: Callable[[bytes], None] = _ignore
    on_request: OnRequest = refuse
    on_lost: Callable[[Cause], None] | None = None
    on_noise: OnNoise | None = None
    on_turn: Callable[[], None] = _ignore


class Opening(Struct, frozen=True):
    """How a session is begun.

    Attributes:
        deadline: Seconds until the server must have been met.
        last_era: The era that served last time.
        silence: Seconds of waiting before the other era is tried too.
        pause: Seconds before listening is asked for again, at first.
    """

    deadline: float
    last_era: Era | None = None
    silence: float = SILENCE
    pause: float = 1.0


async def open_session(
    link: Link, face: ClientFace, opening: Opening, handlers: Handlers | None = None
) -> "ServerSession":
    """Open the link and meet the server; on failure the link is closed.

    Raises:
        LinkFailed: With the cause; the caller may try again with `last_era="handshake"` when
            the server died of the question.
    """
    handlers = handlers or Handlers()
    in_flight = CallsInFlight(handlers.on_request, handlers.on_turn)
    peer = Peer(
        link,
        on_request=in_flight.answer,
        on_notification=_Notifications(handlers, in_flight).dispatch,
        on_lost=handlers.on_lost,
        on_noise=handlers.on_noise,
    )
    in_flight.clocks = peer
    try:
        async with asyncio.timeout(opening.deadline):
            await peer.open()
            result = await probe(peer, face, opening.last_era, opening.silence)
        _settle(link, peer, result)
    except TimeoutError as error:
        await peer.close()
        raise LinkFailed(late_cause(peer, opening.deadline)) from error
    except ServerFault as error:
        await peer.close()
        raise LinkFailed(error.cause or Cause(Code.CLOSED, error.message)) from error
    except BaseException:
        await peer.close()
        raise
    session = ServerSession(peer, face, result, in_flight, opening.pause)
    session.listen(handlers.on_list_changed)
    return session


def _settle(link: Link, peer: Peer, result: InitializeResult) -> None:
    handshake = result.era == "handshake"
    if isinstance(link, EraAware):
        link.modern = not handshake
        link.protocol_version = result.version
    if handshake:
        peer.notify("notifications/initialized")
        if isinstance(link, EraAware):
            link.open_get_stream()


class _Notifications:
    """Tells the notifications of a call from changes of lists, and both from all others."""

    def __init__(self, handlers: Handlers, in_flight: CallsInFlight) -> None:
        self._handlers = handlers
        self._in_flight = in_flight

    def dispatch(self, method: str, params: bytes, stream: int | None) -> None:
        if kind := _CHANGES.get(method):
            self._handlers.on_list_changed(kind)
            return
        if method == LOG_MESSAGE:
            self._handlers.on_log(params)
        if not self._in_flight.notify(method, params, stream):
            self._handlers.on_notification(method, params)


class ServerSession:
    """A server that was met; made by `open_session`."""

    def __init__(
        self,
        peer: Peer,
        face: ClientFace,
        result: InitializeResult,
        in_flight: CallsInFlight,
        pause: float = 1.0,
    ) -> None:
        self._peer = peer
        self._initialize_result = result
        self._in_flight = in_flight
        self._modern = Modern(face)
        self._codec: Codec = self._modern if result.era == "modern" else Handshake()
        self._mirrored = MirroredArguments()
        self._listener: ChangeStream | None = None
        if result.era == "modern":
            self._listener = ChangeStream(peer, self._modern, result.capabilities, pause)
        self._watched: frozenset[str] = frozenset()

    @property
    def era(self) -> Era:
        """The era the server was met in."""
        return self._initialize_result.era

    @property
    def protocol_version(self) -> str:
        """The protocol version spoken."""
        return self._initialize_result.version

    @property
    def server_info(self) -> Mapping[str, Any]:
        """What the server calls itself; for display only."""
        return self._initialize_result.server_info

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """What the server offers."""
        return self._initialize_result.capabilities

    @property
    def instructions(self) -> str | None:
        """The server's words to a model."""
        return self._initialize_result.instructions

    @property
    def concurrency(self) -> int | None:
        """How many calls may be in flight at once (see `CallsInFlight`); None for no limit."""
        return self._in_flight.concurrency

    def limit_calls(self, concurrency: int, queue: int) -> None:
        """Have at most so many calls in flight, and so many waiting, from now on."""
        self._in_flight.limit(concurrency, queue)

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
        listing = await all_pages(lambda params: self.request(_LIST, params, terms))
        if self.era == "handshake":
            return listing
        self._mirrored = MirroredArguments()
        tools = tuple(tool for tool in listing.tools if self._mirrored.note(tool))
        return replace(listing, tools=tools)

    async def list_items(self, method: str, member: str, within: float = 30.0) -> ToolList:
        """All items of another list, whole; each page must come in that many seconds."""
        terms = CallTerms(timeout=within)
        return await all_pages(lambda params: self.request(method, params, terms), member)

    def call_tool(
        self, name: str, arguments: bytes | Mapping[str, Any], terms: CallTerms
    ) -> Coroutine[Any, Any, Reply]:
        """Call a tool; its result as it came, `input_required` ones included."""
        raw = arguments if type(arguments) is bytes else jsonrpc.encode(arguments)
        params = b'{"name":%b,"arguments":%b}' % (jsonrpc.quoted(name), raw)
        extras = self._codec.extras(_CALL, name, terms)
        if self._mirrored.paths:
            extras = self._mirrored.added(extras, name, raw)
        return self._in_turn(_CALL, params, terms, extras)

    def start_call(
        self, name: str, arguments: bytes, terms: CallTerms, waiter: CallWaiter
    ) -> PendingCall | None:
        """Call a tool at once; `end_call` must follow, or `wait_for` once it is handed over.

        None where the call has to wait for its turn; raises where it cannot be sent.
        """
        extras = self._codec.extras(_CALL, name, terms)
        if self._mirrored.paths:
            extras = self._mirrored.added(extras, name, arguments)
        if not self._in_flight.take():
            return None
        params = b'{"name":%b,"arguments":%b}' % (jsonrpc.quoted(name), arguments)
        return self._enter(_CALL, params, terms, extras, waiter)

    def end_call(self, call: PendingCall) -> None:
        """A call is over."""
        self._in_flight.leave(call.id)

    def wait_for(self, call: PendingCall) -> Coroutine[Any, Any, Reply]:
        """The answer to a call that was started and handed over."""
        return self._in_turn(_CALL, b"", _PLAIN, NO_EXTRAS, call)

    async def request(self, method: str, params: Params, terms: CallTerms = _PLAIN) -> Reply:
        """Anything else, and calls whose parameters are more than a name and arguments."""
        key = NAMED_BY.get(method)
        if key is None:
            return await self._peer.wait(self._start(method, params, terms))
        raw = jsonrpc.encode(params)
        named = _named.decode(raw)
        name = named.uri if key == "uri" else named.name
        extras = self._codec.extras(method, name, terms)
        if method == _CALL:
            extras = self._mirrored.added(extras, name, bytes(named.arguments))
        return await self._in_turn(method, raw, terms, extras)

    def post(self, method: str, params: Params, within: float = 30.0) -> None:
        """Ask for something whose answer changes nothing; sent before anything asked later."""
        call = self._start(method, params, CallTerms(timeout=within))
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
        """Listen for changes in the modern era; a server of the other one notifies by itself."""
        if self._listener is not None:
            self._listener.start(changed)

    async def close(self) -> None:
        """Fail what waits and let go of the link."""
        if self._listener is not None:
            await self._listener.stop()
        await self._peer.close()

    async def _in_turn(
        self,
        method: str,
        params: bytes,
        terms: CallTerms,
        extras: RequestExtras,
        call: PendingCall | None = None,
    ) -> Reply:
        """The answer to a request, which is sent when its turn has come unless it was sent."""
        if call is None:
            if not self._in_flight.take():
                terms = await self._turn(terms)
            call = self._enter(method, params, terms, extras)
        try:
            return await call.future
        except BaseException:
            # One that was answered waits no more.
            self._peer.leave(call)
            raise
        finally:
            self._in_flight.leave(call.id)
            # An error that came by the future would hold this frame, and the frame the future.
            del call

    def _enter(
        self,
        method: str,
        params: bytes,
        terms: CallTerms,
        extras: RequestExtras,
        waiter: CallWaiter | None = None,
    ) -> PendingCall:
        """Send a request whose turn it is."""
        try:
            call = self._peer.start(method, params, terms, extras, waiter)
        except BaseException:
            self._in_flight.leave(None)
            raise
        self._in_flight.run(call.id, terms)
        return call

    async def _turn(self, terms: CallTerms) -> CallTerms:
        """Wait for a turn; the terms with what is left of the time-out."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            async with asyncio.timeout(terms.timeout):
                await self._in_flight.wait(terms.caller)
        except TimeoutError as error:
            text = f"the call waited too long: the limit of calls in flight is {self.concurrency}"
            raise TimedOut(text, sent=False) from error
        finally:
            if terms.waiting is not None:
                terms.waiting.waited += loop.time() - started
        left = None if terms.timeout is None else terms.timeout - (loop.time() - started)
        return terms if left is None else msgspec.structs.replace(terms, timeout=max(0.0, left))

    def _start(self, method: str, params: Params, terms: CallTerms) -> PendingCall:
        return self._peer.start(method, params, terms, self._codec.extras(method, None, terms))
