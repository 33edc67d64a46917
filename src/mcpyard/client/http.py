"""HTTP to a running mcpyard: one pool of connections, one way to send, one way to read answers.

A command waits for it, and each message of the stdio bridge passes it, so it must be there at once
and cost next to nothing. A whole HTTP client is neither.
"""

import asyncio
import contextlib
import os
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, TypeVar, cast
from urllib.parse import urlsplit

from mcpyard.client.problems import documented, error_of
from mcpyard.domain.errors import Disconnected
from mcpyard.store.home import Running
from mcpyard.store.tls import trusting

if TYPE_CHECKING:
    from mcpyard.wire.remote.eventstream import SseEvent

EVENT_STREAM: Final = "text/event-stream"

_REFUSED: Final = 400
_KEEP_SECONDS: Final = 3.0
"""Below the 5 s after which the yard closes: a message must not meet a closing connection."""

_CONNECT_SECONDS: Final = 10.0
_PART: Final = 64 * 1024
_LONGEST_HEAD: Final = 64 * 1024

_BROKEN: Final = (EOFError, OSError, ValueError, asyncio.LimitOverrunError)

_Line = tuple[asyncio.StreamReader, asyncio.StreamWriter]
_Decoded = TypeVar("_Decoded")


class TransportError(Exception):
    """There is no answer, or only a part of one."""


class NotReached(TransportError):
    """No connection could be made, so nothing was sent."""


class Cut(TransportError):
    """The connection ended before the answer did."""


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
                while size := int((await self._reader.readuntil(b"\n")).split(b";")[0], 16):
                    async for part in self._exactly(size):
                        yield part
                    await self._reader.readexactly(2)
                await self._reader.readline()
            else:
                async for part in self._exactly(int(self.headers.get("content-length", "0"))):
                    yield part
        except _BROKEN as error:
            raise _cut(error) from None
        self.read_out = True

    async def events(self) -> AsyncIterator[list["SseEvent"]]:
        """The events of a stream, as they come together; those over the limit are passed over."""
        from mcpyard.wire.remote.eventstream import EventParser, SseEvent  # noqa: PLC0415

        parser = EventParser()
        async for part in self.parts():
            if events := [each for each in parser.feed(part) if isinstance(each, SseEvent)]:
                yield events

    async def _exactly(self, size: int) -> AsyncIterator[bytes]:
        while size:
            part = await self._reader.read(min(size, _PART))
            if not part:
                raise EOFError
            size -= len(part)
            yield part


class HttpClient:
    """Sends requests to one yard; connections that were read out are used again.

    Attributes:
        running: The yard.
    """

    def __init__(
        self, running: Running, token: str, *, name: str = "mcpyard", within: float | None = None
    ) -> None:
        self.running = running
        url = urlsplit(running.url)
        self._host, self._port = url.hostname or "", url.port or 0
        self._tls = trusting(running.certificate) if url.scheme == "https" else None
        self._fixed = f"Host: {url.netloc}\r\nAuthorization: Bearer {token}\r\n"
        self._name = name
        self._within = within
        self._idle: list[tuple[float, _Line]] = []
        self._closed = False

    async def request(
        self,
        kind: type[_Decoded],
        method: str,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> _Decoded:
        """What a route answers, decoded to a type; `bytes` are as they came.

        Raises:
            Disconnected: There is no yard, it ended, or its time is over.
            YardError: What it refused with.
        """
        async with self.answer(method, path, body, headers) as answer:
            content = await answer.body()
        if kind is bytes:
            return cast("_Decoded", content)
        from msgspec import json  # noqa: PLC0415  commands do without

        return json.decode(content, type=kind)

    @asynccontextmanager
    async def answer(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> AsyncGenerator[Answer]:
        """What a route answers, for as long as the block lasts; see `request`."""
        sent = {"Content-Type": "application/json"} if body else {}
        try:
            async with (
                asyncio.timeout(self._within),
                self.send(method, path, sent | dict(headers or {}), body) as answer,
            ):
                if answer.status >= _REFUSED:
                    raise error_of(answer.status, await answer.body())
                yield answer
        except (TransportError, TimeoutError) as error:
            message = f"{self._name} does not answer: {str(error) or 'timed out'}"
            raise documented(Disconnected(message), slug="yard-silent") from error

    @asynccontextmanager
    async def send(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes = b""
    ) -> AsyncGenerator[Answer]:
        """Send a request; its answer, whatever its status, for as long as the block lasts.

        Raises:
            NotReached: There is no yard.
            Cut: The connection ended too early.
        """
        line = await self._line()
        try:
            answer = await self._exchange(line, self._head(method, path, headers, body) + body)
            yield answer
            lasting = answer.headers.get("connection", "") != "close"
            if answer.read_out and lasting and not self._closed:
                self._idle.append((time.monotonic(), line))
                line = None
        finally:
            if line is not None:
                line[1].close()

    async def aclose(self) -> None:
        """Close every connection; those of requests under way when these have ended."""
        self._closed = True
        writers = [writer for _, (_, writer) in self._idle]
        self._idle.clear()
        for each in writers:
            each.close()
        for each in writers:
            with contextlib.suppress(OSError):
                await each.wait_closed()

    def _head(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> bytes:
        fields = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        size = f"Content-Length: {len(body)}\r\n" if body else ""
        return f"{method} {path} HTTP/1.1\r\n{self._fixed}{fields}{size}\r\n".encode()

    async def _line(self) -> _Line:
        while self._idle:
            since, (reader, writer) = self._idle.pop()
            if time.monotonic() - since < _KEEP_SECONDS and not reader.at_eof():
                return reader, writer
            writer.close()
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                opened = asyncio.open_connection(
                    self._host, self._port, ssl=self._tls, limit=_LONGEST_HEAD
                )
                return await opened
        except TimeoutError:
            raise NotReached("timed out") from None
        except ConnectionError as error:
            # The loop puts the address in the place of the system's words.
            raise NotReached(f"[Errno {error.errno}] {os.strerror(error.errno or 0)}") from None
        except OSError as error:
            raise NotReached(str(error)) from None

    async def _exchange(self, line: _Line, request: bytes) -> Answer:
        reader, writer = line
        try:
            writer.write(request)
            await writer.drain()
            head = await reader.readuntil(b"\r\n\r\n")
            first, *rest = head.decode("latin-1").split("\r\n")
            pairs = (each.partition(":") for each in rest if each)
            headers = {name.lower(): value.strip() for name, _, value in pairs}
            return Answer(int(first.partition(" ")[2][:3]), headers, reader)
        except _BROKEN as error:
            raise _cut(error) from None


def _cut(error: Exception) -> Cut:
    if isinstance(error, OSError):
        return Cut(str(error))
    return Cut("the connection was closed" if isinstance(error, EOFError) else "it is not HTTP")
