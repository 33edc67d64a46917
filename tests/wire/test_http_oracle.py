"""Both links against the official SDK's server, in both eras."""

import json
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager

import pytest
from mcp.server import MCPServer

from mcpyard.domain.cause import Code
from mcpyard.wire.remote.http_errors import looks_like_sse_only
from mcpyard.wire.remote.sse import SseLink
from mcpyard.wire.remote.streamable_http import HttpLink
from tests.wire.servers import Recorder, asgi_server, call, initialize, notice

pytestmark = pytest.mark.real

MODERN = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
}


def example() -> MCPServer:
    server = MCPServer("oracle")

    @server.tool()
    def double(number: int) -> int:
        return 2 * number

    return server


@pytest.fixture(scope="module", params=[True, False], ids=["json", "events"])
def http_url(request: pytest.FixtureRequest) -> Generator[str]:
    with asgi_server(example().streamable_http_app(json_response=request.param)) as url:
        yield f"{url}/mcp"


@pytest.fixture(scope="module")
def sse_url() -> Generator[str]:
    with asgi_server(example().sse_app()) as url:
        yield f"{url}/sse"


@asynccontextmanager
async def opened(link: HttpLink | SseLink) -> AsyncGenerator[Recorder]:
    recorder = Recorder()
    await link.open(recorder)
    try:
        yield recorder
    finally:
        await link.close()
    assert recorder.losses == []


async def shake_hands(link: HttpLink | SseLink, recorder: Recorder) -> None:
    link.send(initialize())
    response = await recorder.answer(0)
    assert response["result"]["protocolVersion"] == "2025-11-25"
    if isinstance(link, HttpLink):
        link.protocol_version = "2025-11-25"
    link.send(notice("notifications/initialized"))


def double(number: int, **more: object) -> dict[str, object]:
    return {"name": "double", "arguments": {"number": number}, **more}


async def test_the_handshake_era_works_over_streamable_http(http_url: str) -> None:
    link = HttpLink(http_url)
    async with opened(link) as recorder:
        await shake_hands(link, recorder)
        assert link.session_id
        link.open_get_stream()
        for number in range(1, 31):
            link.send(call(number, "tools/call", double(number)))
        for number in range(1, 31):
            response = await recorder.answer(number)
            assert response["result"]["structuredContent"] == {"result": 2 * number}
        assert recorder.failures == {}


async def test_a_session_that_was_deleted_is_noticed(http_url: str) -> None:
    first, second = HttpLink(http_url), HttpLink(http_url)
    async with opened(second) as recorder:
        async with opened(first) as events:
            await shake_hands(first, events)
            second.session_id = first.session_id
            second.protocol_version = first.protocol_version
        second.send(call(1))
        await recorder.failure(1)
        await recorder.loss()
        assert recorder.losses.pop().code is Code.CLOSED


async def test_the_modern_era_works_over_streamable_http(http_url: str) -> None:
    link = HttpLink(http_url)
    async with opened(link) as recorder:
        link.modern = True
        link.protocol_version = MODERN
        discover = {"Mcp-Method": "server/discover"}
        link.send(call(1, "server/discover", {"_meta": META}, **discover))
        assert MODERN in (await recorder.answer(1))["result"]["supportedVersions"]
        headers = {"Mcp-Method": "tools/call", "Mcp-Name": "double"}
        link.send(call(2, "tools/call", double(4, _meta=META), **headers))
        assert (await recorder.answer(2))["result"]["structuredContent"] == {"result": 8}
        assert link.session_id is None


async def test_a_header_that_contradicts_the_body_is_answered_as_an_error(http_url: str) -> None:
    link = HttpLink(http_url)
    async with opened(link) as recorder:
        link.protocol_version = MODERN
        headers = {"Mcp-Method": "tools/call", "Mcp-Name": "other"}
        link.send(call(1, "tools/call", double(4, _meta=META), **headers))
        assert (await recorder.answer(1))["error"]["code"] == -32020


async def test_the_old_transport_works(sse_url: str) -> None:
    link = SseLink(sse_url)
    async with opened(link) as recorder:
        await shake_hands(link, recorder)
        for number in range(1, 31):
            link.send(call(number, "tools/call", double(number)))
        for number in range(1, 31):
            response = await recorder.answer(number)
            assert json.loads(response["result"]["content"][0]["text"]) == 2 * number


async def test_a_streamable_link_to_the_old_transport_says_what_to_try(sse_url: str) -> None:
    link = HttpLink(sse_url)
    async with opened(link) as recorder:
        link.send(initialize())
        assert looks_like_sse_only(await recorder.failure(0))
