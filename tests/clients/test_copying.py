"""Copies: what is refused, what is offered instead, and what a copy brings back."""

import asyncio
import json
import stat
import tomllib
from pathlib import Path

import pytest

from mcpyard.domain.errors import (
    ArgumentsRefused,
    DefinitionError,
    DocumentBroken,
    EditRefused,
    NameRefused,
    NameTaken,
    ServerUnknown,
)
from mcpyard.domain.remedies import remedy
from mcpyard.formats.copying.matrix import Matrix
from mcpyard.yard.clients.clients import Copy, EditTerms
from tests.clients.machine import machine

CLAUDE = '{"mcpServers": {"x": {"command": "run", "args": ["a"], "futureField": {"deep": [1]}}}}'
CODEX = '[mcp_servers.old]\ncommand = "old"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"mcpServers": {"x": }', ":1:22"),
        ('{\n  "mcpServers": []\n}', "mcpServers: expected an object"),
        ("[1]", "expected an object"),
    ],
)
async def test_a_broken_file_is_told_with_its_place_and_nothing_is_written(
    tmp_path: Path, text: str, message: str
) -> None:
    async with machine(tmp_path, claude=text, codex=CODEX) as it:
        for copy in (Copy("claude", "codex", "x"), Copy("codex", "claude", "old")):
            with pytest.raises(DocumentBroken) as raised:
                await it.clients.copy(copy)
            assert message in raised.value.message
            assert str(it.path("claude")) in raised.value.message
        assert it.read("claude") == text
        assert it.read("codex") == CODEX
        groups = await it.get("/api/clients")
        (problem,) = next(each for each in groups if each["client"] == "claude-code")["problems"]
        assert problem["place"]["file"] == str(it.path("claude"))


async def test_a_bad_entry_costs_only_itself(tmp_path: Path) -> None:
    text = '{"mcpServers": {"bad": {"command": 5}, "x": {"command": "run"}, "odd": 3}}'
    async with machine(tmp_path, claude=text) as it:
        (group,) = [each for each in await it.get("/api/clients") if each["servers"]]
        states = {each["name"]: each["effective"] for each in group["servers"]}
        assert states == {"bad": "invalid", "x": "enabled", "odd": "invalid"}
        await it.clients.copy(Copy("claude", "codex", "x"))
        for name in ("bad", "odd"):
            with pytest.raises(DefinitionError, match=name):
                await it.clients.copy(Copy("claude", "codex", name))


