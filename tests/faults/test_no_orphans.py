"""However a yard ends, nothing it started lives on."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mcpyard import Yard
from tests.cli.commands import write_project, yard_up
from tests.conftest import FULL
from tests.faults.hosting import ROOT, Host, family, hosted
from tests.faults.real_servers import EVERYTHING, definition
from tests.faults.watching import zoo
from tests.process_families import all_gone
from tests.runtime.waiting import alive, eventually

pytestmark = pytest.mark.real

SOON = 1.0
STOP_POLICY = 10.0


def wrapped() -> dict[str, Any]:
    inner = zoo("good")
    script = '"$@"; true'
    return {
        **inner,
        "command": "sh",
        "args": ["-c", script, "sh", inner["command"], *inner["args"]],
    }


def by_npx() -> dict[str, Any]:
    package = "@modelcontextprotocol/server-everything"
    return definition("npx", "-y", package, "stdio", cwd=str(ROOT / "tests"))


KINDS: dict[str, Callable[[], dict[str, Any]]] = {
    "plain": lambda: zoo("good"),
    "wrapped": wrapped,
    "stubborn": lambda: zoo("stubborn"),
    "detached": lambda: zoo("detached"),
    **({"npx": by_npx} if EVERYTHING.exists() else {}),
}
PROCESSES = {"plain": 1, "wrapped": 2, "stubborn": 1, "detached": 2, "npx": 2}

CASES = [tuple(KINDS), *([(kind,) for kind in KINDS] if FULL else [])]

all_kinds = pytest.mark.parametrize("kinds", CASES, ids="-".join)


async def family_of(host: Host, kinds: tuple[str, ...]) -> set[int]:
    """All processes of a host whose servers run and are connected."""
    processes = sum(PROCESSES[kind] for kind in kinds)
    assert await eventually(lambda: len(host.family()) >= processes, 20)
    await host.connected()
    return host.family()


def servers(kinds: tuple[str, ...]) -> dict[str, Any]:
    return {kind: KINDS[kind]() for kind in kinds}


@pytest.mark.spec("C8")
@all_kinds
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_none_is_left_when_the_yard_is_told_to_end(
    tmp_path: Path, number: signal.Signals, kinds: tuple[str, ...]
) -> None:
    async with hosted(tmp_path, servers(kinds)) as host:
        await family_of(host, kinds)
        keeper = host.keeper()
        host.process.send_signal(number)
        assert await eventually(lambda: not host.family(), STOP_POLICY)
        assert await host.process.wait() == 0
        assert not alive(keeper)


@pytest.mark.spec("C8")
@all_kinds
async def test_none_is_left_when_the_yard_is_killed(tmp_path: Path, kinds: tuple[str, ...]) -> None:
    async with hosted(tmp_path, servers(kinds)) as host:
        await family_of(host, kinds)
        keeper = host.keeper()
        host.process.kill()
        assert await eventually(lambda: not host.family(), SOON)
        assert await eventually(lambda: not alive(keeper), SOON)


@all_kinds
async def test_none_is_left_when_the_keeper_is_killed_and_all_are_started_anew(
    tmp_path: Path, kinds: tuple[str, ...]
) -> None:
    async with hosted(tmp_path, servers(kinds)) as host:
        before = await family_of(host, kinds)
        os.kill(host.keeper(), signal.SIGKILL)
        assert await eventually(lambda: not before & host.family(), SOON)
        await family_of(host, kinds)
        host.process.kill()
        assert await eventually(lambda: not host.family(), SOON)


@all_kinds
async def test_what_is_left_when_both_are_killed_is_ended_by_the_next_start(
    tmp_path: Path, kinds: tuple[str, ...]
) -> None:
    async with hosted(tmp_path, servers(kinds)) as host:
        await family_of(host, kinds)
        keeper = host.keeper()
        # Both are stopped first, so that neither can do its work in the moment before it is killed
        # too; and as long as the yard is not dead no other yard of the machine ends its children.
        os.kill(keeper, signal.SIGSTOP)
        os.kill(host.pid, signal.SIGSTOP)
        os.kill(keeper, signal.SIGKILL)
        assert host.family()
        host.process.kill()
        await host.process.wait()
        async with Yard.open():
            assert await eventually(lambda: not family(host.pid), SOON)


def bare(mode: str) -> dict[str, Any]:
    """A server whose processes have none of the environment that it was started with."""
    inner = zoo(mode)
    return {**inner, "command": "env", "args": ["-i", inner["command"], *inner["args"]]}


@pytest.mark.spec("F2.7")
def test_none_is_left_when_the_keeper_of_a_daemon_is_killed_not_even_without_a_mark(
    tmp_path: Path,
) -> None:
    servers = {"stubborn": bare("stubborn"), "detached": bare("detached")}
    project = write_project(tmp_path / "p", **servers)
    with yard_up(tmp_path / "home", "--project", project) as up:
        for _ in servers:
            up.event("status", status="connected")
        (keeper,) = (each for each in up.family() if "keeper.py" in " ".join(each.cmdline()))
        before = [keeper, *keeper.children(recursive=True)]
        assert len(before) == 4, "the keeper, two servers and what one left behind"
        keeper.kill()
        assert all_gone(before)
        for _ in servers:
            up.event("status", status="connected")
        after = up.family()
        assert up.end() == 0
        assert all_gone(after)


@pytest.mark.spec("F2.7")
def test_what_a_daemon_of_version_0_1_left_is_ended_by_the_next_one_of_its_home(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    with subprocess.Popen(["true"]) as daemon:
        """Its pid is free again afterwards."""
    (home / "yard.json").write_text(json.dumps({"pid": daemon.pid, "url": "", "started": 7}))
    mark = {"MCPYARD_MARK": f"0123abcd:{daemon.pid}:7:1"}
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, env=mark) as left, yard_up(home):
        assert left.wait(5) == -signal.SIGKILL
