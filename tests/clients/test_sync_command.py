"""`mcpyard sync` at the terminal, and killed between two files."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients import test_commands
from tests.clients.machine import FILES, lay
from tests.clients.syncing import SERVERS, TEXTS
from tests.clients.test_commands import Terminal

pytestmark = pytest.mark.real

terminal, alone = test_commands.terminal, test_commands.alone
TO = ("--to", "claude,codex,gemini,opencode")
REPOSITORY = """
[servers.files]
command = "npx"
args = ["-y", "@acme/files"]

[targets.claude]

[targets.codex]
scope = "user"
"""


def lay_five(terminal: Terminal) -> dict[str, bytes]:
    """Five servers in mcpyard, and the files of four programs."""
    cursor = json.dumps({"mcpServers": SERVERS}).replace("${", "${env:")
    (terminal.user / ".cursor").mkdir()
    (terminal.user / ".cursor/mcp.json").write_text(cursor)
    lay(terminal.user, **TEXTS)
    adopted = terminal.json("sync", "adopt", "--to", "cursor")
    assert {each["outcome"] for each in adopted["servers"]} == {"adopted"}
    return contents(terminal)


def contents(terminal: Terminal) -> dict[str, bytes]:
    paths = {name: terminal.user / path for name, path in FILES.items()}
    return {name: path.read_bytes() for name, path in paths.items() if path.exists()}


def answer(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr("mcpyard.cli.commands.sync.on_terminal", lambda: True)
    monkeypatch.setattr("mcpyard.cli.confirmation.on_terminal", lambda: True)
    monkeypatch.setattr(sys, "stdin", io.StringIO(text))


@pytest.mark.spec("F7.1")
def test_a_sync_is_planned_applied_and_undone(terminal: Terminal) -> None:
    before = lay_five(terminal)
    output = terminal.run("sync", *TO)
    assert "SERVER  claude-code:user  codex:user  gemini:user  opencode:user" in output
    assert "files   missing           missing     missing      missing" in output
    assert "20 to change\napply it: mcpyard sync apply" in output
    assert contents(terminal) == before
    assert "20 different" in terminal.run("sync", *TO, "--check", code=1)

    assert "--yes" in terminal.run("sync", "apply", *TO, code=2)
    assert terminal.json("sync", "apply", *TO, "--dry-run")["edit"] is None
    output = terminal.run("sync", "apply", *TO, "--yes")
    assert "changed 4 files; undo it: mcpyard undo" in output
    assert "files   same              same        same         same" in terminal.run("sync", *TO)
    assert "no differences" in terminal.run("sync", *TO, "--check")
    assert "nothing to change" in terminal.run("sync", "apply", *TO, "--yes")
    terminal.run("undo")
    assert contents(terminal) == before


def test_a_conflict_is_skipped_or_asked_about(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_five(terminal)
    terminal.run("sync", "apply", *TO, "--yes")
    codex = terminal.user / FILES["codex"]
    codex.write_text(codex.read_text().replace('"/data"]', '"/theirs"]'))
    gemini = terminal.user / FILES["gemini"]
    document = json.loads(gemini.read_text())
    document["mcpServers"]["git"]["timeout"] = 5000
    gemini.write_text(json.dumps(document))
    output = terminal.run("sync", *TO, "--check", code=1)
    assert "differs: files in codex:user\n  args: source" in output
    assert "differs: git in gemini:user\n  timeout: source -, gemini:user 5 s" in output
    terminal.run("clients", "edit", "gemini", "git", "--json-text", '{"timeout": null}')
    output = terminal.run("sync", "apply", *TO, "--yes", code=1)
    assert "conflict: files in codex:user: changed in Codex since the last sync" in output
    assert "args: source -y @acme/files /data, codex:user -y @acme/files /theirs" in output
    assert "1 conflicts left as they are" in output

    answer(monkeypatch, "\n")
    assert "/theirs" in codex.read_text()
    terminal.run("sync", "apply", *TO, code=1)
    answer(monkeypatch, "2\nn\n")
    assert "nothing changed" in terminal.run("sync", "apply", *TO, code=1)
    answer(monkeypatch, "3\ny\n")
    terminal.run("sync", "apply", *TO)
    assert "/theirs" in terminal.read("claude")
    assert "no differences" in terminal.run("sync", *TO, "--check")


def test_what_programs_have_is_adopted_and_asked_about_where_it_differs(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(
        terminal.user,
        claude='{"mcpServers": {"a": {"command": "one"}, "b": {"command": "b"}}}',
        codex='[mcp_servers.a]\ncommand = "two"\n\n[mcp_servers.b]\ncommand = "b"\n',
    )
    request = ("sync", "adopt", "--to", "claude,codex")
    preview = terminal.json(*request, "--dry-run", "--yes", code=1)
    outcomes = {each["name"]: each["outcome"] for each in preview["servers"]}
    assert outcomes == {"a": "conflict", "b": "adopted"}
    output = terminal.run(*request, "--yes", code=1)
    assert "conflict  a     claude-code:user, codex:user  defined differently" in output
    answer(monkeypatch, "2\n")
    terminal.run(*request)
    assert terminal.json("clients", "show", "yard", "a")["command"] == "two"
    states = {
        (each["server"], each["target"]): each["state"]
        for each in terminal.json("sync", "--to", "claude,codex")["cells"]
    }
    assert states == {
        ("a", "claude-code:user"): "foreign",
        ("a", "codex:user"): "same",
        ("b", "claude-code:user"): "same",
        ("b", "codex:user"): "same",
    }


def test_a_repository_reaches_its_own_files_and_others_after_approval(terminal: Terminal) -> None:
    (terminal.project / "mcpyard.toml").write_text(REPOSITORY)
    codex = terminal.read("codex")
    output = terminal.run("sync", "apply", "--yes")
    assert "waiting: files in codex:user: needs approval: mcpyard sync approve" in output
    entry = json.loads((terminal.project / ".mcp.json").read_text())["mcpServers"]["files"]
    assert entry["args"] == ["-y", "@acme/files"]
    assert terminal.read("codex") == codex

    output = terminal.run("sync", "approve")
    assert "codex:user files (added)" in output
    assert "-y @acme/files" in output
    assert "nothing to approve" in terminal.run("sync", "approve")
    terminal.run("sync", "apply", "--yes")
    assert "@acme/files" in terminal.read("codex")
    (terminal.project / "mcpyard.toml").write_text(REPOSITORY.replace("files", "evil"))
    assert "waiting: evil in codex:user" in terminal.run("sync", "apply", "--yes")
    assert "evil" not in terminal.read("codex")


def test_a_broken_file_is_told_with_its_line(terminal: Terminal) -> None:
    path = terminal.project / "mcpyard.toml"
    path.write_text('[servers.a]\ncommand = "a"\nenv = { API_KEY = "abcdef" }\n')
    output = terminal.run("sync", code=3)
    assert f"{path}:3:19: servers.a.env.API_KEY: a secret cannot stand in this file" in output


def test_wrong_words_are_wrong_usage(alone: Terminal) -> None:
    assert "names no program" in alone.run("sync", code=2)
    assert "--check compares" in alone.run("sync", "apply", "--check", code=2)
    assert "mcpyard itself is where" in alone.run("sync", "--to", "yard", code=2)


@pytest.mark.spec("F7.1")
@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("then", ["undone", "done again"])
def test_a_kill_between_two_files_leaves_nothing_that_the_journal_does_not_know(
    alone: Terminal, number: int, then: str
) -> None:
    before = lay_five(alone)
    command = [sys.executable, "-m", "tests.clients.killed_sync", str(number)]
    ended = subprocess.run(
        [*command, "sync", "apply", *TO, "--yes"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL
    changed = {name for name, content in contents(alone).items() if content != before[name]}
    assert len(changed) == number
    newest = alone.json("undo", "--list")[0]
    assert newest["kind"] == "sync"
    assert {str(alone.user / FILES[name]) for name in TEXTS} == {*newest["paths"]}
    for name in TEXTS:
        # Every byte that was there before is still there.
        lines = [*filter(None, before[name].splitlines())]
        assert all(line.rstrip(b",") in contents(alone)[name] for line in lines)
    for lock in alone.user.glob(".*.lock"):
        # What a killed program held counts for a while; that while is over.
        os.utime(lock, (0, 0))
    if then == "undone":
        alone.run("undo")
        assert contents(alone) == before
        assert alone.json("sync", *TO)["writes"] == 20
        return
    assert alone.json("sync", *TO)["writes"] == 20 - 5 * number
    alone.run("sync", "apply", *TO, "--yes")
    assert "no differences" in alone.run("sync", *TO, "--check")
    assert alone.json("sync", *TO)["conflicts"] == 0
    alone.run("undo")
    alone.run("undo", str(newest["id"]))
    assert contents(alone) == before
    assert alone.json("sync", *TO)["writes"] == 20
