"""Servers that misbehave once they are connected."""

import asyncio
from pathlib import Path

import pytest

from mcpyard import Yard
from mcpyard.domain.errors import Disconnected, ProtocolBroken, TimedOut, ToolUnknown
from tests.faults.bystander import yard_with
from tests.faults.watching import code_of, connected, state_of, until, zoo

pytestmark = pytest.mark.real


@pytest.mark.parametrize("mode", ["answers_twice", "garbage_lines", "bad_utf8", "floods_stderr"])
async def test_what_is_no_answer_is_skipped(mode: str) -> None:
    async with yard_with(mode) as yard:
        await connected(yard, "odd")
        pid = state_of(yard, "odd")["pid"]
        calls = [
            yard.call_tool("odd", "echo", {"text": f"{number} é"}, timeout=10)
            for number in range(50)
        ]
        texts = [outcome.text for outcome in await asyncio.gather(*calls)]
        record = state_of(yard, "odd")
    assert texts == [f"{number} é" for number in range(50)]
    assert (record["status"], record["pid"], record["protocolVersion"]) == (
        "connected",
        pid,
        "2025-11-25",
    )


async def test_a_flood_of_stderr_is_kept_to_its_last_lines() -> None:
    async with yard_with("floods_stderr") as yard:
        await connected(yard, "odd")
        await yard.call_tool("odd", "echo", {"text": "hello"})
        lines = yard.log("odd")
    assert 0 < len(lines) <= 2000
    assert sum(len(line.text) for line in lines) <= 256 * 1024


@pytest.mark.parametrize("mode", ["wrong_ids", "half_a_frame"])
async def test_a_call_without_its_answer_times_out_alone(mode: str) -> None:
    async with yard_with(mode) as yard:
        await connected(yard, "odd")
        with pytest.raises(TimedOut):
            await yard.call_tool("odd", "misbehave", {}, timeout=0.3)
        record = state_of(yard, "odd")
    assert record["status"] == "connected"


async def test_answers_with_wrong_ids_reach_nobody() -> None:
    async with yard_with("wrong_ids") as yard:
        await connected(yard, "odd")
        others = [yard.call_tool("odd", "echo", {"text": f"mine {number}"}) for number in range(20)]
        stray = yard.call_tool("odd", "misbehave", {}, timeout=0.3)
        results = await asyncio.gather(stray, *others, return_exceptions=True)
    assert isinstance(results[0], TimedOut)
    texts = [getattr(each, "text", each) for each in results[1:]]
    assert texts == [f"mine {number}" for number in range(20)]


async def test_an_answer_over_the_limit_fails_its_call_and_no_other() -> None:
    async with yard_with("long_line") as yard:
        await connected(yard, "odd")
        with pytest.raises(ProtocolBroken, match="more than the limit of 16777216"):
            await yard.call_tool("odd", "misbehave", {"text": "20"})
        outcome = await yard.call_tool("odd", "echo", {"text": "still here"})
    assert outcome.text == "still here"


async def test_a_large_answer_below_a_raised_limit_arrives_whole() -> None:
    async with yard_with("long_line", maxMessage=64 * 1024 * 1024) as yard:
        await connected(yard, "odd")
        outcome = await yard.call_tool("odd", "misbehave", {"text": "50"})
    assert outcome.raw == b'{"text":"%b"}' % (b"x" * 50_000_000)


async def test_a_server_that_stops_reading_fails_its_own_calls_only() -> None:
    async with yard_with("stops_reading") as yard:
        await connected(yard, "odd")
        hung = asyncio.create_task(yard.call_tool("odd", "misbehave", {}, timeout=1))
        large = {"text": "x" * 1024 * 1024}
        calls = [yard.call_tool("odd", "echo", large, timeout=0.5) for _ in range(20)]
        results = await asyncio.gather(hung, *calls, return_exceptions=True)
        record = state_of(yard, "odd")
    kinds = {type(each) for each in results}
    assert kinds == {TimedOut, Disconnected}
    assert any("does not read" in str(each) for each in results)
    assert record["status"] == "connected"


async def test_a_server_that_closes_its_output_but_lives_is_ended_and_started_anew() -> None:
    async with yard_with("closes_stdout") as yard:
        await connected(yard, "odd")
        before = state_of(yard, "odd")["pid"]
        with pytest.raises(Disconnected, match="closed its output"):
            await yard.call_tool("odd", "misbehave", {})
        await until(yard, lambda: code_of(yard, "odd") == "closed")
        lost = state_of(yard, "odd")
        outcome = await yard.call_tool("odd", "echo", {"text": "anew"})
        after = state_of(yard, "odd")["pid"]
    assert (lost["status"], lost["state"]) == ("disconnected", "error")
    assert outcome.text == "anew"
    assert before != after


async def test_a_tool_that_appears_while_running_can_be_called() -> None:
    async with yard_with("changes_tools") as yard:
        await connected(yard, "odd")
        pid = state_of(yard, "odd")["pid"]
        for number in range(10):
            await yard.call_tool("odd", "misbehave", {"text": f"new_{number}"})
        await until(yard, lambda: state_of(yard, "odd")["toolCount"] == 14)
        outcome = await yard.call_tool("odd", "new_9", {"text": "hello"})
        record = state_of(yard, "odd")
    assert outcome.text == "hello"
    assert (record["pid"], record["toolsStale"]) == (pid, False)


async def test_what_nobody_offers_is_refused_when_a_server_asks_for_it() -> None:
    async with yard_with("asks") as yard:
        await connected(yard, "odd")
        outcome = await yard.call_tool("odd", "misbehave", {}, timeout=5)
        record = state_of(yard, "odd")
    assert outcome.text == "-32601 -32601 -32601"
    assert (record["status"], record["concurrency"]) == ("connected", 256)


async def test_calls_of_a_server_that_runs_one_at_a_time_wait_for_each_other() -> None:
    async with yard_with("good", concurrency=1) as yard:
        await connected(yard, "odd")
        assert state_of(yard, "odd")["concurrency"] == 1
        hanging = asyncio.create_task(yard.call_tool("odd", "hang", {}, timeout=0.3))
        behind = asyncio.create_task(yard.call_tool("odd", "echo", {"text": "behind"}, timeout=5))
        done, _ = await asyncio.wait({hanging, behind}, return_when=asyncio.FIRST_COMPLETED)
        assert done == {hanging}
        assert isinstance(hanging.exception(), TimedOut)
        assert (await behind).text == "behind"


async def test_a_tool_is_switched_off_and_on_by_a_bare_patch(tmp_path: Path) -> None:
    async with Yard.open(home=tmp_path / "home") as yard:
        await yard.register({"name": "odd", "scope": "user", "start": True, **zoo("good")})
        await connected(yard, "odd")
        assert (await yard.change_tool("odd", "echo", {"enabled": False})).enabled is False
        with pytest.raises(ToolUnknown, match="is disabled"):
            await yard.call_tool("odd", "echo", {"text": "x"})
        await yard.change_tool("odd", "echo", {"enabled": True})
        assert (await yard.call_tool("odd", "echo", {"text": "x"})).text == "x"
