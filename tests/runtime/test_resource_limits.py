"""Limits of memory and processes: by looks at the process tree, and by the kernel's groups.

A folder plays the part of the kernel's file system: what the kernel would do with what is written
there, the tests do themselves. The last ones need a control group that can hand limits down, such
as the root group of a virtual machine.
"""

import signal
import sys
from pathlib import Path

import pytest

from mcpyard.domain import limits
from mcpyard.domain.cause import Code
from mcpyard.domain.definition.launch import LocalLaunch
from mcpyard.domain.lifecycle import Phase
from mcpyard.domain.model import LocalConfig, ResourceLimits
from mcpyard.runtime.causes import exit_cause
from mcpyard.runtime.processes import cgroups
from mcpyard.runtime.processes.cgroups import Cgroup, make_room_for_limits
from mcpyard.runtime.processes.child import ChildProcess, Exit, LimitExceeded
from mcpyard.runtime.processes.marks import Mark, MarkKey
from tests.runtime.small_yard import PROGRAM, SmallYard, small_yard
from tests.runtime.waiting import eventually, none_alive, read_line, read_pids
from tests.runtime.watched import server, watched

MEGABYTE = 1 << 20
SMALL = ResourceLimits(memory=MEGABYTE)
LAUNCH = LocalLaunch(("x",), {}, None, ())
CONTROLLERS = "cgroup.controllers"
HANDED_DOWN = "cgroup.subtree_control"
PROCESSES = "cgroup.procs"


def kernel_limits() -> bool:
    made = Cgroup.make(MarkKey().sign_group(Mark.of_this_process("try"), 0))
    if made:
        made.remove()
    return made is not None and made.limiting


with_kernel = pytest.mark.skipif(not kernel_limits(), reason="no group can have limits here")


async def spawn(yard: SmallYard, mode: str, resources: ResourceLimits) -> ChildProcess:
    return await yard.run(*PROGRAM, mode, resources=resources)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "USAGE_EVERY", 0.01)


