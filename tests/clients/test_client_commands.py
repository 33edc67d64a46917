"""The commands that change other programs' servers, with a running yard and without one."""

import pytest

from tests.clients import test_commands
from tests.clients.test_commands import CLAUDE, CODEX, Terminal

pytestmark = pytest.mark.real

ACME = """
id = "acme"
title = "Acme"
format = "yaml"
provenance = { evidence = "ran", version = "1.4" }

[[scopes]]
name = "user"
location.templates = ["{home}/.acme/servers.yaml"]
switch.kind = "none"

[[shapes]]
keys = ["servers"]
field_names = { command = "run", args = "with", env = "env", url = "at" }
"""

alone, terminal = test_commands.alone, test_commands.terminal


def test_an_entry_is_edited_switched_renamed_and_removed(terminal: Terminal) -> None:
    preview = terminal.json("clients", "edit", "codex", "old", "--url", "https://n/", "--dry-run")
    assert terminal.read("codex") == CODEX
    edited = terminal.json("clients", "edit", "codex", "old", "--url", "https://n/")
    assert preview["files"] == edited["files"]
    assert terminal.read("codex") == CODEX.replace("https://h.example/mcp", "https://n/")

    terminal.json("clients", "disable", "codex:user", "old")
    assert "enabled = false" in terminal.read("codex")
    assert terminal.json("clients", "show", "codex", "old")["enabled"] is False
    terminal.json("clients", "enable", "codex", "old")
    assert terminal.json("clients", "show", "codex", "old")["enabled"] is True

    terminal.json("clients", "rename", "codex", "old", "new")
    assert "[mcp_servers.new]" in terminal.read("codex")
    removed = terminal.json("clients", "rm", "codex", "new")
    assert "new" not in terminal.read("codex")
    for _ in range(5):
        terminal.json("undo")
    assert terminal.read("codex") == CODEX
    assert removed["edit"]


def test_an_edit_takes_a_merge_patch_and_the_usual_options(terminal: Terminal) -> None:
    terminal.run("clients", "edit", "claude", "x", "--env", "LOG=debug", "--arg", "a", "--arg", "b")
    terminal.run("clients", "edit", "claude", "x", "--json-text", '{"env": {"KEY": null}}')
    entry = terminal.json("clients", "show", "claude", "x")
    assert entry["args"] == ["a", "b"]
    assert [*entry["env"]] == ["LOG"]
    terminal.run("clients", "edit", "claude", "x", "--command", "walk")
    assert terminal.json("clients", "show", "claude", "x")["command"] == "walk"


def test_an_entry_becomes_local_or_remote_by_one_option(terminal: Terminal) -> None:
    terminal.run("copy", "--from", "claude", "--to", "yard", "x")
    for client in ("claude", "yard"):
        edit = ("clients", "edit", client, "x")
        lost = [each["field"] for each in terminal.json(*edit, "--url", "https://n/")["warnings"]]
        assert lost == ["env"]
        assert terminal.json("clients", "show", client, "x")["type"] in {"http", "remote"}
        terminal.run(*edit, "--header", "X-A: 1")
        lost = [each["field"] for each in terminal.json(*edit, "--command", "run")["warnings"]]
        assert lost == ["headers"]
        assert terminal.json("clients", "show", client, "x")["command"] == "run"
    assert "mcpyard clients --help" in terminal.run("clients", "edit", "claude", "x", code=2)


def test_the_entries_of_one_client_are_listed(terminal: Terminal) -> None:
    scopes = {each["scope"] for each in terminal.json("clients", "ls", "claude")}
    assert {"user", "project"} <= scopes
    [group] = terminal.json("clients", "ls", "codex:user")
    assert [each["name"] for each in group["servers"]] == ["old"]
    assert "old" not in terminal.run("clients", "ls", "claude")


def test_several_servers_are_copied_to_several_clients_in_one_edit(terminal: Terminal) -> None:
    terminal.run("copy", "--from", "codex", "--to", "claude", "old")
    request = ("copy", "--from", "claude", "--to", "gemini,opencode", "--all")
    preview = terminal.json(*request, "--dry-run")
    assert not (terminal.user / ".gemini").exists()
    done = terminal.json(*request)
    assert done["files"] == preview["files"]
    copied = {(each["name"], each["to"]) for each in done["copies"]}
    assert copied == {
        (name, to) for name in ("x", "old") for to in ("gemini:user", "opencode:user")
    }
    assert "https://h.example/mcp" in terminal.read("gemini")
    assert "https://h.example/mcp" in terminal.read("opencode")
    terminal.json("undo")
    assert not (terminal.user / ".gemini/settings.json").exists()


