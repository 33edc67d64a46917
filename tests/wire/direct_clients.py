"""Clients with the transport for servers without a proxy, and servers that speak HTTP by hand."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpx2

from mcpyard.wire.remote.direct_transport import DirectTransport
from mcpyard.wire.remote.http11 import Http11Connection
from mcpyard.wire.remote.http11_pool import Http11Pool
from tests.wire.servers import RawServer, Script, Talk, raw_server

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

OK = b"HTTP/1.1 200 OK\r\n"
HI = OK + b"Content-Length: 2\r\n\r\nhi"


def no_tls() -> ssl.SSLContext:
    raise AssertionError("no TLS is needed")


@asynccontextmanager
async def client_of(
    script: Script, limits: httpx2.Timeout | None = None
) -> AsyncGenerator[tuple[httpx2.AsyncClient, RawServer]]:
    transport = DirectTransport(no_tls)
    async with (
        raw_server(script) as server,
        httpx2.AsyncClient(base_url=server.url, transport=transport, timeout=limits) as client,
    ):
        yield client, server


@asynccontextmanager
async def serving(serve: Serve, tls: ssl.SSLContext | None = None) -> AsyncGenerator[int]:
    """Accepts connections on a port and hands each to a function."""
    tasks: list[asyncio.Task[None]] = []

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.append(task)
        try:
            await serve(reader, writer)
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(accept, "127.0.0.1", 0, limit=1024, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


def says(*parts: bytes, then_cut: bool = False) -> Script:
    """Answers every request with the same bytes."""

    async def script(talk: Talk) -> None:
        for part in parts:
            await talk.raw(part)
        if then_cut:
            await talk.finish()

    return script


def open_connections(client: httpx2.AsyncClient) -> list[Http11Connection]:
    return [each for pool in pools(client) for each in pool._open]


def pools(client: httpx2.AsyncClient) -> list[Http11Pool]:
    transport = client._transport
    assert isinstance(transport, DirectTransport)
    return [*transport._pools.values()]
