"""A child that dies: who hears of it, and what becomes of it."""

import asyncio
import os
import signal

import psutil
import pytest

from mcpyard import Yard
from mcpyard.domain import limits
from mcpyard.domain.errors import Disconnected
from tests.faults.watching import code_of, connected, state_of, until, zoo
from tests.runtime.waiting import alive, eventually

pytestmark = pytest.mark.real


async def test_all_calls_in_flight_fail_with_the_exit_status_and_the_last_words() -> None:
    async with Yard.open(servers={"odd": zoo("good")}) as yard:
        await connected(yard, "odd")
        calls = [asyncio.create_task(yard.call_tool("odd", "hang", {})) for _ in range(100)]
        # Calls arrive in their order; a task, so that this one is made after the others.
        await asyncio.create_task(yard.call_tool("odd", "echo", {"text": "all sent"}))
        os.kill(state_of(yard, "odd")["pid"], signal.SIGKILL)
        results = await asyncio.gather(*calls, return_exceptions=True)
        anew = await yard.call_tool("odd", "echo", {"text": "anew"}, timeout=5)
    assert [type(each) for each in results] == [Disconnected] * 100
    causes = {each.cause for each in results if isinstance(each, Disconnected)}
    assert len(causes) == 1
    (cause,) = causes
    assert cause is not None
    assert "SIGKILL" in cause.message
    assert cause.stderr == ("hanging",) * 20
    assert anew.text == "anew"


async def test_a_lost_server_is_disconnected_and_comes_back_by_itself() -> None:
    async with Yard.open(servers={"odd": zoo("good")}) as yard:
        await connected(yard, "odd")
        before = state_of(yard, "odd")["pid"]
        with pytest.raises(Disconnected, match="exited with code 7"):
            await yard.call_tool("odd", "die", {})
        await until(yard, lambda: code_of(yard, "odd") == "exited")
        lost = state_of(yard, "odd")
        await connected(yard, "odd")
        after = state_of(yard, "odd")
    assert (lost["status"], lost["state"], lost["attempt"]) == ("disconnected", "error", 1)
    assert lost["nextRetryAt"]
    assert lost["pid"] is None
    assert after["error"] is None
    assert after["pid"] != before


@pytest.mark.spec("F2.7")
@pytest.mark.parametrize(
    ("number", "reason"),
    [
        (signal.SIGKILL, "keeper process died"),
        (signal.SIGSTOP, "keeper process stopped responding"),
    ],
)
async def test_the_servers_of_a_lost_keeper_say_so_and_come_back_by_themselves(
    number: signal.Signals, reason: str
) -> None:
    async with Yard.open(servers={"odd": zoo("stubborn")}) as yard:
        await connected(yard, "odd")
        before = state_of(yard, "odd")["pid"]
        keeper = psutil.Process(before).ppid()
        hanging = asyncio.create_task(yard.call_tool("odd", "hang", {}))
        await asyncio.create_task(yard.call_tool("odd", "echo", {"text": "sent"}))
        os.kill(keeper, number)
        with pytest.raises(Disconnected, match=reason):
            await hanging
        await connected(yard, "odd")
        anew = await yard.call_tool("odd", "echo", {"text": "anew"})
        assert await eventually(lambda: not alive(before) and not alive(keeper))
    assert anew.text == "anew"


async def test_a_second_signal_kills_a_server_whose_calls_are_waited_for() -> None:
    async with Yard.open(servers={"odd": zoo("stubborn")}) as yard:
        await connected(yard, "odd")
        pid = state_of(yard, "odd")["pid"]
        hanging = asyncio.create_task(yard.call_tool("odd", "hang", {}))
        await asyncio.create_task(yard.call_tool("odd", "echo", {"text": "sent"}))
        await yard.stop("odd", wait=0)
        assert state_of(yard, "odd")["phase"] == "stopping"
        yard._core.force_close()
        assert await eventually(lambda: not alive(pid), limits.DRAIN - 1)
        with pytest.raises(Disconnected):
            await hanging


async def test_a_crash_loop_spawns_exactly_four_times_and_rests() -> None:
    async with Yard.open(servers={"odd": zoo("exits_at_once")}) as yard:
        await asyncio.wait_for(yard.settled("odd"), 20)
        record = state_of(yard, "odd")
        words = [line.text for line in yard.log("odd")]
    assert words == ["leaving with 3"] * 4
    assert (record["status"], record["state"], record["phase"]) == ("error", "error", "failed")
    assert (record["attempt"], record["maxAttempts"], record["nextRetryAt"]) == (3, 3, None)
    assert record["error"]["stderr"] == ["leaving with 3"]
