"""The little of HTTP that the bridge needs.

A client program starts the bridge and waits for it, so it must be there at once; and each message
passes it, so it must cost next to nothing. A whole HTTP client is neither.
"""

import asyncio
import contextlib
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final, NamedTuple

EVENT_STREAM: Final = "text/event-stream"

_KEEP_SECONDS: Final = 3.0
"""Below the 5 s after which the yard closes: a message must not meet a closing connection."""

_CONNECT_SECONDS: Final = 10.0
_PART: Final = 64 * 1024
_LONGEST_HEAD: Final = 64 * 1024


class NotReached(Exception):
    """No connection could be made, so nothing was sent."""


class Cut(Exception):
    """The connection ended before the answer did."""


class ListenAddress(NamedTuple):
    """Where the yard listens."""

    host: str
    port: int
    tls: ssl.SSLContext | None


class Answer:
    """A status, headers with names in lower case, and a body that comes in parts."""

    def __init__(
        self, status: int, headers: Mapping[str, str], reader: asyncio.StreamReader
    ) -> None:
        self.status = status
        self.headers = headers
        self.read_out = False
        self._reader = reader

    @property
    def is_stream(self) -> bool:
        """Whether it is a stream of events."""
        return self.headers.get("content-type", "").startswith(EVENT_STREAM)

    async def body(self) -> bytes:
        """The whole body."""
        return b"".join([part async for part in self.parts()])

    async def parts(self) -> AsyncIterator[bytes]:
        """The body as it comes."""
        try:
            if "chunked" in self.headers.get("transfer-encoding", ""):
                while size := int((await self._reader.readline()).split(b";")[0], 16):
                    async for part in self._exactly(size):
                        yield part
                    await self._reader.readexactly(2)
                await self._reader.readline()
            else:
                async for part in self._exactly(int(self.headers.get("content-length", "0"))):
                    yield part
        except (EOFError, OSError, ValueError) as error:
            raise Cut(str(error) or "the connection was closed") from None
        self.read_out = True

    async def _exactly(self, size: int) -> AsyncIterator[bytes]:
        while size:
            part = await self._reader.read(min(size, _PART))
            if not part:
                raise EOFError
            size -= len(part)
            yield part


class _Line(NamedTuple):
    """One connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter


class HttpClient:
    """Asks one yard; connections that were read out are used again."""

    def __init__(self, address: ListenAddress, token: str) -> None:
        self._address = address
        host = f"[{address.host}]" if ":" in address.host else address.host
        self._fixed = f"Host: {host}:{address.port}\r\nAuthorization: Bearer {token}\r\n"
        self._idle: list[tuple[float, _Line]] = []

    @asynccontextmanager
    async def ask(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes = b""
    ) -> AsyncGenerator[Answer]:
        """Send a request; its answer, for as long as the block lasts.

        Raises:
            NotReached: There is no yard.
            Cut: The connection ended too early.
        """
        line = await self._line()
        try:
            answer = await self._exchange(line, self._head(method, path, headers, body) + body)
            yield answer
            if answer.read_out and answer.headers.get("connection", "") != "close":
                self._idle.append((time.monotonic(), line))
                line = None
        finally:
            if line is not None:
                line.writer.close()

    async def close(self) -> None:
        """Let go of every connection."""
        for _, line in self._idle:
            line.writer.close()
        for _, line in self._idle:
            with contextlib.suppress(OSError):
                await line.writer.wait_closed()
        self._idle.clear()

    def _head(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> bytes:
        told = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        size = f"Content-Length: {len(body)}\r\n" if body else ""
        return f"{method} {path} HTTP/1.1\r\n{self._fixed}{told}{size}\r\n".encode()

    async def _line(self) -> _Line:
        while self._idle:
            since, line = self._idle.pop()
            if time.monotonic() - since < _KEEP_SECONDS and not line.reader.at_eof():
                return line
            line.writer.close()
        host, port, tls = self._address
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                opened = asyncio.open_connection(host, port, ssl=tls, limit=_LONGEST_HEAD)
                return _Line(*await opened)
        except (OSError, TimeoutError) as error:
            raise NotReached(str(error)) from None

    async def _exchange(self, line: _Line, request: bytes) -> Answer:
        try:
            line.writer.write(request)
            await line.writer.drain()
            head = await line.reader.readuntil(b"\r\n\r\n")
            first, *rest = head.decode("latin-1").split("\r\n")
            pairs = (each.partition(":") for each in rest if each)
            headers = {name.lower(): value.strip() for name, _, value in pairs}
            return Answer(int(first.split(" ", 2)[1]), headers, line.reader)
        except (EOFError, OSError, ValueError, asyncio.LimitOverrunError) as error:
            raise Cut(str(error) or "the connection was closed") from None
