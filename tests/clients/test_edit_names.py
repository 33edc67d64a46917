"""The list of edits names the servers that each edit was about, in whatever file they stand."""

import json
from pathlib import Path

from mcpyard.yard.clients.clients import Copy, EditTerms
from tests.clients.machine import Machine, machine

CLAUDE = json.dumps({"mcpServers": {"x": {"command": "run"}, "y": {"command": "walk"}}})
CODEX = '[mcp_servers.old]\ncommand = "old"\n'


async def newest(it: Machine) -> object:
    return (await it.clients.edits())[0].servers


async def test_an_edit_names_what_came_went_or_changed(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE, codex=CODEX) as it:
        await it.clients.copy(Copy("claude", "codex", "x"))
        assert await newest(it) == ["x"]
        await it.clients.toggle("codex", "old", enabled=False)
        assert await newest(it) == ["old"]
        await it.clients.rename("codex", "old", "new")
        assert await newest(it) == ["new", "old"]
        await it.clients.remove("claude", "y")
        assert await newest(it) == ["y"]


async def test_an_edit_over_several_documents_names_each_server_once(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        await it.clients.copy(Copy("claude", "yard:user", "x", move=True))
        assert await newest(it) == ["x"]


async def test_an_edit_in_a_projects_file_is_named_whatever_the_folder(tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    async with machine(tmp_path, claude=CLAUDE) as it:
        await it.clients.copy(Copy("claude", "claude:project", "x"))
        assert await newest(it) == ["x"]
        await it.clients.copy(Copy("claude", "claude:project", "y"), EditTerms(project=str(other)))
        assert await newest(it) == ["y"]
        await it.clients.copy(Copy("claude", "codex:project", "x"), EditTerms(project=str(other)))
        assert await newest(it) == ["x"]


async def test_a_switch_that_is_kept_in_a_file_of_its_own_is_named(tmp_path: Path) -> None:
    async with machine(tmp_path, gemini='{"mcpServers": {"w": {"command": "w"}}}') as it:
        await it.clients.toggle("gemini", "w", enabled=False)
        assert await newest(it) == ["w"]
