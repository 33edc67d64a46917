"""Nothing passes without a key, under a wrong name, from a foreign page, or beyond the limit."""

from collections.abc import AsyncIterator

import httpx2
import pytest
from starlette.types import Message

from mcpyard.api.security.guard import BODY_LIMIT
from mcpyard.api.security.headers import STRICT
from mcpyard.api.security.plain_page import POLICY
from tests.api.asgi import BEARER, YardApi, asked_yard, client_of
from tests.api.doors import PUBLIC, every_door

pytestmark = pytest.mark.real

WRONG = (
    None,
    "Bearer ",
    "Bearer",
    "Bearer wrong",
    "Bearerthe-token",
    "Bearer  the-token",
    "Bearer the-token ",
    "Basic the-token",
    "Bearer thé-token",
)
FOREIGN = (
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:3000"},
    {"Origin": "http://127.0.0.1.evil.example"},
    {"Origin": "http://127.0.0.1/"},
    {"Origin": "http://["},
    {"Origin": "file://127.0.0.1"},
    {"Origin": ""},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "Cross-Site"},
    {"Sec-Fetch-Site": "SAME-SITE"},
    {"Origin": "http://127.0.0.1", "Sec-Fetch-Site": "cross-site"},
)


async def walk(
    api: YardApi, headers: dict[str, str]
) -> list[tuple[tuple[str, str], httpx2.Response]]:
    nowhere = [("GET", "/"), ("PUT", "/"), ("OPTIONS", "/api/mcp/servers"), ("GET", "/healthz/")]
    async with client_of(api.app, headers) as unauthenticated:
        return [
            (door, await unauthenticated.request(door[0], door[1]))
            for door in [*await every_door(api), *nowhere]
        ]


async def test_the_walk_meets_every_kind_of_door() -> None:
    async with asked_yard() as api:
        doors = await every_door(api)
    assert {*PUBLIC} <= {*doors}
    for door in [
        ("POST", "/api/mcp/servers"),
        ("GET", "/api/events"),
        ("GET", "/metrics"),
        ("GET", "/api/openapi.json"),
        ("DELETE", "/api/tokens/x"),
        ("POST", "/api/projects/approve"),
        ("POST", "/logout"),
    ]:
        assert door in doors


@pytest.mark.parametrize("value", WRONG)
async def test_every_door_but_the_public_ones_needs_a_token(value: str | None) -> None:
    headers = {} if value is None else {"Authorization": value}
    async with asked_yard() as api:
        for door, answer in await walk(api, headers):
            if door in PUBLIC:
                assert answer.status_code != 401, door
                assert "servers" not in answer.text
            else:
                assert answer.status_code == 401, door
                assert answer.headers["www-authenticate"] == "Bearer"
                assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "localhost.",
        "",
        "[::2]:80",
        "0.0.0.0",  # noqa: S104  sent, not bound
        "10.0.0.1",
        "127.0.0.1@evil.example",
    ],
)
async def test_no_door_opens_under_a_wrong_host_even_with_the_token(host: str) -> None:
    async with asked_yard() as api:
        for door, answer in await walk(api, {**BEARER, "Host": host}):
            assert answer.status_code == 421, door


@pytest.mark.parametrize("foreign", FOREIGN, ids=str)
async def test_no_door_but_the_public_ones_opens_for_a_foreign_page(
    foreign: dict[str, str],
) -> None:
    async with asked_yard() as api:
        for door, answer in await walk(api, {**BEARER, **foreign}):
            if door in PUBLIC:
                assert answer.status_code != 403 or door[1] == "/login", door
            else:
                assert answer.status_code == 403, door
            assert not [each for each in answer.headers if each.startswith("access-control-")]


@pytest.mark.parametrize("host", ["localhost:8712", "[::1]:9", "127.0.0.1", "Yard.Example:80"])
async def test_the_names_of_this_yard_are_let_in(host: str) -> None:
    async with asked_yard() as api:
        own = {"Host": host, "Origin": f"http://{host}", "Sec-Fetch-Site": "same-origin"}
        assert (await api.client.get("/api/mcp/servers", headers=own)).status_code == 200
        typed = {"Host": host, "Sec-Fetch-Site": "none"}
        assert (await api.client.get("/api/mcp/servers", headers=typed)).status_code == 200


