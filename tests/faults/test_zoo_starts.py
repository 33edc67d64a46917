"""Servers that misbehave while they are being started: the right cause, and nobody else harmed."""

import pytest

from mcpyard.app import open_yard
from mcpyard.domain.errors import StartFailed
from tests.faults.bystander import yard_with
from tests.faults.watching import code_of, connected, state_of, until

pytestmark = pytest.mark.real


@pytest.mark.parametrize(("mode", "status"), [("exits_at_once", 3), ("exits_before_list", 4)])
async def test_a_server_that_exits_says_so_with_its_status_and_last_words(
    mode: str, status: int
) -> None:
    async with yard_with(mode) as yard:
        await until(yard, lambda: code_of(yard, "odd") == "exited")
        record = state_of(yard, "odd")
    assert (record["status"], record["state"], record["attempt"]) == ("error", "error", 1)
    assert f"exited with code {status}" in record["error"]["message"]
    assert record["error"]["stderr"] == [f"leaving with {status}"]
    assert record["nextRetryAt"]


async def test_a_server_that_is_gone_before_it_is_asked_says_how_it_ended() -> None:
    quick = {"command": "sh", "args": ["-c", "echo no key >&2; exit 3"]}
    async with open_yard() as yard:
        for _ in range(12):
            with pytest.raises(StartFailed, match="exited with code 3") as refused:
                await yard.trial(quick)
            assert refused.value.cause
            assert refused.value.cause.stderr == ("no key",)
            assert refused.value.cause.hint


async def test_a_server_that_never_answers_runs_out_of_its_start_time() -> None:
    async with yard_with("never_answers", startTimeout=300) as yard:
        await until(yard, lambda: code_of(yard, "odd") == "start_timeout")
        record = state_of(yard, "odd")
    assert record["status"] == "error"
    assert "0.3 s" in record["error"]["message"]


async def test_a_server_that_never_lists_its_tools_runs_out_of_its_start_time() -> None:
    async with yard_with("never_lists", startTimeout=3_000) as yard:
        await until(yard, lambda: code_of(yard, "odd") == "start_timeout")
        record = state_of(yard, "odd")
    assert record["status"] == "error"
    assert "failed to list its tools" in record["error"]["message"]


async def test_a_program_that_speaks_no_protocol_is_quoted() -> None:
    talks = {"command": "sh", "args": ["-c", "echo Welcome to the show; cat >&2"]}
    async with open_yard(
        servers={"odd": {**talks, "startTimeout": 2_000, "wanted": "running"}}
    ) as yard:
        await until(yard, lambda: code_of(yard, "odd") == "garbage")
        stderr = state_of(yard, "odd")["error"]["stderr"]
        logged = [line.text for line in yard.log("odd")]
    assert "not a JSON-RPC message: Welcome to the show" in stderr
    assert "not a JSON-RPC message: Welcome to the show" in logged


@pytest.mark.parametrize("mode", ["never_answers", "never_lists"])
async def test_whoever_stops_a_server_does_not_wait_for_its_answers(mode: str) -> None:
    async with yard_with(mode) as yard:
        await until(yard, lambda: state_of(yard, "odd")["status"] == "connecting")
        record = await yard.stop("odd", wait=4)
    assert (record.status, record.state) == ("disconnected", "stopped")


async def test_a_server_that_ignores_the_probe_is_met_in_the_handshake_era() -> None:
    async with yard_with("ignores_probe") as yard:
        await connected(yard, "odd")
        record = state_of(yard, "odd")
        outcome = await yard.call_tool("odd", "echo", {"text": "hello"})
    assert (record["protocolVersion"], record["attempt"]) == ("2025-11-25", 0)
    assert outcome.text == "hello"


async def test_a_server_that_dies_at_the_probe_is_met_in_the_handshake_era() -> None:
    async with yard_with("dies_at_probe") as yard:
        await connected(yard, "odd")
        record = state_of(yard, "odd")
    assert record["protocolVersion"] == "2025-11-25"
    assert record["error"] is None


async def test_five_thousand_tools_are_all_there() -> None:
    async with yard_with("many_tools") as yard:
        await connected(yard, "odd")
        tools = yard.tools("odd")
        outcome = await yard.call_tool("odd", "tool_4995", {"text": "the last one"})
    assert len({tool.exposed_name for tool in tools}) == 5000
    assert outcome.text == "the last one"


async def test_of_two_tools_with_one_name_the_first_counts() -> None:
    async with yard_with("duplicate_names") as yard:
        await connected(yard, "odd")
        tools = {tool.name: tool.description for tool in yard.tools("odd")}
        record = state_of(yard, "odd")
    assert tools == {name: f"does {name}" for name in ("echo", "hang", "die", "misbehave")}
    assert any('repeats the name "echo"' in warning for warning in record["warnings"])
