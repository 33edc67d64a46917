"""Servers of the environment in a yard: what they are sent, what is shown, which policy is kept."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from mcpyard import Yard

TOKEN = "a-token-of-the-environment"  # noqa: S105  nobody takes it


@asynccontextmanager
async def listener() -> AsyncGenerator[tuple[int, asyncio.Queue[str]]]:
    """A server that refuses everything, and the heads of the requests that it got."""
    heads: asyncio.Queue[str] = asyncio.Queue()

    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.put_nowait((await reader.readuntil(b"\r\n\r\n")).decode().lower())
        writer.write(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], heads


async def test_headers_and_the_token_are_sent_and_shown_to_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with listener() as (port, heads):
        environment = {
            "API_MCP_SERVER_URL": f"http://127.0.0.1:{port}/mcp",
            "API_MCP_TRANSPORT": "http",
            "API_MCP_TOKEN": TOKEN,
            "API_MCP_HEADERS": '{"X-Region": "eu", "X-Api-Key": "a-key-of-the-environment"}',
        }
        async with Yard.open(environment=environment) as yard:
            head = await heads.get()
            record = await yard.settled("api")
            encoded = msgspec.json.encode(record).decode()
    assert f"authorization: bearer {TOKEN}" in head
    assert "x-region: eu" in head
    assert "of-the-environment" not in encoded + caplog.text
    assert "Authorization" in (record.headers or {})


async def test_policy_of_a_server_of_the_environment_is_kept_by_its_name(tmp_path: Path) -> None:
    environment = {
        "A_MCP_SERVER_URL": "no-such-program",
        "A_MCP_TIMEOUT": "1000",
        "A_MCP_FALLBACK": "b",
    }
    tools = {"search": {"enabled": False}}
    patch = {"timeout": 2000, "fallback": ["c"], "wanted": "stopped", "title": "A", "tools": tools}
    async with Yard.open(environment=environment, home=tmp_path) as yard:
        first = yard.record("a")
        await yard.change("a", patch)
    async with Yard.open(environment=environment, home=tmp_path) as yard:
        second = yard.record("a")
    assert (first.timeout, first.fallback) == (1000, ["b"])
    assert (second.timeout, second.fallback, second.title) == (2000, ["c"], "A")
    assert (second.id, second.scope, second.wanted) == (first.id, "env", "stopped")
    assert second.tool_policies == tools
