"""The sweep ends what a dead yard left, and touches nothing else."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from msgspec.structs import replace

from mcpyard.runtime.processes import orphans, table
from mcpyard.runtime.processes.marks import Mark, MarkKey
from mcpyard.runtime.processes.orphans import Remains, Swept, sweep_dead_yards
from mcpyard.runtime.processes.table import read_process

pytestmark = pytest.mark.real

Spawn = Callable[[str], subprocess.Popen[bytes]]
KEY = MarkKey(b"of this home")


# Yards of other tests sweep at the same time, and must not see what is laid out here.
OWN_MARK = f"MCPYARD_MARK_OF_{os.getpid()}"


@pytest.fixture(autouse=True)
def own_mark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "MARK", OWN_MARK)


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    started: list[subprocess.Popen[bytes]] = []

    def start(mark: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(["cat"], stdin=subprocess.PIPE, env={OWN_MARK: mark})
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def this_yard() -> Mark:
    return Mark.of_this_process("here")


def dead_yard() -> Mark:
    """The mark of a yard that has ended, and whose pid may or may not be in use again."""
    with subprocess.Popen(["true"]) as process:
        return Mark("gone", process.pid, 1)


def ends(process: subprocess.Popen[bytes]) -> bool:
    return process.wait(5) == -9


def test_the_children_of_a_dead_yard_are_swept_and_those_of_a_living_one_are_not(
    spawn: Spawn, this_yard: Mark
) -> None:
    ours = [spawn(KEY.sign(this_yard, n)) for n in range(3)]
    orphaned = [spawn(KEY.sign(dead_yard(), n)) for n in range(3)]
    swept = sweep_dead_yards(KEY)
    assert swept.killed >= 3
    assert swept.left == 0
    assert all(map(ends, orphaned))
    assert [process.poll() for process in ours] == [None] * 3


def test_a_yard_whose_pid_was_given_to_another_process_is_dead(
    spawn: Spawn, this_yard: Mark
) -> None:
    orphan = spawn(KEY.sign(replace(this_yard, yard_start=this_yard.yard_start - 1), 1))
    sweep_dead_yards(KEY)
    assert ends(orphan)


def test_a_yard_that_nobody_has_reaped_yet_is_dead(spawn: Spawn) -> None:
    yard = subprocess.Popen(["cat"], stdin=subprocess.PIPE)
    row = read_process(yard.pid)
    assert row
    orphan = spawn(KEY.sign(Mark("unreaped", yard.pid, row.start), 1))
    assert sweep_dead_yards(KEY) == Swept()
    yard.kill()
    os.waitid(os.P_PID, yard.pid, os.WEXITED | os.WNOWAIT)
    sweep_dead_yards(KEY)
    assert ends(orphan)
    yard.communicate()


def test_only_this_yards_own_children_end_when_its_keeper_died(
    spawn: Spawn, this_yard: Mark
) -> None:
    ours = [spawn(KEY.sign(this_yard, n)) for n in range(3)]
    other_instance = spawn(KEY.sign(replace(this_yard, instance="other"), 1))
    other_yard = spawn(KEY.sign(dead_yard(), 1))
    assert Remains(this_yard, KEY).end() == Swept(killed=3)
    assert all(map(ends, ours))
    assert other_instance.poll() is other_yard.poll() is None


@pytest.mark.parametrize("value", ["", "x", "a:b:c:d", "1:2", "here:1:2", ":::", "here:-:1:1"])
def test_a_value_that_is_no_mark_is_left_alone(spawn: Spawn, value: str) -> None:
    process = spawn(value)
    assert Mark.parse(value.encode()) is None
    assert sweep_dead_yards(KEY) == Swept()
    assert process.poll() is None


def test_an_instance_may_contain_colons() -> None:
    mark = Mark("a:b", 1, 2)
    assert KEY.verify(KEY.sign(mark, 3).encode()) == mark


@pytest.mark.spec("F2.7")
def test_a_mark_that_this_home_has_not_signed_ends_nothing(spawn: Spawn) -> None:
    gone = dead_yard()
    signed = KEY.sign(gone, 1)
    forged = [
        spawn(gone.of_child(1)),
        spawn(MarkKey(b"of another home").sign(gone, 1)),
        spawn(KEY.sign_group(gone, 1)),
        spawn(f"{signed[:32]}:{gone.of_child(2)}"),
        spawn(f"{'0' * 32}:{gone.of_child(1)}"),
    ]
    assert sweep_dead_yards(KEY) == Swept()
    assert [process.poll() for process in forged] == [None] * 5


@pytest.mark.spec("F2.7")
def test_a_process_older_than_the_yard_of_its_mark_is_not_ended(spawn: Spawn) -> None:
    with subprocess.Popen(["true"]) as process:
        gone = Mark("later", process.pid, 1 << 60)
    copied = spawn(KEY.sign(gone, 1))
    assert sweep_dead_yards(KEY) == Swept()
    assert copied.poll() is None


@pytest.mark.spec("F2.7")
def test_what_a_killed_yard_of_version_0_1_left_is_ended_by_its_successor(spawn: Spawn) -> None:
    gone, another = dead_yard(), Mark("another", 1 << 22, 1)
    left, foreign = spawn(gone.of_child(1)), spawn(another.of_child(1))
    sweep_dead_yards(MarkKey(b"of this home", [gone.yard]))
    assert ends(left)
    assert foreign.poll() is None


@pytest.mark.spec("F2.7")
def test_version_0_1_takes_the_processes_of_a_living_yard_for_what_they_are(
    this_yard: Mark,
) -> None:
    """It reads the last three members, and ends nothing whose yard lives."""
    *_, pid, start, number = KEY.sign(this_yard, 7).rsplit(":", 3)
    assert (int(pid), int(start), int(number)) == (*this_yard.yard, 7)


def test_a_marked_yard_sweeps_neither_itself_nor_the_shell_that_started_it() -> None:
    code = f"""if True:
        from mcpyard.runtime.processes import table
        from mcpyard.runtime.processes.orphans import *
        table.MARK = {OWN_MARK!r}
        print(*sweep_dead_yards(MarkKey(b"of this home")))
    """
    script = '"$0" -c "$1"; echo still here'
    command = ["sh", "-c", script, sys.executable, code]
    env = {**os.environ, OWN_MARK: KEY.sign(dead_yard(), 1)}
    answer = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert answer.stdout.split("\n")[:2] == ["0 0", "still here"]


def test_a_process_of_another_pid_namespace_is_left_alone(
    spawn: Spawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = spawn(KEY.sign(dead_yard(), 1))
    monkeypatch.setattr(orphans, "pid_namespace", lambda pid="self": f"namespace of {pid}")
    assert sweep_dead_yards(KEY) == Swept()
    assert process.poll() is None


def test_elsewhere_than_on_linux_nothing_is_swept(
    spawn: Spawn, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = spawn(KEY.sign(dead_yard(), 1))
    monkeypatch.setattr(sys, "platform", "darwin")
    assert sweep_dead_yards(KEY) == Swept()
    assert process.poll() is None
