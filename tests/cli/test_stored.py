"""The user's own servers, listed while no yard runs."""

import sqlite3
from pathlib import Path

import pytest

from tests.cli.commands import answer, echo, mcpyard, write_project, yard_up

pytestmark = pytest.mark.real


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def files(home: Path) -> dict[str, tuple[int, int]]:
    return {each.name: (each.stat().st_mtime_ns, each.stat().st_size) for each in home.iterdir()}


def fill(home: Path, *, kill: bool) -> None:
    with yard_up(home) as up:
        answer("add", "mine", "--scope", "user", "--json", "--", "x", "y", home=home)
        mcpyard("edit", "mine", "--disable", "--timeout", "7", home=home)
        up.process.kill() if kill else up.process.terminate()
        up.process.wait(20)


@pytest.mark.parametrize("kill", [False, True])
def test_they_are_listed_with_what_was_changed_about_them(home: Path, kill: bool) -> None:
    fill(home, kill=kill)
    before = files(home)
    (record,) = answer("ls", home=home)
    assert (record["name"], record["scope"], record["args"]) == ("mine", "user", ["y", "--json"])
    assert (record["enabled"], record["timeout"], record["yard"]) == (False, 7, "not running")
    assert answer("show", "mine", home=home)["command"] == "x"
    assert files(home) == before, "a look leaves no trace"


def test_a_projects_server_of_the_same_name_wins(home: Path, tmp_path: Path) -> None:
    fill(home, kill=False)
    project = write_project(tmp_path / "p", mine=echo())
    (record,) = answer("ls", "--project", project, home=home)
    assert record["scope"] == "project"


@pytest.mark.parametrize(
    "command", [("ls",), ("show", "one"), ("tools",), ("call", "mcp_one_echo", "--args", "{}")]
)
def test_a_command_fails_on_a_state_that_cannot_be_read(
    home: Path, tmp_path: Path, command: tuple[str, ...]
) -> None:
    home.mkdir()
    (home / "state.db").write_bytes(b"no database at all, but long enough to be looked at" * 99)
    project = write_project(tmp_path / "p", one=echo())
    error = answer(*command, "--project", project, home=home, code=1)["error"]
    assert error["type"] == "urn:mcpyard:error:state-broken"
    assert f"{home / 'state.db'} cannot be read" in error["detail"]


def test_a_state_of_a_newer_version_is_told(home: Path) -> None:
    fill(home, kill=False)
    with sqlite3.connect(home / "state.db") as state:
        state.execute("PRAGMA user_version = 99")
    state.close()
    listed = mcpyard("ls", home=home)
    assert listed.returncode == 1
    assert "was written by a newer mcpyard" in listed.stderr
    assert "mine" not in listed.stdout


def test_an_empty_database_is_as_good_as_none(home: Path) -> None:
    home.mkdir()
    (home / "state.db").touch()
    assert answer("ls", home=home) == []
    assert [*files(home)] == ["state.db"]
