"""Whose a process is, and that a whole tree ends however it resists."""

import os
import signal
import time

import pytest

from mcpyard.runtime.processes.keeper_client import ChildProcess, Exit, StopPolicy
from mcpyard.runtime.processes.table import newest_first, read_mark, read_process
from tests.runtime.small_yard import SmallYard, small_yard
from tests.runtime.waiting import alive, eventually, none_alive, read_pids

pytestmark = pytest.mark.real


def marked_like(mark: bytes) -> list[int]:
    return [pid for pid in newest_first() if read_mark(pid) == mark]


def started(pid: int) -> int:
    row = read_process(pid)
    return row.start if row else 0


def ticks_now() -> int:
    return int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))


async def stop(yard: SmallYard, child: ChildProcess) -> Exit:
    return await child.stop(lambda: yard.hang_up(child), StopPolicy())


@pytest.mark.parametrize("mode", ["leaves-detached", "leaves-scrubbed", "leaves-unmarked"])
async def test_what_a_cleanly_ended_child_leaves_behind_ends_too(mode: str) -> None:
    async with small_yard() as yard:
        child, pids = await yard.family(mode)
        assert len(pids) == 2
        assert await stop(yard, child) == Exit(code=0)
        assert not any(map(alive, pids))


@pytest.mark.parametrize("mode", ["leaves-detached", "leaves-unmarked"])
async def test_a_child_that_is_stopped_takes_its_own_and_no_others(mode: str) -> None:
    async with small_yard() as yard:
        _, others = await yard.family("leaves-detached")
        child, pids = await yard.family(mode)
        await stop(yard, child)
        assert not any(map(alive, pids))
        assert all(map(alive, others))


@pytest.mark.parametrize("mode", ["leaves-detached", "detached"])
async def test_a_main_process_that_is_killed_takes_its_tree_along(mode: str) -> None:
    async with small_yard() as yard:
        child, pids = await yard.family(mode)
        os.kill(child.pid, signal.SIGKILL)
        assert await child.gone == 0
        assert child.exited.result() == Exit(signal=signal.SIGKILL)
        assert not any(map(alive, pids))


async def test_a_process_nobody_can_attribute_ends_with_the_last_that_may_own_it() -> None:
    async with small_yard() as yard:
        elder, _ = await yard.family("echo")
        child, _ = await yard.family("leaves-scrubbed-later")
        # A look before it has scrubbed itself would see whose it is.
        assert yard.keeper.pid
        os.kill(yard.keeper.pid, signal.SIGSTOP)
        os.write(child.stdin, b"\n")
        stray = await read_pids(child.stdout)
        assert await eventually(lambda: not any(map(read_mark, stray)))
        os.kill(yard.keeper.pid, signal.SIGCONT)
        # Start times count in ticks; what started in the same one may be either's.
        assert await eventually(lambda: ticks_now() > max(map(started, stray)))
        younger, _ = await yard.family("echo")
        await stop(yard, child)
        assert all(map(alive, stray))
        await stop(yard, elder)
        assert not any(map(alive, stray))
        assert alive(younger.pid)


async def test_two_processes_that_restart_each_other_end() -> None:
    async with small_yard() as yard:
        child, _ = await yard.family("watched")
        mark = read_mark(child.pid)
        assert await eventually(lambda: len(marked_like(mark)) == 2)
        assert await child.kill()
        assert marked_like(mark) == []


@pytest.mark.parametrize("how", ["kill", "close"])
async def test_a_process_that_forks_and_exits_for_ever_is_caught(how: str) -> None:
    async with small_yard() as yard:
        child, pids = await yard.family("run-away")
        mark = read_mark(child.pid)
        assert await eventually(lambda: len(marked_like(mark)) > 1)
        await (child.kill() if how == "kill" else yard.keeper.close())
        assert child.gone.result() == 0
        # A single look can miss a runaway; fifty do not.
        assert [marked_like(mark) for _ in range(50)] == [[]] * 50
        assert none_alive(pids)()
