"""Programs that send one head again and again: what was made of it once holds only for the same."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field

import pytest
from starlette.types import Receive, Scope, Send

from mcpyard.api.http_server.uvicorn_server import WebServer
from mcpyard.api.security.guard import Guard
from mcpyard.api.security.keys import AdminKey, Keys
from mcpyard.asgi_scope import SEND_WHOLE
from mcpyard.store.volatile import VolatileCallTokens, VolatileSessions
from mcpyard.testing import ManualClock

pytestmark = pytest.mark.real

JSON = (b"content-type", b"application/json")


def post(body: bytes, path: str = "/mcp", **headers: str) -> bytes:
    fields = {"Host": "127.0.0.1", "Authorization": "Bearer key", **headers}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
    return f"POST {path} HTTP/1.1\r\n{lines}Content-Length: {len(body)}\r\n\r\n".encode() + body


@dataclass(slots=True)
class Served:
    """A server that sends back what it got, and one connection to it."""

    key: AdminKey
    began: asyncio.Event = field(default_factory=asyncio.Event)
    heads: list[list[tuple[bytes, bytes]]] = field(default_factory=list)
    reader: asyncio.StreamReader = field(default_factory=asyncio.StreamReader)
    writer: asyncio.StreamWriter | None = None

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.began.set()
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        self.heads.append(scope["headers"])
        reply = scope["path"].encode() + b" " + body
        assert scope[SEND_WHOLE](200, (JSON,), reply)
        del send

    async def say(self, data: bytes) -> None:
        assert self.writer
        self.writer.write(data)
        await self.writer.drain()

    async def begin(self, data: bytes) -> None:
        """Say the beginning of a request, and go on when it is under way."""
        self.began.clear()
        await self.say(data)
        await self.began.wait()

    async def hear(self) -> tuple[int, bytes, bytes]:
        """An answer: its status, its head, its body."""
        async with asyncio.timeout(10):
            head = await self.reader.readuntil(b"\r\n\r\n")
            length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
            return int(head.split(b" ")[1]), head, await self.reader.readexactly(length)

    async def ask(self, data: bytes) -> tuple[int, bytes]:
        await self.say(data)
        status, _, body = await self.hear()
        return status, body


@pytest.fixture
async def served() -> AsyncGenerator[Served]:
    server = Served(AdminKey("key", lambda: "another"))
    keys = Keys(server.key, VolatileCallTokens(), VolatileSessions(), ManualClock())
    with socket.create_server(("127.0.0.1", 0)) as listener:
        web = WebServer(Guard(server.app, keys, []))
        serving = asyncio.create_task(web.serve([listener]))
        await web.ready.wait()
        server.reader, server.writer = await asyncio.open_connection(*listener.getsockname()[:2])
        try:
            yield server
        finally:
            server.writer.close()
            web.force_close()
            web.stop()
            await serving
            with contextlib.suppress(ConnectionError):
                await server.writer.wait_closed()


async def test_requests_with_one_head_are_told_apart_by_their_bodies(served: Served) -> None:
    for body in (b"one", b"two", b"six", b"three", b"seven"):
        assert await served.ask(post(body)) == (200, b"/mcp " + body)
    assert served.heads[0] is served.heads[1] is served.heads[2]
    assert served.heads[2] is not served.heads[3]


async def test_a_head_that_differs_is_read_anew(served: Served) -> None:
    assert await served.ask(post(b"one")) == (200, b"/mcp one")
    assert await served.ask(post(b"one", "/mcp/a")) == (200, b"/mcp/a one")
    assert (await served.ask(post(b"one", Authorization="Bearer kex")))[0] == 401


async def test_a_key_that_is_taken_away_opens_nothing_however_often_it_did(served: Served) -> None:
    assert await served.ask(post(b"one")) == (200, b"/mcp one")
    assert await served.ask(post(b"two")) == (200, b"/mcp two")
    assert served.key.rotate()
    assert (await served.ask(post(b"six")))[0] == 401
    assert (await served.ask(post(b"six", Authorization="Bearer another")))[0] == 200


async def test_a_request_in_pieces_after_one_in_one_piece_is_put_together(served: Served) -> None:
    assert await served.ask(post(b"one")) == (200, b"/mcp one")
    for left in (1, 3):
        data = post(b"two")
        await served.begin(data[:-left])
        assert await served.ask(data[-left:]) == (200, b"/mcp two")
    assert await served.ask(post(b"six")) == (200, b"/mcp six")


async def test_requests_that_come_together_are_answered_in_their_order(served: Served) -> None:
    assert await served.ask(post(b"one")) == (200, b"/mcp one")
    await served.say(post(b"two") + post(b"six") + post(b"ten"))
    assert [(await served.hear())[2] for _ in range(3)] == [b"/mcp two", b"/mcp six", b"/mcp ten"]
    assert await served.ask(post(b"one")) == (200, b"/mcp one")


async def test_what_looks_the_same_but_is_the_body_of_another_request_stays_a_body(
    served: Served,
) -> None:
    inner = post(b"one")
    assert await served.ask(inner) == (200, b"/mcp one")
    await served.begin(post(inner)[: -len(inner)])
    assert await served.ask(inner) == (200, b"/mcp " + inner)
    assert await served.ask(inner) == (200, b"/mcp one")


async def test_a_connection_that_is_to_close_closes_each_time(served: Served) -> None:
    assert await served.ask(post(b"one", Connection="close")) == (200, b"/mcp one")
    assert await served.reader.read() == b""


async def test_a_whole_answer_carries_the_headers_for_programs(served: Served) -> None:
    for _ in range(2):
        await served.say(post(b"one"))
        _, head, _ = await served.hear()
        assert b"\r\nx-content-type-options: nosniff\r\n" in head
        assert b"\r\ncache-control: no-store\r\n" in head
