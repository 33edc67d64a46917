"""A keeper that is killed or hangs leaves nothing behind, whatever its children did to hide."""

import asyncio
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable

import psutil
import pytest

from mcpyard.runtime.processes import cgroups
from mcpyard.runtime.processes.cgroups import Cgroup
from mcpyard.runtime.processes.keeper_client import Exit, Pulse, SpawnFailed
from mcpyard.runtime.processes.marks import Mark
from mcpyard.runtime.processes.orphans import Remains, sweep_dead_yards
from mcpyard.runtime.processes.table import read_mark
from tests.runtime.small_yard import KEY, small_yard
from tests.runtime.test_keeper_kills import Victim, victim
from tests.runtime.waiting import alive, eventually, none_alive, read_line

pytestmark = pytest.mark.real

QUICK = Pulse(seconds=0.2, misses=10)
PATIENT = Pulse(seconds=0.02, misses=5000)
TIMEOUT = 10.0


async def soon(condition: Callable[[], bool]) -> bool:
    return await eventually(condition, TIMEOUT)


def can_make_cgroups() -> bool:
    made = Cgroup.make(KEY.sign_group(Mark.of_this_process("try"), 0))
    if made:
        made.remove()
    return made is not None


with_cgroup = pytest.mark.skipif(not can_make_cgroups(), reason="no cgroup can be made here")


async def kill_keeper(yard: Victim) -> None:
    """Kill the keeper alone, once one of its processes has dropped the mark."""
    assert await soon(lambda: not all(map(read_mark, yard.pids)))
    os.kill(yard.keeper, signal.SIGKILL)


@pytest.mark.spec("F2.7")
@pytest.mark.parametrize("kind", ["bare", "leaves-scrubbed", "leaves-unmarked"])
async def test_a_daemon_ends_and_reaps_what_its_killed_keeper_leaves(kind: str) -> None:
    async with victim(kind, "adopting", "no-cgroup") as yard:
        await kill_keeper(yard)
        assert await soon(none_alive([yard.keeper, *yard.pids]))
        daemon = psutil.Process(yard.process.pid)
        assert await soon(lambda: not daemon.children())
        assert yard.process.poll() is None


@pytest.mark.spec("F2.7")
async def test_a_daemon_ends_nothing_that_its_keeper_did_not_leave() -> None:
    async with victim("leaves-scrubbed", "adopting", "no-cgroup", "bystanders") as yard:
        *left, adopted, own = yard.pids
        await kill_keeper(yard)
        assert await soon(none_alive([yard.keeper, *left]))
        children = psutil.Process(yard.process.pid).children
        assert await soon(lambda: {each.pid for each in children()} == {adopted, own})
        assert alive(adopted)
        assert alive(own)


@pytest.mark.spec("F2.7")
@pytest.mark.parametrize("kind", ["bare", "leaves-unmarked"])
async def test_a_library_ends_its_children_whatever_their_environment(kind: str) -> None:
    async with victim(kind, "no-cgroup") as yard:
        await kill_keeper(yard)
        assert await soon(none_alive([yard.keeper, *yard.pids]))
        assert yard.process.poll() is None


@pytest.mark.spec("F2.7")
async def test_a_library_does_not_become_the_parent_of_orphans() -> None:
    async with victim("leaves-scrubbed", "no-cgroup") as yard:
        await kill_keeper(yard)
        # What no cgroup holds is the limit of a library.
        assert await soon(lambda: sum(map(alive, yard.pids)) == 1)
        (left,) = filter(alive, yard.pids)
        assert psutil.Process(left).ppid() != yard.process.pid


@with_cgroup
@pytest.mark.spec("F2.7")
async def test_where_a_cgroup_can_be_made_a_library_ends_everything_too() -> None:
    async with victim("leaves-scrubbed") as yard:
        await kill_keeper(yard)
        assert await soon(none_alive([yard.keeper, *yard.pids]))


