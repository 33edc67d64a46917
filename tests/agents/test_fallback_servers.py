"""Fallbacks with real servers: killed, hung, and back again."""

import os
import signal
import sys
from pathlib import Path

import pytest

from mcpyard import Yard
from mcpyard.yard.calls.outcome import ErrorKind
from tests.faults.watching import connected, state_of, until, zoo

pytestmark = pytest.mark.real

COMING_BACK = {"backoff", "connecting"}


def answered_by(server: str, tool: str) -> dict[str, object]:
    """The policy of a tool that is safe to repeat, and that another server can answer."""
    return {"repeatable": True, "fallback": [{"server": server, "tool": tool}]}


@pytest.mark.spec("D5.3")
async def test_a_server_killed_in_the_middle_of_a_call_is_answered_for() -> None:
    tools = {"die": answered_by("b", "echo")}
    async with Yard.open(servers={"a": zoo("good", tools=tools), "b": zoo("good")}) as yard:
        await connected(yard, "a", "b")
        outcome = await yard.toolbox().call("mcp_a_die", {"text": "over here"})
        await connected(yard, "a")
    assert (outcome.server, outcome.tool, outcome.text) == ("b", "echo", "over here")
    assert [*outcome.passed_over] == [("a", "the process exited with code 7")]


async def test_one_that_may_have_had_an_effect_is_told_and_not_repeated() -> None:
    servers = {"a": zoo("good", fallback=["b"]), "b": zoo("good")}
    async with Yard.open(servers=servers) as yard:
        await connected(yard, "a", "b")
        outcome = await yard.toolbox().call("mcp_a_die")
        assert state_of(yard, "b")["status"] == "connected"
    assert outcome.error is ErrorKind.DISCONNECTED
    assert "no fallback was tried after that" in outcome.text


async def test_a_call_past_its_time_is_answered_by_the_fallback() -> None:
    tools = {"hang": answered_by("b", "echo")}
    servers = {"a": zoo("good", timeout=50, tools=tools), "b": zoo("good")}
    async with Yard.open(servers=servers) as yard:
        await connected(yard, "a", "b")
        kinds = {each.kind for each in await yard.events(after=0).batch()}
        outcome = await yard.toolbox().call("mcp_a_hang", {"text": "in time"})
    assert "backup" not in kinds
    assert (outcome.server, outcome.text) == ("b", "in time")


async def test_all_that_was_tried_is_listed_when_nobody_answers() -> None:
    off = {**zoo("good"), "command": "no-such-command"}
    servers = {"a": zoo("good", fallback=["b", "nobody"]), "b": off}
    async with Yard.open(servers=servers) as yard:
        await connected(yard, "a")
        box = yard.toolbox()
        await yard.stop("a", wait=10)
        outcome = await box.call("mcp_a_echo", {"text": "x"})
    assert outcome.error is ErrorKind.DISCONNECTED
    assert [name for name, _ in outcome.passed_over] == ["a", "b", "nobody"]
    for part in ('"a": is stopped', '"b": it has no tool "echo"', '"nobody": no such server'):
        assert part in outcome.text


async def test_a_failed_health_check_switches_to_the_fallback_and_back() -> None:
    health = {"interval": 100, "timeout": 500}
    servers = {"a": zoo("stops_reading", fallback=["b"], health=health), "b": zoo("good")}
    async with Yard.open(servers=servers) as yard:
        await connected(yard, "a", "b")
        box, events = yard.toolbox(), yard.events()
        hung = await box.call("mcp_a_misbehave", timeout=0.05)
        await until(yard, lambda: state_of(yard, "a")["phase"] in COMING_BACK)
        meanwhile = await box.call("mcp_a_echo", {"text": "meanwhile"})
        await connected(yard, "a")
        afterwards = await box.call("mcp_a_echo", {"text": "afterwards"})
        changes = [(each.kind, each.data) for each in await events.batch()]
    assert hung.error is ErrorKind.TIMEOUT
    assert (meanwhile.server, meanwhile.text) == ("b", "meanwhile")
    assert (afterwards.server, afterwards.text) == ("a", "afterwards")
    switches = [(kind, data) for kind, data in changes if kind in {"backup", "recovered"}]
    assert [(kind, data["tool"]) for kind, data in switches] == [
        ("backup", "misbehave"),
        ("backup", None),
        ("recovered", None),
    ]
    assert switches[1][1]["backup"] == "b"
    assert "a ping" in str(switches[1][1]["reason"])


async def test_a_fallback_that_runs_on_demand_is_woken(tmp_path: Path) -> None:
    servers = {"a": zoo("good", fallback=["b"]), "b": zoo("good")}
    async with Yard.open(servers=servers, home=tmp_path) as yard:
        await connected(yard, "a", "b")
    servers = {"a": servers["a"], "b": zoo("good", wanted="on_demand", fallback=["a"])}
    async with Yard.open(servers=servers, home=tmp_path) as yard:
        await connected(yard, "a")
        await yard.stop("a", wait=10)
        asleep = yard.toolbox().status()["b"]
        switches = [each for each in await yard.events(after=0).batch() if each.kind == "backup"]
        outcome = await yard.call("mcp_a_echo", {"text": "awake"})
    assert asleep == "idle; the first call starts it"
    assert [each.data["name"] for each in switches] == ["a"]
    assert (outcome.server, outcome.text) == ("b", "awake")


@pytest.mark.spec("D5.1", "D5.2")
async def test_servers_of_the_environment_are_merged_and_wrong_variables_are_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    command = " ".join([sys.executable, *zoo("good")["args"]])
    environment = {
        "PATH": os.environ["PATH"],
        "LEGAL_MCP_SERVER_URL": command,
        "LEGAL_MCP_TRANSPORT": "stdio",
        "LEGAL_MCP_TIMEOUT": "50",
        "SECOND_MCP_SERVER_URL": command,
        "EMPTY_MCP_SERVER_URL": "",
        "WRONG_MCP_SERVER_URL": "http://127.0.0.1:1/sse",
        "WRONG_MCP_TRANSPORT": "ftp",
        "LATE_MCP_SERVER_URL": command,
        "LATE_MCP_TIMEOUT": "soon",
    }
    async with Yard.open(environment=environment) as yard:
        await connected(yard, "legal", "second")
        box = yard.toolbox()
        late = await box.call("mcp_legal_hang")
        merged = await box.call("mcp_second_echo", {"text": "both"})
        problems = [str(each) for each in yard.desired.problems]
    assert {tool.origin for tool in box} == {"legal", "second"}
    assert (late.error, merged.text) == (ErrorKind.TIMEOUT, "both")
    assert problems == [
        'LATE_MCP_TIMEOUT: expected a whole number of milliseconds, found "soon"',
        'WRONG_MCP_TRANSPORT: "ftp" is unknown; expected one of sse, stdio, http, streamable-http',
    ]
    assert all(each in caplog.text for each in problems)


async def test_a_restart_of_the_primary_is_waited_for_when_no_fallback_is_there() -> None:
    async with Yard.open(servers={"a": zoo("good", fallback=["nobody"])}) as yard:
        await connected(yard, "a")
        os.kill(state_of(yard, "a")["pid"], signal.SIGKILL)
        await until(yard, lambda: state_of(yard, "a")["phase"] in COMING_BACK)
        outcome = await yard.call("mcp_a_echo", {"text": "back"})
    assert (outcome.server, outcome.text) == ("a", "back")
    assert [name for name, _ in outcome.passed_over] == ["a", "nobody"]
