"""What a yard begins with before its definitions are read."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from mcpyard.app import open_yard
from mcpyard.domain.errors import StateBroken, YardBusy
from mcpyard.early_start import start_early
from mcpyard.runtime.processes import keeper
from mcpyard.runtime.processes.adoption import ADOPTION
from mcpyard.runtime.processes.keeper_client import KeeperClient
from mcpyard.store.home import Home
from tests.runtime.waiting import alive

pytestmark = pytest.mark.real

LOADED = """
import sys
import mcpyard.cli.commands.up
print(*(each for each in sys.argv[1:] if each in sys.modules))
"""


def keepers() -> set[int]:
    """The keepers that this process started."""
    return {
        each.pid for each in psutil.Process().children() if str(keeper.__file__) in each.cmdline()
    }


async def test_the_keeper_that_was_started_early_starts_the_servers() -> None:
    async with start_early(None, servers=True) as early:
        assert early.keeper is not None
        pid = early.keeper.process.pid
        client = KeeperClient("early", key=early.key, program=early.keeper)
        try:
            child = await client.spawn(["cat"], {}, None)
            assert client.pid == pid
            assert keepers() == {pid}
        finally:
            await client.close()
        assert not alive(child.pid)
    assert pid not in ADOPTION.keepers


async def test_an_early_start_that_nobody_uses_ends_with_its_block(tmp_path: Path) -> None:
    async with start_early(tmp_path, servers=True) as early:
        assert early.keeper is not None
    assert not alive(early.keeper.process.pid)
    assert not keepers()
    Home(tmp_path).take()


async def test_no_keeper_is_started_where_no_server_is_expected(tmp_path: Path) -> None:
    async with open_yard(home=tmp_path):
        assert not keepers()


async def test_a_start_that_fails_leaves_neither_a_keeper_nor_a_lock(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "state.db").write_text("this is no database" * 100)
    with pytest.raises(StateBroken):
        async with open_yard(servers={"one": {"command": "cat"}}, home=home):
            """It does not get here."""
    assert not keepers()
    Home(home).take()


async def test_a_home_that_is_in_use_is_not_touched(tmp_path: Path) -> None:
    async with open_yard(home=tmp_path):
        before = {each: each.stat().st_mtime_ns for each in tmp_path.iterdir()}
        with pytest.raises(YardBusy):
            async with start_early(tmp_path, servers=True):
                """It does not get here."""
        assert not keepers()
        assert {each: each.stat().st_mtime_ns for each in before} == before


def test_up_begins_before_the_modules_for_definitions_and_interfaces_are_loaded() -> None:
    heavy = ["pydantic", "uvicorn.config", "uvicorn.server"]
    heavy += ["mcpyard.app", "mcpyard.yard.yard", "mcpyard.gateway.app"]
    command = [sys.executable, "-c", LOADED, *heavy]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout.split() == []
