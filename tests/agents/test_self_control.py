"""The tools with which an agent looks after the yard itself."""

from typing import Any

import pytest

from mcpyard import Toolbox, Yard, self_control
from mcpyard.yard.calls.outcome import ErrorKind
from tests.faults.watching import connected, state_of, until, zoo

pytestmark = pytest.mark.real

NAMES = {
    "yard_list_servers",
    "yard_server_status",
    "yard_restart_server",
    "yard_search_tools",
    "yard_last_errors",
}


async def structured(box: Toolbox, name: str, **arguments: object) -> Any:  # noqa: ANN401  any JSON
    outcome = await box.call(name, arguments)
    assert outcome.error is None, outcome.text
    return outcome.structured


async def test_an_agent_sees_what_is_wrong_and_puts_it_right() -> None:
    servers = {"fs": zoo("good", timeout=50), "bad": {**zoo("good"), "command": "no-such-command"}}
    async with Yard.open(servers=servers) as yard:
        await connected(yard, "fs")
        await until(yard, lambda: state_of(yard, "bad")["status"] == "error")
        box = yard.toolbox(own=self_control(yard))
        assert {tool.name for tool in box if tool.origin == "own"} == NAMES
        listed = await structured(box, "yard_list_servers")
        await box.call("mcp_fs_hang")
        errors = await structured(box, "yard_last_errors")
        matches = await structured(box, "yard_search_tools", query="echo")
        first = state_of(yard, "fs")["pid"]
        restarted = await structured(box, "yard_restart_server", server="fs")
        second = state_of(yard, "fs")["pid"]
        status = await structured(box, "yard_server_status", server="fs")
    assert listed["fs"] == "connected"
    assert listed["bad"].startswith("failed")
    assert errors["servers"]["bad"]["code"] == "command_missing"
    assert [(each["tool"], each["outcome"]) for each in errors["calls"]] == [("hang", "timed-out")]
    assert matches["tools"] == [{"name": "mcp_fs_echo", "description": "does echo"}]
    assert restarted == {"name": "fs", "now": "connected"}
    assert first != second
    assert (status["status"], len(status["tools"])) == ("connected", 4)


async def test_a_server_that_is_not_there_is_an_error_outcome() -> None:
    async with Yard.open() as yard:
        box = yard.toolbox(own=self_control(yard))
        for name in ("yard_server_status", "yard_restart_server"):
            outcome = await box.call(name, {"server": "nobody"})
            assert (outcome.error, 'no server "nobody"' in outcome.text) == (
                ErrorKind.DISCONNECTED,
                True,
            )
        missing = await box.call("yard_server_status", {})
    assert missing.error is ErrorKind.VALIDATION


async def test_what_only_looks_says_so() -> None:
    async with Yard.open() as yard:
        looking = {tool.name for tool in self_control(yard) if tool.annotations}
    assert {*NAMES} - looking == {"yard_restart_server"}
