"""Commands whose streams are closed, full or ASCII, and whose arguments are no text."""

import os
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.cli.commands import (
    MCPYARD,
    TIMEOUT,
    Up,
    answer,
    mcpyard,
    missing,
    write_project,
    yard_up,
)

pytestmark = pytest.mark.real

NOT_TEXT = b"bad\xff"
NO_TEXT = "a name, a path or a text is not valid UTF-8"
REMOTE = '{"url": "http://h.invalid", "enabled": false}'
ODD_NAME = "\N{CJK UNIFIED IDEOGRAPH-65E5}"


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Generator[Up]:
    folder = tmp_path_factory.mktemp("yard")
    project = write_project(folder / "p", **{ODD_NAME: missing(folder)})
    with yard_up(folder / "home", "--project", project) as up:
        up.event("status", status="error")
        yield up


@pytest.fixture
def home(up: Up) -> Path:
    return up.home


def in_a_shell(home: Path, words: str) -> subprocess.CompletedProcess[str]:
    """Run `mcpyard` with the words and redirections of a shell; buffered, as users run it."""
    env = {key: os.environ[key] for key in os.environ if key != "PYTHONUNBUFFERED"}
    return subprocess.run(
        ["sh", "-c", f'"$0" -m mcpyard {words}', MCPYARD[0]],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT * 2,
        cwd=home.parent,
        env=env | {"MCPYARD_HOME": str(home)},
    )


@pytest.mark.parametrize("words", ["ls", "ls --json", "--version"])
def test_a_closed_standard_output_is_no_error(home: Path, words: str) -> None:
    done = in_a_shell(home, f"{words} >&-")
    assert (done.returncode, done.stderr) == (0, "")


def test_an_error_does_not_go_to_standard_output_where_standard_error_is_closed(home: Path) -> None:
    done = in_a_shell(home, "show nope 2>&-")
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("words", ["ls", "ls --json", "--version"])
def test_a_full_standard_output_ends_with_1_and_no_traceback(home: Path, words: str) -> None:
    done = in_a_shell(home, f"{words} >/dev/full")
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert lines[:1] in ([], ["error: No space left on device"])
    assert all(each.startswith("hint: ") for each in lines[1:])


def test_an_error_that_nobody_takes_still_has_its_exit_code(home: Path) -> None:
    done = in_a_shell(home, "show nope --json >/dev/full")
    assert (done.returncode, done.stderr) == (2, "")
    assert in_a_shell(home, "show nope 2>/dev/full").returncode == 2


def test_a_name_that_the_locale_cannot_spell_is_shown_all_the_same(home: Path) -> None:
    done = mcpyard("ls", home=home, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "\\u65e5" in done.stdout


@pytest.mark.parametrize("words", [["show"], ["call"], ["add", "--json-text", REMOTE]])
def test_an_argument_that_is_no_text_is_a_usage_error(home: Path, words: list[str]) -> None:
    done = mcpyard(*words, os.fsdecode(NOT_TEXT), home=home)
    assert done.returncode == 2
    assert done.stderr == f"error: {NO_TEXT}\nhint: write it in UTF-8\n"


def test_a_project_folder_whose_name_is_no_text_is_refused(tmp_path: Path) -> None:
    project = write_project(tmp_path / os.fsdecode(NOT_TEXT), one=missing(tmp_path))
    reply = answer("up", "--port", "0", "--project", project, home=tmp_path / "home", code=2)
    assert reply["error"]["detail"] == NO_TEXT
    there = answer("up", "--port", "0", home=tmp_path / "home", cwd=project, code=2)
    assert there == reply


@pytest.mark.parametrize("words", [["show"], ["logs"], ["call"], ["token", "revoke"]])
def test_an_empty_name_is_a_usage_error(home: Path, words: list[str]) -> None:
    assert answer(*words, "", home=home, code=2)["error"]["type"].endswith(":usage")


@pytest.mark.parametrize("words", ["ls", "ls --json", "show nope --json"])
def test_a_reader_that_went_away_gets_no_error(home: Path, words: str) -> None:
    assert in_a_shell(home, f"{words} | true").stderr == ""
