"""Servers to test links against: one that does what a test tells it, and a home for ASGI apps.

`RawServer` speaks HTTP by hand, so that it can also speak it wrongly.
"""

import asyncio
import json
import socket
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from starlette.applications import Starlette

from mcpyard.domain.cause import Cause
from mcpyard.wire.link import Outgoing


class Signal:
    """Lets a test wait until something it can look at has become true."""

    def __init__(self) -> None:
        self._changed = asyncio.Event()

    def note(self) -> None:
        self._changed.set()

    async def until(self, true: Callable[[], object]) -> None:
        while not true():
            self._changed.clear()
            await self._changed.wait()


@dataclass(frozen=True, slots=True)
class Request:
    """One request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def message(self) -> dict[str, Any]:
        return json.loads(self.body) if self.body else {}

    @property
    def id(self) -> int | None:
        return self.message.get("id")


class Talk:
    """The server's side of one exchange."""

    def __init__(
        self, request: Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.heard = request
        self._reader = reader
        self._writer = writer

    async def raw(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def head(self, status: int, headers: Mapping[str, str]) -> None:
        lines = [f"HTTP/1.1 {status} Said", *(f"{name}: {text}" for name, text in headers.items())]
        await self.raw("\r\n".join([*lines, "", ""]).encode())

    async def body(
        self,
        status: int,
        data: bytes = b"",
        kind: str = "application/json",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        basic = {"Content-Type": kind, "Content-Length": str(len(data))}
        await self.head(status, {**basic, **(headers or {})})
        await self.raw(data)

    async def answer(self, result: object = None, headers: Mapping[str, str] | None = None) -> None:
        await self.body(200, rpc_answer(self.heard.id, result), headers=headers)

    async def events(self, headers: Mapping[str, str] | None = None) -> None:
        basic = {"Content-Type": "text/event-stream", "Transfer-Encoding": "chunked"}
        await self.head(200, {**basic, **(headers or {})})

    async def chunk(self, data: bytes) -> None:
        await self.raw(b"%x\r\n%b\r\n" % (len(data), data))

    async def event(self, data: bytes, **fields: str) -> None:
        extra = "".join(f"{name}: {text}\n" for name, text in fields.items()).encode()
        await self.chunk(extra + b"data: " + data + b"\n\n")

    async def end(self) -> None:
        await self.raw(b"0\r\n\r\n")

    async def gone(self) -> None:
        """Wait until the client has closed its side."""
        await self._reader.read(1)

    async def finish(self) -> None:
        """Close the connection after what was sent."""
        self._writer.close()
        await self._writer.wait_closed()

    def cut(self) -> None:
        """Drop the connection without a word."""
        self._writer.transport.abort()


Script = Callable[[Talk], Awaitable[None]]


def rpc_answer(number: int | None, result: object = None) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "result": result or {}}).encode()


class RawServer:
    """Runs a script for each request it hears."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.heard: list[Request] = []
        self.signal = Signal()
        self.connections = 0
        self.url = ""
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self, port: int = 0) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", port)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/mcp"

    async def hears(self, method: str, number: int = 1) -> Request:
        """Wait for the so-manieth request with an HTTP method."""

        def requests() -> list[Request]:
            return [request for request in self.heard if request.method == method]

        await self.signal.until(lambda: len(requests()) >= number)
        return requests()[number - 1]

    async def stop(self) -> None:
        self._server.close()
        for writer in self._writers:
            writer.transport.abort()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        try:
            while (request := await self._hear(reader)) is not None:
                self.heard.append(request)
                self.signal.note()
                await self.script(Talk(request, reader, writer))
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            self._writers.discard(writer)
            writer.close()

    async def _hear(self, reader: asyncio.StreamReader) -> Request | None:
        try:
            text = (await reader.readuntil(b"\r\n\r\n")).decode()
        except asyncio.IncompleteReadError:
            return None
        first, *rest = text.strip().split("\r\n")
        pairs = [line.split(": ", 1) for line in rest]
        headers = {name.lower(): value for name, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        method, path, _ = first.split(" ")
        return Request(method, path, headers, body)


@asynccontextmanager
async def raw_server(script: Script) -> AsyncGenerator[RawServer]:
    server = RawServer(script)
    await server.start()
    try:
        yield server
    finally:
        await server.stop()


@contextmanager
def asgi_server(app: Starlette) -> Generator[str]:
    """Run an ASGI app in a thread of its own; gives its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1, lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()


@dataclass
class Recorder:
    """A receiver that records what comes and lets a test wait for more."""

    messages: list[tuple[dict[str, Any], int | None]] = field(default_factory=list)
    frames: list[bytes] = field(default_factory=list)
    noises: list[tuple[str, bytes]] = field(default_factory=list)
    failures: dict[int, Cause] = field(default_factory=dict)
    losses: list[Cause] = field(default_factory=list)
    order: list[str] = field(default_factory=list)
    signal: Signal = field(default_factory=Signal)

    def message(self, frame: bytes, stream: int | None) -> bool:
        self.frames.append(frame)
        body = json.loads(frame)
        batch = body if isinstance(body, list) else [body]
        self.messages.extend((message, stream) for message in batch)
        self._note("message")
        return True

    def noise(self, reason: str, sample: bytes) -> None:
        self.noises.append((reason, sample))
        self._note("noise")

    def failed(self, request: int, cause: Cause) -> None:
        assert request not in self.failures
        self.failures[request] = cause
        self._note("failed")

    def lost(self, cause: Cause) -> None:
        self.losses.append(cause)
        self._note("lost")

    def _note(self, what: str) -> None:
        assert "lost" not in self.order, "a link must say nothing after it was lost"
        self.order.append(what)
        self.signal.note()

    async def until(self, true: Callable[[], object]) -> None:
        await self.signal.until(true)

    async def answer(self, request: int) -> dict[str, Any]:
        await self.until(lambda: self._answer(request) or request in self.failures)
        response = self._answer(request)
        assert response is not None, self.failures[request]
        return response

    async def failure(self, request: int) -> Cause:
        await self.until(lambda: request in self.failures)
        return self.failures[request]

    async def loss(self) -> Cause:
        await self.until(lambda: self.losses)
        return self.losses[0]

    def _answer(self, request: int) -> dict[str, Any] | None:
        responses = (m for m, _ in self.messages if m.get("id") == request and "method" not in m)
        return next(responses, None)


def call(
    number: int, method: str = "tools/list", params: object = None, **headers: str
) -> Outgoing:
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}
    return Outgoing(json.dumps(message).encode(), number, method, headers)


def notice(method: str, params: object = None) -> Outgoing:
    message = {"jsonrpc": "2.0", "method": method, "params": params or {}}
    return Outgoing(json.dumps(message).encode(), None, method)


def initialize(number: int = 0) -> Outgoing:
    return call(
        number,
        "initialize",
        {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        },
    )
