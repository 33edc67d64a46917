"""What of the yard's environment a server's process gets."""

import os
import sys
from pathlib import Path

import pytest

from mcpyard import Yard
from mcpyard.domain.definition.launch import LocalLaunch
from mcpyard.runtime.processes.child_environment import child_environment
from tests.faults.watching import connected

OURS = str(Path(sys.executable).parent)
MINE = {"PATH": "/bin", "HOME": "/home/me", "SECRET": "1", "MCPYARD_TOKEN": "2"}


def launch(**environment: str) -> LocalLaunch:
    return LocalLaunch(("cat",), environment, cwd=None, inherit=())


def test_it_is_what_every_program_needs_and_no_more() -> None:
    environment = child_environment(MINE, launch(A="1"))
    assert environment == {"PATH": f"/bin{os.pathsep}{OURS}", "HOME": "/home/me", "A": "1"}


def test_no_server_learns_where_the_state_of_mcpyard_is() -> None:
    own = {**MINE, "MCPYARD_HOME": "/state", "MCPYARD_KEY": "3"}
    every = LocalLaunch(("cat",), {}, cwd=None, inherit=("*", "MCPYARD_HOME"))
    environment = child_environment(own, every)
    assert "SECRET" in environment
    assert [name for name in environment if name.startswith("MCPYARD")] == []


@pytest.mark.parametrize(
    "command",
    [("mcpyard-legal",), (f"{OURS}/mcpyard-legal",), (sys.executable, "-m", "mcpyard.legal")],
)
def test_the_legal_server_of_our_own_is_told_the_home_by_a_name_of_its_own(
    command: tuple[str, ...],
) -> None:
    legal = LocalLaunch(command, {}, cwd=None, inherit=())
    environment = child_environment({**MINE, "MCPYARD_HOME": "/state"}, legal)
    assert environment["MCPYARD_LEGAL_HOME"] == "/state"
    assert "MCPYARD_LEGAL_HOME" not in child_environment(MINE, legal)
    other = LocalLaunch(("/other/mcpyard-legal",), {}, cwd=None, inherit=())
    assert "MCPYARD_LEGAL_HOME" not in child_environment({"MCPYARD_HOME": "/state"}, other)


@pytest.mark.parametrize("path", [OURS, f"{OURS}{os.pathsep}/bin"])
def test_a_path_that_leads_to_our_programs_stays_as_it_is(path: str) -> None:
    assert child_environment({"PATH": path}, launch())["PATH"] == path


def test_the_path_of_a_definition_stays_as_it_is() -> None:
    assert child_environment(MINE, launch(PATH="/mine"))["PATH"] == "/mine"


@pytest.mark.real
async def test_the_server_that_comes_along_is_found_without_an_active_environment() -> None:
    elsewhere = {**os.environ, "PATH": os.defpath}
    servers = {"legal": {"command": "mcpyard-legal", "wanted": "running"}}
    async with Yard.open(servers=servers, environment=elsewhere) as yard:
        await connected(yard, "legal")
