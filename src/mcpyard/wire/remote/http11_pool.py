"""The connections to one origin, kept open for the next request for a while.

An idle connection that the server has closed is not used. When the server closes one just as a
request goes out, only a request that is safe to repeat is sent again, on a new connection: the
server may have taken any other.
"""

import asyncio
from typing import TYPE_CHECKING, Final, NamedTuple

import httpx2

from mcpyard.wire.remote.http11 import DirectAnswer, Http11Connection
from mcpyard.wire.remote.tcp_connect import connect_tcp, connect_to

if TYPE_CHECKING:
    import socket
    import ssl
    from collections.abc import Callable

KEEP_ALIVE_SECONDS: Final = 4.0
"""Below the 5 s after which common servers close: a call must not meet a closing connection."""

KEPT_CONNECTIONS: Final = 64

_CLOSING_SECONDS: Final = 1.0
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class Origin(NamedTuple):
    """Where connections lead."""

    scheme: str
    host: str
    port: int

    @classmethod
    def of(cls, url: httpx2.URL) -> "Origin":
        """The origin of an address; raises `httpx2.UnsupportedProtocol`."""
        if url.scheme not in _DEFAULT_PORTS:
            raise httpx2.UnsupportedProtocol(f"The scheme {url.scheme!r} is not supported")
        return cls(url.scheme, url.raw_host.decode(), url.port or _DEFAULT_PORTS[url.scheme])


class Timeouts(NamedTuple):
    """Seconds for a connection to open, and of silence; None for no limit."""

    connect: float | None = None
    read: float | None = None


class Http11Pool:
    """The connections to one origin.

    Args:
        origin: The server.
        tls: Gives the TLS settings, once they are needed.
        addresses: The only IP addresses to connect to; None to look up those of the host.
    """

    def __init__(
        self,
        origin: Origin,
        tls: "Callable[[], ssl.SSLContext]",
        addresses: tuple[str, ...] | None = None,
    ) -> None:
        self._origin = origin
        self._addresses = addresses
        self._tls = tls
        self._loop = asyncio.get_running_loop()
        self._open: set[Http11Connection] = set()
        self._idle: list[Http11Connection] = []
        self._sweeping: asyncio.TimerHandle | None = None
        self._closed = False

    async def ask(self, request: bytes, timeouts: Timeouts, *, safe: bool = False) -> DirectAnswer:
        """Send a request and wait for the head of its answer, which must be closed in the end.

        Args:
            request: The whole request.
            timeouts: The time limits.
            safe: Whether the request may be sent twice.
        """
        connection = self._take_idle()
        if connection is not None:
            try:
                return await self._ask(connection, request, timeouts)
            except (httpx2.RemoteProtocolError, httpx2.ReadError):
                if connection.heard or not safe:
                    raise
        return await self._ask(await self._connect(timeouts.connect), request, timeouts)

    async def aclose(self) -> None:
        """Close every connection, also those in use."""
        self._closed = True
        if self._sweeping is not None:
            self._sweeping.cancel()
        connections = [*self._open]
        for each in connections:
            each.abort()
        if connections:
            await asyncio.wait([each.lost for each in connections], timeout=_CLOSING_SECONDS)

    async def _ask(
        self, connection: Http11Connection, request: bytes, timeouts: Timeouts
    ) -> DirectAnswer:
        try:
            await connection.ask(request, timeouts.read)
        except BaseException:
            connection.abort()
            raise
        return DirectAnswer(connection, self._release, timeouts.read)

    def _take_idle(self) -> Http11Connection | None:
        now = self._loop.time()
        while self._idle:
            connection = self._idle.pop()
            if connection.expires > now and connection.usable:
                return connection
            connection.abort()
        return None

    async def _connect(self, seconds: float | None) -> Http11Connection:
        scheme, host, port = self._origin
        tls = self._tls() if scheme == "https" else None
        try:
            async with asyncio.timeout(seconds):
                sock = await self._socket(host, port)
                _, connection = await self._loop.create_connection(
                    lambda: Http11Connection(self._forget),
                    sock=sock,
                    ssl=tls,
                    server_hostname=host if tls else None,
                )
        except TimeoutError as error:
            raise httpx2.ConnectTimeout("timed out") from error
        except (OSError, UnicodeError) as error:
            raise httpx2.ConnectError(str(error)) from error
        self._open.add(connection)
        if self._closed:
            connection.abort()
        return connection

    async def _socket(self, host: str, port: int) -> "socket.socket":
        if self._addresses is None:
            return await connect_tcp(host, port)
        return await connect_to(self._addresses, port)

    def _release(self, connection: Http11Connection) -> None:
        if self._closed or not connection.reusable or len(self._idle) >= KEPT_CONNECTIONS:
            connection.abort()
            return
        connection.rest(self._loop.time() + KEEP_ALIVE_SECONDS)
        self._idle.append(connection)
        if self._sweeping is None:
            self._sweeping = self._loop.call_later(KEEP_ALIVE_SECONDS, self._sweep)

    def _sweep(self) -> None:
        """Close what has been idle for too long; one timer serves all connections."""
        self._sweeping = None
        now = self._loop.time()
        for connection in self._idle:
            if connection.expires <= now:
                connection.abort()
        self._idle = [each for each in self._idle if each.expires > now]
        if self._idle:
            delay = min(each.expires for each in self._idle) - now
            self._sweeping = self._loop.call_later(delay, self._sweep)

    def _forget(self, connection: Http11Connection) -> None:
        self._open.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)
