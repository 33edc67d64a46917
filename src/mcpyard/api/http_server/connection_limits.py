"""What an ASGI layer cannot see: how many connections there are, how large and how slow a head is.

A peer that sends its request byte by byte, or never ends it, would hold a connection for ever. So
each head has a size and a deadline, and so has the rest of a body that nobody waits for any more.
One that does not read what it is sent would do the same, so that has a deadline, too.

It is also where a request costs least: what uvicorn does for every one of them is done here once
for a connection, or only when it is needed.
"""

import asyncio
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple, cast
from urllib.parse import unquote

import httptools
from msgspec import Struct

from mcpyard.api.http_server.repeated_heads import Repeated, repeatable
from mcpyard.api.http_server.request_cycle import Cycle
from mcpyard.api.http_server.uvicorn_internals import (
    HIGH_WATER_LIMIT,
    STATUS_LINE,
    HttpToolsProtocol,
    RequestResponseCycle,
)
from mcpyard.api.security.headers import STRICT
from mcpyard.api.security.incoming import GATEWAY
from mcpyard.asgi_scope import BODY, PRINCIPAL, SEND_WHOLE

if TYPE_CHECKING:
    from mcpyard.api.http_server.uvicorn_internals import ASGI3Application, UvicornApps

HEAD_LIMIT: Final = 64 * 1024
HEAD_SECONDS: Final = 10.0
STALLED_SECONDS: Final = 60.0
LINGER_SECONDS: Final = 2.0
MOST_CONNECTIONS: Final = 1024
"""More than the calls that one caller may have in flight: the others must still come in."""

_ASGI: Final = {"version": "3.0", "spec_version": "2.3"}
_SEPARATORS: Final = 4
_TOO_LARGE: Final = "Request headers are too large."
_NO_REQUEST: Final = "Invalid HTTP request received."


class HeadTooLarge(Exception):
    """More than a head may have."""


class _Address(NamedTuple):
    """What a URL says: the path, the path as it came, the query; and whose business that is."""

    path: str
    raw_path: bytes
    query: bytes
    app: "ASGI3Application | None"


class ConnectionCounts(Struct):
    """What became of connections when there were too many."""

    made: int = 0
    closed: int = 0
    refused: int = 0


