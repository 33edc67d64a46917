"""Slow, large and many: what a peer may do to the web server, over real sockets."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from mcpyard.api.http_server.connection_limits import (
    HEAD_LIMIT,
    BoundedProtocol,
    ConnectionCounts,
)
from mcpyard.api.http_server.uvicorn_server import WebServer
from mcpyard.api.security.guard import Guard
from mcpyard.api.security.headers import STRICT
from mcpyard.api.security.keys import AdminKey, Keys
from mcpyard.store.volatile import VolatileCallTokens, VolatileSessions
from mcpyard.testing import ManualClock

pytestmark = pytest.mark.real

HEAD = b"Host: 127.0.0.1\r\nAuthorization: Bearer key\r\n"
GET = b"GET /echo HTTP/1.1\r\n" + HEAD + b"\r\n"


@dataclass(frozen=True, slots=True)
class Line:
    """A connection to the server, written and read by hand."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def answer(self) -> tuple[int, bytes]:
        """The next answer: its status and its body."""
        async with asyncio.timeout(10):
            head = (await self.reader.readuntil(b"\r\n\r\n")).lower()
            length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
            return int(head.split(b" ")[1]), await self.reader.readexactly(length)

    async def rest(self) -> bytes:
        """Everything until the server hangs up."""
        async with asyncio.timeout(10):
            return await self.reader.read()


