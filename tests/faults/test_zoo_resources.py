"""Servers that use or write too much: they are named and bounded, and others answer meanwhile."""

from contextlib import suppress

import pytest

from mcpyard.domain import limits
from mcpyard.domain.errors import ServerFault
from tests.faults.bystander import yard_with
from tests.faults.watching import code_of, connected, state_of, until

pytestmark = pytest.mark.real

FLOODS = "stdout: too many lines are not answers; mcpyard reads them at a lower rate"
CHANGES = "its lists change too often; mcpyard refreshes them at a lower rate"


async def test_a_server_that_floods_its_output_is_named_throttled_and_still_answers() -> None:
    async with yard_with("floods_stdout") as yard:
        await connected(yard, "odd")
        await yard.call_tool("odd", "misbehave", {})
        await until(yard, lambda: FLOODS in state_of(yard, "odd")["warnings"])
        outcome = await yard.call_tool("odd", "echo", {"text": "hello"})
        record = state_of(yard, "odd")
    assert outcome.text == "hello"
    assert (record["status"], record["warnings"]) == ("connected", [FLOODS])


async def test_a_server_that_changes_ten_thousand_tools_on_and_on_is_named_and_still_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "LIST_DEBOUNCE", 0.001)
    async with yard_with("floods_changes") as yard:
        await connected(yard, "odd")
        assert state_of(yard, "odd")["toolCount"] == 10_000
        await yard.call_tool("odd", "misbehave", {})
        await until(yard, lambda: CHANGES in state_of(yard, "odd")["warnings"])
        # A tool list of another time would be another answer of the server.
        listed = yard.tools("odd")[-1].description
        outcome = await yard.call_tool("odd", "echo", {"text": "hello"})
        record = state_of(yard, "odd")
        assert yard.tools("odd")[-1].description == listed
    assert outcome.text == "hello"
    assert record["status"] == "connected"


async def test_a_server_over_its_limit_of_memory_is_restarted_with_that_cause(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "USAGE_EVERY", 0.05)
    async with yard_with("hoards", limits={"memory": "64MB"}) as yard:
        await connected(yard, "odd")
        before = yard.record("odd")
        await yard.call_tool("odd", "misbehave", {"text": "10"})
        assert (await yard.call_tool("odd", "echo", {"text": "hello"})).text == "hello"
        with suppress(ServerFault):
            await yard.call_tool("odd", "misbehave", {"text": "100"})
        await until(yard, lambda: code_of(yard, "odd") == "limit_exceeded")
        error = state_of(yard, "odd")["error"]
        await connected(yard, "odd")
        after = yard.record("odd")
    assert error["message"] == "memory limit exceeded (64 MB)"
    assert error["hint"] == "Raise the limit under limits, or check why the server needs more."
    assert before.pid != after.pid
    assert before.limits.to_dict() == {"memory": 64 << 20, "processes": None}


async def test_a_server_over_its_limit_of_processes_is_restarted_without_any_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "USAGE_EVERY", 0.05)
    async with yard_with("multiplies", limits={"processes": 2}) as yard:
        await connected(yard, "odd")
        with suppress(ServerFault):
            await yard.call_tool("odd", "misbehave", {"text": "4"})
        await until(yard, lambda: code_of(yard, "odd") == "limit_exceeded")
        message = state_of(yard, "odd")["error"]["message"]
        await connected(yard, "odd")
        record = yard.record("odd")
    assert message == "process limit exceeded (2)"
    assert record.figures
    assert record.figures.processes == 1
