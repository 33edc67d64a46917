"""Folders and programs that are named and are not there: the mistake is named, nothing is made."""

import json
from pathlib import Path

import pytest

from mcpyard.cli.launcher import run
from mcpyard.formats.registry import CLIENTS

pytestmark = pytest.mark.usefixtures("user")

TAKE_A_PROJECT = (
    ("up",),
    ("ls",),
    ("show", "x"),
    ("tools",),
    ("call", "mcp_x_y"),
    ("connect", "codex"),
    ("doctor",),
    ("import",),
    ("clients",),
    ("copy", "x", "--from", "claude", "--to", "claude:project"),
)


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[str, str]:
    """What is wrong and what to do about it, as a command tells it that refuses to be run so."""
    with pytest.raises(SystemExit) as ended:
        run([*map(str, arguments), "--json"])
    error = json.loads(capsys.readouterr().out)["error"]
    assert ended.value.code == error["exitCode"] == 2
    return error["detail"], error["hint"]


@pytest.mark.parametrize("command", TAKE_A_PROJECT, ids=lambda each: each[0])
def test_a_project_that_is_not_there_is_refused_and_not_made(
    user: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    detail, _ = refused(capsys, *command, "--project", user / "none" / "there")
    assert detail == f"--project: folder not found: {user}/none/there"
    assert not (user / "none").exists()


def test_a_file_that_is_named_for_the_folder_of_a_project_is_told_as_one(
    user: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (user / "some.txt").write_text("")
    (user / ".mcp.json").write_text("{}")
    detail, hint = refused(capsys, "ls", "--project", user / "some.txt")
    assert detail == f"--project: {user}/some.txt is a file, not a folder"
    assert "a folder with a .mcp.json" in hint
    assert str(user) in refused(capsys, "ls", "--project", user / ".mcp.json")[1]
    assert refused(capsys, "approve", "some.txt")[0] == "DIR: some.txt is a file, not a folder"


def test_a_home_that_is_a_file_is_told_by_whoever_named_it(
    user: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (user / "some.txt").write_text("")
    detail, hint = refused(capsys, "ls", "--home", "some.txt")
    assert detail == "--home: some.txt is a file, not a folder"
    assert "it is created if it does not exist" in hint
    monkeypatch.setenv("MCPYARD_HOME", "some.txt")
    assert refused(capsys, "ls")[0] == "MCPYARD_HOME: some.txt is a file, not a folder"


@pytest.mark.parametrize(
    "command",
    [
        ("copy", "x", "--from", "claude", "--to", "nonsense"),
        ("copy", "x", "--from", "nonsense", "--to", "codex"),
        ("connect", "nonsense"),
        ("clients", "show", "nonsense", "x"),
    ],
    ids=" ".join,
)
def test_an_unknown_program_is_named_with_those_that_are_known(
    capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    detail, hint = refused(capsys, *command)
    assert detail.startswith('client: "nonsense" is unknown; expected one of ')
    assert all(each.id in detail for each in CLIENTS)
    assert "schema" not in hint