class Served:
    """The server under test."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.go_on = asyncio.Event()
        self.web = WebServer(self._app())
        self._lines: list[Line] = []

    def _app(self) -> ASGIApp:
        async def echo(request: Request) -> Response:
            return Response(json.dumps(len(await request.body())))

        async def names(request: Request) -> Response:
            await request.body()
            return Response(json.dumps(request.headers.keys()))

        async def stream(_request: Request) -> Response:
            return StreamingResponse(self._pieces(), headers={"Content-Length": "2"})

        routes = [
            Route("/echo", echo, methods=["GET", "POST"]),
            Route("/names", names, methods=["POST"]),
            Route("/api/events", stream),
        ]
        clock = ManualClock()
        keys = Keys(AdminKey("key"), VolatileCallTokens(), VolatileSessions(), clock)
        return Guard(Starlette(routes=routes), keys, [])

    async def _pieces(self) -> AsyncIterator[bytes]:
        yield b"a"
        await self.go_on.wait()
        yield b"b"

    async def line(self) -> Line:
        line = Line(*await asyncio.open_connection(*self.listener.getsockname()[:2]))
        self._lines.append(line)
        return line

    def hang_up(self) -> None:
        for line in self._lines:
            line.writer.close()


@contextlib.asynccontextmanager
async def served(monkeypatch: pytest.MonkeyPatch, seconds: float = 30) -> AsyncGenerator[Served]:
    monkeypatch.setattr(BoundedProtocol, "head_seconds", seconds)
    server = Served()
    serving = asyncio.create_task(server.web.serve([server.listener]))
    await server.web.ready.wait()
    try:
        yield server
    finally:
        server.hang_up()
        server.web.force_close()
        server.web.stop()
        await serving
        server.listener.close()


@pytest.mark.parametrize("sent", [b"", b"G", GET[:-2], b"\r\n", GET + b"GET /ec"])
async def test_a_head_that_does_not_end_in_time_is_dropped(
    monkeypatch: pytest.MonkeyPatch, sent: bytes
) -> None:
    async with served(monkeypatch, 0.2) as server:
        line = await server.line()
        line.writer.write(sent)
        if sent.startswith(GET):
            assert await line.answer() == (200, b"0")
        dropped = await line.rest()
        assert dropped.startswith(b"HTTP/1.1 408 "), dropped


async def test_a_line_is_not_kept_alive_by_line_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch, 0.3) as server:
        line = await server.line()
        line.writer.write(GET)
        assert await line.answer() == (200, b"0")
        waiting = asyncio.create_task(line.rest())
        while not waiting.done():
            line.writer.write(b"\r\n")
            await asyncio.wait({waiting}, timeout=0.02)
        assert waiting.result().startswith(b"HTTP/1.1 408 ")


async def test_a_peer_that_keeps_sending_slowly_is_dropped_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with served(monkeypatch, 0.3) as server:
        line = await server.line()
        line.writer.write(b"GET /echo HTTP/1.1\r\n")
        waiting = asyncio.create_task(line.rest())
        sent = 0
        while not waiting.done():
            line.writer.write(b"X-Slow: 1\r\n")
            sent += 1
            await asyncio.wait({waiting}, timeout=0.02)
        assert waiting.result().startswith(b"HTTP/1.1 408 ")
        assert 2 < sent < 50


async def test_a_peer_that_looks_up_only_when_all_is_sent_hears_why_it_was_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with served(monkeypatch) as server:
        line = await server.line()
        line.writer.write(b"GET /echo HTTP/1.1\r\nX-Large: ")
        for _ in range(64):
            line.writer.write(b"x" * HEAD_LIMIT)
            await line.writer.drain()
        assert (await line.rest()).startswith(b"HTTP/1.1 431 ")


async def test_a_peer_that_was_refused_and_goes_on_sending_is_hung_up_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(BoundedProtocol, "linger_seconds", 0.1)
    async with served(monkeypatch) as server:
        line = await server.line()
        line.writer.write(b"no request at all\r\n\r\n")
        assert (await line.rest()).startswith(b"HTTP/1.1 400 ")
        lost = asyncio.create_task(line.writer.wait_closed())
        while not lost.done():
            line.writer.write(b"x")
            await asyncio.wait({lost}, timeout=0.02)
        assert isinstance(lost.exception(), ConnectionError)


async def test_the_rest_of_a_body_that_was_refused_is_waited_for_no_longer_than_a_head(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with served(monkeypatch, 0.3) as server:
        line = await server.line()
        line.writer.write(b"POST /echo HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 999\r\n\r\n")
        assert (await line.answer())[0] == 401
        waiting = asyncio.create_task(line.rest())
        while not waiting.done():
            line.writer.write(b"x")
            await asyncio.wait({waiting}, timeout=0.02)
        assert waiting.result() == b"", "nothing is mixed into the answer that was given"


async def test_a_body_that_is_too_large_is_answered_and_can_be_sent_to_its_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with served(monkeypatch) as server:
        line = await server.line()
        size = 5 * 1024 * 1024
        line.writer.write(
            b"POST /echo HTTP/1.1\r\n" + HEAD + b"Content-Length: %d\r\n\r\n" % size + bytes(size)
        )
        await line.writer.drain()
        assert (await line.answer())[0] == 413
        line.writer.write(GET)
        assert await line.answer() == (200, b"0")


async def test_a_line_at_rest_and_a_stream_outlive_the_deadline(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with served(monkeypatch, 0.2) as server:
        resting, streaming, slow = await server.line(), await server.line(), await server.line()
        resting.writer.write(GET)
        assert await resting.answer() == (200, b"0")
        streaming.writer.write(GET.replace(b"/echo", b"/api/events"))
        slow.writer.write(GET[:-2])
        assert (await slow.rest()).startswith(b"HTTP/1.1 408 "), "the deadline passed by now"
        resting.writer.write(GET)
        assert await resting.answer() == (200, b"0")
        server.go_on.set()
        assert await streaming.answer() == (200, b"ab")


@pytest.mark.parametrize("name", [b"X-Large: ", b"X", b"Cookie: "])
@pytest.mark.parametrize("at_once", [True, False])
async def test_a_head_that_is_too_large_is_refused(
    monkeypatch: pytest.MonkeyPatch, name: bytes, at_once: bool
) -> None:
    async with served(monkeypatch) as server:
        line = await server.line()
        end = b"\r\n\r\n" if at_once and name != b"X" else b""
        line.writer.write(b"GET /echo HTTP/1.1\r\n" + HEAD + name + b"x" * (HEAD_LIMIT + 1) + end)
        answer = await line.rest()
        assert answer.startswith(b"HTTP/1.1 431 "), answer
        for each in STRICT:
            assert b"\r\n%b: %b\r\n" % each in answer


async def test_a_head_may_be_almost_as_large_as_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server:
        line = await server.line()
        large = b"X-Large: " + b"x" * (HEAD_LIMIT - 200) + b"\r\n"
        for _ in range(3):
            line.writer.write(b"GET /echo HTTP/1.1\r\n" + HEAD + large + b"\r\n")
            assert await line.answer() == (200, b"0")


async def test_trailers_never_become_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server:
        line = await server.line()
        head = b"POST /names HTTP/1.1\r\n" + HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
        body = b"1\r\nx\r\n0\r\nAuthorization: Bearer other\r\nX-Late: 1\r\n\r\n"
        for _ in range(2):
            line.writer.write(head + body)
            status, names = await line.answer()
            assert (status, json.loads(names)) == (
                200,
                ["host", "authorization", "transfer-encoding"],
            )


async def test_trailers_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server:
        line = await server.line()
        line.writer.write(
            b"POST /echo HTTP/1.1\r\n" + HEAD + b"Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n"
        )
        with contextlib.suppress(ConnectionError):
            for _ in range(64):
                line.writer.write(b"X: " + b"x" * HEAD_LIMIT)
                await line.writer.drain()
            assert b"HTTP/1.1 200" not in await line.rest()


async def test_connections_beyond_the_limit_are_turned_away(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(BoundedProtocol, "most_connections", 3)
    async with served(monkeypatch) as server:
        inside = [await server.line() for _ in range(3)]
        for line in inside:
            line.writer.write(GET)
            assert await line.answer() == (200, b"0")
        assert (await (await server.line()).rest()).startswith(b"HTTP/1.1 503 ")
        inside[0].writer.close()
        await inside[0].writer.wait_closed()
        async with asyncio.timeout(10):
            while True:
                line = await server.line()
                line.writer.write(GET)
                if (await line.answer())[0] == 200:
                    break


async def test_what_is_no_request_is_refused_strictly(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as server:
        line = await server.line()
        line.writer.write(b"\0\xff\n\n")
        answer = await line.rest()
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b"x-content-type-options: nosniff" in answer


async def test_a_head_that_begins_together_with_the_end_of_a_request_has_the_same_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with served(monkeypatch) as server:
        line = await server.line()
        half = b"X-Long: 1\r\n" * (HEAD_LIMIT * 2 // 3 // 11)
        line.writer.write(GET + GET[:-2] + half)
        assert await line.answer() == (200, b"0")
        line.writer.write(half + b"\r\n")
        assert (await line.rest()).startswith(b"HTTP/1.1 431 ")


@pytest.mark.spec("F2.6")
async def test_idle_unauthenticated_sockets_lock_nobody_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(BoundedProtocol, "most_connections", 3)
    monkeypatch.setattr(BoundedProtocol, "counts", ConnectionCounts())
    async with served(monkeypatch) as server:
        authenticated = await server.line()
        authenticated.writer.write(GET)
        assert await authenticated.answer() == (200, b"0")
        unauthenticated = await server.line()
        unauthenticated.writer.write(GET.replace(b"Bearer key", b"Bearer other"))
        assert (await unauthenticated.answer())[0] == 401
        silent = await server.line()
        for closed in (unauthenticated, silent):
            owner = await server.line()
            owner.writer.write(GET)
            assert await owner.answer() == (200, b"0")
            assert await closed.rest() == b""
        authenticated.writer.write(GET)
        assert await authenticated.answer() == (200, b"0")
        assert (await (await server.line()).rest()).startswith(b"HTTP/1.1 503 ")
        assert BoundedProtocol.counts == ConnectionCounts(made=6, closed=2, refused=1)
