"""The way back: any of the last edits, unless somebody changed the same entries since."""

import json
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
from mcpyard.yard.views.clients import copies_view
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


async def test_an_edit_is_not_undone_when_its_entry_changed_since(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE, codex=CODEX) as it:
        await it.clients.copy(Copy("claude", "codex", "x"))
        changed = it.read("codex").replace('command = "run"', 'command = "mine"')
        it.path("codex").write_text(changed)
        refused = await it.http.post("/api/clients/undo", json={})
        assert slug(refused) == (409, "changed-since")
        assert refused.json()["detail"].startswith('"mcp_servers.x" in ')
        (file,) = refused.json()["files"]
        assert file["path"] == str(it.path("codex"))
        assert '+command = "mine"' in file["diff"]
        assert "a-secret-value" not in refused.text
        assert it.read("codex") == changed


async def test_an_edit_is_undone_after_the_program_wrote_elsewhere_in_the_file(
    tmp_path: Path,
) -> None:
    async with machine(tmp_path, claude=CLAUDE, codex=CODEX) as it:
        await it.clients.copy(Copy("claude", "codex", "x"))
        theirs = '\n[projects."/p"]\ntrust_level = "trusted"\n'
        it.path("codex").write_text("# theirs\n" + it.read("codex") + theirs)
        preview = await it.clients.undo(terms=EditTerms(dry_run=True))
        assert "theirs" not in "".join(
            line for line in preview.files[0][1].splitlines() if line[:1] in "+-"
        )
        await it.clients.undo()
        assert it.read("codex") == "# theirs\n" + CODEX + theirs


async def test_an_edit_is_undone_after_the_program_laid_the_file_out_anew(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE, codex=CODEX) as it:
        await it.clients.copy(Copy("codex", "claude", "old"))
        await it.clients.rename("claude", "x", "renamed")
        theirs = {"numStartups": 8, **it.json("claude")}
        it.path("claude").write_text(json.dumps(theirs, indent=4))
        await it.clients.undo()
        assert it.json("claude")["mcpServers"].keys() == {"x", "old"}
        await it.clients.undo()
        assert it.json("claude") == {"numStartups": 8, **json.loads(CLAUDE)}
        assert '\n    "numStartups": 8,\n' in it.read("claude")


async def test_a_name_comes_out_of_a_list_that_the_program_wrote_since(tmp_path: Path) -> None:
    text = CLAUDE.replace("claude", "copilot")
    async with machine(tmp_path, copilot=text) as it:
        settings = it.home / ".copilot/settings.json"
        settings.write_text('{"disabledMcpServers": ["a"]}')
        await it.clients.toggle("copilot", "x", enabled=False)
        settings.write_text('{"disabledMcpServers": ["a", "x", "b"], "theme": "dark"}')
        await it.clients.undo()
        assert settings.read_text() == '{"disabledMcpServers": ["a", "b"], "theme": "dark"}'


