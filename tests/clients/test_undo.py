"""The way back: any of the last edits, unless somebody changed the file since."""

from pathlib import Path

import pytest

from mcpyard.domain.errors import (
    ChangedSince,
    DocumentMoved,
    EditUnknown,
    FileBusy,
    StorageFull,
)
from mcpyard.formats.locations import ClientFolders
from mcpyard.store.volatile_edits import VolatileDroppedFields, VolatileEdits
from mcpyard.testing import FakeClientFiles, ManualClock
from mcpyard.yard.clients.clients import Clients, Copy, EditTerms
from mcpyard.yard.clients.transaction import ClientReach
from mcpyard.yard.clients.yard_scope import OwnServers
from tests.api.asgi import slug
from tests.clients.machine import machine

CLAUDE = '{"mcpServers": {"x": {"command": "run", "env": {"KEY": "a-secret-value"}}}}'
CODEX = '[mcp_servers.old]\ncommand = "old"\n'
CLAUDE_PATH, CODEX_PATH = "/home/me/.claude.json", "/home/me/.codex/config.toml"


class Fixture:
    """Clients over files in memory."""

    def __init__(self) -> None:
        self.files = FakeClientFiles({CLAUDE_PATH: CLAUDE, CODEX_PATH: CODEX})
        self.edits = VolatileEdits()
        around = ClientFolders({}, "/home/me", "/p")
        reach = ClientReach(self.files, self.edits, VolatileDroppedFields(), around)
        # Nothing here goes into the yard itself.
        nobody: OwnServers = object.__new__(OwnServers)
        nobody.project = Path("/p")
        self.clients = Clients(reach, nobody, ManualClock())


@pytest.fixture
def it() -> Fixture:
    return Fixture()


async def test_edits_are_walked_back_one_by_one(tmp_path: Path) -> None:
    async with machine(tmp_path, codex=CODEX) as it:
        states = [it.read("codex")]
        for name in ("a", "b", "c"):
            await it.clients.copy(Copy("codex", "codex", "old", name))
            states.append(it.read("codex"))
        for state in reversed(states[:-1]):
            await it.clients.undo()
            assert it.read("codex") == state
        with pytest.raises(EditUnknown, match="no edit to undo"):
            await it.clients.undo()
        assert {each.undone for each in await it.clients.edits()} == {True}


async def test_an_edit_is_undone_by_its_number_even_over_a_restart(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE, codex=CODEX) as it:
        first = await it.copy("claude", "codex")
        await it.copy("claude", "gemini")
        undone = await it.http.post("/api/clients/undo", json={"id": first["edit"], "dryRun": True})
        assert undone.status_code == 200
        assert "+[mcp_servers" not in undone.json()["files"][0]["diff"]
        assert it.read("codex") != CODEX
        await it.http.post("/api/clients/undo", json={"id": first["edit"]})
        assert it.read("codex") == CODEX
        assert it.path("gemini").exists()
        again = await it.http.post("/api/clients/undo", json={"id": first["edit"]})
        assert slug(again) == (404, "edit-unknown")
        unknown = await it.http.post("/api/clients/undo", json={"id": 4711})
        assert slug(unknown) == (404, "edit-unknown")


async def test_a_file_that_was_made_is_removed_and_its_copy_was_never_beside_it(
    tmp_path: Path,
) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        await it.clients.copy(Copy("claude", "codex", "x"))
        assert [each.name for each in it.path("codex").parent.iterdir()] == ["config.toml"]
        await it.clients.undo()
        assert not it.path("codex").exists()


async def test_an_edit_is_not_undone_when_the_file_changed_since(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE, codex=CODEX) as it:
        await it.clients.copy(Copy("claude", "codex", "x"))
        changed = it.read("codex") + '\n[mcp_servers.hand]\ncommand = "mine"\n'
        it.path("codex").write_text(changed)
        refused = await it.http.post("/api/clients/undo", json={})
        assert slug(refused) == (409, "changed-since")
        (file,) = refused.json()["files"]
        assert file["path"] == str(it.path("codex"))
        assert "+[mcp_servers.hand]" in file["diff"]
        assert "a-secret-value" not in refused.text
        assert it.read("codex") == changed


async def test_a_redone_edit_falls_on_what_somebody_wrote_meanwhile(it: Fixture) -> None:
    writes = 0

    def somebody() -> None:
        nonlocal writes
        writes += 1
        if writes == 1:
            it.files.texts[CODEX_PATH] = CODEX + "# theirs\n"

    it.files.meanwhile = somebody
    await it.clients.copy(Copy("claude", "codex", "x"))
    assert it.files.texts[CODEX_PATH].startswith(CODEX + "# theirs\n")
    assert "[mcp_servers.x]" in it.files.texts[CODEX_PATH]
    assert len(await it.clients.edits()) == 1
    await it.clients.undo()
    assert it.files.texts[CODEX_PATH] == CODEX + "# theirs\n"


async def test_somebody_who_never_stops_writing_is_given_way_to(it: Fixture) -> None:
    def somebody() -> None:
        it.files.texts[CODEX_PATH] += "#\n"

    it.files.meanwhile = somebody
    with pytest.raises(DocumentMoved, match="keeps being changed"):
        await it.clients.copy(Copy("claude", "codex", "x"))
    assert it.files.texts[CODEX_PATH] == CODEX + "#\n" * 3
    assert await it.clients.edits() == []
    assert it.files.held == set()


async def test_of_a_move_that_fails_half_way_nothing_is_left(it: Fixture) -> None:
    it.files.faults[CODEX_PATH] = StorageFull("the disk is full")
    with pytest.raises(StorageFull):
        await it.clients.copy(Copy("codex", "claude", "old", move=True))
    assert it.files.texts == {CLAUDE_PATH: CLAUDE, CODEX_PATH: CODEX}
    assert await it.clients.edits() == []


async def test_what_is_written_is_locked_with_the_programs_own_lock(it: Fixture) -> None:
    seen: list[set[str]] = []
    it.files.meanwhile = lambda: seen.append(set(it.files.held))
    await it.clients.copy(Copy("codex", "claude", "old"))
    await it.clients.undo()
    assert seen == [{CLAUDE_PATH, f"{CLAUDE_PATH}.lock"}] * 2
    it.files.held.add(f"{CLAUDE_PATH}.lock")
    with pytest.raises(FileBusy):
        await it.clients.copy(Copy("codex", "claude", "old"))
    assert it.files.texts[CLAUDE_PATH] == CLAUDE


async def test_a_preview_locks_and_writes_nothing(it: Fixture) -> None:
    it.files.held.add(CODEX_PATH)
    done = await it.clients.copy(Copy("claude", "codex", "x"), EditTerms(dry_run=True))
    assert (done.edit, it.files.texts[CODEX_PATH]) == (None, CODEX)
    assert "+[mcp_servers.x]" in done.files[0][1]


async def test_undoing_a_change_that_is_gone_over_again_is_refused_in_the_same_words(
    it: Fixture,
) -> None:
    first = await it.clients.copy(Copy("claude", "codex", "x"))
    await it.clients.edit("codex", "x", {"args": ["a"]})
    with pytest.raises(ChangedSince, match=r"config\.toml changed since the edit"):
        await it.clients.undo(first.edit)
