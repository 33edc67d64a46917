"""Children through the keeper: started, heard of, stopped."""

import asyncio
import errno
import os
import signal
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
import uvloop

from mcpyard.runtime.processes.keeper_client import Exit, SpawnFailed, StopPolicy
from tests.runtime.small_yard import PROGRAM, SmallYard, small_yard
from tests.runtime.waiting import alive, eventually, none_alive, read_line, read_some

pytestmark = pytest.mark.real

SHORT = StopPolicy(eof_grace=0.2, term_grace=0.2)


def yard_and_keeper_fds(yard: SmallYard) -> list[int]:
    pids = os.getpid(), yard.keeper.pid
    return [len(list(Path(f"/proc/{pid}/fd").iterdir())) for pid in pids]


def signal_masks(pid: int) -> dict[str, int]:
    """The signals that a process blocks, ignores and catches, but for two.

    Signals 32 and 33 are glibc's own, and only it can set them: a process that is begun by
    `posix_spawn`, as `subprocess` does since Python 3.13, may ignore them.
    """
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    masks = dict(line.split(":\t") for line in lines if line.startswith("Sig"))
    own = 0b11 << 31
    return {name: int(masks[name], 16) & ~own for name in ("SigBlk", "SigIgn", "SigCgt")}


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run])
def test_a_child_answers_on_either_event_loop(
    run: Callable[[Coroutine[Any, Any, str]], str],
) -> None:
    async def talk() -> str:
        async with small_yard() as yard:
            child, _ = await yard.family("echo")
            os.write(child.stdin, b"hello\n")
            return await read_line(child.stdout)

    assert run(talk()) == "hello"


async def test_a_hundred_children_are_spawned_side_by_side() -> None:
    async with small_yard() as yard:
        children = await asyncio.gather(*(yard.run("cat") for _ in range(100)))
        for child in children:
            os.write(child.stdin, b"%d\n" % child.number)
        for child in children:
            assert await read_line(child.stdout) == str(child.number)
        pids = [child.pid for child in children]
    assert len(set(pids)) == 100
    assert not any(map(alive, pids))


async def test_the_yards_ends_of_the_pipes_never_block_and_are_not_inherited() -> None:
    async with small_yard() as yard:
        child = await yard.run("cat")
        for fd in (child.stdin, child.stdout, child.stderr):
            assert not os.get_blocking(fd)
            assert not os.get_inheritable(fd)


async def test_a_child_has_three_descriptors_and_no_more() -> None:
    async with small_yard() as yard:
        await yard.run("cat")
        child = await yard.child("fds")
        assert await read_line(child.stdout) == "3"


async def test_a_child_gets_its_environment_and_the_mark_of_its_yard() -> None:
    async with small_yard() as yard:
        child = await yard.run("env")
        await child.gone
        names = {line.partition(b"=")[0] for line in (await read_some(child.stdout)).splitlines()}
        assert names - {b"PWD", b"SHLVL", b"_"} == {b"PATH", b"MCPYARD_MARK"}


async def test_an_environment_larger_than_a_packet_arrives_whole() -> None:
    async with small_yard() as yard:
        values = {f"V{n}": str(n) * 100_000 for n in range(5)}
        child = await yard.keeper.spawn(
            ["sh", "-c", "echo ${#V0} ${#V4}"], {"PATH": os.environ["PATH"], **values}, None
        )
        assert await read_line(child.stdout) == "100000 100000"
        for fd in (child.stdin, child.stdout, child.stderr):
            os.close(fd)


async def test_a_child_does_not_inherit_the_signals_its_keeper_ignores() -> None:
    async with small_yard() as yard:
        child = await yard.run("cat")
        assert signal_masks(child.pid) == {"SigBlk": 0, "SigIgn": 0, "SigCgt": 0}


@pytest.mark.parametrize("code", [0, 1, 7, 127])
async def test_an_exit_code_is_reported(code: int) -> None:
    async with small_yard() as yard:
        child = await yard.child("exit", str(code))
        assert await child.exited == Exit(code=code)
        assert child.exited.result().describe() == f"exited with code {code}"
        assert await child.gone == 0


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
async def test_a_death_by_signal_is_reported(number: signal.Signals) -> None:
    async with small_yard() as yard:
        child = await yard.child("die", str(int(number)))
        assert await child.exited == Exit(signal=number)
        assert child.exited.result().describe() == f"was killed by {number.name}"


async def test_the_exit_of_a_dying_child_is_waited_for_however_late_it_is_told() -> None:
    async with small_yard() as yard:
        child = await yard.run("cat")
        assert yard.keeper.pid
        os.kill(yard.keeper.pid, signal.SIGSTOP)
        os.kill(child.pid, signal.SIGKILL)
        asking = asyncio.create_task(child.last_exit())
        await asyncio.wait({asking}, timeout=0.3)
        assert not asking.done()
        os.kill(yard.keeper.pid, signal.SIGCONT)
        assert await asking == Exit(signal=signal.SIGKILL)


async def test_a_child_that_hung_up_and_lives_on_has_no_exit() -> None:
    async with small_yard() as yard:
        child = await yard.run("cat")
        assert await child.last_exit() is None


def test_ends_that_have_no_name_are_described_too() -> None:
    assert Exit(signal=63).describe() == "was killed by signal 63"
    assert Exit().describe() == "was stopped because its keeper process died"
    hung = Exit(keeper_hung=True)
    assert hung.describe() == "was stopped because its keeper process stopped responding"


