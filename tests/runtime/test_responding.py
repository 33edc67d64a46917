"""Whether an open server responds: its calls, its pings, and who is let through."""

import asyncio
from contextlib import AbstractAsyncContextManager
from dataclasses import replace

import pytest

from mcpyard.domain.backoff import RestartPolicy
from mcpyard.domain.cause import Code
from mcpyard.domain.errors import CallRefused, Disconnected, TimedOut
from mcpyard.domain.lifecycle import Phase
from mcpyard.domain.model import HealthCheck, LocalConfig, RestartLimits, Wanted
from tests.runtime.openers import EXITED
from tests.runtime.waiting import eventually
from tests.runtime.watched import Watched, checked, server, watched

LATER = 60_000
"""Milliseconds until a ping that nobody asked for."""


def patient() -> AbstractAsyncContextManager[Watched]:
    """One that restarts nothing while a test looks."""
    return watched(RestartPolicy(delays=(60.0,)))


async def time_out(it: Watched, times: int = 1) -> None:
    for _ in range(times):
        it.opener.call_faults.append(TimedOut("too slow"))
        with pytest.raises(TimedOut):
            await it.call()


async def degrade(it: Watched, **settings: int) -> None:
    it.opener.mute = True
    it.want(checked(**{"interval": LATER, "timeout": LATER, **settings}))
    await it.phase(Phase.CONNECTED)
    await time_out(it, 3)
    await it.phase(Phase.DEGRADED)


async def test_a_call_that_timed_out_asks_for_a_ping_at_once() -> None:
    async with patient() as it:
        it.want(checked(interval=LATER, timeout=700))
        await it.phase(Phase.CONNECTED)
        await time_out(it)
        assert await eventually(lambda: it.opener.ping_limits == [0.7])


async def test_calls_that_time_out_together_ask_for_one_ping() -> None:
    async with patient() as it:
        it.opener.pinging.clear()
        it.want(checked(interval=LATER))
        await it.phase(Phase.CONNECTED)
        await time_out(it, 10)
        assert await eventually(lambda: it.opener.opened[0].pings == 1)
        await time_out(it, 10)
        it.opener.mute = True
        it.opener.pinging.set()
        await it.phase(Phase.DEGRADED)
        assert it.opener.opened[0].pings == 1


@pytest.mark.spec("F2.4")
async def test_three_calls_and_a_ping_without_an_answer_degrade_a_server() -> None:
    async with patient() as it:
        await degrade(it)
        assert it.seen.state.cause
        assert it.seen.state.cause.code is Code.UNRESPONSIVE
        assert it.seen.state.cause.message == "did not answer 3 calls or a ping in time"
        assert it.seen.pid == 100
        assert [tool.name for tool in it.seen.tools.definitions] == ["t"]
        assert it.seen.tools.stale


async def test_time_outs_with_an_answer_between_them_degrade_nothing() -> None:
    async with patient() as it:
        it.want(checked(interval=LATER))
        await it.phase(Phase.CONNECTED)
        it.opener.pinging.clear()
        await time_out(it, 2)
        assert await it.call() == b"t"
        await time_out(it, 2)
        it.opener.call_faults.append(CallRefused("no such thing"))
        with pytest.raises(CallRefused):
            await it.call()
        await time_out(it, 2)
        it.opener.mute = True
        it.opener.pinging.set()
        assert await eventually(lambda: it.opener.missed == 1)
        assert it.phases[-1] is Phase.CONNECTED


async def test_a_call_that_waited_for_its_turn_in_vain_is_no_evidence() -> None:
    async with patient() as it:
        it.want(checked(interval=LATER))
        await it.phase(Phase.CONNECTED)
        it.opener.call_faults.append(TimedOut("waited too long", sent=False))
        with pytest.raises(TimedOut):
            await it.call()
        await time_out(it)
        assert await eventually(lambda: it.opener.opened[0].pings == 1)


@pytest.mark.spec("F2.4")
async def test_one_call_tries_a_degraded_server_and_the_others_fail_at_once() -> None:
    async with patient() as it:
        await degrade(it)
        it.opener.answering.clear()
        calls = it.opener.calls
        first = asyncio.create_task(it.call())
        assert await eventually(lambda: it.opener.calls == calls + 1)
        with pytest.raises(Disconnected, match='"fs" does not respond: did not answer 3') as fault:
            await it.call()
        assert fault.value.untaken
        assert it.opener.calls == calls + 1
        it.opener.answering.set()
        assert await first == b"t"
        seen = await it.phase(Phase.CONNECTED)
        assert (seen.state.cause, seen.tools.stale, seen.state.epoch) == (None, False, 1)
        assert await asyncio.gather(it.call(), it.call()) == [b"t", b"t"]


async def test_a_call_that_tries_in_vain_leaves_the_next_try_to_a_ping_and_then_to_a_call() -> None:
    async with patient() as it:
        await degrade(it)
        it.opener.pinging.clear()
        await time_out(it)
        with pytest.raises(Disconnected, match="does not respond"):
            await it.call()
        it.opener.mute = False
        it.opener.pinging.set()
        await it.phase(Phase.CONNECTED)


