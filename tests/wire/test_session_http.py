"""Sessions over the HTTP links with the official SDK's server, in both eras."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Generator
from typing import Any

import pytest

from mcpyard.domain.errors import TimedOut
from mcpyard.domain.ports import CallTerms
from mcpyard.wire.eras import ClientFace, Era
from mcpyard.wire.jsonrpc import Reply
from mcpyard.wire.remote.sse import SseLink
from mcpyard.wire.remote.streamable_http import HttpLink
from mcpyard.wire.session import Handlers, Opening, ServerSession, open_session
from tests.wire import oracle
from tests.wire.servers import asgi_server

pytestmark = pytest.mark.real
FACE = ClientFace("yard", "1.0", {"elicitation": {}})
TERMS = CallTerms(timeout=20)
eras = pytest.mark.parametrize("era", ["handshake", "modern"])


@pytest.fixture(scope="module")
def url() -> Generator[str]:
    with asgi_server(oracle.server.streamable_http_app()) as address:
        yield f"{address}/mcp"


@contextlib.asynccontextmanager
async def met(
    link: HttpLink | SseLink, era: Era | None, handlers: Handlers | None = None
) -> AsyncGenerator[ServerSession]:
    session = await open_session(link, FACE, Opening(20, era), handlers)
    try:
        yield session
    finally:
        await session.close()


def text(reply: Reply) -> str:
    value: Any = reply.value
    return value["content"][0]["text"]


@eras
async def test_a_server_is_met_listed_called_and_pinged_over_http(url: str, era: Era) -> None:
    link = HttpLink(url)
    async with met(link, era) as session:
        assert (session.era, link.modern) == (era, era == "modern")
        assert link.protocol_version == session.protocol_version
        assert "echo" in {tool["name"] for tool in (await session.list_tools()).tools}
        assert text(await session.call_tool("echo", {"text": "hé"}, TERMS)) == "hé"
        await session.ping(10)


async def test_a_modern_server_is_found_over_http_without_memory(url: str) -> None:
    async with met(HttpLink(url), None) as session:
        assert session.era == "modern"


@eras
async def test_a_time_out_cancels_over_http(url: str, era: Era) -> None:
    before = oracle.state["cancelled"]
    async with met(HttpLink(url), era) as session:
        with pytest.raises(TimedOut):
            await session.call_tool("wait", {}, CallTerms(timeout=0.3))
        async with asyncio.timeout(10):
            while text(await session.call_tool("cancelled", {}, TERMS)) != str(before + 1):
                continue


async def test_the_stream_tells_which_of_many_calls_elicits(url: str) -> None:
    def answering(sure: str) -> CallTerms:
        async def answer(_method: str, _params: bytes) -> bytes:
            return b'{"action":"accept","content":{"sure":%b}}' % sure.encode()

        return CallTerms(timeout=20, on_request=answer)

    async with met(HttpLink(url), "handshake") as session:
        answers = ["true", "false"] * 5
        replies = await asyncio.gather(
            *(session.call_tool("confirm", {}, answering(sure)) for sure in answers)
        )
        assert [text(reply) for reply in replies] == [f"accept: {w.title()}" for w in answers]
        assert session.concurrency is None


async def test_a_change_comes_over_the_listen_stream_of_http(url: str) -> None:
    changed = asyncio.Event()
    async with met(HttpLink(url), "modern", Handlers(lambda _: changed.set())) as session:
        async with asyncio.timeout(20):
            while not changed.is_set():
                await session.call_tool("change", {}, TERMS)
                await asyncio.sleep(0)


async def test_a_server_is_met_and_called_over_sse() -> None:
    with asgi_server(oracle.server.sse_app()) as address:
        async with met(SseLink(f"{address}/sse"), None) as session:
            assert text(await session.call_tool("echo", {"text": "x"}, TERMS)) == "x"
