"""Nothing passes without the token, under a wrong name, or larger than the limit."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from starlette.types import Message

from mcpyard.api.app import routes
from mcpyard.api.guard import BODY_LIMIT, host_name
from tests.api.asgi import BEARER, Asked, asked_yard, client_of

pytestmark = pytest.mark.real

WRONG = (
    None,
    "Bearer ",
    "Bearer wrong",
    "Bearerthe-token",
    "Bearer  the-token",
    "Basic the-token",
    "Bearer thé-token",
)


def every_route(asked: Asked) -> list[tuple[str, str]]:
    return [
        (method, route.path.format(ref="x", tool="y", exposed="z"))
        for route in routes(asked.yard, asyncio.Event())
        for method in (route.methods or set()) - {"HEAD"}
    ]


@pytest.mark.parametrize("value", WRONG)
async def test_every_route_but_the_bare_health_needs_the_token(value: str | None) -> None:
    headers = {} if value is None else {"Authorization": value}
    async with asked_yard() as asked, client_of(asked.app, headers) as stranger:
        walked = every_route(asked)
        assert len(walked) == 11
        for method, path in [*walked, ("GET", "/nowhere"), ("GET", "/healthz/"), ("PUT", "/")]:
            answer = await stranger.request(method, path)
            if path == "/healthz":
                assert (answer.status_code, answer.json()) == (200, {"ok": True})
            else:
                assert answer.status_code == 401, path
                assert answer.headers["www-authenticate"] == "Bearer"
                assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "[::2]:80"])
async def test_a_wrong_host_is_refused_even_with_the_token(host: str) -> None:
    async with asked_yard() as asked:
        for path in ("/healthz", "/api/mcp/servers"):
            answer = await asked.client.get(path, headers={"Host": host})
            assert answer.status_code == 421
            assert answer.json()["type"] == "urn:mcpyard:error:wrong-host"


@pytest.mark.parametrize("host", ["localhost:8712", "[::1]:9", "127.0.0.1", "Yard.Example:80"])
async def test_the_names_of_this_yard_are_let_in(host: str) -> None:
    async with asked_yard() as asked:
        assert (await asked.client.get("/healthz", headers={"Host": host})).status_code == 200


async def test_the_word_bearer_may_be_written_in_any_case() -> None:
    async with (
        asked_yard() as asked,
        client_of(asked.app, {"Authorization": "bEARER the-token"}) as c,
    ):
        assert (await c.get("/api/mcp/servers")).status_code == 200


def test_the_name_of_a_host_is_read_without_port_and_brackets() -> None:
    assert [host_name(each) for each in ("A:1", "[::1]:2", "b", "[::1]")] == [
        "a",
        "::1",
        "b",
        "::1",
    ]


async def test_a_body_that_says_it_is_too_large_is_refused_unread() -> None:
    async def unread() -> AsyncIterator[bytes]:
        yield b"{}"
        raise AssertionError("read on")

    async with asked_yard() as asked:
        size = {"Content-Length": str(BODY_LIMIT + 1)}
        answer = await asked.client.post("/api/mcp/tools/x/call", content=unread(), headers=size)
        assert answer.status_code == 413
        assert answer.json()["type"] == "urn:mcpyard:error:too-large"


async def test_a_body_that_does_not_say_its_length_is_refused_as_it_comes() -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1
            yield b" " * 65536

    async with asked_yard() as asked:
        answer = await asked.client.post("/api/mcp/tools/x/call", content=endless())
        assert answer.status_code == 413
    assert sent * 65536 <= BODY_LIMIT + 65536


async def test_what_is_not_http_gets_no_answer() -> None:
    async def receive() -> Message:
        raise AssertionError("asked for")

    async def send(_message: Message) -> None:
        raise AssertionError("answered")

    async with asked_yard() as asked:
        await asked.app({"type": "websocket", "headers": [*BEARER]}, receive, send)