async def test_a_ping_that_is_answered_recovers_a_degraded_server() -> None:
    async with patient() as it:
        await degrade(it, timeout=20, interval=20)
        it.opener.mute = False
        await it.phase(Phase.CONNECTED)
        assert len(it.opener.opened) == 1
        assert Phase.BACKOFF not in it.phases


async def test_a_degraded_server_that_misses_further_pings_is_ended_and_says_why() -> None:
    async with patient() as it:
        await degrade(it, timeout=20)
        seen = await it.phase(Phase.BACKOFF)
        assert seen.state.cause
        assert seen.state.cause.message == "did not answer 3 pings in a row"
        live = it.opener.opened[0]
        assert await eventually(lambda: live.ended == "killed")
        assert live.killed_by == seen.state.cause


@pytest.mark.spec("F2.5")
async def test_missed_pings_do_not_end_a_server_at_work() -> None:
    async with patient() as it:
        it.opener.mute = True
        it.want(checked(interval=1, timeout=1))
        await it.phase(Phase.CONNECTED)
        live = it.opener.opened[0]
        live.working = True
        pings = live.pings
        assert await eventually(lambda: live.pings > pings + 20)
        assert it.seen.state.phase is Phase.CONNECTED
        live.working = False
        await it.phase(Phase.BACKOFF)


async def test_one_missed_ping_is_enough_where_the_user_says_so() -> None:
    async with patient() as it:
        it.opener.mute = True
        it.want(checked(interval=1, failures=1))
        seen = await it.phase(Phase.BACKOFF)
        assert seen.state.cause
        assert seen.state.cause.message == "did not answer a ping"


async def test_a_server_that_exits_during_a_ping_says_that_it_exited() -> None:
    async with patient() as it:
        it.opener.mute = True
        it.opener.pinging.clear()
        it.want(checked(interval=1, failures=1))
        await it.phase(Phase.CONNECTED)
        live = it.opener.opened[0]
        assert await eventually(lambda: live.pings == 1)
        live.lost = True
        it.opener.pinging.set()
        live.events.lost(EXITED)
        seen = await it.phase(Phase.BACKOFF)
        assert seen.state.cause == EXITED


async def test_changed_settings_of_the_health_check_hold_for_the_session_that_stands() -> None:
    async with patient() as it:
        it.want(checked(interval=LATER))
        await it.phase(Phase.CONNECTED)
        it.want(server(config=checked(timeout=900).config, policy_digest="other"))
        await time_out(it)
        assert await eventually(lambda: it.opener.ping_limits == [0.9])
        assert len(it.opener.opened) == 1


async def test_a_degraded_server_that_runs_on_demand_goes_to_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mcpyard.domain.limits.ON_DEMAND_IDLE", 0.01)
    async with patient() as it:
        it.opener.mute = True
        config = LocalConfig(command=["x"], health=HealthCheck(interval=LATER, timeout=LATER))
        it.want(server(Wanted.ON_DEMAND, config=config))
        await time_out(it, 3)
        await it.phase(Phase.DEGRADED)
        await it.phase(Phase.STOPPED)


async def test_a_call_that_is_answered_while_a_degraded_server_is_stopped_recovers_nothing() -> (
    None
):
    async with patient() as it:
        await degrade(it)
        it.opener.answering.clear()
        it.opener.closing.clear()
        calls = it.opener.calls
        trying = asyncio.create_task(it.call())
        assert await eventually(lambda: it.opener.calls == calls + 1)
        it.want()
        await it.phase(Phase.STOPPING)
        it.opener.answering.set()
        assert await trying == b"t"
        assert it.seen.tools.stale
        late = it.seen.late_events
        it.opener.closing.set()
        await it.phase(Phase.STOPPED)
        assert (it.seen.tools.stale, it.seen.late_events) == (True, late)


async def test_a_degraded_server_that_is_restarted_begins_without_any_evidence() -> None:
    async with patient() as it:
        await degrade(it)
        it.want(replace(server(config=checked(interval=LATER).config), turn=1))
        seen = await it.until(lambda seen: seen.state.epoch == 2)
        seen = await it.phase(Phase.CONNECTED)
        assert (seen.state.cause, seen.tools.stale) == (None, False)
        assert it.opener.opened[0].ended == "closed"
        await time_out(it, 2)
        assert await eventually(lambda: it.opener.missed == 2)
        assert it.phases[-1] is Phase.CONNECTED


async def test_a_call_that_is_answered_during_a_ping_outweighs_the_missed_ping() -> None:
    async with patient() as it:
        it.opener.mute = True
        it.opener.pinging.clear()
        it.want(checked(interval=LATER))
        await it.phase(Phase.CONNECTED)
        await time_out(it, 3)
        assert await eventually(lambda: it.opener.opened[0].pings == 1)
        assert await it.call() == b"t"
        it.opener.pinging.set()
        assert await eventually(lambda: it.opener.missed == 1)
        await time_out(it, 2)
        assert await eventually(lambda: it.opener.missed == 2)
        assert it.phases[-1] is Phase.CONNECTED


async def test_a_server_is_restarted_as_often_as_the_user_says() -> None:
    async with watched() as it:
        it.opener.always = EXITED
        it.want(server(config=LocalConfig(command=["x"], restart=RestartLimits(attempts=1))))
        await it.phase(Phase.FAILED)
        assert it.opener.tries == 2
