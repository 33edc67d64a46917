"""Edits of a program's own file, in words that are the same for every program."""

import json
from pathlib import Path

import pytest

from mcpyard.domain.errors import (
    ArgumentsRefused,
    DefinitionError,
    DocumentBroken,
    EditRefused,
    NameTaken,
    ServerUnknown,
)
from mcpyard.yard.clients.clients import EditTerms
from tests.clients.machine import machine

CLAUDE = """{
  "mcpServers": {
    "x": {
      "command": "run",
      "env": {
        "KEY": "a-secret-value",
        "REF": "${REF}"
      }
    },
    "web": {
      "type": "http",
      "url": "https://me:pass@h.example/mcp?key=123",
      "headers": { "Authorization": "Bearer abcdefghijkl" }
    }
  }
}
"""
CODEX = '[mcp_servers.x]\ncommand = "run"\n'


async def test_a_masked_value_is_kept_and_null_removes(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        record = await it.get("/api/clients/claude/servers/x")
        record["env"]["NEW"] = "n"
        record["env"]["REF"] = None
        await it.patch("claude", {"env": record["env"]})
        env = it.json("claude")["mcpServers"]["x"]["env"]
        assert env == {"KEY": "a-secret-value", "NEW": "n"}


async def test_what_was_shown_can_be_sent_back_and_changes_nothing(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        for name in ("x", "web"):
            path = f"/api/clients/claude/servers/{name}"
            record = await it.get(path)
            assert "pass" not in json.dumps(record)
            fields = ("type", "command", "args", "env", "url", "headers", "cwd", "timeout")
            patch = {key: record[key] for key in fields}
            answer = await it.http.patch(path, json=patch)
            assert answer.json() == {"files": [], "warnings": [], "edit": None}
        assert it.read("claude") == CLAUDE
        assert await it.clients.edits() == []


async def test_only_the_line_of_the_field_changes(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        await it.patch("claude", {"env": {"KEY": "other"}})
        assert it.read("claude") == CLAUDE.replace("a-secret-value", "other")


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ({"cwd": "/srv"}, "cwd: not supported by Claude Code"),
        ({"color": "red"}, "color: cannot be changed"),
        ({"args": "a"}, "args: expected a list"),
        ({"args": [1]}, r"args\[0\]: expected a string"),
        ({"env": ["A"]}, "env: expected an object"),
        ({"env": {"A": 1}}, "env.A: expected a string"),
        ({"env": {"A": {"masked": True}}}, "env.A: is masked, but no value is stored"),
        ({"type": "carrier-pigeon"}, "type: is unknown; expected one of"),
        ({"type": 3}, "type: expected a string"),
        ({"timeout": 0}, "timeout: must be greater than 0"),
        ({"command": None}, "command"),
        ({"url": "https://h.example"}, "url"),
        ({"enabled": "yes"}, "enabled: must be true or false"),
    ],
)
async def test_a_patch_that_makes_no_sense_is_refused_with_its_field(
    tmp_path: Path, patch: dict[str, object], message: str
) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        with pytest.raises(DefinitionError, match=message):
            await it.clients.edit("claude", "x", patch)
        assert it.read("claude") == CLAUDE


async def test_a_server_can_become_a_remote_one(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        patch = {"command": None, "env": None, "type": "http", "url": "https://h.example/mcp"}
        await it.clients.edit("claude", "x", patch)
        written = it.json("claude")["mcpServers"]["x"]
        assert written == {"type": "http", "url": "https://h.example/mcp"}


async def test_a_rename_keeps_the_place_and_what_is_off_stays_off(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        await it.clients.toggle("claude", "x", enabled=False)
        await it.clients.rename("claude", "x", "y")
        assert [*it.json("claude")["mcpServers"]] == ["y", "web"]
        assert (await it.clients.show("claude", "y")).effective == "disabled"


async def test_a_rename_to_a_name_in_use_or_to_none_is_refused(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        with pytest.raises(NameTaken):
            await it.clients.rename("claude", "x", "web")
        with pytest.raises(ArgumentsRefused, match="name"):
            await it.clients.edit("claude", "x", {"name": 5})
        assert it.read("claude") == CLAUDE


async def test_everything_in_one_patch_is_one_edit(tmp_path: Path) -> None:
    async with machine(tmp_path, codex=CODEX) as it:
        patch = {"args": ["a"], "enabled": False, "name": "y"}
        await it.clients.edit("codex", "x", patch)
        assert it.read("codex") == (
            '[mcp_servers.y]\ncommand = "run"\nargs = ["a"]\nenabled = false\n'
        )
        await it.clients.undo()
        assert it.read("codex") == CODEX


async def test_a_removed_server_is_gone_and_the_next_one_stays(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        answer = await it.http.delete("/api/clients/claude/servers/x?dryRun=1")
        assert (answer.status_code, it.read("claude")) == (200, CLAUDE)
        await it.http.delete("/api/clients/claude/servers/x")
        assert it.json("claude")["mcpServers"].keys() == {"web"}
        assert (await it.http.delete("/api/clients/claude/servers/x")).status_code == 404


@pytest.mark.parametrize("patch", [{}, {"args": []}, {"enabled": True}, {"name": "y"}])
async def test_a_server_that_is_not_there_cannot_be_changed(
    tmp_path: Path, patch: dict[str, object]
) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        with pytest.raises(ServerUnknown, match="nobody"):
            await it.clients.edit("claude", "nobody", patch)
        with pytest.raises(ServerUnknown, match="nobody"):
            await it.clients.show("claude", "nobody")


async def test_a_broken_file_shows_why_instead_of_a_server(tmp_path: Path) -> None:
    async with machine(tmp_path, claude="{") as it:
        with pytest.raises(DocumentBroken, match=r"\.claude\.json:1:"):
            await it.clients.show("claude", "x")


async def test_a_program_without_a_switch_in_a_file_says_so(tmp_path: Path) -> None:
    async with machine(tmp_path) as it:
        path = it.home / ".cursor" / "mcp.json"
        path.parent.mkdir()
        path.write_text('{"mcpServers": {"x": {"command": "run"}}}')
        with pytest.raises(EditRefused, match="Cursor stores it in its internal settings"):
            await it.clients.toggle("cursor", "x", enabled=False)


async def test_another_project_can_be_looked_at(tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / ".codex").mkdir(parents=True)
    (other / ".codex" / "config.toml").write_text(CODEX)
    async with machine(tmp_path) as it:
        record = await it.clients.show("codex:project", "x", str(other))
        assert (record.path, record.effective) == (
            str(other / ".codex" / "config.toml"),
            "untrusted",
        )
        await it.clients.edit("codex:project", "x", {"args": ["a"]}, EditTerms(project=str(other)))
        assert 'args = ["a"]' in (other / ".codex" / "config.toml").read_text()


GEMINI_TEXT = '{"mcpServers": {"x": {"command": "a"}}}'


async def test_a_server_that_goes_or_is_renamed_leaves_no_name_in_the_switches(
    tmp_path: Path,
) -> None:
    async with machine(tmp_path, gemini=GEMINI_TEXT, copilot=GEMINI_TEXT) as it:
        enablement = it.home / ".gemini/mcp-server-enablement.json"
        settings = it.home / ".copilot/settings.json"
        for client in ("gemini", "copilot"):
            await it.clients.toggle(client, "x", enabled=False)
            await it.clients.rename(client, "x", "y")
        assert json.loads(enablement.read_text()) == {"y": {"enabled": False}}
        assert json.loads(settings.read_text()) == {"disabledMcpServers": ["y"]}
        for client in ("gemini", "copilot"):
            done = await it.clients.remove(client, "y")
            assert len(done.files) == 2
        assert json.loads(enablement.read_text()) == {}
        assert json.loads(settings.read_text()) == {"disabledMcpServers": []}
        await it.clients.undo()
        assert json.loads(settings.read_text()) == {"disabledMcpServers": ["y"]}


@pytest.mark.parametrize("other", [GEMINI_TEXT, "{broken"])
async def test_a_name_that_switches_another_server_too_stays_in_the_switch(
    tmp_path: Path, other: str
) -> None:
    async with machine(tmp_path, gemini=GEMINI_TEXT) as it:
        await it.clients.toggle("gemini", "x", enabled=False)
        (it.project / ".gemini").mkdir()
        (it.project / ".gemini/settings.json").write_text(other)
        await it.clients.remove("gemini", "x")
        enablement = it.home / ".gemini/mcp-server-enablement.json"
        assert json.loads(enablement.read_text()) == {"x": {"enabled": False}}