async def test_the_address_a_request_came_to_is_a_name_but_no_other_address_is() -> None:
    async with asked_yard() as api:
        at = "http://192.0.2.7/healthz"
        assert (await api.client.get(at)).status_code == 200
        assert (await api.client.get(at, headers={"Host": "192.0.2.8"})).status_code == 421


@pytest.mark.parametrize("name", ["Host", "Origin", "Authorization", "Sec-Fetch-Site"])
async def test_a_header_that_decides_may_not_come_twice(name: str) -> None:
    value = {"Host": "127.0.0.1", "Origin": "http://127.0.0.1"}.get(name, BEARER["Authorization"])
    async with asked_yard() as api, client_of(api.app, {}) as client:
        twice = [("Host", "127.0.0.1"), (name, value), (name, value)]
        answer = await client.get("/healthz", headers=twice)
        assert answer.status_code == 400


@pytest.mark.parametrize("query", ["token=the-token", "access_token=x", "a=1&token", "to%6ben=x"])
async def test_a_token_in_the_query_is_refused_with_and_without_another(query: str) -> None:
    async with asked_yard() as api, client_of(api.app, {}) as unauthenticated:
        for client in (unauthenticated, api.client):
            answer = await client.get(f"/api/mcp/servers?{query}")
            assert answer.status_code == 401
            assert "header" in answer.json()["detail"]


async def test_static_files_are_public_and_cannot_be_changed() -> None:
    async with asked_yard() as api, client_of(api.app, {}) as unauthenticated:
        assert (await unauthenticated.get("/static/page.css")).status_code == 404
        assert (await unauthenticated.post("/static/page.css")).status_code == 401
        assert (await unauthenticated.get("/static")).status_code == 401


async def test_an_empty_token_opens_nothing() -> None:
    async with asked_yard() as api:
        for value in ("Bearer ", "Bearer"):
            answer = await api.client.get("/api/mcp/servers", headers={"Authorization": value})
            assert answer.status_code == 401


async def test_the_word_bearer_may_be_written_in_any_case() -> None:
    async with (
        asked_yard() as api,
        client_of(api.app, {"Authorization": "bEARER the-token"}) as client,
    ):
        assert (await client.get("/api/mcp/servers")).status_code == 200


async def test_every_answer_carries_the_strict_headers() -> None:
    async with asked_yard() as api:
        wrong_host = await walk(api, {"Host": "evil.example"})
        for _, answer in [*await walk(api, {}), *wrong_host]:
            strict = {name.decode(): value.decode() for name, value in STRICT}
            if "<style>" in answer.text:
                strict["content-security-policy"] = POLICY
            sent = {name: answer.headers.get_list(name) for name in strict}
            assert sent == {name: [value] for name, value in strict.items()}
        assert POLICY.startswith("default-src 'none'; style-src 'sha256-")
        assert "script" not in POLICY
        good = await api.get("/api/mcp/servers")
        assert good.headers["cache-control"] == "no-store"
        assert "default-src 'none'" in good.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in good.headers["content-security-policy"]


async def test_a_body_that_says_it_is_too_large_is_refused_unread() -> None:
    async def unread() -> AsyncIterator[bytes]:
        yield b"{}"
        raise AssertionError("read on")

    async with asked_yard() as api:
        for size in (str(BODY_LIMIT + 1), "9" * 5000, "x", "-1"):
            answer = await api.client.post(
                "/api/mcp/tools/x/call", content=unread(), headers={"Content-Length": size}
            )
            assert answer.status_code == 413
            assert answer.json()["type"] == "urn:mcpyard:error:too-large"


async def test_a_body_that_does_not_say_its_length_is_refused_as_it_comes() -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1
            yield b" " * 65536

    async with asked_yard() as api:
        answer = await api.client.post("/api/mcp/tools/x/call", content=endless())
        assert answer.status_code == 413
    assert sent * 65536 <= BODY_LIMIT + 65536


async def test_what_is_not_http_gets_no_answer() -> None:
    async def receive() -> Message:
        raise AssertionError("asked for")

    async def send(_message: Message) -> None:
        raise AssertionError("answered")

    async with asked_yard() as api:
        await api.app({"type": "websocket", "headers": [*BEARER]}, receive, send)