async def test_files_that_do_not_exist_are_made_by_a_write_alone(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        await it.clients.groups()
        await it.clients.lint()
        await it.clients.copy(Copy("claude", "codex", "x"), EditTerms(dry_run=True))
        assert [each.name for each in it.home.iterdir()] == [".claude.json"]
        await it.clients.copy(Copy("claude", "codex", "x"))
        assert stat.S_IMODE(it.path("codex").stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["", "\n", "\ufeff"])
async def test_an_empty_file_is_as_good_as_a_new_one(tmp_path: Path, text: str) -> None:
    async with machine(tmp_path, claude=CLAUDE, opencode=text) as it:
        await it.clients.copy(Copy("claude", "opencode", "x"))
        assert json.loads(it.read("opencode").lstrip("\ufeff"))["mcp"]["x"]["command"] == [
            "run",
            "a",
        ]


async def test_a_folder_in_the_place_of_a_file_is_told(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        it.path("codex").mkdir(parents=True)
        with pytest.raises(DocumentBroken, match="is a folder"):
            await it.clients.copy(Copy("claude", "codex", "x"))


async def test_a_name_that_is_there_is_kept_unless_it_is_to_be_replaced(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE, codex=CODEX.replace("old]", "x]")) as it:
        with pytest.raises(NameTaken) as taken:
            await it.clients.copy(Copy("claude", "codex", "x"))
        assert "--replace" in remedy(taken.value)
        assert "old" in it.read("codex")
        await it.clients.copy(Copy("claude", "codex", "x", replace=True))
        assert tomllib.loads(it.read("codex"))["mcp_servers"] == {
            "x": {"command": "run", "args": ["a"]}
        }


async def test_a_name_that_the_target_cannot_take_is_refused_with_an_offer(tmp_path: Path) -> None:
    async with machine(tmp_path, gemini='{"mcpServers": {"my files": {"command": "run"}}}') as it:
        with pytest.raises(NameRefused, match='use for example "my-files"'):
            await it.clients.copy(Copy("gemini", "claude", "my files"))
        await it.clients.copy(Copy("gemini", "claude", "my files", "my-files"))
        assert "my-files" in it.json("claude")["mcpServers"]


async def test_a_server_is_not_copied_onto_itself(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        for target in ("claude", "claude-code:user"):
            with pytest.raises(EditRefused, match="onto itself"):
                await it.clients.copy(Copy("claude", target, "x", replace=True))
        await it.clients.copy(Copy("claude", "claude", "x", "y"))
        assert it.json("claude")["mcpServers"].keys() == {"x", "y"}


async def test_unknown_words_are_told_with_those_that_are_known(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        for copy, message in (
            (Copy("clod", "codex", "x"), "clod"),
            (Copy("claude:global", "codex", "x"), "no scope"),
        ):
            with pytest.raises(ArgumentsRefused, match=message):
                await it.clients.copy(copy)
        with pytest.raises(ServerUnknown, match="nobody"):
            await it.clients.copy(Copy("claude", "codex", "nobody"))
        with pytest.raises(ArgumentsRefused, match="project"):
            await it.clients.copy(Copy("claude:project", "codex", "x"), EditTerms(project=""))


async def test_a_copy_back_brings_what_the_other_program_could_not_hold(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        there = await it.clients.copy(Copy("claude", "codex", "x"))
        assert [each.field for each in there.warnings] == ["futureField"]
        await it.clients.edit("codex", "x", {"args": ["b"]})
        await it.clients.remove("claude", "x")
        await it.clients.copy(Copy("codex", "claude", "x"))
        assert it.json("claude")["mcpServers"]["x"] == {"command": "run", "args": ["b"]}
        await it.clients.edit("codex", "x", {"args": ["a"], "name": "y"})
        await it.clients.copy(Copy("codex", "claude", "y", "x", replace=True))
        assert it.json("claude") == json.loads(CLAUDE)


async def test_a_server_that_is_off_by_a_list_is_off_where_it_is_copied_to(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        await it.clients.toggle("claude", "x", enabled=False)
        await it.clients.copy(Copy("claude", "codex", "x"))
        assert tomllib.loads(it.read("codex"))["mcp_servers"]["x"]["enabled"] is False
        done = await it.clients.copy(Copy("codex", "gemini", "x"))
        assert [str(each.kind) for each in done.warnings] == ["relocated"]
        assert len(done.files) == 2
        assert (await it.clients.show("gemini", "x")).effective == "disabled"
        await it.clients.copy(Copy("codex", "gemini", "x", "y", matrix=Matrix.SPEC))
        assert (await it.clients.show("gemini", "y")).enabled is True


async def test_a_move_over_two_files_is_one_unit_to_undo(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE, codex=CODEX) as it:
        done = await it.clients.copy(Copy("codex", "claude", "old", move=True))
        assert {path for path, _ in done.files} == {str(it.path("claude")), str(it.path("codex"))}
        assert "old" not in it.read("codex")
        (edit,) = await it.clients.edits()
        assert (edit.id, edit.kind) == (done.edit, "move")
        await it.clients.undo()
        assert (it.read("claude"), it.read("codex")) == (CLAUDE, CODEX)


async def test_a_move_within_one_file_changes_it_once(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        await it.clients.copy(Copy("claude", "claude:local", "x", move=True))
        settings = it.json("claude")
        assert settings["mcpServers"] == {}
        assert settings["projects"][str(it.project)]["mcpServers"]["x"]["command"] == "run"
        await it.clients.undo()
        assert it.read("claude") == CLAUDE


async def test_of_many_copies_at_once_none_is_lost(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE, codex=CODEX) as it:
        names = [f"n{number}" for number in range(12)]
        copies = [it.clients.copy(Copy("claude", "codex", "x", name)) for name in names]
        await asyncio.gather(*copies)
        assert tomllib.loads(it.read("codex"))["mcp_servers"].keys() == {"old", *names}
        for _ in names:
            await it.clients.undo()
        assert it.read("codex") == CODEX


async def test_of_two_files_of_a_scope_the_later_is_the_one_that_counts(tmp_path: Path) -> None:
    first = '{"mcp": {"x": {"type": "local", "command": ["one"]}}}'
    second = first.replace("one", "two") + "// hello\n"
    async with machine(tmp_path, opencode=first) as it:
        later = it.path("opencode").with_suffix(".jsonc")
        later.write_text(second)
        record = await it.clients.show("opencode", "x")
        assert (record.command, record.path) == ("two", str(later))
        await it.clients.edit("opencode", "x", {"command": "three"})
        assert later.read_text() == second.replace("two", "three")
        assert it.read("opencode") == first
