"""Importing files and pasted texts into a running yard."""

import json
import os
import subprocess
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.cli.commands import MCPYARD, Json, Up, answer, echo, mcpyard, write_project, yard_up

pytestmark = pytest.mark.real


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Generator[Up]:
    folder = tmp_path_factory.mktemp("yard")
    project = write_project(folder / "p", old=echo())
    with yard_up(folder / "home", "--project", project) as up:
        yield up


@pytest.fixture
def home(up: Up) -> Path:
    return up.home


def paste(text: str, *options: str, home: Path, code: int = 0) -> Json:
    """What an import from standard input answers."""
    done = subprocess.run(
        [*MCPYARD, "import", "-", "--json", *options],
        input=text.encode(),
        capture_output=True,
        check=False,
        env=os.environ | {"MCPYARD_HOME": str(home)},
    )
    assert done.returncode == code, done.stdout + done.stderr
    return json.loads(done.stdout)


def names(home: Path) -> set[str]:
    return {each["name"] for each in answer("ls", home=home)}


@pytest.mark.parametrize(
    ("text", "name", "target"),
    [
        ('{"mcpServers": {"a1": {"command": "x", "args": ["y"]}}}', "a1", "x"),
        ('{"servers": {"a2": {"type": "stdio", "command": "x"}}} // vs', "a2", "x"),
        ('{"mcp": {"a3": {"type": "local", "command": ["x", "y"]}}}', "a3", "x"),
        ('[mcp_servers.a4]\ncommand = "x"\n', "a4", "x"),
        ("$ claude mcp add a5 -e K=V -- x -y\n", "a5", "x"),
        ("claude mcp add --transport http a6 https://h.example/mcp", "a6", "https://h.example/mcp"),
        ('"a7": {"url": "https://h.example/sse", "type": "sse"},', "a7", "https://h.example/sse"),
        ('\ufeff{"mcpServers": {"a8": {"command": "x"}}}', "a8", "x"),
    ],
)
def test_every_spelling_is_imported_and_waits(
    home: Path, text: str, name: str, target: str
) -> None:
    (server,) = paste(text, home=home)["servers"]
    assert (server["name"], server["outcome"]) == (name, "imported")
    record = answer("show", name, home=home)
    assert target in {record.get("command"), record.get("url")}
    assert (record["wanted"], record["state"]) == ("stopped", "stopped")


def test_a_line_of_a_documentation_is_imported_with_its_secret_header(home: Path) -> None:
    url = "https://mcp.sentry.dev/mcp"
    line = f'claude mcp add --transport http sentry {url} --header "Authorization: Bearer x"'
    (server,) = paste(line, home=home)["servers"]
    assert (server["outcome"], server["warnings"]) == ("imported", [])
    assert server["server"]["headers"] == {"Authorization": {"masked": True, "hint": ""}}
    written = json.loads((home.parent / "p" / ".mcp.json").read_text())["mcpServers"]["sentry"]
    assert (written["url"], written["headers"]) == (url, {"Authorization": "Bearer x"})


def test_a_line_with_something_left_over_is_told_by_its_number(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "README"
    file.write_text(
        "claude mcp add one -- x\n"
        "claude mcp add two https://h.example more\n"
        "gemini mcp add three https://h.example --trust\n"
    )
    done = mcpyard("import", file, home=home)
    assert done.returncode == 3
    assert {"one", "three"} < names(home)
    assert "two" not in names(home)
    assert 'problem: line 2: "more" is an unexpected argument after the URL\n' in done.stderr
    warning = "warning: three: --trust: not supported by mcpyard: dropped\n"
    assert warning in done.stderr
    file.write_text("claude mcp add four\nclaude mcp add five --colour\n")
    detail = answer("import", file, home=home, code=3)["error"]["detail"]
    assert f'{file}:1:1: "four" has neither a command nor a URL' in detail
    assert f'{file}:2:1: the option "--colour" is unknown' in detail


def test_a_file_is_imported_into_the_scope_that_was_named(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "some.json"
    file.write_text('{"mcpServers": {"mine": {"command": "x", "args": [], "type": "stdio"}}}')
    done = mcpyard("import", file, "--scope", "user", home=home)
    assert done.returncode == 0
    assert [line.split() for line in done.stdout.splitlines()] == [
        ["OUTCOME", "NAME", "REASON"],
        ["imported", "mine"],
    ]
    assert "start them: mcpyard start mine\n" in done.stderr
    assert answer("show", "mine", home=home)["scope"] == "user"


def test_a_rehearsal_says_what_would_be_and_changes_nothing(home: Path) -> None:
    before = names(home)
    text = '{"mcpServers": {"fresh": {"command": "x"}, "old": {"command": "y"}}}'
    report = paste(text, "--dry-run", home=home, code=2)
    outcomes = {each["name"]: each["outcome"] for each in report["servers"]}
    assert outcomes == {"fresh": "importable", "old": "refused"}
    assert names(home) == before


def test_what_can_be_imported_is_and_the_rest_is_told(home: Path) -> None:
    servers = {"good": {"command": "x"}, "bad": {"command": 5}, "old": {"command": "y"}}
    done = subprocess.run(
        [*MCPYARD, "import", "-"],
        input=json.dumps({"mcpServers": servers}),
        capture_output=True,
        check=False,
        text=True,
        env=os.environ | {"MCPYARD_HOME": str(home)},
    )
    assert done.returncode == 3
    assert "imported  good" in done.stdout
    assert 'refused   old   the name "old" is in use' in done.stdout
    assert "problem: mcpServers.bad.command: expected a string" in done.stderr
    assert "good" in names(home)


@pytest.mark.parametrize("text", ["", "{", "{}", "nothing of the kind", "claude mcp list"])
def test_a_text_that_holds_no_server_ends_with_3(home: Path, text: str) -> None:
    error = paste(text, home=home, code=3)["error"]
    assert error["type"] == "urn:mcpyard:error:broken-document"
    assert "the pasted text:1:1" in error["detail"]


def test_a_file_that_cannot_be_read_is_told(home: Path, tmp_path: Path) -> None:
    gone = answer("import", tmp_path / "none.json", home=home, code=1)["error"]
    assert gone["detail"].endswith("none.json: No such file or directory")
    (tmp_path / "odd").write_bytes(b"\xff")
    error = answer("import", tmp_path / "odd", home=home, code=3)["error"]
    assert error["detail"].endswith("odd: not valid UTF-8 (byte 0)")


def test_without_a_yard_it_is_told_how_to_start_one(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("{}")
    error = answer("import", tmp_path / "f", home=tmp_path / "home", code=4)["error"]
    assert error["type"] == "urn:mcpyard:error:not-running"
    assert error["hint"] == "start it: mcpyard up"
