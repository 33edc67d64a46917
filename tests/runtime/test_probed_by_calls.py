"""A remote server that was away is connected again by the calls that need it."""

import asyncio

import pytest

from mcpyard.domain.backoff import RestartPolicy
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.errors import Disconnected, StartFailed
from mcpyard.domain.lifecycle import Phase
from mcpyard.domain.model import Wanted
from mcpyard.domain.ports import CallTerms
from tests.runtime.watched import ID, Watched, remote_server, server, watched

AWAY = Cause(Code.UNREACHABLE, "connection refused")
GIVEN_UP = RestartPolicy(delays=(), probe_gap=0.0)
NEVER_AGAIN = RestartPolicy(delays=(), probe_gap=3600.0)


async def failed(it: Watched) -> None:
    it.opener.always = AWAY
    it.want(remote_server())
    seen = await it.phase(Phase.FAILED)
    assert seen.next_retry_at
    it.opener.always = None


async def test_a_call_connects_a_failed_remote_server_that_is_back() -> None:
    async with watched(GIVEN_UP) as it:
        await failed(it)
        assert await it.call() == b"t"
        assert it.seen.state.phase is Phase.CONNECTED
        assert it.opener.tries == 2


async def test_calls_made_together_share_one_probe() -> None:
    async with watched(GIVEN_UP) as it:
        await failed(it)
        it.opener.gate.clear()
        calls = [asyncio.create_task(it.call()) for _ in range(5)]
        await it.phase(Phase.CONNECTING)
        it.opener.gate.set()
        assert await asyncio.gather(*calls) == [b"t"] * 5
        assert it.opener.tries == 2


async def test_a_call_soon_after_the_last_probe_fails_at_once() -> None:
    async with watched(NEVER_AGAIN) as it:
        await failed(it)
        with pytest.raises(StartFailed, match="connection refused") as caught:
            await it.call(CallTerms(None))
        assert caught.value.untaken
        assert it.opener.tries == 1


async def test_a_probe_that_fails_fails_the_call_that_made_it() -> None:
    async with watched(RestartPolicy(delays=(), probe_gap=0.01)) as it:
        await failed(it)
        it.opener.always = AWAY
        while it.opener.tries < 4:
            before = it.opener.tries
            with pytest.raises(StartFailed, match="connection refused"):
                await it.call(CallTerms(None))
            assert it.opener.tries <= before + 1


async def test_a_probe_that_hangs_holds_a_call_no_longer_than_a_restart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mcpyard.domain.limits.WAIT_IN_BACKOFF", 0.05)
    async with watched(GIVEN_UP) as it:
        await failed(it)
        it.opener.gate.clear()
        with pytest.raises(Disconnected, match="connection refused"):
            await it.call(CallTerms(None))
        it.opener.gate.set()
        await it.phase(Phase.CONNECTED)


async def test_a_call_of_a_remote_server_that_was_just_lost_probes_until_it_is_back() -> None:
    async with watched(RestartPolicy(delays=(60.0,), probe_gap=0.01)) as it:
        it.want(remote_server())
        await it.phase(Phase.CONNECTED)
        it.opener.failures = [AWAY] * 3
        it.opener.opened[0].events.lost(AWAY)
        await it.phase(Phase.BACKOFF)
        assert await it.call() == b"t"
        assert it.opener.tries == 5
        assert Phase.FAILED in it.phases


async def test_a_call_waits_no_longer_than_it_may_for_a_remote_server_that_stays_away() -> None:
    async with watched(RestartPolicy(delays=(60.0,), probe_gap=0.01)) as it:
        it.opener.always = AWAY
        it.want(remote_server())
        await it.phase(Phase.BACKOFF)
        with pytest.raises((Disconnected, StartFailed), match="connection refused"):
            await it.call(CallTerms(0.1))
        assert it.opener.tries > 2


async def test_a_probe_without_a_call_connects_a_server_and_leaves_others_alone() -> None:
    async with watched(GIVEN_UP) as it:
        it.supervisor.probe(ID)
        await failed(it)
        it.supervisor.probe(ID)
        await it.phase(Phase.CONNECTED)
        it.supervisor.probe(ID)
        it.want(remote_server(Wanted.STOPPED))
        await it.phase(Phase.STOPPED)
        it.supervisor.probe(ID)
        assert it.opener.tries == 2


async def test_no_call_opens_a_local_server_that_failed() -> None:
    async with watched(GIVEN_UP) as it:
        it.opener.always = AWAY
        it.want(server())
        await it.phase(Phase.FAILED)
        with pytest.raises(StartFailed):
            await it.call()
        assert it.opener.tries == 1
