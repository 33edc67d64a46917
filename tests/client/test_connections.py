"""Which connections to a running mcpyard are kept, and which are closed."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from mcpyard.client.home_client import HomeClient
from mcpyard.client.http import HttpClient
from mcpyard.store.home import Home, Running

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


class SlowYard:
    """Answers each request as soon as it may, and counts its connections."""

    def __init__(self) -> None:
        self.url = ""
        self.open = 0
        self.requests = 0
        self.asked = asyncio.Condition()
        self.may_answer = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self.open += 1
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await reader.readuntil(b"\r\n\r\n")
                self.requests += 1
                await self._changed()
                await self.may_answer.wait()
                writer.write(ANSWER)
        writer.close()
        self.open -= 1
        await self._changed()

    async def until(self, *, requests: int | None = None, connections: int | None = None) -> None:
        """Wait for so many requests, or so many open connections."""
        async with asyncio.timeout(10), self.asked:
            await self.asked.wait_for(lambda: self.requests == requests or self.open == connections)

    async def _changed(self) -> None:
        async with self.asked:
            self.asked.notify_all()


@asynccontextmanager
async def slow_yard() -> AsyncGenerator[SlowYard]:
    yard = SlowYard()
    server = await asyncio.start_server(yard.serve, "127.0.0.1", 0)
    async with server:
        yard.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        yield yard


async def test_a_request_that_outlives_its_client_leaves_no_connection() -> None:
    async with slow_yard() as yard:
        client = HttpClient(Running(7, yard.url), "key")
        request = asyncio.create_task(client.request(bytes, "GET", "/"))
        await yard.until(requests=1)
        await client.aclose()
        yard.may_answer.set()
        assert await request == b"{}"
        await yard.until(connections=0)


async def test_requests_that_find_mcpyard_gone_follow_it_together(tmp_path: Path) -> None:
    async with slow_yard() as yard:
        home = Home(tmp_path)
        home.token()
        home.announce("http://127.0.0.1:9")
        client = HomeClient(home)
        home.announce(yard.url)
        first = asyncio.create_task(client.request(bytes, "GET", "/"))
        second = asyncio.create_task(client.request(bytes, "GET", "/"))
        await yard.until(requests=2)
        yard.may_answer.set()
        assert await first == await second == b"{}"
        assert yard.open == 2
        await client.aclose()
        await yard.until(connections=0)
