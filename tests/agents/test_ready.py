"""Servers given in code run, are waited for, and what is missing is said."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from mcpyard import Yard
from mcpyard.domain.errors import Problem, StartFailed
from mcpyard.domain.lifecycle import Phase
from mcpyard.domain.model import Wanted
from mcpyard.yard.readiness import Readiness, readiness, unavailable
from tests.api.daemon import daemon
from tests.faults.watching import zoo
from tests.yard.sample_views import sample_server


def plain(mode: str, **policy: object) -> dict[str, Any]:
    """A definition that says nothing of whether it should run."""
    return {name: value for name, value in zoo(mode, **policy).items() if name != "wanted"}


MISSING = {**plain("good"), "command": "no-such-command"}


@pytest.mark.real
async def test_the_first_lines_give_tools() -> None:
    async with Yard.open(servers={"a": plain("good"), "b": plain("good")}) as yard:
        state = await yard.ready()
        box = yard.toolbox()
        outcome = await box.call("mcp_b_echo", {"text": "hello"})
    assert state
    assert state.connected == ("a", "b")
    assert str(state) == "2 servers are connected"
    assert str(Readiness(("a",), (), ())) == "1 server is connected"
    assert outcome.text == "hello"
    assert box.warnings == ()


@pytest.mark.real
async def test_a_server_that_is_added_later_waits_until_it_is_started() -> None:
    async with Yard.open(servers={"a": zoo("good", wanted="stopped")}) as yard:
        yard.code.add("b", plain("good"))
        state = await yard.ready(5)
        warnings = [str(each) for each in yard.toolbox().warnings]
    assert (bool(state), state.connected) == (True, ())
    assert warnings == [
        f'"{name}" is stopped: it is not to run. Start it: await yard.start("{name}")'
        for name in "ab"
    ]


@pytest.mark.real
async def test_what_is_missing_is_named_with_its_cause_and_what_to_do() -> None:
    environment = {"LEGAL_MCP_SERVER_URL": "legal --stdio", "LEGAL_MCP_TIMEOUT": "10s"}
    servers = {"good": plain("good"), "gone": MISSING, "off": {**MISSING, "enabled": False}}
    async with Yard.open(servers=servers, environment=environment) as yard:
        state = await yard.ready()
        box = yard.toolbox()
        with pytest.raises(StartFailed, match="no-such-command") as raised:
            await yard.ready(check=True)
    assert not state
    assert state.connected == ("good",)
    (gone,) = state.unavailable
    assert (gone.name, gone.status, gone.phase) == ("gone", "error", "failed")
    assert gone.cause == 'command not found: "no-such-command"'
    assert gone.hint == "Check the spelling, or use the full path."
    assert [each.field for each in state.problems] == ["LEGAL_MCP_TIMEOUT"]
    texts = [str(each) for each in box.warnings]
    assert texts == [str(gone), str(state.problems[0])]
    assert 'found "10s"' in str(raised.value)


@pytest.mark.real
async def test_a_server_that_takes_too_long_is_not_waited_for_and_is_named() -> None:
    async with Yard.open(servers={"mute": plain("never_answers"), "good": plain("good")}) as yard:
        await yard.settled("good")
        state = await yard.ready(0.05)
        (warning,) = yard.toolbox().warnings
    assert [(each.name, each.phase) for each in state.unavailable] == [("mute", "connecting")]
    assert "Wait for it: await yard.ready()" in str(warning)


@pytest.mark.real
async def test_a_running_mcpyard_is_waited_for_in_the_same_way(tmp_path: Path) -> None:
    file = tmp_path / ".mcp.json"
    file.write_text(json.dumps({"mcpServers": {"bad": {"command": 3}, "good": plain("good")}}))
    with daemon(tmp_path / "home", "--project", tmp_path, "--trust-folder"):
        async with Yard.attach(tmp_path / "home") as yard:
            await yard.register({"name": "gone", **MISSING, "wanted": "running"})
            state = await yard.ready()
            box = yard.toolbox()
            with pytest.raises(StartFailed):
                await yard.ready(check=True)
    assert state.connected == ("good",)
    assert [each.name for each in state.unavailable] == ["gone"]
    assert [each.field for each in state.problems] == ["mcpServers.bad.command"]
    assert len(box.warnings) == 2


async def test_the_wait_is_ended_by_the_last_server_and_by_nothing_before() -> None:
    async with Yard.open() as yard:
        async with asyncio.timeout(5):
            assert await yard.ready()


@pytest.mark.parametrize("phase", Phase)
def test_every_phase_has_a_cause_and_all_but_connected_are_unavailable(phase: Phase) -> None:
    missing = unavailable(sample_server(phase=phase, wanted=Wanted.RUNNING))
    assert (missing is None) is (phase is Phase.CONNECTED)
    assert missing is None or missing.cause


def test_what_starts_on_demand_is_missing_only_while_its_tools_are_not_known() -> None:
    asleep: dict[str, Any] = {"phase": Phase.STOPPED, "wanted": Wanted.ON_DEMAND}
    assert unavailable(sample_server(**asleep, tool_count=2)) is None
    missing = unavailable(sample_server(**asleep, tool_count=0))
    assert missing
    assert "tools are not known" in missing.cause
    assert readiness([sample_server(**asleep, tool_count=0)], ())


def test_servers_that_cannot_run_say_why() -> None:
    held = unavailable(sample_server(phase=Phase.STOPPED, needs_approval="added"))
    looped = unavailable(sample_server(phase=Phase.STOPPED, this_yard=True))
    assert held
    assert held.cause == "it needs approval"
    assert looped
    assert looped.cause == "it points back to this gateway"


def test_a_state_without_problems_raises_nothing() -> None:
    Readiness(("a",), (), ()).check()
    with pytest.raises(StartFailed, match="X: is wrong"):
        Readiness(("a",), (), (Problem("X", "is wrong"),)).check()
