"""The commands about other programs' servers, with a running yard and without one."""

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from mcpyard.cli.commands.copy import print_warnings
from mcpyard.cli.launcher import run
from tests.api.test_full_disk import no_room
from tests.cli.commands import Json, Up, yard_up
from tests.clients.machine import FILES, lay

pytestmark = pytest.mark.real

CLAUDE = '{"mcpServers": {"x": {"command": "run", "env": {"KEY": "a-secret-value"}}}}'
CODEX = '[mcp_servers.old]\nurl = "https://h.example/mcp"\nbearer_token_env_var = "T"\n'


class Terminal:
    """A user's folder, and what the commands say there; they run in this very process."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.user = folder / "user"
        self.home = folder / "yard"
        self.project = folder / "project"
        self.up: Up | None = None
        self._said = capsys

    def run(self, *arguments: object, code: int = 0) -> str:
        with pytest.raises(SystemExit) as ended:
            run([*map(str, arguments)])
        out, err = self._said.readouterr()
        assert (ended.value.code or 0) == code, out + err
        return out if "--json" in arguments else out + err

    def json(self, *arguments: object, code: int = 0) -> Json:
        return json.loads(self.run(*arguments, "--json", code=code))

    def read(self, client: str) -> str:
        return (self.user / FILES[client]).read_text()


@pytest.fixture
def alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Terminal:
    """A machine on which no yard runs."""
    terminal = Terminal(tmp_path, capsys)
    lay(terminal.user, claude=CLAUDE, codex=CODEX)
    terminal.project.mkdir()
    monkeypatch.setenv("HOME", str(terminal.user))
    monkeypatch.setenv("MCPYARD_HOME", str(terminal.home))
    monkeypatch.chdir(terminal.project)
    return terminal


@pytest.fixture(params=["with a yard", "without one"])
def terminal(request: pytest.FixtureRequest, alone: Terminal) -> Generator[Terminal]:
    """A machine, and perhaps its yard."""
    if request.param == "without one":
        yield alone
        return
    with yard_up(alone.home) as up:
        alone.up = up
        yield alone


def test_servers_are_listed_copied_undone_and_imported(terminal: Terminal) -> None:
    groups = terminal.json("clients", "ls")
    by_scope = {(each["client"], each["scope"]): each for each in groups}
    assert by_scope["claude-code", "user"]["path"] == str(terminal.user / ".claude.json")
    assert by_scope["claude-code", "user"]["servers"] == [
        {
            "name": "x",
            "command": "run",
            "args": None,
            "url": None,
            "enabled": True,
            "effective": "enabled",
            "reason": "",
        }
    ]
    assert by_scope["claude-code", "project"]["path"] == str(terminal.project / ".mcp.json")

    look = terminal.json("copy", "--from", "claude", "--to", "codex", "x", "--dry-run")
    assert terminal.read("codex") == CODEX
    done = terminal.json("copy", "--from", "claude", "--to", "codex:user", "x")
    assert (done["files"], done["warnings"]) == (look["files"], [])
    assert "a-secret-value" in terminal.read("codex")
    assert "a-secret-value" not in json.dumps(done)
    taken = terminal.json("copy", "--from", "claude", "--to", "codex", "x", code=2)
    assert taken["error"]["type"] == "urn:mcpyard:error:name-taken"

    warned = terminal.json(
        *("copy", "--from", "codex", "--to", "opencode", "old", "--matrix", "spec", "--dry-run")
    )
    assert [each["field"] for each in warned["warnings"]] == ["bearer_token_env_var"]
    undone = terminal.json("undo")
    assert undone["edit"] == done["edit"]
    assert terminal.read("codex") == CODEX
    assert terminal.json("undo", code=2)["error"]["status"] == 404

    imported = terminal.json("import")
    outcomes = {each["name"]: each["outcome"] for each in imported["servers"]}
    assert outcomes == {"x": "imported", "old": "imported"}
    assert {each["name"] for each in terminal.json("ls")} == {"x", "old"}
    assert terminal.json("clients", "show", "yard", "x")["env"]["KEY"]["masked"] is True


def test_what_people_see_is_a_table_or_a_difference(terminal: Terminal) -> None:
    assert "STATE    CLIENT            NAME  COMMAND" in terminal.run("clients")
    output = terminal.run("clients", "show", "claude:user", "x")
    assert output.startswith("x\n  client")
    assert "a-secret-value" not in output
    assert "secret-readable" in terminal.run("clients", "lint")
    assert "no differences" in terminal.run("clients", "drift")
    copied = terminal.run(
        "copy", "--from", "codex", "--to", "claude", "old", "--name", "y", "--move"
    )
    assert "+++ " in copied
    assert "translated: bearer_token_env_var" in copied
    terminal.run("copy", "--from", "claude", "--to", "codex", "y")
    terminal.run("copy", "--from", "claude", "--to", "codex", "y", "--replace")
    path = terminal.user / FILES["claude"]
    path.write_text(path.read_text().replace("h.example", "other.example"))
    terminal.run("undo")
    refused = terminal.run("undo", code=1)
    assert '"mcpServers.y" in ' in refused
    assert "changed since the edit" in refused
    assert "other.example" in refused
    assert "OUTCOME" in terminal.run("import", "--dry-run")


def test_wrong_words_are_wrong_usage(terminal: Terminal) -> None:
    for words in (
        ("clients", "show"),
        ("clients", "ls", "claude", "x"),
        ("clients", "show", "nobody", "x"),
        ("clients", "show", "claude", "nobody"),
        ("copy", "--from", "claude:moon", "--to", "codex", "x"),
        ("copy", "--from", "claude", "--to", "codex", "x", "--matrix", "other"),
    ):
        terminal.run(*words, code=2)
    terminal.run("copy", "--from", "claude", "--to", "claude", "x", code=3)


def test_secrets_are_shown_only_where_no_yard_runs(terminal: Terminal) -> None:
    words = ("copy", "--from", "claude", "--to", "codex", "x", "--dry-run", "--show-secrets")
    if terminal.up:
        assert "--show-secrets works only while mcpyard is not running" in terminal.run(
            *words, code=2
        )
    else:
        assert 'KEY = "a-secret-value"' in terminal.run(*words)


def test_on_a_full_disk_every_file_stays_as_it_was(alone: Terminal) -> None:
    words = ("copy", "--from", "claude", "--to", "codex", "x")
    with yard_up(alone.home) as up, no_room(up.process.pid):
        refused = alone.json(*words, code=1)
        assert refused["error"]["type"] == "urn:mcpyard:error:storage-full"
        assert alone.read("codex") == CODEX
        assert [each.name for each in (alone.user / ".codex").iterdir()] == ["config.toml"]
    assert alone.json("undo", code=2)["error"]["status"] == 404


def test_only_looking_makes_no_home(alone: Terminal) -> None:
    alone.json("clients", "ls")
    assert not alone.home.exists()
    lay(alone.user, claude="{", codex="")
    assert "problem: " in alone.run("clients")
    assert alone.json("clients", "lint", code=1)[0]["level"] == "error"
    output = alone.run("import", code=3)
    assert "no servers found" in output
    assert f"problem: {alone.user / '.claude.json'}:1:2: " in output


def test_what_is_told_of_a_file_is_printed_and_a_field_without_loss_is_not(
    capsys: pytest.CaptureFixture[str],
) -> None:
    message = "settings.json was overwritten by its program; the edit was repeated"
    warnings = [
        {"kind": "info", "field": "timeout", "message": "written as timeout"},
        {"kind": "info", "field": "", "message": message},
    ]
    print_warnings(warnings)
    assert capsys.readouterr().err == f"info: {message}\n"
