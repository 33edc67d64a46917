"""Supervision over fake sessions: what the table says is carried out, and nothing else."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from uuid import UUID

import pytest

from mcpyard.domain import limits
from mcpyard.domain.backoff import Tempo
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.desired import Desired, DesiredServer, Owner
from mcpyard.domain.errors import Disconnected, NeedsAuth, ServerUnknown, StartFailed, TimedOut
from mcpyard.domain.launch import LocalLaunch
from mcpyard.domain.lifecycle import Phase
from mcpyard.domain.model import LocalConfig, Scope, Wanted
from mcpyard.domain.observed import Observed
from mcpyard.domain.plan import plan
from mcpyard.domain.ports import CallTerms
from mcpyard.runtime.clock import SystemClock
from mcpyard.runtime.starts import Starts
from mcpyard.runtime.supervisor import Supervisor
from mcpyard.runtime.tenure import Crew
from mcpyard.store.memory import VolatileMemory
from tests.runtime.openers import EXITED, FakeOpener
from tests.runtime.waiting import eventually

ID = UUID(int=1)
QUICK = Tempo(delays=(0.001, 0.001, 0.001))
TERMS = CallTerms(timeout=2)


def server(wanted: Wanted = Wanted.RUNNING, **more: object) -> DesiredServer:
    base = DesiredServer(
        id=ID,
        name="fs",
        owner=Owner(Scope.PROJECT),
        config=LocalConfig(command=["x"]),
        wanted=wanted,
        launch=LocalLaunch(("x",), {}, None, ()),
        launch_digest="l",
        policy_digest="p",
    )
    return replace(base, **more)


class Watched:
    """A supervisor, what it is told, and what it tells."""

    def __init__(self, tempo: Tempo = QUICK) -> None:
        self.opener = FakeOpener()
        self.memory = VolatileMemory()
        crew = Crew(self.opener, Starts(4), self.memory, SystemClock(), tempo)
        self.supervisor = Supervisor(crew)
        self.supervisor.listen(self.note)
        self.phases: list[Phase] = []
        self.changed = asyncio.Event()

    def note(self, observed: Observed) -> None:
        if not self.phases or self.phases[-1] is not observed.state.phase:
            self.phases.append(observed.state.phase)
        self.changed.set()

    @property
    def seen(self) -> Observed:
        return self.supervisor.observed()[ID]

    def want(self, *servers: DesiredServer) -> None:
        desired = Desired({each.id: each for each in servers})
        self.supervisor.apply(plan(desired, self.supervisor.observed()), desired.servers)

    async def until(self, condition: Callable[[Observed], bool]) -> Observed:
        async with asyncio.timeout(3):
            while not condition(self.seen):
                self.changed.clear()
                await self.changed.wait()
        return self.seen

    async def phase(self, phase: Phase) -> Observed:
        return await self.until(lambda seen: seen.state.phase is phase)

    async def call(self, terms: CallTerms = TERMS) -> bytes:
        return await self.supervisor.call(ID, "t", b"{}", terms)


@asynccontextmanager
async def watched(tempo: Tempo = QUICK) -> AsyncGenerator[Watched]:
    found = Watched(tempo)
    try:
        yield found
    finally:
        await found.supervisor.close()
        assert found.opener.closed


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
        it.opener.opened[0].hooks.lost(EXITED)
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
    async with watched(Tempo(delays=(60.0,))) as it:
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
    async with watched(Tempo(delays=(60.0,))) as it:
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
        assert 0 < it.opener.terms[0].timeout < TERMS.timeout


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


async def test_a_server_waits_for_room_instead_of_failing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcpyard.runtime.tenure._NO_ROOM_PAUSE", 0.001)
    async with watched() as it:
        it.opener.no_room = 3
        it.want(server())
        await it.phase(Phase.CONNECTED)
        assert it.phases == [Phase.CONNECTING, Phase.CONNECTED]


async def test_changed_tools_are_listed_anew_once_for_many_notices(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "LIST_DEBOUNCE", 0.01)
    async with watched() as it:
        it.want(server())
        before = await it.phase(Phase.CONNECTED)
        it.opener.tools = [{"name": "t"}, {"name": "new"}]
        for _ in range(10):
            it.opener.opened[0].hooks.tools_changed()
        seen = await it.until(lambda seen: len(seen.tools.definitions) == 2)
        assert seen.tools.digest != before.tools.digest
        assert it.opener.listings == 2


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
        it.opener.opened[0].hooks.tools_changed()
        assert await eventually(lambda: "could not be listed anew: too slow" in caplog.text)
        assert [tool.name for tool in it.seen.tools.definitions] == ["t"]


async def test_a_server_whose_tools_cannot_be_listed_is_not_connected() -> None:
    async with watched() as it:
        it.opener.list_fault = TimedOut("too slow")
        it.want(server())
        seen = await it.phase(Phase.FAILED)
        assert seen.state.cause is not None
        assert seen.state.cause.code is Code.REFUSED_HANDSHAKE
        assert {live.ended for live in it.opener.opened} == {"killed"}


async def test_a_silent_server_is_pinged_and_lost_after_three_misses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "IDLE", 0.005)
    async with watched(Tempo(delays=(60.0,))) as it:
        it.want(server())
        await it.phase(Phase.CONNECTED)
        live = it.opener.opened[0]
        assert await eventually(lambda: live.pings >= 5)
        it.opener.mute = True
        seen = await it.phase(Phase.BACKOFF)
        assert seen.state.cause == Cause(Code.UNRESPONSIVE, "did not answer 3 pings in a row")


async def test_any_traffic_counts_as_life(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "IDLE", 0.002)
    async with watched() as it:
        it.opener.mute = True
        it.want(server())
        await it.phase(Phase.CONNECTED)
        live = it.opener.opened[0]
        for _ in range(20):
            live.activity += 1
            await asyncio.sleep(0.001)
        assert it.seen.state.phase is Phase.CONNECTED


async def test_tools_are_remembered_over_a_restart_of_the_yard() -> None:
    async with watched() as it:
        it.memory.keep_tools(ID, [{"name": "old"}])
        it.opener.gate.clear()
        it.want(server())
        assert [tool.name for tool in it.seen.tools.definitions] == ["old"]
        assert it.seen.tools.stale


async def test_a_hurried_shutdown_kills() -> None:
    async with watched() as it:
        it.want(server())
        await it.phase(Phase.CONNECTED)
        it.supervisor.hurry()
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
        assert "an error of mcpyard itself" in seen.state.cause.message
        it.opener.tools = []
        await it.phase(Phase.CONNECTED)
        assert "supervision failed" in caplog.text
