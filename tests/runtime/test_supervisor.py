"""Supervision over fake sessions: what the table says is carried out, and nothing else."""

import asyncio

import pytest

from mcpyard.domain import limits
from mcpyard.domain.backoff import RestartPolicy
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.errors import Disconnected, NeedsAuth, ServerUnknown, StartFailed
from mcpyard.domain.lifecycle import Phase
from mcpyard.domain.model import Wanted
from mcpyard.domain.ports import CallTerms
from tests.runtime.openers import EXITED
from tests.runtime.watched import ID, TERMS, server, watched


async def test_a_wanted_server_is_opened_listed_and_connected() -> None:
    async with watched() as it:
        it.want(server())
        seen = await it.phase(Phase.CONNECTED)
        assert (seen.pid, seen.session and seen.session.protocol_version) == (100, "2025-11-25")
        assert [tool.name for tool in seen.tools.definitions] == ["t"]
        assert not seen.tools.stale
        assert await it.call() == b"t"
        assert it.memory.tools(ID) == [{"name": "t"}]
    assert it.opener.opened[0].ended == "closed"


async def test_constant_failure_opens_exactly_four_times() -> None:
    async with watched() as it:
        it.opener.always = EXITED
        it.want(server())
        seen = await it.phase(Phase.FAILED)
        assert it.opener.tries == 4
        assert seen.state.cause == EXITED
        with pytest.raises(StartFailed, match="the process exited with code 1") as caught:
            await it.call()
        assert caught.value.cause == EXITED


async def test_a_fatal_failure_is_not_tried_again() -> None:
    async with watched() as it:
        it.opener.failures = [Cause(Code.COMMAND_MISSING, "none")]
        it.want(server())
        await it.phase(Phase.FAILED)
        assert it.opener.tries == 1


async def test_a_lost_session_is_killed_and_made_anew_and_its_tools_are_stale_meanwhile() -> None:
    async with watched() as it:
        it.want(server())
        await it.phase(Phase.CONNECTED)
        it.opener.gate.clear()
        it.opener.opened[0].events.lost(EXITED)
        seen = await it.until(lambda seen: seen.tools.stale)
        assert [tool.name for tool in seen.tools.definitions] == ["t"]
        await it.phase(Phase.CONNECTING)
        assert it.opener.opened[0].ended == "killed"
        waiting = asyncio.create_task(it.call())
        it.opener.gate.set()
        assert await waiting == b"t"
        assert it.phases == [
            Phase.CONNECTING,
            Phase.CONNECTED,
            Phase.BACKOFF,
            Phase.CONNECTING,
            Phase.CONNECTED,
        ]


async def test_a_waiting_server_tells_when_it_will_be_tried_again() -> None:
    async with watched(RestartPolicy(delays=(60.0,))) as it:
        it.opener.always = EXITED
        it.want(server())
        seen = await it.phase(Phase.BACKOFF)
        assert seen.next_retry_at is not None
        assert seen.since is not None
        assert 47 < (seen.next_retry_at - seen.since).total_seconds() < 73
        it.want(server(Wanted.STOPPED))
        assert it.seen.state.phase is Phase.STOPPED
        assert it.seen.next_retry_at is None


async def test_a_call_to_a_waiting_server_gives_up_with_what_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "WAIT_IN_BACKOFF", 0.01)
    async with watched(RestartPolicy(delays=(60.0,))) as it:
        it.opener.always = EXITED
        it.want(server())
        await it.phase(Phase.BACKOFF)
        with pytest.raises(Disconnected, match="is not connected: the process exited"):
            await it.call()


async def test_a_call_waits_no_longer_than_its_own_time() -> None:
    async with watched() as it:
        it.opener.gate.clear()
        it.want(server())
        with pytest.raises(Disconnected, match='the server "fs" is connecting'):
            await it.call(CallTerms(timeout=0.01))


async def test_the_time_a_call_waited_is_taken_off_its_limit() -> None:
    async with watched() as it:
        it.opener.gate.clear()
        it.want(server())
        waiting = asyncio.create_task(it.call())
        await asyncio.sleep(0)
        it.opener.gate.set()
        await waiting
        left = it.opener.terms[0].timeout
        assert left
        assert TERMS.timeout
        assert 0 < left < TERMS.timeout


async def test_only_a_call_starts_a_server_that_runs_on_demand() -> None:
    async with watched() as it:
        it.want(server(Wanted.ON_DEMAND))
        assert it.seen.state.phase is Phase.STOPPED
        assert it.opener.tries == 0
        assert await it.call() == b"t"
        it.want(server(Wanted.ON_DEMAND))
        assert it.seen.state.phase is Phase.CONNECTED


