"""One HTTP/1.1 connection: a request out, its answer in, then the next; never two at a time.

llhttp parses what comes. A body is buffered up to a limit and otherwise left in the socket until
somebody reads it. Whatever nobody asked for, a head over the limits or a switch of protocols ends
the connection. Trailers are dropped: they must not pass for headers.
"""

import asyncio
import select
from collections.abc import AsyncGenerator, Callable
from enum import Enum, auto
from typing import Final, cast

import httpx2
from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

HEAD_BYTES: Final = 100 * 1024
"""The longest head, with the interim answers before it; also the longest run of chunk extensions
or trailers without a byte of the body."""

HEAD_FIELDS: Final = 256
_BUFFERED_BYTES: Final = 256 * 1024
_FIRST_FINAL: Final = 200
_SWITCHING: Final = 101
_BODILESS: Final = frozenset({204, 304})
_FRAMING: Final = frozenset({b"content-length", b"transfer-encoding"})

_UNANSWERED: Final = "Server disconnected without sending a response."
_CUT: Final = "Server disconnected before the response was complete."

Failure = tuple[type[httpx2.TransportError], str]


class _Step(Enum):
    IDLE = auto()
    ASKED = auto()
    BODY = auto()
    DONE = auto()


class _Refused(Exception):
    """An answer that is valid HTTP and nevertheless not taken."""