class BoundedProtocol(HttpToolsProtocol):
    """Speaks HTTP with a peer, within limits.

    Attributes:
        counts: Counts the connections of this process.
        number: Which of them this one is.
    """

    counts = ConnectionCounts()
    number = 0

    head_seconds = HEAD_SECONDS
    stalled_seconds = STALLED_SECONDS
    linger_seconds = LINGER_SECONDS
    most_connections = MOST_CONNECTIONS

    _deadline: asyncio.TimerHandle | None = None
    _stalled: asyncio.TimerHandle | None = None
    _rests_since: float | None = None
    _in_body = False
    _refused = False
    """Whether the peer was told the last word, and may only hang up."""
    _unheard = 0
    """Bytes that came and led to nothing yet."""
    _arrived = 0
    _most_head = 0
    """The head that is read just now is not longer than this."""
    _whole_requests = 0
    _before: Repeated | None = None
    _read_url: bytes = b""
    _address = _Address("", b"", b"", None)
    """The last URL, and what it says: most requests of a connection have the same."""

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Take a peer, unless there are too many."""
        super().connection_made(transport)
        self.counts.made += 1
        self.number = self.counts.made
        if len(self.connections) <= self.most_connections or self._make_room():
            self._hasten()
        else:
            self.counts.refused += 1
            self._drop(503, "Too many connections.")
            # It would be one more of them for as long as it lingers.
            self.transport.close()

    def _make_room(self) -> bool:
        """Close the oldest connection that nobody known uses."""
        others = cast("set[BoundedProtocol]", self.connections) - {self}
        unknown = [
            each for each in others if not (each.is_authenticated or each.transport.is_closing())
        ]
        if unknown:
            self.counts.closed += 1
            min(unknown, key=attrgetter("number")).transport.abort()
        return bool(unknown)

    @property
    def is_authenticated(self) -> bool:
        """Whether its last request came from somebody known (see `asgi_scope.annotate`)."""
        return bool(self.cycle) and self.cycle.scope.get(PRINCIPAL) is not None

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a peer."""
        self._relax()
        if self._stalled:
            self._stalled.cancel()
        if self.timeout_keep_alive_task:
            self.timeout_keep_alive_task.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes of a head or a body."""
        if self._refused or self.transport.is_closing():
            return
        self._rests_since = None
        if not self._is_at_rest():
            self._parse(data)
        elif self._before and (body := self._before.body_of(data)) is not None:
            self._repeat(self._before, body)
        else:
            self._whole_requests = 0
            self._parse(data)
            self._remember(data)

    def _parse(self, data: bytes) -> None:
        self._unheard += len(data)
        self._arrived = len(data)
        self._most_head += len(data)
        try:
            cast("httptools.HttpRequestParser", self.parser).feed_data(data)
        except httptools.HttpParserUpgrade:
            self._unsupported_upgrade_warning()
        except httptools.HttpParserError:
            self.logger.warning(_NO_REQUEST)
            self.send_400_response(_NO_REQUEST)
        if self._unheard and not self._is_over():
            self._wait_for_more()

    def _is_over(self) -> bool:
        """Whether nothing that comes is of any use."""
        return self._refused or self.transport.is_closing()

    def _is_at_rest(self) -> bool:
        """Whether nothing is under way in either direction."""
        idle = not self.cycle or self.cycle.response_complete
        return idle and not self._unheard and not self._in_body

    def _remember(self, data: bytes) -> None:
        one = self._whole_requests == 1 and not self._unheard and not self._in_body
        app = self._address.app
        if one and app and self._address.path.startswith(GATEWAY):
            self._before = repeatable(data, self.cycle.scope, app)

    def _repeat(self, before: Repeated, body: bytes) -> None:
        """Begin a request whose head is that of the one before."""
        self.cycle = cycle = Cycle(self, keep_alive=True)
        cycle.more_body = False
        head = before.head
        if head.answer and head.admits and head.admits():
            cycle.scope, cycle.body = head.scope, b""
            if head.answer(cycle, body):
                return
        cycle.body, cycle.scope = body, before.scope_of(body)
        cycle.scope |= {SEND_WHOLE: cycle.send_whole, BODY: body}
        cycle.start(before.app)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: "ASGI3Application") -> None:
        cast("Cycle", cycle).start(app)

    def _wait_for_more(self) -> None:
        if self._unheard > HEAD_LIMIT:
            self._drop(431, _TOO_LARGE)
        elif not self._in_body:
            self._hasten()

    def pause_writing(self) -> None:
        """The peer does not read; it is given up when it goes on so."""
        super().pause_writing()
        # A transport that is only closed would wait for the peer to take the rest.
        self._stalled = self.loop.call_later(self.stalled_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """The peer reads again."""
        super().resume_writing()
        if self._stalled:
            self._stalled.cancel()
            self._stalled = None

    def on_message_begin(self) -> None:
        """A head begins."""
        self.url = b""
        self.headers = []
        self.expect_100_continue = False
        self._unheard = self._unheard or 1

    def on_headers_complete(self) -> None:
        """A head is complete; its request begins."""
        if self._most_head > HEAD_LIMIT and _size(self.headers) > HEAD_LIMIT:
            # Nothing but an error makes the parser stop.
            self._drop(431, _TOO_LARGE)
            raise HeadTooLarge
        # The next head may have begun in the bytes that arrived last.
        self._most_head = self._arrived
        self._relax()
        self._unheard = 0
        self._in_body = True
        free = not self.cycle or self.cycle.response_complete
        self.cycle, app = self._begin()
        # The parser reports trailers as it does headers; they must not become any.
        self.headers = []
        if free:
            self._start_asgi_task(self.cycle, app)
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((self.cycle, app))

    def on_body(self, body: bytes) -> None:
        """A piece of a body."""
        self._unheard = 0
        cycle = self.cycle
        if not cycle.response_complete:
            cycle.body += body
            if len(cycle.body) > HIGH_WATER_LIMIT:
                self.flow.pause_reading()
            cycle.message_event.set()

    def on_message_complete(self) -> None:
        """A request is complete."""
        self._relax()
        self._unheard = 0
        self._in_body = False
        self._whole_requests += 1
        self.cycle.more_body = False
        self.cycle.message_event.set()

    def on_response_complete(self) -> None:
        """An answer is complete, maybe before its request is."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        else:
            self._rest()
        if self._in_body:
            self._hasten()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request."""
        if not self._is_over():
            self._drop(400, msg)

    def _begin(self) -> "tuple[Cycle, ASGI3Application]":
        """The request whose head was read, and who answers it."""
        if self.url != self._read_url:
            self._address = self._read(self.url)
            self._read_url = self.url
        parser = cast("httptools.HttpRequestParser", self.parser)
        path, raw_path, query, app = self._address
        version = parser.get_http_version()
        cycle = Cycle(self, keep_alive=version != "1.0" and bool(parser.should_keep_alive()))
        cycle.body = bytearray()
        cycle.scope = {
            "type": "http",
            "asgi": _ASGI,
            "http_version": version,
            "method": parser.get_method().decode("ascii"),
            "scheme": self.scheme,
            "path": path,
            "raw_path": raw_path,
            "query_string": query,
            "root_path": "",
            "headers": self.headers,
            "server": self.server,
            "client": self.client,
            "state": {},
            SEND_WHOLE: cycle.send_whole,
        }
        return cycle, cast("ASGI3Application", app)

    def _read(self, url: bytes) -> _Address:
        parts = httptools.parse_url(url)
        path = parts.path.decode("ascii")
        path = unquote(path) if "%" in path else path
        apps = cast("UvicornApps", self)
        # What a proxy says of scheme and client matters to pages, and costs every call its part.
        app = apps.config.app if path.startswith(GATEWAY) else apps.app
        return _Address(path, parts.path, parts.query or b"", app)

    def _rest(self) -> None:
        """Close the connection when nothing comes for a while.

        One timer looks after many requests: it is not set back by each, but sees when it is due
        that the connection was in use since.
        """
        self._rests_since = self.loop.time()
        if self.timeout_keep_alive_task is None:
            self._look_again(self.timeout_keep_alive)

    def _look_again(self, seconds: float) -> None:
        self.timeout_keep_alive_task = self.loop.call_later(
            seconds, self.timeout_keep_alive_handler
        )

    def timeout_keep_alive_handler(self) -> None:
        """Close the connection, if it really was at rest for so long."""
        self.timeout_keep_alive_task = None
        if self._rests_since is None:
            return
        left = self._rests_since + self.timeout_keep_alive - self.loop.time()
        if left > 0:
            self._look_again(left)
        else:
            super().timeout_keep_alive_handler()

    def _unset_keepalive_if_required(self) -> None:
        self._rests_since = None

    def _hasten(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.head_seconds, self._too_late)

    def _relax(self) -> None:
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None

    def _too_late(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            self._drop(408, "The request timed out.")

    def _drop(self, status: int, reason: str) -> None:
        self._relax()
        if self.cycle and not self.cycle.response_complete:
            # An answer is on its way, into which no other may be mixed.
            self.transport.close()
            return
        if not self._in_body:
            self._tell(status, reason)
        self._linger()

    def _tell(self, status: int, reason: str) -> None:
        head = [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", str(len(reason)).encode()),
            (b"connection", b"close"),
            *STRICT,
        ]
        lines = [b"%b: %b\r\n" % each for each in head]
        self.transport.write(b"".join([STATUS_LINE[status], *lines, b"\r\n", reason.encode()]))

    def _linger(self) -> None:
        """Hang up when the peer does, or soon; what it sends until then is thrown away.

        A connection that is closed while the peer still sends is reset, and the peer hears of that
        instead of why it was refused.
        """
        if not self.transport.can_write_eof():
            # Over TLS there is no half of a connection to close.
            self.transport.close()
            return
        self._refused = True
        self.flow.resume_reading()
        self.transport.write_eof()
        self._deadline = self.loop.call_later(self.linger_seconds, self.transport.close)


def _size(headers: list[tuple[bytes, bytes]]) -> int:
    return sum(len(name) + len(value) + _SEPARATORS for name, value in headers)
