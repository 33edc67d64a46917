"""Programs that send one head again and again: what was made of it once holds only for the same.

The length of the body is no part of the head: it is read and checked every time.
"""

import asyncio
import contextlib
import random
import socket
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast
from uuid import uuid4

import httptools
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from mcpyard.api.http_server.idle_timer import Idle
from mcpyard.api.http_server.repeated_heads import Repeated, repeatable
from mcpyard.api.http_server.uvicorn_server import WebServer
from mcpyard.api.security.guard import BODY_LIMIT, Guard
from mcpyard.api.security.keys import AdminKey, Keys, hashed
from mcpyard.asgi_scope import KNOWN_HEAD, SEND_WHOLE, OpenRequest
from mcpyard.domain.stored import CallToken
from mcpyard.store.volatile import VolatileCallTokens, VolatileSessions
from mcpyard.testing import ManualClock

if TYPE_CHECKING:
    from mcpyard.api.http_server.uvicorn_internals import ASGI3Application

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
    tokens: VolatileCallTokens = field(default_factory=VolatileCallTokens)
    direct: bool = False
    began: asyncio.Event = field(default_factory=asyncio.Event)
    heads: list[list[tuple[bytes, bytes]]] = field(default_factory=list)
    repeated: list[bool] = field(default_factory=list)
    reader: asyncio.StreamReader = field(default_factory=asyncio.StreamReader)
    writer: asyncio.StreamWriter | None = None

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.began.set()
        self.repeated.append(KNOWN_HEAD in scope)
        if self.direct and KNOWN_HEAD in scope:
            scope[KNOWN_HEAD].answer = scope[KNOWN_HEAD].answer or self.answer
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        self.heads.append(scope["headers"])
        reply = scope["path"].encode() + b" " + body
        assert scope[SEND_WHOLE](200, (JSON,), reply)
        del send

    def answer(self, request: OpenRequest, body: bytes) -> bool:
        """Answer at once, in a task, or not at all, as the body says."""
        if body == b"task":
            request.go_on(self.task)
        elif body != b"usual":
            assert request.send_whole(200, (JSON,), b"direct " + body)
        return body != b"usual"

    async def task(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert (await receive())["type"] == "http.request"
        headers = [(b"content-length", b"%d" % len(scope["method"]))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": scope["method"].encode()})

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
async def served(request: pytest.FixtureRequest) -> AsyncGenerator[Served]:
    """With the parameter "idle" behind an idle timer."""
    server = Served(AdminKey("key", lambda: "another"))
    keys = Keys(server.key, server.tokens, VolatileSessions(), ManualClock())
    with socket.create_server(("127.0.0.1", 0)) as listener:
        app: ASGIApp = Guard(server.app, keys, [])
        if getattr(request, "param", None) == "idle":
            app = Idle(app, 60.0, lambda: None)
        web = WebServer(app)
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
    bodies = (b"one", b"two", b"", b"three", b"x" * 1_000, b"six", b"y" * 100)
    for body in bodies:
        assert await served.ask(post(body)) == (200, b"/mcp " + body)
    assert served.repeated == [False, *[True] * (len(bodies) - 1)]
    lengths = [dict(head)[b"content-length"] for head in served.heads]
    assert lengths == [b"%d" % len(body) for body in bodies]


@pytest.mark.parametrize(
    "length", ["03", "+3", "3 ", " 3", "3\t", "3, 3", "3\r\nContent-Length: 3", "0x3", "", "٣"]
)
async def test_an_odd_length_gets_the_same_answer_after_a_known_head_as_without_one(
    served: Served, length: str
) -> None:
    odd = post(b"two").replace(b"Length: 3", f"Length: {length}".encode())
    assert await served.ask(post(b"one")) == (200, b"/mcp one")
    await served.say(odd)
    after = await served.hear()
    assert not any(served.repeated)
    assert served.writer
    address = served.writer.get_extra_info("peername")
    reader, writer = await asyncio.open_connection(*address[:2])
    served.writer.close()
    served.reader, served.writer = reader, writer
    await served.say(odd)
    assert await served.hear() == after


async def test_a_known_head_lets_no_body_over_the_limit_in(served: Served) -> None:
    assert await served.ask(post(b"one")) == (200, b"/mcp one")
    head = post(b"one").replace(b"Length: 3", b"Length: %d" % (BODY_LIMIT + 1))
    assert (await served.ask(head))[0] == 413


class Parsed:
    """What the parser makes of bytes: whole requests, each of a head and a body."""

    def __init__(self, data: bytes) -> None:
        self.headers: list[tuple[bytes, bytes]] = []
        self.body = b""
        self.whole = 0
        self.began = 0
        self.url = b""
        self.valid = True
        parser = httptools.HttpRequestParser(self)
        try:
            parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self.valid = False

    def on_message_begin(self) -> None:
        self.began += 1

    def on_url(self, url: bytes) -> None:
        self.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        self.headers.append((name.lower(), value))

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        self.whole += 1


async def nobody(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers nothing."""


def learned(data: bytes) -> Repeated | None:
    headers = Parsed(data).headers
    names = {"method": "POST", "raw_path": b"/mcp", "query_string": b"", "scheme": "http"}
    scope = {**names, "headers": headers, "http_version": "1.1"}
    return repeatable(data, scope, cast("ASGI3Application", nobody))


def mutated(data: bytes, chance: random.Random) -> bytes:
    """The bytes with a few of them changed, most often near the length."""
    near = data.lower().find(b"content-length")
    for _ in range(chance.randint(1, 3)):
        at = chance.choice([near + chance.randint(-4, 24), chance.randrange(len(data))])
        piece = chance.choice(
            [b"0", b"1", b"9", b" ", b"\t", b"\r", b"\n", b"\r\n", b",", b"+", b""]
        )
        data = data[:at] + piece + data[at + chance.randint(0, 2) :]
    return data


def test_whatever_is_taken_for_a_known_head_is_what_the_parser_makes_of_it() -> None:
    chance = random.Random(20261116)  # noqa: S311  the same bytes every time
    first = learned(post(b"one", Accept="a"))
    assert first
    taken = 0
    for _ in range(20_000):
        data = post(b"x" * chance.choice([0, 1, 9, 10, 11, 99, 100, 101, 1_000]), Accept="a")
        if chance.random() < 0.9:
            data = mutated(data, chance)
        body = first.body_of(data)
        if body is None:
            continue
        taken += 1
        parsed = Parsed(data)
        assert (parsed.valid, parsed.began, parsed.whole, parsed.body) == (True, 1, 1, body)
        assert parsed.headers == first.scope_of(body)["headers"]
    assert taken > 1_000


@pytest.mark.parametrize(
    "data",
    [
        post(b"one").replace(b"Length: 3", b"Length:3"),
        post(b"one").replace(b"Length: 3", b"Length: 03"),
        post(b"one").replace(b"Length: 3", b"Length: 3 "),
        post(b"one", Content_Length="3"),
        post(b"one", Transfer_Encoding="chunked"),
        post(b"one", Connection="close"),
        post(b"one", Expect="100-continue"),
        post(b"one", Upgrade="websocket"),
    ],
)
def test_a_head_that_leaves_any_doubt_is_not_remembered(data: bytes) -> None:
    assert learned(data) is None


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


async def test_an_application_answers_a_known_head_at_once_in_a_task_or_the_usual_way(
    served: Served,
) -> None:
    served.direct = True
    for _ in range(2):
        assert await served.ask(post(b"one")) == (200, b"/mcp one")
    for _ in range(2):
        assert await served.ask(post(b"one")) == (200, b"direct one")
        assert await served.ask(post(b"usual")) == (200, b"/mcp usual")
        await served.say(post(b"task"))
        status, head, body = await served.hear()
        assert (status, body) == (200, b"POST")
        assert b"nosniff" in head
    await served.say(post(b"task") + post(b"two"))
    answers = [await served.hear() for _ in range(2)]
    assert [body for _, _, body in answers] == [b"/mcp task", b"/mcp two"]
    assert await served.ask(post(b"three")) == (200, b"direct three")


@pytest.mark.parametrize("served", ["idle"], indirect=True)
async def test_no_request_passes_by_an_idle_timer(served: Served) -> None:
    served.direct = True
    for _ in range(4):
        assert await served.ask(post(b"one")) == (200, b"/mcp one")


async def test_a_key_that_is_taken_away_is_not_answered_at_once_any_more(served: Served) -> None:
    served.direct = True
    now = ManualClock().now()
    token = CallToken(uuid4(), "a", hashed("mcpyard_a"), None, now)
    await served.tokens.add(token)
    for bearer in ("key", "mcpyard_a"):
        asking = post(b"one", Authorization=f"Bearer {bearer}")
        answers = [await served.ask(asking) for _ in range(4)]
        assert [body for _, body in answers] == [b"/mcp one"] * 2 + [b"direct one"] * 2
        if bearer == "key":
            assert served.key.rotate()
        else:
            await served.tokens.revoke(token.id, now)
        assert (await served.ask(asking))[0] == 401


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