@with_cgroup
@pytest.mark.spec("F2.7")
async def test_the_next_start_ends_what_a_double_kill_left_in_the_cgroup() -> None:
    async with victim("leaves-scrubbed") as yard:
        assert await soon(lambda: not all(map(read_mark, yard.pids)))
        os.kill(yard.keeper, signal.SIGSTOP)
        os.kill(yard.process.pid, signal.SIGSTOP)
        os.kill(yard.keeper, signal.SIGKILL)
        yard.kill()
        parent = cgroups.own_folder()
        assert parent
        await asyncio.to_thread(sweep_dead_yards, KEY)
        assert await soon(none_alive(yard.pids))

        def swept() -> bool:
            # A process that is dead and not yet reaped still holds its group.
            sweep_dead_yards(KEY)
            return not list(parent.glob(f"*:{yard.process.pid}:*"))

        assert await soon(swept)


@with_cgroup
async def test_a_keeper_that_ends_in_order_leaves_no_cgroup() -> None:
    parent = cgroups.own_folder()
    assert parent
    async with small_yard() as yard:
        await yard.family("echo")
        assert list(parent.glob(f"*:{os.getpid()}:*"))
    assert not list(parent.glob(f"*:{os.getpid()}:*"))


@with_cgroup
def test_a_cgroup_is_removed_although_its_last_process_takes_a_moment_to_end() -> None:
    mark = Mark.of_this_process("slow end")
    group = Cgroup.make(KEY.sign_group(mark, 0))
    assert group
    # The kernel takes the longer to end a process, the more memory it must free.
    large = "import sys; text = b'x' * (1 << 28); print(len(text), flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", large]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline()
        assert group.take_keeper(process.pid)
        assert not group.remove()
        Remains(mark, KEY, (), group).end()
        assert not group.folder.exists()


@pytest.mark.parametrize("kind", ["echo", "leaves-scrubbed"])
@pytest.mark.spec("F2.7")
async def test_a_stopped_keeper_ends_everything_once_its_yard_is_killed(kind: str) -> None:
    async with victim(kind, "no-cgroup") as yard:
        os.kill(yard.keeper, signal.SIGSTOP)
        yard.kill()
        assert await soon(none_alive([yard.keeper, *yard.pids]))


@pytest.mark.spec("F2.7")
async def test_a_hung_keeper_is_replaced_and_its_children_end_with_the_reason(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with small_yard(QUICK) as yard:
        child, pids = await yard.family("detached")
        before = yard.keeper.pid
        assert before
        os.kill(before, signal.SIGSTOP)
        spawning = asyncio.create_task(yard.run("cat"))
        assert await child.exited == Exit(keeper_hung=True)
        assert await child.gone == 0
        assert none_alive([before, *pids])()
        with pytest.raises(SpawnFailed, match=r"keeper process.* stopped responding"):
            await spawning
        again, _ = await yard.family("echo")
        assert alive(again.pid)
        assert yard.losses == yard.keeper.lost == 1
    assert f"The keeper (pid {before}) stopped responding" in caplog.text


@pytest.mark.spec("F2.7")
async def test_a_yard_that_was_stopped_itself_does_not_blame_its_keeper() -> None:
    async with small_yard(QUICK) as yard:
        child, _ = await yard.family("echo")
        assert yard.keeper.pid
        os.kill(yard.keeper.pid, signal.SIGSTOP)
        # Nothing of this process runs meanwhile, for longer than a keeper may be silent.
        select.select([], [], [], 1.5 * QUICK.seconds * QUICK.misses)
        os.kill(yard.keeper.pid, signal.SIGCONT)
        os.write(child.stdin, b"still there\n")
        assert await read_line(child.stdout) == "still there"
        assert await (await yard.child("exit", "0")).exited == Exit(code=0)
        assert yard.losses == 0


async def test_a_keeper_that_answers_late_is_not_replaced() -> None:
    async with small_yard(PATIENT) as yard:
        assert await (await yard.child("exit", "0")).exited == Exit(code=0)
        assert yard.keeper.pid
        os.kill(yard.keeper.pid, signal.SIGSTOP)
        spawning = asyncio.create_task(yard.child("exit", "3"))
        await asyncio.wait({spawning}, timeout=0.2)
        assert not spawning.done()
        os.kill(yard.keeper.pid, signal.SIGCONT)
        assert await (await spawning).exited == Exit(code=3)
        assert yard.losses == 0