async def test_what_is_undone_already_is_not_written(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        await it.clients.copy(Copy("claude", "codex", "x"))
        it.path("codex").unlink()
        undone = await it.clients.undo()
        assert undone.files == ()
        assert not it.path("codex").exists()


@pytest.mark.parametrize("now", [None, "[broken"])
async def test_a_file_that_is_gone_or_broken_is_not_undone(tmp_path: Path, now: str | None) -> None:
    async with machine(tmp_path, claude=CLAUDE, codex=CODEX) as it:
        await it.clients.copy(Copy("claude", "codex", "x"))
        it.path("codex").unlink()
        if now is not None:
            it.path("codex").write_text(now)
        with pytest.raises(ChangedSince, match=r"config\.toml changed since the edit"):
            await it.clients.undo()
        assert it.path("codex").exists() is (now is not None)


async def test_an_undo_falls_on_what_somebody_wrote_meanwhile(it: Fixture) -> None:
    await it.clients.copy(Copy("claude", "codex", "x"))
    writes = 0

    def somebody() -> None:
        nonlocal writes
        writes += 1
        if writes == 1:
            it.files.texts[CODEX_PATH] += "# theirs\n"

    it.files.meanwhile = somebody
    await it.clients.undo()
    assert it.files.texts[CODEX_PATH] == CODEX + "# theirs\n"


async def test_an_undo_gives_way_to_somebody_who_never_stops_writing(it: Fixture) -> None:
    await it.clients.copy(Copy("claude", "codex", "x"))
    left = it.files.texts[CODEX_PATH]

    def somebody() -> None:
        it.files.texts[CODEX_PATH] += "#\n"

    it.files.meanwhile = somebody
    with pytest.raises(DocumentMoved, match="keeps being changed"):
        await it.clients.undo()
    assert it.files.texts[CODEX_PATH] == left + "#\n" * 3
    assert [each.undone for each in await it.clients.edits()] == [False]


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


GEMINI_PATH = "/home/me/.gemini/settings.json"
GEMINI = '{"ui": {"theme": "dark"}, "mcpServers": {}}'


class Program:
    """A program without a lock, which writes back what it read before, some times."""

    def __init__(self, it: Fixture, times: int) -> None:
        self.it = it
        self.times = times
        self.waits: list[float] = []

    async def pause(self, seconds: float) -> None:
        self.waits.append(seconds)
        if len(self.waits) <= self.times:
            self.it.files.texts[GEMINI_PATH] = GEMINI.replace("dark", f"t{len(self.waits)}")


def without_lock(times: int) -> tuple[Fixture, Program]:
    it = Fixture()
    it.files.texts[GEMINI_PATH] = GEMINI
    program = Program(it, times)
    around = ClientFolders({}, "/home/me", "/p")
    reach = ClientReach(it.files, it.edits, VolatileDroppedFields(), around, pause=program.pause)
    nobody: OwnServers = object.__new__(OwnServers)
    nobody.project = Path("/p")
    it.clients = Clients(reach, nobody, ManualClock())
    return it, program


async def test_an_edit_that_a_program_without_a_lock_overwrote_is_repeated_and_told() -> None:
    it, program = without_lock(1)
    done = await it.clients.copy(Copy("claude", "gemini", "x"))
    text = it.files.texts[GEMINI_PATH]
    assert "t1" in text
    assert "x" in json.loads(text)["mcpServers"]
    message = f"{GEMINI_PATH} was overwritten by its program; the edit was repeated"
    assert message in [each.message for each in done.warnings]
    assert program.waits == [0.25, 0.25]
    await it.clients.undo(done.edit)
    assert it.files.texts[GEMINI_PATH] == GEMINI.replace("dark", "t1")
    assert len(await it.clients.edits()) == 1


async def test_several_copies_tell_once_that_a_file_was_overwritten() -> None:
    it, _ = without_lock(1)
    copies = [Copy("claude", "gemini", "x"), Copy("codex", "gemini", "old")]
    done, copied = await it.clients.copy_all(copies)
    [warning] = copies_view(done, copied).warnings
    assert "was overwritten by its program" in warning.message
    assert not any("overwritten" in it.message for each in copied for it in each.warnings)


async def test_an_edit_that_is_overwritten_every_time_is_given_up() -> None:
    it, program = without_lock(9)
    with pytest.raises(DocumentMoved, match="keeps being overwritten by its program"):
        await it.clients.copy(Copy("codex", "gemini", "old", move=True))
    assert len(program.waits) == 3
    assert it.files.texts[CODEX_PATH] == CODEX
    assert json.loads(it.files.texts[GEMINI_PATH])["mcpServers"] == {}
    assert await it.clients.edits() == []


async def test_nobody_waits_where_the_program_takes_a_lock_or_wrote_nothing() -> None:
    it, program = without_lock(0)
    done = await it.clients.copy(Copy("claude", "codex", "x"))
    assert program.waits == []
    await it.clients.copy(Copy("claude", "gemini", "x"))
    assert program.waits == [0.25]
    assert not [each for each in done.warnings if "overwritten" in each.message]