class Http11Connection(asyncio.Protocol):
    """A connection to one server.

    Attributes:
        status: The status of the answer that is being read.
        headers: Its headers, as they came.
        heard: Whether anything came since the last request.
        lost: Done once the connection is closed.
        expires: When an idle connection is given up, in the loop's time.
    """

    def __init__(self, on_lost: Callable[["Http11Connection"], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.heard = False
        self.lost: asyncio.Future[None] = self._loop.create_future()
        self.expires = 0.0
        self._on_lost = on_lost
        self._parser = HttpResponseParser(self)
        self._step = _Step.IDLE
        self._keeps_alive = False
        self._failure: Failure | None = None
        self._waiter: asyncio.Future[None] | None = None
        self._parts: list[bytes] = []
        self._buffered = 0
        self._paused = False
        self._head_size = 0
        self._silent = 0

    @property
    def usable(self) -> bool:
        """Whether an idle connection still is one: a readable socket has been closed, or worse."""
        return self._failure is None and not self._readable.poll(0)

    @property
    def reusable(self) -> bool:
        """Whether the answer is complete, and the next request may follow."""
        return (
            self._step is _Step.DONE
            and self._keeps_alive
            and self._failure is None
            and not self._transport.get_write_buffer_size()
        )

    async def ask(self, request: bytes, seconds: float | None) -> None:
        """Send a request and wait for the head of its answer."""
        self._step = _Step.ASKED
        self.headers = []
        self.heard = False
        self._head_size = self._silent = 0
        if self._failure is None:
            self._transport.write(request)
        while self._step is _Step.ASKED:
            await self._wait(seconds)

    async def read(self, seconds: float | None) -> bytes:
        """The next bytes of the body; none at its end."""
        while not self._parts:
            if self._step is _Step.DONE:
                return b""
            await self._wait(seconds)
        data = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        self._drop_parts()
        return data

    def rest(self, expires: float) -> None:
        """Become idle after a complete answer."""
        self._step = _Step.IDLE
        self.expires = expires
        self._drop_parts()

    def abort(self) -> None:
        """Close at once; whoever reads is told."""
        self._fail(httpx2.ReadError, "The connection was closed by mcpyard")

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is open (see `asyncio.Protocol`)."""
        self._transport = cast("asyncio.Transport", transport)
        self._readable = select.poll()
        self._readable.register(transport.get_extra_info("socket").fileno(), select.POLLIN)

    def data_received(self, data: bytes) -> None:
        """Bytes came (see `asyncio.Protocol`)."""
        if self._failure is not None:
            return
        if self._step is _Step.IDLE:
            self.abort()
            return
        self.heard = True
        self._silent += len(data)
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as error:
            refused = isinstance(error.__context__, _Refused)
            reason = error.__context__ if refused else f"The response is not valid HTTP: {error}"
            self._fail(httpx2.RemoteProtocolError, str(reason))
            return
        if self._silent > HEAD_BYTES and self._step is not _Step.DONE:
            self._fail(httpx2.RemoteProtocolError, _too_large())

    def eof_received(self) -> None:
        """The server sends no more (see `asyncio.Protocol`)."""
        if self._step is _Step.BODY and self._ends_with_connection():
            self._step = _Step.DONE
            self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is closed (see `asyncio.Protocol`)."""
        if exc is None:
            self._note((httpx2.RemoteProtocolError, _CUT if self.heard else _UNANSWERED))
        else:
            self._note((httpx2.ReadError, str(exc)))
        # The parser holds this object, and the collector of cycles runs rarely.
        del self._parser
        self.lost.set_result(None)
        self._on_lost(self)

    def on_message_begin(self) -> None:
        """An answer begins (see `httptools.HTTPProtocol`)."""
        if self._step is not _Step.ASKED:
            raise _Refused("The server sent more than one response")

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header, or a trailer, came (see `httptools.HTTPProtocol`)."""
        if self._step is not _Step.ASKED:
            return
        self._head_size += len(name) + len(value)
        if self._head_size > HEAD_BYTES:
            raise _Refused(_too_large())
        if len(self.headers) >= HEAD_FIELDS:
            raise _Refused(f"The response has more than {HEAD_FIELDS} headers")
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """The head is complete (see `httptools.HTTPProtocol`)."""
        status = self._parser.get_status_code()
        if status == _SWITCHING:
            raise _Refused("The server switched to another protocol")
        if status < _FIRST_FINAL:
            self.headers = []
            return
        if any(each for each in self.headers if _is_unknown_coding(*each)):
            raise _Refused("The response has an unknown transfer encoding")
        self.status = status
        self._keeps_alive = self._parser.should_keep_alive()
        self._step = _Step.BODY
        self._wake()

    def on_body(self, data: bytes) -> None:
        """A part of the body came (see `httptools.HTTPProtocol`)."""
        self._silent = 0
        self._parts.append(data)
        self._buffered += len(data)
        if self._buffered > _BUFFERED_BYTES and not self._paused:
            self._paused = True
            self._transport.pause_reading()
        self._wake()

    def on_message_complete(self) -> None:
        """The answer, or an interim one, is complete (see `httptools.HTTPProtocol`)."""
        if self._step is _Step.BODY:
            self._step = _Step.DONE
            self._wake()

    def _ends_with_connection(self) -> bool:
        if self.status in _BODILESS:
            return False
        return not any(name.lower() in _FRAMING for name, _ in self.headers)

    def _drop_parts(self) -> None:
        self._parts = []
        self._buffered = 0
        if self._paused:
            self._paused = False
            self._transport.resume_reading()

    async def _wait(self, seconds: float | None) -> None:
        if self._failure is not None:
            kind, text = self._failure
            raise kind(text)
        self._waiter = waiter = self._loop.create_future()
        try:
            if seconds is None:
                await waiter
            else:
                async with asyncio.timeout(seconds):
                    await waiter
        except TimeoutError:
            raise httpx2.ReadTimeout(f"The server sent nothing for {seconds:g} s") from None
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def _fail(self, kind: type[httpx2.TransportError], text: str) -> None:
        self._note((kind, text))
        self._transport.abort()

    def _note(self, failure: Failure) -> None:
        if self._failure is None:
            self._failure = failure
            self._wake()


class DirectAnswer:
    """An answer whose head is there; the body comes while it is read.

    Attributes:
        status_code: The status.
        raw_headers: The headers as they came.
        headers: The headers with names in lower case; of several with one name, the last.
    """

    def __init__(
        self,
        connection: Http11Connection,
        release: Callable[[Http11Connection], None],
        timeout: float | None,
    ) -> None:
        self.status_code = connection.status
        self.raw_headers = connection.headers
        self.headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in connection.headers
        }
        self._connection: Http11Connection | None = connection
        self._release = release
        self._timeout = timeout

    async def aiter_bytes(self) -> AsyncGenerator[bytes]:
        """The body as it comes."""
        connection = self._connection
        if connection is None:
            raise httpx2.StreamClosed
        while data := await connection.read(self._timeout):
            yield data

    async def aclose(self) -> None:
        """Give the connection back if the answer is complete; close it otherwise."""
        connection, self._connection = self._connection, None
        if connection is not None:
            self._release(connection)


def _is_unknown_coding(name: bytes, value: bytes) -> bool:
    return name.lower() == b"transfer-encoding" and value.strip().lower() != b"chunked"


def _too_large() -> str:
    return f"The head of the response is larger than {HEAD_BYTES} bytes"
