"""A sync that fails in the middle takes back what it wrote, also where a program wrote since."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from mcpyard.domain.errors import ReadOnlyOwner
from mcpyard.domain.files import FileWrite
from mcpyard.sources.client_files import DiskClientFiles
from mcpyard.yard.edit import Change
from tests.clients.machine import Machine
from tests.clients.syncing import ALL, contents, five_servers, states, sync_of, terms


async def failed(it: Machine, monkeypatch: pytest.MonkeyPatch, write: Callable[[], None]) -> None:
    """Let a sync fail at Gemini's file, after another program wrote Claude Code's."""
    real = DiskClientFiles.write

    async def full(files: DiskClientFiles, change: FileWrite) -> None:
        if change.path == str(it.path("gemini")):
            write()
            raise ReadOnlyOwner("no room")
        await real(files, change)

    with monkeypatch.context() as patch:
        patch.setattr(DiskClientFiles, "write", full)
        with pytest.raises(ReadOnlyOwner):
            await sync_of(it).apply(ALL, terms(it))


@pytest.mark.spec("F7.1")
async def test_what_a_program_wrote_meanwhile_stays_and_nothing_of_the_plan(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with five_servers(tmp_path) as it:
        before, claude = contents(it), it.json("claude")

        def write() -> None:
            document = it.json("claude")
            assert "files" in document["mcpServers"]
            it.path("claude").write_text(json.dumps(document | {"theirs": 1}))

        await failed(it, monkeypatch, write)
        after = it.json("claude")
        assert after.pop("mcpServers", {}) == {}
        assert after == claude | {"theirs": 1}
        assert contents(it) | {"claude": None} == before | {"claude": None}
        assert await it.clients.edits() == []
        assert (await sync_of(it).plan(ALL, terms(it))).writes == 20


@pytest.mark.spec("F7.1")
async def test_what_cannot_be_taken_back_stays_in_the_journal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with five_servers(tmp_path) as it:

        def write() -> None:
            text = it.read("claude").replace('"/data"', '"/theirs"')
            it.path("claude").write_text(text)

        await failed(it, monkeypatch, write)
        assert "/theirs" in it.read("claude")
        [edit] = await it.clients.edits()
        assert (edit.kind, edit.undone) == ("sync", False)
        planned = await sync_of(it).plan(ALL, terms(it))
        assert states(planned, "files")["claude-code:user"] == "conflict"
        assert states(planned, "git") == {
            "claude-code:user": "same",
            "codex:user": "missing",
            "gemini:user": "missing",
            "opencode:user": "missing",
        }


async def test_no_server_is_on_between_two_files_that_is_off_in_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with five_servers(tmp_path) as it:
        await it.yard.change("git", Change({"enabled": False}))
        switches, real = it.home / ".gemini/mcp-server-enablement.json", DiskClientFiles.write

        async def write(files: DiskClientFiles, change: FileWrite) -> None:
            await real(files, change)
            if "git" in it.json("gemini")["mcpServers"]:
                assert json.loads(switches.read_text())["git"] == {"enabled": False}

        with monkeypatch.context() as patch:
            patch.setattr(DiskClientFiles, "write", write)
            done = await sync_of(it).apply(ALL, terms(it))
            assert str(switches) in {each.path for each in done.files}
            assert "git" in it.json("gemini")["mcpServers"]
            await it.clients.undo(done.edit)
        assert not switches.exists()
