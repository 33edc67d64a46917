"""One session: its tools, its signs of life, its end."""

import asyncio

import pytest

from mcpyard.domain import limits
from mcpyard.domain.backoff import RestartPolicy
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.errors import TimedOut
from mcpyard.domain.lifecycle import Phase
from mcpyard.domain.model import LocalConfig
from mcpyard.domain.observed import Capabilities, Items
from mcpyard.runtime.list_pace import ListPace
from mcpyard.testing import ManualClock
from tests.runtime.openers import EXITED
from tests.runtime.waiting import eventually
from tests.runtime.watched import ID, checked, server, watched


async def test_a_server_waits_for_room_instead_of_failing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcpyard.runtime.session_runner._NO_ROOM_PAUSE", 0.001)
    async with watched() as it:
        it.opener.no_room = 3
        it.want(server())
        await it.phase(Phase.CONNECTED)
        assert it.phases == [Phase.CONNECTING, Phase.CONNECTED]


async def test_a_server_that_finds_no_room_for_as_long_as_a_start_may_take_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mcpyard.runtime.session_runner._NO_ROOM_PAUSE", 0.001)
    async with watched() as it:
        it.opener.no_room = 1_000_000
        it.want(server(config=LocalConfig(command=["x"], start_timeout=5)))
        seen = await it.phase(Phase.FAILED)
        assert seen.state.cause
        assert seen.state.cause.code is Code.SPAWN_FAILED
        assert "cannot start another process" in seen.state.cause.message
        assert "ulimit" in seen.state.cause.hint


async def test_the_first_list_may_take_as_long_as_a_start_and_a_later_one_may_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "LIST_DEBOUNCE", 0.01)
    async with watched() as it:
        it.want(server(config=LocalConfig(command=["x"], start_timeout=60_000)))
        await it.phase(Phase.CONNECTED)
        it.opener.listed.clear()
        it.opener.opened[0].events.on_list_changed("tools")
        await it.opener.listed.wait()
        assert it.opener.list_limits == [60.0, limits.LIST]


async def test_changed_tools_are_listed_anew_once_for_many_notices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "LIST_DEBOUNCE", 0.01)
    async with watched() as it:
        it.want(server())
        before = await it.phase(Phase.CONNECTED)
        it.opener.tools = [{"name": "t"}, {"name": "new"}]
        for _ in range(10):
            it.opener.opened[0].events.on_list_changed("tools")
        seen = await it.until(lambda seen: len(seen.tools.definitions) == 2)
        assert seen.tools.digest != before.tools.digest
        assert it.opener.listings == 2


async def test_a_server_that_changes_long_lists_again_and_again_is_listed_less_often_and_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "LIST_DEBOUNCE", 0.001)
    monkeypatch.setattr(limits, "LISTED_BURST", 250)
    monkeypatch.setattr(limits, "LISTED_PER_SECOND", 0.001)
    async with watched() as it:
        it.opener.tools = [{"name": f"tool {number}"} for number in range(100)]
        it.want(server())
        await it.phase(Phase.CONNECTED)
        # The budget is spent when it is exceeded: by the third list.
        for count in (2, 3):
            it.opener.opened[0].events.on_list_changed("tools")
            assert await eventually(lambda count=count: it.opener.listings == count)
        assert not it.seen.warnings
        it.opener.opened[0].events.on_list_changed("tools")
        seen = await it.until(lambda seen: bool(seen.warnings))
        assert [str(each) for each in seen.warnings] == [
            "its lists change too often; mcpyard refreshes them at a lower rate"
        ]
        assert it.opener.listings == 3
        it.opener.opened[0].events.lost(EXITED)
        await it.until(lambda seen: not seen.warnings)