async def test_what_a_child_shouts_does_not_hold_up_the_others() -> None:
    async with small_yard() as yard:
        shouting = await yard.child("flood", "1000")
        quiet, _ = await yard.family("echo")
        os.write(quiet.stdin, b"still there\n")
        assert await read_line(quiet.stdout) == "still there"
        received = 0
        while part := await read_some(shouting.stderr):
            received += len(part)
        assert received == 1000 * 1024


@pytest.mark.parametrize(
    ("argv", "cwd", "code", "which"),
    [
        (["no-such-command"], None, errno.ENOENT, "command"),
        (["/no/such/command"], None, errno.ENOENT, "command"),
        ([__file__], None, errno.EACCES, "command"),
        (["/"], None, errno.EACCES, "command"),
        ([], None, errno.EINVAL, "command"),
        (["cat", "nul\0"], None, errno.EINVAL, "command"),
        (["cat"], "/no/such/folder", errno.ENOENT, "cwd"),
        (["cat"], __file__, errno.ENOTDIR, "cwd"),
    ],
)
async def test_a_failed_spawn_says_why_and_what_was_wrong(
    argv: list[str], cwd: str | None, code: int, which: str
) -> None:
    async with small_yard() as yard:
        with pytest.raises(SpawnFailed) as caught:
            await yard.run(*argv, cwd=cwd)
        assert (caught.value.errno, caught.value.which) == (code, which)
        assert caught.value.message
        assert yard.losses == 0


async def test_a_command_runs_in_its_folder(tmp_path: Path) -> None:
    async with small_yard() as yard:
        child = await yard.run("pwd", cwd=str(tmp_path))
        assert await read_line(child.stdout) == str(tmp_path)


async def test_a_child_that_ends_on_end_of_input_gets_no_signal() -> None:
    async with small_yard() as yard:
        child, _ = await yard.family("echo")
        ended = await child.stop(lambda: yard.hang_up(child), StopPolicy())
        assert ended == Exit(code=0)
        assert child.gone.result() == 0


async def test_a_child_that_ignores_end_of_input_gets_a_term() -> None:
    async with small_yard() as yard:
        child = await yard.run("sleep", "1000")
        ended = await child.stop(lambda: yard.hang_up(child), StopPolicy(0.05, 10))
        assert ended == Exit(signal=signal.SIGTERM)


@pytest.mark.parametrize("mode", ["stubborn", "wrapped", "detached"])
async def test_a_child_that_ignores_everything_is_killed_with_its_tree(mode: str) -> None:
    async with small_yard() as yard:
        child, pids = await yard.family(mode)
        await child.stop(lambda: yard.hang_up(child), SHORT)
        assert child.gone.result() == 0
        assert not any(map(alive, pids))


async def test_a_cancelled_stop_still_kills() -> None:
    async with small_yard() as yard:
        child, pids = await yard.family("stubborn")
        stopping = asyncio.create_task(child.stop(lambda: yard.hang_up(child), StopPolicy(60, 60)))
        await asyncio.sleep(0)
        stopping.cancel()
        assert await child.gone == 0
        assert not any(map(alive, pids))


async def test_a_child_whose_spawning_was_cancelled_does_not_stay(tmp_path: Path) -> None:
    async with small_yard() as yard:
        await yard.keeper.start()
        note = tmp_path / "pid"
        script = 'echo $$ > "$0.new"; mv "$0.new" "$0"; sleep 1000'
        spawning = asyncio.create_task(yard.run("sh", "-c", script, str(note)))
        await asyncio.sleep(0)
        spawning.cancel()
        with pytest.raises(asyncio.CancelledError):
            await spawning
        # The next one is served after the cancelled one was started and ended.
        await (await yard.run("true")).gone
        assert not note.exists() or await eventually(none_alive([int(note.read_text())]))


async def test_two_hundred_rounds_leave_no_descriptor_behind() -> None:
    async with small_yard() as yard:
        await (await yard.run("true")).gone
        before = yard_and_keeper_fds(yard)
        for _ in range(10):
            children = await asyncio.gather(*(yard.run("true") for _ in range(20)))
            for child in children:
                await child.gone
                yard.forget(child)
        with pytest.raises(SpawnFailed):
            await yard.run("no-such-command")
        assert await eventually(lambda: yard_and_keeper_fds(yard) == before)


async def test_a_keeper_can_be_closed_twice_and_started_again() -> None:
    async with small_yard() as yard:
        child, pids = await yard.family("stubborn")
        await yard.keeper.close()
        assert not any(map(alive, pids))
        assert child.exited.result() == Exit(signal=signal.SIGKILL)
        assert yard.keeper.pid is None
        await yard.keeper.close()
        again = await yard.run(*PROGRAM, "exit", "3")
        assert await again.exited == Exit(code=3)
        assert yard.losses == yard.keeper.lost == 0


async def test_a_keeper_that_was_started_early_is_the_one_that_spawns() -> None:
    async with small_yard() as yard:
        yard.keeper.start_early()
        assert await eventually(lambda: yard.keeper.pid is not None)
        early = yard.keeper.pid
        child = await yard.run("cat")
        assert yard.keeper.pid == early
        os.write(child.stdin, b"hello\n")
        assert await read_line(child.stdout) == "hello"


async def test_a_keeper_that_is_closed_while_it_starts_early_is_gone() -> None:
    async with small_yard() as yard:
        yard.keeper.start_early()
        await yard.keeper.close()
        assert yard.keeper.pid is None
        yard.keeper.start_early()
        assert await eventually(lambda: yard.keeper.pid is not None)
        pid = yard.keeper.pid
        await yard.keeper.close()
        assert pid is not None
        assert not alive(pid)
