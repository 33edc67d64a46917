"""The commands about other programs' servers, with a running yard and without one."""

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from mcpyard.cli.main import run
from tests.api.test_full_disk import no_room
from tests.cli.commands import Json, Up, yard_up
from tests.clients.machine import FILES, lay

pytestmark = pytest.mark.real

CLAUDE = '{"mcpServers": {"x": {"command": "run", "env": {"KEY": "a-secret-value"}}}}'
CODEX = '[mcp_servers.old]\nurl = "https://h.example/mcp"\nbearer_token_env_var = "T"\n'


class Desk:
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
) -> Desk:
    """A machine on which no yard runs."""
    desk = Desk(tmp_path, capsys)
    lay(desk.user, claude=CLAUDE, codex=CODEX)
    desk.project.mkdir()
    monkeypatch.setenv("HOME", str(desk.user))
    monkeypatch.setenv("MCPYARD_HOME", str(desk.home))
    monkeypatch.chdir(desk.project)
    return desk


@pytest.fixture(params=["with a yard", "without one"])
def desk(request: pytest.FixtureRequest, alone: Desk) -> Generator[Desk]:
    """A machine, and perhaps its yard."""
    if request.param == "without one":
        yield alone
        return
    with yard_up(alone.home) as up:
        alone.up = up
        yield alone


def test_servers_are_listed_copied_undone_and_imported(desk: Desk) -> None:
    groups = desk.json("clients", "ls")
    by_scope = {(each["client"], each["scope"]): each for each in groups}
    assert by_scope["claude-code", "user"]["path"] == str(desk.user / ".claude.json")
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
    assert by_scope["claude-code", "project"]["path"] == str(desk.project / ".mcp.json")

    look = desk.json("copy", "--from", "claude", "--to", "codex", "x", "--dry-run")
    assert desk.read("codex") == CODEX
    done = desk.json("copy", "--from", "claude", "--to", "codex:user", "x")
    assert (done["files"], done["warnings"]) == (look["files"], [])
    assert "a-secret-value" in desk.read("codex")
    assert "a-secret-value" not in json.dumps(done)
    taken = desk.json("copy", "--from", "claude", "--to", "codex", "x", code=2)
    assert taken["error"]["type"] == "urn:mcpyard:error:name-taken"

    warned = desk.json(
        *("copy", "--from", "codex", "--to", "opencode", "old", "--matrix", "spec", "--dry-run")
    )
    assert [each["field"] for each in warned["warnings"]] == ["bearer_token_env_var"]
    undone = desk.json("undo")
    assert undone["edit"] == done["edit"]
    assert desk.read("codex") == CODEX
    assert desk.json("undo", code=2)["error"]["status"] == 404

    imported = desk.json("import")
    outcomes = {each["name"]: each["outcome"] for each in imported["servers"]}
    assert outcomes == {"x": "imported", "old": "imported"}
    assert {each["name"] for each in desk.json("ls")} == {"x", "old"}
    assert desk.json("clients", "show", "yard", "x")["env"]["KEY"]["masked"] is True


def test_what_people_see_is_a_table_or_a_difference(desk: Desk) -> None:
    assert "STATE    CLIENT            NAME  COMMAND" in desk.run("clients")
    output = desk.run("clients", "show", "claude:user", "x")
    assert output.startswith("x\n  client")
    assert "a-secret-value" not in output
    assert "secret-readable" in desk.run("clients", "lint")
    assert "no differences" in desk.run("clients", "drift")
    copied = desk.run("copy", "--from", "codex", "--to", "claude", "old", "--name", "y", "--move")
    assert "+++ " in copied
    assert "translated: bearer_token_env_var" in copied
    desk.run("copy", "--from", "claude", "--to", "codex", "y")
    desk.run("copy", "--from", "claude", "--to", "codex", "y", "--replace")
    path = desk.user / FILES["claude"]
    path.write_text(path.read_text() + " ")
    desk.run("undo")
    refused = desk.run("undo", code=1)
    assert "changed since the edit" in refused
    assert "No newline at end of file" in refused
    assert "OUTCOME" in desk.run("import", "--dry-run")


def test_wrong_words_are_wrong_usage(desk: Desk) -> None:
    for words in (
        ("clients", "show"),
        ("clients", "ls", "claude"),
        ("clients", "show", "nobody", "x"),
        ("clients", "show", "claude", "nobody"),
        ("copy", "--from", "claude:moon", "--to", "codex", "x"),
        ("copy", "--from", "claude", "--to", "codex", "x", "--matrix", "other"),
    ):
        desk.run(*words, code=2)
    desk.run("copy", "--from", "claude", "--to", "claude", "x", code=3)


def test_secrets_are_shown_only_where_no_yard_runs(desk: Desk) -> None:
    words = ("copy", "--from", "claude", "--to", "codex", "x", "--dry-run", "--show-secrets")
    if desk.up:
        assert "--show-secrets works only while mcpyard is not running" in desk.run(*words, code=2)
    else:
        assert 'KEY = "a-secret-value"' in desk.run(*words)


def test_on_a_full_disk_every_file_stays_as_it_was(alone: Desk) -> None:
    words = ("copy", "--from", "claude", "--to", "codex", "x")
    with yard_up(alone.home) as up, no_room(up.process.pid):
        refused = alone.json(*words, code=1)
        assert refused["error"]["type"] == "urn:mcpyard:error:storage-full"
        assert alone.read("codex") == CODEX
        assert [each.name for each in (alone.user / ".codex").iterdir()] == ["config.toml"]
    assert alone.json("undo", code=2)["error"]["status"] == 404


def test_only_looking_makes_no_home(alone: Desk) -> None:
    alone.json("clients", "ls")
    assert not alone.home.exists()
    lay(alone.user, claude="{", codex="")
    assert "problem: " in alone.run("clients")
    assert alone.json("clients", "lint", code=1)[0]["level"] == "error"
    output = alone.run("import", code=3)
    assert "no servers found" in output
    assert f"problem: {alone.user / '.claude.json'}:1:2: " in output
