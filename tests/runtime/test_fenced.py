"""Fenced trees end at the deadline, whoever is frozen then; others live on."""

import asyncio
import os
import signal

import pytest

from mcpyard.domain.cause import Code
from mcpyard.domain.definition.launch import LocalLaunch
from mcpyard.runtime.causes import exit_cause, spawn_cause
from mcpyard.runtime.processes.child import ChildProcess
from mcpyard.runtime.processes.keeper_client import Exit, SpawnFailed
from mcpyard.runtime.processes.table import read_fields
from tests.runtime.small_yard import boottime, small_yard
from tests.runtime.test_keeper_kills import victim
from tests.runtime.waiting import alive, eventually, none_alive, read_line

pytestmark = pytest.mark.real

EXPIRED = Exit(signal=signal.SIGKILL, expired=True)
LAUNCH = LocalLaunch(("server",), {}, None, ())
SLOW = 10.0


def is_stopped(pid: int) -> bool:
    return read_fields(pid)[:1] == [b"T"]


async def exits_within(child: ChildProcess, seconds: float) -> bool:
    await asyncio.wait({child.exited}, timeout=seconds)
    return child.exited.done()


async def test_a_fenced_tree_ends_at_the_deadline_and_an_unfenced_one_does_not() -> None:
    async with small_yard() as yard:
        yard.keeper.until(boottime() + 60)
        fenced, pids = await yard.family("detached", fenced=True)
        unfenced, others = await yard.family("detached")
        yard.keeper.until(boottime() + 0.2)
        assert await fenced.exited == EXPIRED
        assert await fenced.gone == 0
        assert not any(map(alive, pids))
        assert all(map(alive, others))
        assert not unfenced.exited.done()
        assert exit_cause(EXPIRED, LAUNCH, ()).code is Code.LEASE_EXPIRED


async def test_a_deadline_that_is_moved_on_ends_nothing() -> None:
    async with small_yard() as yard:
        yard.keeper.until(boottime() + 60)
        child, _ = await yard.family("echo", fenced=True)
        for seconds in (1.0, 60.0):
            yard.keeper.until(boottime() + seconds)
        assert not await exits_within(child, 1.2)
        os.write(child.stdin, b"still here\n")
        assert await read_line(child.stdout) == "still here"
        yard.keeper.until(0)
        assert await child.exited == EXPIRED


@pytest.mark.parametrize("seconds", [None, -1.0])
async def test_nothing_fenced_starts_without_a_deadline_to_come(seconds: float | None) -> None:
    async with small_yard() as yard:
        if seconds:
            yard.keeper.until(boottime() + seconds)
        with pytest.raises(SpawnFailed) as refusal:
            await yard.run("cat", fenced=True)
        assert refusal.value.which == "lease"
        assert spawn_cause(refusal.value, LAUNCH).code is Code.LEASE_EXPIRED
        yard.keeper.until(boottime() + 60)
        await yard.run("cat", fenced=True)


async def test_the_deadline_holds_while_the_daemon_is_frozen() -> None:
    async with victim("detached", "fenced") as yard:
        os.kill(yard.process.pid, signal.SIGSTOP)
        assert await eventually(none_alive(yard.pids), SLOW)
        assert is_stopped(yard.process.pid)
        assert alive(yard.keeper)


async def test_a_keeper_that_wakes_after_the_deadline_ends_fenced_trees_first() -> None:
    async with small_yard() as yard:
        yard.keeper.until(boottime() + 60)
        child, pids = await yard.family("detached", fenced=True)
        assert yard.keeper.pid
        frozen = [yard.keeper.pid, *pids]
        yard.keeper.until(boottime() + 1)
        await child.be_seen()
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        assert not await exits_within(child, 1.2)
        # Too late: another node may have taken over while the keeper slept.
        yard.keeper.until(boottime() + 60)
        for pid in frozen:
            os.kill(pid, signal.SIGCONT)
        assert await child.exited == EXPIRED
        assert await child.gone == 0
        assert not any(map(alive, pids))


async def test_a_keeper_that_takes_the_place_of_another_knows_the_deadline() -> None:
    async with small_yard() as yard:
        yard.keeper.until(boottime() + 60)
        lost, _ = await yard.family("echo", fenced=True)
        assert yard.keeper.pid
        os.kill(yard.keeper.pid, signal.SIGKILL)
        assert await lost.exited == Exit()
        child, _ = await yard.family("echo", fenced=True)
        yard.keeper.until(boottime() + 0.2)
        assert await child.exited == EXPIRED