async def test_a_stopped_server_refuses_calls_at_once() -> None:
    async with watched() as it:
        it.want(server(Wanted.STOPPED))
        with pytest.raises(Disconnected, match='the server "fs" is stopped'):
            await it.call()
        it.want()
        with pytest.raises(ServerUnknown):
            await it.call()


async def test_a_server_that_wants_a_sign_in_says_so() -> None:
    async with watched() as it:
        it.opener.failures = [Cause(Code.NEEDS_AUTH, "sign in first")]
        it.want(server())
        await it.phase(Phase.NEEDS_AUTH)
        with pytest.raises(NeedsAuth, match="sign in first"):
            await it.call()


async def test_a_changed_server_is_closed_and_opened_with_the_new_definition() -> None:
    async with watched() as it:
        it.want(server())
        await it.phase(Phase.CONNECTED)
        it.want(server(launch_digest="new"))
        await it.phase(Phase.STOPPING)
        await it.phase(Phase.CONNECTED)
        assert [live.ended for live in it.opener.opened] == ["closed", ""]
        assert it.seen.launch_digest == "new"


async def test_a_stop_while_it_opens_cancels_the_opening() -> None:
    async with watched() as it:
        it.opener.gate.clear()
        it.want(server())
        await asyncio.sleep(0.01)
        it.want(server(Wanted.STOPPED))
        await it.phase(Phase.STOPPED)
        assert (it.opener.cancelled, it.opener.opened) == (1, [])


async def test_a_removed_server_is_closed_and_forgotten() -> None:
    async with watched() as it:
        it.want(server())
        await it.phase(Phase.CONNECTED)
        it.want()
        await it.phase(Phase.STOPPED)
        it.want()
        assert it.supervisor.observed() == {}
        assert it.supervisor.log(ID) == ()


async def test_a_new_policy_is_taken_over_without_a_new_session() -> None:
    async with watched() as it:
        it.want(server())
        await it.phase(Phase.CONNECTED)
        it.want(server(policy_digest="new"))
        assert it.seen.policy_digest == "new"
        assert len(it.opener.opened) == 1


async def test_a_hurried_shutdown_kills() -> None:
    async with watched() as it:
        it.want(server())
        await it.phase(Phase.CONNECTED)
        it.supervisor.force_close()
        await it.until(lambda seen: seen.state.phase is not Phase.CONNECTED)
    assert it.opener.opened[0].ended == "killed"


async def test_a_mistake_of_ours_costs_one_session_and_not_the_server(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with watched() as it:
        it.opener.tools = 3  # pyright: ignore[reportAttributeAccessIssue]
        it.want(server())
        seen = await it.phase(Phase.BACKOFF)
        assert seen.state.cause is not None
        assert "internal error in mcpyard" in seen.state.cause.message
        it.opener.tools = []
        await it.phase(Phase.CONNECTED)
        assert "supervision failed" in caplog.text


async def test_a_call_that_was_never_taken_goes_to_the_next_session() -> None:
    expired = Cause(Code.CLOSED, "the session is over", untaken=True)
    async with watched() as it:
        it.want(server())
        await it.phase(Phase.CONNECTED)
        it.opener.call_faults = [Disconnected("over").because(expired)]
        calling = asyncio.create_task(it.call())
        await asyncio.sleep(0)
        it.opener.opened[0].events.lost(expired)
        assert await calling == b"t"
        assert len(it.opener.opened) == 2


async def test_a_call_that_may_have_been_taken_is_never_repeated() -> None:
    async with watched() as it:
        it.want(server())
        await it.phase(Phase.CONNECTED)
        for fault in (Disconnected("gone"), Disconnected("gone").because(EXITED)):
            it.opener.call_faults = [fault]
            with pytest.raises(Disconnected, match="gone"):
                await it.call()
        assert len(it.opener.terms) == 2


async def test_a_loss_is_told_before_the_remains_are_gone_and_nothing_opens_until_they_are() -> (
    None
):
    async with watched() as it:
        it.want(server())
        await it.phase(Phase.CONNECTED)
        it.opener.killing.clear()
        it.opener.opened[0].events.lost(EXITED)
        seen = await it.phase(Phase.BACKOFF)
        assert (seen.pid, seen.state.cause) == (None, EXITED)
        await it.phase(Phase.CONNECTING)
        assert len(it.opener.opened) == 1
        it.opener.killing.set()
        await it.phase(Phase.CONNECTED)
        assert [live.ended for live in it.opener.opened] == ["killed", ""]