def test_a_copy_that_is_refused_keeps_out_no_other_and_fails_the_command(
    terminal: Terminal,
) -> None:
    request = ("copy", "--from", "claude", "--to", "codex,gemini", "x", "nobody")
    output = terminal.run(*request, code=2)
    assert "not copied: nobody to codex:user" in output
    assert "mcp_servers.x" in terminal.read("codex")
    again = terminal.json("copy", "--from", "claude", "--to", "codex,opencode", "x", code=2)
    refused = {each["to"]: each["refused"] for each in again["copies"]}
    assert "already exists" in refused["codex:user"]
    assert refused["opencode:user"] is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("clients", "rename", "codex", "old"), "a new name"),
        (("clients", "rm", "codex"), "takes a client and a name"),
        (("clients", "edit", "codex", "old"), "nothing to change"),
        (("clients", "rm", "codex", "old", "--url", "x"), "takes no option of clients edit"),
        (("clients", "lint", "codex"), "too many arguments"),
        (("clients", "ls", "nobody"), '"nobody" is unknown'),
        (("copy", "--from", "claude", "--to", "codex"), "takes names of servers, or --all"),
        (("copy", "--from", "claude", "--to", "codex", "x", "--all"), "or --all"),
        (("copy", "--from", "claude", "--to", "codex,gemini", "x", "--name", "y"), "--name takes"),
        (("copy", "--from", "claude", "--to", "codex,gemini", "x", "--move"), "cannot move"),
        (("copy", "--from", "claude", "--to", ",", "x"), "names no client"),
        (("copy", "--from", "claude", "--to", "codex,nobody", "x"), '"nobody" is unknown'),
    ],
)
def test_what_cannot_be_done_is_refused_with_a_reason(
    alone: Terminal, arguments: tuple[str, ...], message: str
) -> None:
    assert message in alone.run(*arguments, code=2)
    assert (alone.read("claude"), alone.read("codex")) == (CLAUDE, CODEX)


@pytest.mark.spec("F7.3")
def test_a_client_that_a_user_described_is_listed_copied_to_and_synced(alone: Terminal) -> None:
    folder, file = alone.home / "clients", alone.user / ".acme/servers.yaml"
    folder.mkdir(parents=True)
    file.parent.mkdir()
    file.write_text("# mine\nservers:\n  old: {run: x}\n")
    (folder / "acme.toml").write_text(ACME)
    [group] = alone.json("clients", "ls", "acme")
    assert [each["name"] for each in group["servers"]] == ["old"]
    alone.run("copy", "--from", "claude", "--to", "acme,yard", "x")
    assert alone.json("clients", "show", "acme", "x")["command"] == "run"
    alone.run("undo")
    alone.run("copy", "--from", "claude", "--to", "yard", "x")
    alone.run("sync", "apply", "--to", "acme", "--yes")
    assert "\n  x:\n    run: run\n" in file.read_text()
    alone.run("undo")
    assert file.read_text() == "# mine\nservers:\n  old: {run: x}\n"
    (folder / "bad.toml").write_text(ACME.replace('"none"', '"entry"').replace('"acme"', '"bad"'))
    output = alone.run("clients", "ls")
    assert f"problem: {folder / 'bad.toml'}:10:15: scopes[0].switch.kind: is" in output


@pytest.mark.parametrize(
    "command",
    [
        ("ls", "bad"),
        ("ls", "bad:user"),
        ("ls", "elsewhere"),
        ("show", "bad", "x"),
        ("edit", "bad", "x", "--command", "y"),
    ],
)
def test_every_command_names_the_mistake_in_the_description_of_a_client(
    alone: Terminal, command: tuple[str, ...]
) -> None:
    folder = alone.home / "clients"
    folder.mkdir(parents=True)
    # Which client the file describes is its name, or an id that nobody could read.
    (folder / "bad.toml").write_text(ACME.replace('"Acme"', "3"))
    lists = command[0] == "ls" and "elsewhere" not in command
    output = alone.run("clients", *command, code=0 if lists else 2)
    assert f"{folder / 'bad.toml'}:3:9: title: expected `str`, got `int`" in output
    assert ("is unknown" in output) == ("elsewhere" in command)
