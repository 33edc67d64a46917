"""Servers that do not respond, as clients of the gateway and of REST see them."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Awaitable, Generator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from mcpyard import Yard
from mcpyard.app import WiredYard
from mcpyard.yard.calls.outcome import ErrorKind
from tests.faults.watching import connected, state_of, until, zoo
from tests.gateway.talking import Talk, next_of, talking, text_of

pytestmark = pytest.mark.real

T = TypeVar("T")

LONG = 60_000
ROOT = Path(__file__).parents[2]
ECHO = "mcp_a_echo"
CALL = "/api/mcp/servers/a/tools/echo/call"


@contextlib.contextmanager
def frozen(pid: int) -> Generator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


async def degraded(yard: Yard | WiredYard, *calls: Awaitable[T]) -> list[T]:
    """What calls answer that find the server frozen."""
    answers = await asyncio.gather(*calls)
    await until(yard, lambda: state_of(yard, "a")["phase"] == "degraded")
    return answers


async def listed(talk: Talk) -> list[dict[str, Any]]:
    tools = (await talk.ask_modern("tools/list"))["result"]["tools"]
    return [each for each in tools if each["name"].startswith("mcp_a_")]


async def rest(talk: Talk, path: str, body: object = None) -> Any:  # noqa: ANN401  any JSON
    method = "GET" if body is None else "POST"
    return (await talk.http.request(method, path, json=body, headers=talk.heads({}))).json()


@pytest.mark.spec("F2.4")
async def test_gateway_and_rest_fail_at_once_and_say_why_while_one_call_tries_the_server() -> None:
    health = {"interval": LONG, "timeout": 2000}
    async with talking({"a": zoo("good", timeout=200, health=health)}) as talk:
        yard = talk.served.yard
        session, pid = await talk.meet(), state_of(yard, "a")["pid"]
        async with session.listening() as stream:
            with frozen(pid):
                slow = await degraded(yard, *(session.call(ECHO) for _ in range(3)))
                calling = Yard(yard).toolbox().call(ECHO, {"text": "1"}, timeout=30)
                trying = asyncio.create_task(calling)
                await next_of(stream, "notifications/tools/list_changed")
                old, new = await session.call(ECHO), await talk.call("/mcp", ECHO)
                plain = await rest(talk, CALL, {"arguments": {}})
                marked, records = await listed(talk), await rest(talk, "/api/mcp/servers/a/tools")
                record = await rest(talk, "/api/mcp/servers/a")
            outcome = await trying
            await next_of(stream, "notifications/tools/list_changed")
        unmarked = await listed(talk)
        answer = await session.call(ECHO, arguments={"text": "2"})
    assert all("in time" in str(each) for each in slow)
    why = 'the server "a" does not respond: did not answer 3 calls or a ping in time'
    assert all(why in str(each) for each in (old, new, plain))
    assert {each["_meta"]["mcpyard/phase"] for each in marked} == {"degraded"}
    assert {each["stale"] for each in records} == {True}
    assert (record["status"], record["state"], record["phase"]) == ("error", "error", "degraded")
    assert (outcome.text, text_of(answer)) == ("1", "2")
    assert not any("_meta" in each for each in unmarked)


@pytest.mark.spec("F2.4")
async def test_the_fallback_answers_gateway_and_rest_for_a_frozen_server() -> None:
    health = {"interval": LONG, "timeout": 2000, "failures": 1}
    frozen_one = zoo("good", timeout=200, health=health, fallback=["b"])
    async with talking({"a": frozen_one, "b": zoo("good")}) as talk:
        yard = talk.served.yard
        session, pid = await talk.meet(), state_of(yard, "a")["pid"]
        with frozen(pid):
            await degraded(yard, session.call(ECHO))
            old = await session.call(ECHO, arguments={"text": "old"})
            new = await talk.call("/mcp", ECHO, arguments={"text": "new"})
            by_name = f"/api/mcp/tools/{ECHO}/call"
            plain = await rest(talk, by_name, {"arguments": {"text": "plain"}})
        await connected(yard, "a")
    assert [text_of(old), text_of(new)] == ["old", "new"]
    assert (plain["yard"]["tried"], plain["content"][0]["text"]) == (["a", "b"], "plain")


@pytest.mark.spec("F2.5")
async def test_a_long_call_through_the_gateway_is_not_ended_by_missed_pings() -> None:
    health = {"interval": 100, "timeout": 100, "failures": 1}
    async with talking({"a": zoo("works_alone", health=health)}) as talk:
        pid = state_of(talk.served.yard, "a")["pid"]
        session = await talk.meet()
        answer = await session.call("mcp_a_misbehave")
        assert text_of(answer) == "worked"
        assert state_of(talk.served.yard, "a")["pid"] == pid


@contextlib.contextmanager
def remote_server() -> Generator[tuple[int, int]]:
    """A process with servers behind HTTP; its pid and its port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        number, port = listener.fileno(), listener.getsockname()[1]
        app = ["bench.fire.remote_servers:app", "--factory", "--fd", str(number)]
        command = [sys.executable, "-m", "uvicorn", *app, "--log-level", "error"]
        with subprocess.Popen(command, pass_fds=[number], cwd=ROOT) as process:
            try:
                yield process.pid, port
            finally:
                process.kill()


@pytest.mark.spec("F2.4")
@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_a_frozen_remote_server_is_degraded_and_recovers(transport: str) -> None:
    health = {"interval": LONG, "timeout": 1000}
    with remote_server() as (pid, port):
        address = f"http://127.0.0.1:{port}/{transport}/far"
        definition = {"url": address, "transport": transport, "wanted": "running", "timeout": 300}
        async with Yard.open(servers={"a": {**definition, "health": health}}) as yard:
            await connected(yard, "a")
            box = yard.toolbox()
            with frozen(pid):
                calls = [box.call("mcp_a_nonce", {"text": "x"}) for _ in range(3)]
                answers = await degraded(yard, *calls)
            await connected(yard, "a")
            afterwards = await box.call("mcp_a_nonce", {"text": "back"}, timeout=20)
    assert {each.error for each in answers} == {ErrorKind.TIMEOUT}
    assert afterwards.text.endswith("back")


async def test_a_remote_server_that_stays_frozen_is_lost_with_the_reason() -> None:
    health = {"interval": LONG, "timeout": 200, "failures": 1}
    with remote_server() as (pid, port):
        definition = {"url": f"http://127.0.0.1:{port}/http/far", "transport": "http"}
        limits = {"wanted": "running", "timeout": 300, "health": health, "startTimeout": 1000}
        async with Yard.open(servers={"a": {**definition, **limits}}) as yard:
            await connected(yard, "a")
            with frozen(pid):
                await yard.toolbox().call("mcp_a_nonce", {"text": "x"})
                await until(yard, lambda: state_of(yard, "a")["phase"] == "backoff")
                lost = state_of(yard, "a")
            await connected(yard, "a")
    assert lost["error"]["code"] == "unresponsive"
    assert lost["error"]["message"] == "did not answer a ping"
