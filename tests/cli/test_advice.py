"""No mistake on the command line ends without what to do about it."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import mcpyard
from mcpyard.cli.cli_errors import CliError, understand
from mcpyard.cli.launcher import run
from mcpyard.cli.private import failure
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.errors import DefinitionError
from mcpyard.domain.remedies import remedy
from mcpyard.runtime.processes.adoption import ADOPTION
from mcpyard.yard.views.servers import cause_view
from tests.yard.sample_views import sample_server

pytestmark = pytest.mark.usefixtures("user")

COMMANDS_OF_A_HOME = (
    ("up", "--port", "0"),
    ("import",),
    ("approve",),
    ("undo",),
    ("token", "rotate"),
    ("connect", "codex"),
    ("copy", "x", "--from", "claude", "--to", "codex"),
)


def error_of(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, Any]:
    words = [*map(str, arguments)]
    options = words.index("--") if "--" in words else len(words)
    with pytest.raises(SystemExit):
        run([*words[:options], "--json", *words[options:]])
    return json.loads(capsys.readouterr().out)["error"]


@pytest.mark.parametrize("command", COMMANDS_OF_A_HOME, ids=lambda each: each[0])
def test_a_home_that_cannot_be_is_told_with_how_to_name_another(
    user: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
) -> None:
    (user / "file").touch()
    monkeypatch.setenv("MCPYARD_HOME", str(user / "file" / "home"))
    error = error_of(capsys, *command)
    assert str(user / "file" / "home") in error["detail"]
    assert "another folder with --home or MCPYARD_HOME" in error["hint"]
    assert error["exitCode"] == 1


def test_an_up_that_is_refused_adopts_no_processes(
    user: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (user / "file").touch()
    assert error_of(capsys, "up", "--home", user / "file" / "home")["exitCode"] == 1
    assert not ADOPTION.active


@pytest.mark.parametrize(
    "command", [("ls",), ("show", "x"), ("tools",), ("call", "mcp_x_y"), ("approve", ".")]
)
def test_a_projects_file_that_cannot_be_read_is_like_a_broken_one(
    user: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    (user / ".mcp.json").mkdir()
    error = error_of(capsys, *command)
    assert error["type"] == "urn:mcpyard:error:broken-document"
    assert error["exitCode"] == 3
    assert error["detail"] == f"{user}/.mcp.json: cannot be read: Is a directory"
    assert "its permissions" in error["hint"]


@pytest.mark.parametrize(
    ("command", "hint"),
    [
        (("import", "none.json"), "- for standard input"),
        (("call", "mcp_x_y", "--args", "{"), """--args '{"city": "Oslo"}'"""),
        (("call", "mcp_x_y", "--args", "[]"), """--args '{"city": "Oslo"}'"""),
        (("call", "mcp_x_y", "--timeout", "-1"), "--timeout 30000"),
        (("add", "x", "--json-text", "{"), "single quotes"),
        (("add", "x", "--env", "A", "--", "true"), "--env MODE=fast"),
        (("add", "x", "http://h", "--header", "A"), "--header 'Authorization: Bearer"),
        (("add", "x", "http://h", "more"), "--header"),
        (("add", "x", "http://h", "--oauth", "A"), "--oauth clientId"),
        (("token", "revoke"), "--help"),
        (("clients", "show", "moon", "x"), "mcpyard clients ls"),
        (("clients", "show", "claude:moon", "x"), "Omit the scope"),
        (("copy", "x", "--from", "claude", "--to", "claude"), "another name with --name"),
        (
            ("copy", "x", "--from", "claude", "--to", "codex", "--name", "a b"),
            "Choose a valid name",
        ),
    ],
)
def test_a_mistake_is_told_with_how_to_do_it_right(
    capsys: pytest.CaptureFixture[str], command: tuple[str, ...], hint: str
) -> None:
    assert hint in error_of(capsys, *command)["hint"]


def test_a_definition_that_cannot_be_launched_keeps_the_advice_of_its_cause() -> None:
    cause = Cause(Code.INVALID_DEFINITION, "the variable A is not set", "Set it.")
    error = failure(sample_server(name="x", error=cause_view(cause)))
    assert isinstance(error, DefinitionError)
    assert remedy(error) == "Set it."


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), OSError(13, "No", "/f")])
def test_what_the_system_refuses_is_told_with_advice(error: OSError) -> None:
    assert understand(error).problem["hint"]


def slugs_without_advice() -> Iterator[str]:
    """The errors of the commands whose advice is in the table."""
    for path in (Path(mcpyard.__file__).parent / "cli").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "CliError":
                keywords = {each.arg: each.value for each in node.keywords}
                if "hint" not in keywords:
                    slug = keywords.get("slug")
                    yield str(slug.value) if isinstance(slug, ast.Constant) else "failed"


def test_every_error_has_advice_of_its_own_or_that_of_its_code() -> None:
    slugs = {*slugs_without_advice()}
    assert slugs, "else this finds nothing"
    assert {
        each for each in slugs if "hint" not in CliError("so it is", slug=each).problem
    } == set()


INTERRUPTED = """
import sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "typer":
            raise {error}

sys.meta_path.insert(0, Interrupting())
from mcpyard.__main__ import run
run()
"""


@pytest.mark.real
@pytest.mark.parametrize(
    "error", ["KeyboardInterrupt", "RuntimeError('made a class') from KeyboardInterrupt()"]
)
def test_ctrl_c_while_the_command_is_imported_ends_it_without_a_word(error: str) -> None:
    code = INTERRUPTED.format(error=error)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.real
def test_an_error_that_is_no_ctrl_c_is_not_swallowed() -> None:
    code = INTERRUPTED.format(error="RuntimeError('broken')")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 1
    assert b"RuntimeError: broken" in done.stderr