@pytest.fixture
def no_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "own_folder", lambda: None)


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which every new folder is a control group, with the limits handed down."""
    make = Path.mkdir

    def mkdir(path: Path, *, exist_ok: bool = False) -> None:
        make(path, exist_ok=exist_ok)
        (path / "cgroup.kill").write_text("")
        (path / CONTROLLERS).write_text("cpu memory pids\n")
        (path / HANDED_DOWN).write_text("")

    remove = Path.rmdir

    def rmdir(path: Path) -> None:
        for file in path.iterdir():
            if file.is_file():
                file.unlink()
        remove(path)

    root = tmp_path / "group"
    monkeypatch.setattr(Path, "mkdir", mkdir)
    monkeypatch.setattr(Path, "rmdir", rmdir)
    monkeypatch.setattr(cgroups, "own_folder", lambda: root)
    root.mkdir()
    return root


@pytest.mark.real
@pytest.mark.usefixtures("quick", "no_groups")
async def test_a_tree_that_stays_over_its_limit_of_memory_is_killed_with_that_cause() -> None:
    async with small_yard() as yard:
        child = await spawn(yard, "leaves-detached", SMALL)
        pids = await read_pids(child.stdout)
        end = await child.exited
        assert end == Exit(signal=signal.SIGKILL, exceeded=LimitExceeded("memory", MEGABYTE))
        assert await child.gone == 0
        assert await eventually(none_alive(pids))
    cause = exit_cause(end, LAUNCH, ("last line",))
    assert (cause.code, cause.message) == (
        Code.LIMIT_EXCEEDED,
        "memory limit exceeded (1 MB)",
    )
    assert "limits" in cause.hint
    assert cause.stderr == ("last line",)


@pytest.mark.real
@pytest.mark.usefixtures("quick", "no_groups")
async def test_a_tree_of_too_many_processes_is_killed_detached_ones_included() -> None:
    async with small_yard() as yard:
        child = await spawn(yard, "leaves-detached", ResourceLimits(processes=1))
        await read_pids(child.stdout)
        await child.be_seen()
        end = await child.exited
    assert end.exceeded == LimitExceeded("processes", 1)
    assert exit_cause(end, LAUNCH, ()).message == "process limit exceeded (1)"


@pytest.mark.real
@pytest.mark.usefixtures("quick", "no_groups")
async def test_limits_that_are_set_later_count_from_then_on() -> None:
    async with small_yard() as yard:
        child = await spawn(yard, "stubborn", ResourceLimits())
        await read_line(child.stdout)
        assert not child.exited.done()
        child.set_limits(SMALL)
        assert (await child.exited).exceeded


@pytest.mark.real
@pytest.mark.usefixtures("no_groups")
async def test_a_peak_of_fewer_looks_than_three_ends_nothing() -> None:
    async with small_yard() as yard:
        child = await spawn(yard, "echo", ResourceLimits(memory=1 << 40))
        watch = yard.keeper.limit_watch
        for resources in (SMALL, SMALL, ResourceLimits(memory=1 << 40), SMALL, SMALL):
            child.limits = resources
            await watch.look()
        assert child.exceeded is None
        await watch.look()
        assert child.exceeded == LimitExceeded("memory", MEGABYTE)


async def test_a_changed_limit_reaches_the_server_that_runs() -> None:
    async with watched() as it:
        it.want(server())
        await it.phase(Phase.CONNECTED)
        config = LocalConfig(command=["x"], limits=SMALL)
        it.want(server(config=config, policy_digest="other"))
        assert it.opener.opened[0].limits[-1] == SMALL


def read(folder: Path, name: str) -> str:
    return (folder / name).read_text()


@pytest.mark.real
async def test_where_groups_can_have_limits_the_kernel_is_told_them(kernel: Path) -> None:
    async with small_yard() as yard:
        resources = ResourceLimits(memory=512 * MEGABYTE, processes=4)
        child = await spawn(yard, "echo", resources)
        await read_line(child.stdout)
        assert child.cgroup
        folder = child.cgroup.folder
        assert folder.parent.parent == kernel
        assert read(kernel, HANDED_DOWN) == read(folder.parent, HANDED_DOWN) == "+memory +pids"
        assert read(folder.parent / "keeper", PROCESSES) == str(yard.keeper.pid)
        assert read(folder, PROCESSES) == str(child.pid)
        assert read(folder, "memory.max") == str(512 * MEGABYTE)
        assert read(folder, "memory.swap.max") == "0"
        assert read(folder, "memory.oom.group") == "1"
        assert read(folder, "pids.max") == str(4 * limits.TASKS_PER_PROCESS)
        child.set_limits(ResourceLimits(processes=2))
        assert read(folder, "memory.max") == read(folder, "memory.swap.max") == "max"
        await child.kill()
        assert not folder.exists()
    assert not list(kernel.glob("mcpyard.*"))


@pytest.mark.real
async def test_a_server_that_the_kernel_kills_for_its_memory_has_that_cause(kernel: Path) -> None:
    async with small_yard() as yard:
        child = await spawn(yard, "echo", SMALL)
        await read_line(child.stdout)
        assert kernel
        assert child.cgroup
        (child.cgroup.folder / "memory.events").write_text("low 0\nmax 9\noom 1\noom_kill 1\n")
        child.terminate(signal.SIGKILL)
        end = await child.exited
    assert end.exceeded == LimitExceeded("memory", MEGABYTE)


@pytest.mark.real
@pytest.mark.usefixtures("kernel")
async def test_a_server_that_is_killed_for_something_else_has_its_own_cause() -> None:
    async with small_yard() as yard:
        child = await spawn(yard, "echo", SMALL)
        await read_line(child.stdout)
        child.terminate(signal.SIGKILL)
        end = await child.exited
    assert end == Exit(signal=signal.SIGKILL)


@pytest.mark.real
@pytest.mark.usefixtures("quick")
async def test_where_a_group_cannot_be_limited_the_tree_is_looked_at(
    kernel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Cgroup, "limit", lambda _group, _limits: False)
    async with small_yard() as yard:
        child = await spawn(yard, "echo", SMALL)
        assert child.cgroup is None
        assert (await child.exited).exceeded
        assert not list(kernel.glob("*/server.*"))


@pytest.mark.usefixtures("kernel")
def test_without_the_controllers_a_keeper_has_a_group_and_its_servers_none(kernel: Path) -> None:
    (kernel / CONTROLLERS).write_text("cpu")
    group = Cgroup.make("name")
    assert group
    # The folder that plays the kernel offers them below all the same.
    assert read(kernel, HANDED_DOWN) == ""
    assert Cgroup(group.folder).for_server(1, SMALL) is None


def test_a_daemon_that_is_alone_in_its_group_moves_below_so_that_others_can_have_limits(
    kernel: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = cgroups.__dict__["_write"]

    def like_the_kernel(path: Path, text: str) -> bool:
        """A group that holds a process hands nothing down."""
        procs = kernel / PROCESSES
        if path == kernel / HANDED_DOWN and procs.read_text():
            return False
        if path.name == PROCESSES and path != procs:
            procs.write_text("")
        return write(path, text)

    monkeypatch.setattr(cgroups, "_write", like_the_kernel)
    monkeypatch.setattr("os.getpid", lambda: 17)
    (kernel / PROCESSES).write_text("17\n18\n")
    make_room_for_limits()
    assert read(kernel, HANDED_DOWN) == ""
    (kernel / PROCESSES).write_text("17\n")
    make_room_for_limits()
    assert read(kernel, HANDED_DOWN) == "+memory +pids"
    assert read(kernel / "mcpyard-daemon", PROCESSES) == "17"
    make_room_for_limits()
    assert read(kernel / "mcpyard-daemon", PROCESSES) == "17"


@pytest.mark.real
@with_kernel
async def test_the_kernel_ends_a_server_of_several_processes_that_runs_out_of_memory() -> None:
    large = "text = b'x' * (1 << 28)"
    shell = ["sh", "-c", '"$0" -c "$1"; sleep 60', sys.executable, large]
    async with small_yard() as yard:
        child = await yard.run(*shell, resources=ResourceLimits(memory=64 * MEGABYTE))
        assert child.cgroup
        end = await child.exited
    assert end == Exit(signal=signal.SIGKILL, exceeded=LimitExceeded("memory", 64 * MEGABYTE))


@pytest.mark.real
@with_kernel
async def test_the_kernel_refuses_a_server_more_processes_than_its_group_may_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # On a slow machine the looks would end it before the kernel has to.
    monkeypatch.setattr(limits, "USAGE_EVERY", 60.0)
    forks = "import os, time\nfor _ in range(200): os.fork() or time.sleep(60)"
    async with small_yard() as yard:
        command = [sys.executable, "-I", "-S", "-c", forks]
        child = await yard.run(*command, resources=ResourceLimits(processes=1))
        # The fork that is refused ends the first process; the others end with it.
        assert (await child.exited).code == 1
        assert await child.kill()
