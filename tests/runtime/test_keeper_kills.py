"""Whoever is killed, nothing is left."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from mcpyard.runtime.processes.keeper_client import Exit, SpawnFailed
from mcpyard.runtime.processes.orphans import Remains, sweep_dead_yards
from tests.runtime import small_yard as program
from tests.runtime.small_yard import KEY, small_yard
from tests.runtime.waiting import alive, eventually, none_alive, read_line, read_pids

pytestmark = pytest.mark.real

KINDS = ["echo", "wrapped", "stubborn", "detached"]
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Victim:
    process: subprocess.Popen[bytes]
    keeper: int
    pids: list[int]

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


@asynccontextmanager
async def victim(kind: str, *options: str) -> AsyncGenerator[Victim]:
    command = [sys.executable, "-m", program.__name__, kind, *options]
    pids: list[int] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:  # noqa: ASYNC220
        try:
            assert process.stdout
            keeper, *pids = await read_pids(process.stdout.fileno())
            assert all(map(alive, pids))
            yield Victim(process, keeper, pids)
        finally:
            process.kill()
            for pid in filter(alive, pids):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("kind", [*KINDS, "leaves-scrubbed"])
async def test_nothing_outlives_a_killed_yard(kind: str) -> None:
    async with victim(kind) as yard:
        yard.kill()
        assert await eventually(none_alive([yard.keeper, *yard.pids]))


@pytest.mark.parametrize("kind", KINDS)
async def test_nothing_outlives_a_killed_keeper(kind: str) -> None:
    async with victim(kind) as yard:
        os.kill(yard.keeper, signal.SIGKILL)
        assert await eventually(none_alive([yard.keeper, *yard.pids]))
        assert yard.process.poll() is None


@pytest.mark.parametrize("kind", KINDS)
async def test_the_next_start_sweeps_what_a_double_kill_left(kind: str) -> None:
    async with victim(kind) as yard:
        # Both are stopped first, so that neither can end anything before it is killed itself; and
        # as long as the yard is not dead no other yard of the machine ends its children.
        os.kill(yard.keeper, signal.SIGSTOP)
        os.kill(yard.process.pid, signal.SIGSTOP)
        os.kill(yard.keeper, signal.SIGKILL)
        assert all(map(alive, yard.pids))
        yard.kill()
        swept = await asyncio.to_thread(sweep_dead_yards, KEY)
        assert swept.left == 0
        assert await eventually(none_alive([yard.keeper, *yard.pids]))


async def test_a_yard_is_dead_even_if_a_fork_of_it_holds_its_socket_open() -> None:
    async with victim("stubborn", "forked") as yard:
        *pids, fork = yard.pids
        yard.kill()
        assert await eventually(none_alive([yard.keeper, *pids]))
        os.kill(fork, signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_the_keeper_ends_with_its_yard_and_not_by_a_signal(number: int) -> None:
    async with small_yard() as yard:
        child, _ = await yard.family("echo")
        assert yard.keeper.pid
        os.kill(yard.keeper.pid, number)
        os.write(child.stdin, b"on we go\n")
        assert await read_line(child.stdout) == "on we go"
        assert await (await yard.child("exit", "0")).exited == Exit(code=0)


async def test_children_of_a_killed_keeper_are_told_lost_and_the_next_spawn_works() -> None:
    async with small_yard() as yard:
        children = [await yard.family(kind) for kind in KINDS]
        before = yard.keeper.pid
        assert before
        os.kill(before, signal.SIGKILL)
        for child, pids in children:
            assert await child.exited == Exit()
            assert await child.gone == 0
            assert not any(map(alive, pids))
        again, _ = await yard.family("echo")
        assert yard.keeper.pid not in (None, before)
        assert alive(again.pid)
        assert yard.losses == yard.keeper.lost == 1


async def test_a_clean_up_that_fails_is_told_once_and_hinders_no_later_spawn(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    left: list[Remains] = []

    def fail(remains: Remains) -> None:
        left.append(remains)
        raise OSError(9, "Bad file descriptor")

    async with small_yard() as yard:
        lost, _ = await yard.family("echo")
        assert yard.keeper.pid
        with monkeypatch.context() as patch:
            patch.setattr(Remains, "end", fail)
            os.kill(yard.keeper.pid, signal.SIGKILL)
            assert await lost.gone == 1
        assert "could not be ended for certain" in caplog.text
        again, _ = await yard.family("echo")
        assert alive(again.pid)
    # Its control group, which would be taken for one that a later test left.
    for each in left:
        each.end()


async def test_a_spawn_that_meets_the_death_of_the_keeper_fails_and_leaves_nothing() -> None:
    async with small_yard() as yard:
        await yard.keeper.start()
        assert yard.keeper.pid
        os.kill(yard.keeper.pid, signal.SIGSTOP)
        spawning = asyncio.create_task(yard.run("cat"))
        await asyncio.sleep(0)
        os.kill(yard.keeper.pid, signal.SIGKILL)
        with pytest.raises(SpawnFailed) as caught:
            await spawning
        assert caught.value.which == "keeper"


async def test_stopping_a_child_that_was_lost_does_no_harm() -> None:
    async with small_yard() as yard:
        child, _ = await yard.family("echo")
        assert yard.keeper.pid
        os.kill(yard.keeper.pid, signal.SIGKILL)
        await child.exited
        child.terminate()
        assert await child.kill()
