"""Sessions with real children made with the official SDK, in both eras."""

import asyncio
import contextlib
import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.errors import Disconnected, TimedOut
from mcpyard.domain.ports import CallTerms
from mcpyard.wire.eras import ClientFace, Era
from mcpyard.wire.jsonrpc import Reply
from mcpyard.wire.link import LinkFailed
from mcpyard.wire.session import Handlers, Opening, ServerSession, open_session
from mcpyard.wire.stdio import StdioLink

pytestmark = pytest.mark.real
ORACLE = str(Path(__file__).parent / "oracle.py")
FACE = ClientFace("yard", "1.0", {"elicitation": {}})
TERMS = CallTerms(timeout=20)
OLD_SERVER = r"""
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        result = {"protocolVersion": "2024-11-05", "capabilities": {}, "serverInfo": {}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
    elif message["method"] == "server/discover" and "--dies" in sys.argv:
        raise SystemExit(3)
"""


def spawn(arguments: tuple[str, ...]) -> tuple[subprocess.Popen[bytes], int, int]:
    child_in, stdin = os.pipe()
    stdout, child_out = os.pipe()
    command = [sys.executable, *arguments]
    running = subprocess.Popen(command, stdin=child_in, stdout=child_out)
    os.close(child_in)
    os.close(child_out)
    return running, stdin, stdout


@contextlib.asynccontextmanager
async def child(*arguments: str) -> AsyncGenerator[StdioLink]:
    """A child over raw pipes, and its exit as the explanation of its end."""
    running, stdin, stdout = spawn(arguments)

    async def explain() -> Cause:
        status = await asyncio.to_thread(running.wait)
        return Cause(Code.EXITED, f"exited with status {status}")

    link = StdioLink(stdin, stdout, explain_loss=explain)
    try:
        yield link
    finally:
        await link.close()
        running.kill()
        await asyncio.to_thread(running.wait)


@contextlib.asynccontextmanager
async def oracle(era: Era, handlers: Handlers | None = None) -> AsyncGenerator[ServerSession]:
    async with child(ORACLE) as link:
        session = await open_session(link, FACE, Opening(30, era, silence=30), handlers)
        assert session.era == era
        yield session
        await session.close()


eras = pytest.mark.parametrize("era", ["handshake", "modern"])


def text(reply: Reply) -> str:
    value: Any = reply.value
    return value["content"][0]["text"]


@eras
async def test_the_sdk_is_met_listed_called_and_pinged(era: Era) -> None:
    async with oracle(era) as session:
        assert session.server_info["name"] == "oracle"
        assert session.instructions == "ask me"
        listed = await session.list_tools()
        assert {"echo", "wait", "steps"} <= {tool["name"] for tool in listed.tools}
        reply = await session.call_tool("echo", b'{"text":"h\\u00e9"}', TERMS)
        assert text(reply) == "hé"
        await session.ping(5)
        replies = await asyncio.gather(
            *(session.call_tool("echo", {"text": str(n)}, TERMS) for n in range(50))
        )
        assert [text(reply) for reply in replies] == [str(n) for n in range(50)]


@eras
async def test_a_time_out_and_a_cancel_reach_the_sdks_tool(era: Era) -> None:
    async with oracle(era) as session:
        with pytest.raises(TimedOut):
            await session.call_tool("wait", {}, CallTerms(timeout=0.2))
        caller = asyncio.create_task(session.call_tool("wait", {}, TERMS))
        await session.call_tool("echo", {"text": "in between"}, TERMS)
        caller.cancel()
        with pytest.raises(asyncio.CancelledError):
            await caller
        async with asyncio.timeout(10):
            while text(await session.call_tool("cancelled", {}, TERMS)) != "2":
                continue


@eras
async def test_the_sdks_progress_comes_before_its_result(era: Era) -> None:
    seen: list[tuple[object, ...]] = []
    terms = CallTerms(
        timeout=20,
        progress=lambda step: seen.append((step["progress"], step["total"], step["message"])),
    )
    async with oracle(era) as session:
        await session.call_tool("steps", {}, terms)
        assert seen == [(n, 3, f"step {n}") for n in range(3)]


async def test_a_change_comes_over_the_listen_stream_of_the_sdk() -> None:
    changed = asyncio.Event()
    async with oracle("modern", Handlers(lambda _: changed.set())) as session:
        async with asyncio.timeout(20):
            while not changed.is_set():
                await session.call_tool("change", {}, TERMS)
                await asyncio.sleep(0)
        assert session.stats.noise == 0


async def test_an_elicitation_of_the_sdk_reaches_the_call_that_caused_it() -> None:
    async def agree(method: str, params: bytes) -> bytes:
        assert (method, b"sure?" in params) == ("elicitation/create", True)
        return b'{"action":"accept","content":{"sure":true}}'

    async with oracle("handshake") as session:
        reply = await session.call_tool("confirm", {}, CallTerms(timeout=20, on_request=agree))
        assert text(reply) == "accept: True"


@eras
async def test_a_child_that_dies_in_a_call_fails_all_calls_with_its_exit(era: Era) -> None:
    lost: list[Cause] = []
    async with oracle(era, Handlers(on_lost=lost.append)) as session:
        waiting = asyncio.create_task(session.call_tool("wait", {}, TERMS))
        with pytest.raises(Disconnected, match="status 7"):
            await session.call_tool("die", {}, TERMS)
        with pytest.raises(Disconnected, match="status 7"):
            await waiting
        assert [cause.code for cause in lost] == [Code.EXITED]


async def test_the_sdk_is_found_to_be_modern_unasked() -> None:
    async with child(ORACLE) as link:
        session = await open_session(link, FACE, Opening(30))
        assert session.era == "modern"
        await session.close()


async def test_an_old_server_that_ignores_the_question_is_met() -> None:
    async with child("-c", OLD_SERVER) as link:
        session = await open_session(link, FACE, Opening(20, silence=0.1))
        assert (session.era, session.protocol_version) == ("handshake", "2024-11-05")
        await session.close()


async def test_an_old_server_that_dies_of_the_question_is_met_the_second_time() -> None:
    async with child("-c", OLD_SERVER, "--dies") as link:
        with pytest.raises(LinkFailed, match="status 3"):
            await open_session(link, FACE, Opening(20))
    async with child("-c", OLD_SERVER, "--dies") as link:
        session = await open_session(link, FACE, Opening(20, "handshake"))
        assert session.era == "handshake"
        await session.close()
