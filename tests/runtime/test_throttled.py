"""What a connection does about limits: those of its server, and those that the server asks for."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from mcpyard.domain.backoff import RestartPolicy
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.errors import Disconnected, ServerBusy
from mcpyard.domain.lifecycle import Phase
from mcpyard.domain.model import LocalConfig
from mcpyard.runtime.clock import SystemClock
from tests.runtime.openers import FakeLive
from tests.runtime.test_responding import time_out
from tests.runtime.waiting import eventually
from tests.runtime.watched import checked, server, watched

pytestmark = pytest.mark.spec("F2.6")

WAIT = Cause(Code.HTTP_ERROR, "wait", untaken=True, retry_after=3_000)


async def test_a_server_that_asks_to_wait_is_not_opened_again_before() -> None:
    async with watched() as it:
        it.opener.failures.append(WAIT)
        it.want(server())
        seen = await it.phase(Phase.BACKOFF)
        assert seen.next_retry_at
        assert seen.next_retry_at > SystemClock().now() + timedelta(seconds=2_900)
        assert it.opener.tries == 1


async def test_a_server_that_failed_for_good_is_probed_no_sooner_than_it_asks() -> None:
    async with watched(RestartPolicy(delays=())) as it:
        it.opener.failures.append(WAIT)
        it.want(server())
        await it.phase(Phase.FAILED)
        assert it.opener.tries == 1


async def test_a_call_that_a_server_asks_to_repeat_later_waits_for_no_other_session() -> None:
    async with watched() as it:
        it.want(server())
        await it.phase(Phase.CONNECTED)
        it.opener.call_faults.append(Disconnected("wait").because(WAIT))
        with pytest.raises(Disconnected, match="wait"):
            await it.call()
        assert it.opener.calls == 1


async def test_nothing_is_asked_of_a_server_that_asked_to_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks, wait = 0, 0.0

    def ignored(_live: FakeLive, _value: float) -> None:
        """The test says it instead."""

    def throttled(_live: FakeLive) -> float:
        nonlocal looks
        looks += 1
        return wait

    monkeypatch.setattr(FakeLive, "throttled", property(throttled, ignored), raising=False)
    async with watched() as it:
        it.want(checked(interval=1, timeout=1, failures=1))
        await it.phase(Phase.CONNECTED)
        live = it.opener.opened[0]
        it.opener.mute, wait = True, 0.01
        live.events.on_list_changed("tools")
        await time_out(it, 3)
        looks = 0
        assert await eventually(lambda: looks > 2)
        before = live.pings, it.opener.listings
        assert await eventually(lambda: looks > 20)
        assert (live.pings, it.opener.listings) == before
        assert it.seen.state.phase is Phase.CONNECTED, "a ping that is not sent is not missed"
        it.opener.mute, wait = False, 0.0
        assert await eventually(lambda: it.opener.listings > before[1])
        assert await eventually(lambda: live.pings > before[0])


async def test_no_more_calls_wait_for_a_start_than_may() -> None:
    async with watched() as it:
        it.opener.gate.clear()
        it.want(server(config=LocalConfig(command=["x"], concurrency=1, queue=2)))
        await it.phase(Phase.CONNECTING)
        waiting = [asyncio.create_task(it.call()) for _ in range(3)]
        await asyncio.sleep(0)
        with pytest.raises(ServerBusy, match="3 calls already wait for it to start"):
            await it.call()
        it.opener.gate.set()
        assert await asyncio.gather(*waiting) == [b"t"] * 3


async def test_changed_limits_apply_to_the_open_session() -> None:
    async with watched() as it:
        it.want(server())
        await it.phase(Phase.CONNECTED)
        config = LocalConfig(command=["x"], concurrency=3, queue=4)
        it.want(replace(server(config=config), policy_digest="q"))
        assert it.opener.opened[0].call_limits == [(3, 4)]
