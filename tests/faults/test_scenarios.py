"""Scenarios of the specification that are about faults, each as it is written there."""

import logging
import os
import signal
import sys
from pathlib import Path

import pytest

from mcpyard import Yard
from mcpyard.domain.errors import TimedOut
from tests.faults.watching import connected, state_of, until, zoo
from tests.free_ports import free_port
from tests.runtime.waiting import eventually

pytestmark = pytest.mark.real

TELLS_OF_CANCELS = """
import json, sys
from tests.free_ports import free_port
for line in sys.stdin:
    asked = json.loads(line)
    method = asked.get("method")
    if method == "notifications/cancelled":
        print("cancelled", asked["params"]["requestId"], file=sys.stderr, flush=True)
    results = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "x", "version": "1"}},
        "tools/list": {"tools": [{"name": "hang", "inputSchema": {"type": "object"}}]},
        "ping": {},
    }
    if method == "tools/call":
        print("called", asked["id"], file=sys.stderr, flush=True)
    elif method in results:
        answer = {"jsonrpc": "2.0", "id": asked["id"], "result": results[method]}
        print(json.dumps(answer), flush=True)
    elif "id" in asked:
        error = {"code": -32601, "message": "unknown"}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": error}), flush=True)
"""


@pytest.mark.spec("A2.3")
async def test_a_missing_command_or_a_dead_address_is_an_error_of_that_server_only(
    caplog: pytest.LogCaptureFixture,
) -> None:
    nobody = f"http://127.0.0.1:{free_port()}/mcp"
    servers = {
        "missing": {"type": "local", "command": ["no-such-command"], "wanted": "running"},
        "nobody": {"type": "http", "url": nobody, "wanted": "running"},
        "good": zoo("good"),
    }
    with caplog.at_level(logging.ERROR):
        async with Yard.open(servers=servers) as yard:
            await connected(yard, "good")
            await until(
                yard,
                lambda: (
                    {state_of(yard, name)["status"] for name in ("missing", "nobody")} == {"error"}
                ),
            )
            missing, dead = state_of(yard, "missing"), state_of(yard, "nobody")
            outcome = await yard.call_tool("good", "echo", {"text": "untouched"})
    assert missing["error"]["code"] == "command_missing"
    assert dead["error"]["code"] == "unreachable"
    assert outcome.text == "untouched"
    assert 'command not found: "no-such-command"' in caplog.text
    assert "nobody: " in caplog.text


@pytest.mark.spec("A2.4")
async def test_a_child_that_dies_is_disconnected_then_restarted_and_given_up_after_three(
    tmp_path: Path,
) -> None:
    """The first start works; then a file appears and every later one fails."""
    marker = tmp_path / "broken"
    script = f"test -e {marker} && exit 3; touch {marker}; exec $0 $@"
    good = zoo("good")
    server = {**good, "command": "sh", "args": ["-c", script, good["command"], *good["args"]]}
    async with Yard.open(servers={"fs": server}) as yard:
        seen: list[tuple[str, int, bool]] = []
        await connected(yard, "fs")
        events = yard.events()
        os.kill(state_of(yard, "fs")["pid"], signal.SIGKILL)
        async for event in events:
            if event.kind == "status":
                status = event.data
                seen.append(
                    (str(status["phase"]), int(str(status["attempt"])), bool(status["nextRetryAt"]))
                )
                if status["phase"] == "backoff" and status["attempt"] == 1:
                    assert status["status"] == "disconnected"
                if status["phase"] == "failed":
                    break
        record = state_of(yard, "fs")
    assert [each for each in seen if each[0] == "backoff"] == [
        ("backoff", 1, True),
        ("backoff", 2, True),
        ("backoff", 3, True),
    ]
    assert (record["status"], record["attempt"], record["nextRetryAt"]) == ("error", 3, None)


@pytest.mark.spec("D3.2")
async def test_a_call_past_its_time_is_cancelled_and_the_server_is_told() -> None:
    command = [sys.executable, "-c", TELLS_OF_CANCELS]
    server = {"type": "local", "command": command, "timeout": 100, "wanted": "running"}
    async with Yard.open(servers={"slow": server}) as yard:
        await connected(yard, "slow")
        with pytest.raises(TimedOut):
            await yard.call("mcp_slow_hang")
        assert await eventually(lambda: len(yard.log("slow")) == 2, 5)
        called, cancelled = [line.text for line in yard.log("slow")]
        assert called.split() == ["called", cancelled.split()[1]]
        assert state_of(yard, "slow")["status"] == "connected"


@pytest.mark.spec("D6.1")
async def test_a_lost_connection_is_made_anew_and_meanwhile_cached_tools_are_served() -> None:
    async with Yard.open(servers={"fs": zoo("good")}) as yard:
        await connected(yard, "fs")
        names = [tool.exposed_name for tool in yard.tools()]
        os.kill(state_of(yard, "fs")["pid"], signal.SIGKILL)
        await until(yard, lambda: state_of(yard, "fs")["status"] == "disconnected")
        meanwhile = yard.tools()
        await connected(yard, "fs")
        afterwards = yard.tools()
    assert [tool.exposed_name for tool in meanwhile] == names
    assert {tool.stale for tool in meanwhile} == {True}
    assert {tool.stale for tool in afterwards} == {False}