async def test_a_refresh_that_is_already_due_waits_and_names_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "LIST_DEBOUNCE", 0.001)
    monkeypatch.setattr(limits, "LISTED_BURST", 150)
    monkeypatch.setattr(limits, "LISTED_PER_SECOND", 0.001)
    async with watched() as it:
        it.opener.tools = [{"name": f"tool {number}"} for number in range(100)]
        it.want(server())
        await it.phase(Phase.CONNECTED)
        it.opener.opened[0].events.on_list_changed("tools")
        it.opener.opened[0].events.on_list_changed("prompts")
        await it.until(lambda seen: bool(seen.warnings))
        assert it.opener.listings == 2


def test_the_budget_of_lists_grows_with_time_up_to_its_burst() -> None:
    clock = ManualClock()
    pace = ListPace(clock)
    pace.spend(10_000)
    pace.spend(10_000)
    assert pace.pause() == 0
    pace.spend(10_000)
    assert pace.pause() == 10_000 / limits.LISTED_PER_SECOND
    clock.advance(pace.pause())
    assert pace.pause() == 0
    clock.advance(1_000_000)
    for _ in range(limits.LISTED_BURST // limits.LEAST_LISTED):
        assert pace.pause() == 0
        pace.spend(1)
    pace.spend(0)
    assert pace.pause() == limits.LEAST_LISTED / limits.LISTED_PER_SECOND


async def test_a_list_is_renewed_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LIST_DEBOUNCE", 0.001)
    monkeypatch.setattr(limits, "LEAST_TOOLS_TTL", 0.001)
    async with watched() as it:
        it.opener.ttl = 0.01
        it.want(server())
        await it.phase(Phase.CONNECTED)
        it.opener.tools = []
        await it.until(lambda seen: not seen.tools.definitions)


async def test_a_list_that_fails_once_keeps_the_tools(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(limits, "LIST_DEBOUNCE", 0.001)
    async with watched() as it:
        it.want(server())
        await it.phase(Phase.CONNECTED)
        it.opener.list_fault = TimedOut("too slow")
        it.opener.opened[0].events.on_list_changed("tools")
        assert await eventually(lambda: "failed to list its tools again: too slow" in caplog.text)
        assert [tool.name for tool in it.seen.tools.definitions] == ["t"]


async def test_a_server_whose_tools_cannot_be_listed_is_not_connected() -> None:
    async with watched() as it:
        it.opener.list_fault = TimedOut("too slow")
        it.want(server())
        seen = await it.phase(Phase.FAILED)
        assert seen.state.cause is not None
        assert seen.state.cause.code is Code.START_TIMEOUT
        assert {live.ended for live in it.opener.opened} == {"killed"}


async def test_a_silent_server_is_pinged_and_lost_after_three_misses() -> None:
    async with watched(RestartPolicy(delays=(60.0,))) as it:
        it.want(checked(interval=5))
        await it.phase(Phase.CONNECTED)
        live = it.opener.opened[0]
        assert await eventually(lambda: live.pings >= 5)
        it.opener.mute = True
        seen = await it.phase(Phase.BACKOFF)
        assert seen.state.cause == Cause(Code.UNRESPONSIVE, "did not answer 3 pings in a row")


async def test_any_traffic_counts_as_life() -> None:
    async with watched() as it:
        it.opener.mute = True
        it.want(checked(interval=2))
        await it.phase(Phase.CONNECTED)
        live = it.opener.opened[0]
        for _ in range(20):
            live.activity += 1
            await asyncio.sleep(0.001)
        assert it.seen.state.phase is Phase.CONNECTED


async def test_tools_are_remembered_over_a_restart_of_the_yard() -> None:
    async with watched() as it:
        offer = Capabilities(prompts=Items(({"name": "ask"},)))
        it.memory.keep_tools(ID, [{"name": "old"}])
        it.memory.keep_offer(ID, offer)
        it.opener.gate.clear()
        it.want(server())
        assert [tool.name for tool in it.seen.tools.definitions] == ["old"]
        assert it.seen.tools.stale
        assert it.seen.offer == offer
