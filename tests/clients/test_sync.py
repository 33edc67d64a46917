"""One set of servers in several programs: planned, applied, undone; what is not ours stays."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from mcpyard.domain.errors import ArgumentsRefused, ReadOnlyOwner
from mcpyard.domain.files import FileWrite
from mcpyard.domain.sync.plan import CellState, Choice
from mcpyard.sources.client_files import DiskClientFiles
from mcpyard.yard.edit import Change
from mcpyard.yard.sync.sources import SyncRequest
from mcpyard.yard.sync.syncing import SyncDecision
from mcpyard.yard.views.sync import SyncView
from tests.clients.machine import Machine, machine
from tests.clients.syncing import (
    ALL,
    PROGRAMS,
    SERVERS,
    TEXTS,
    contents,
    five_servers,
    states,
    sync_of,
    terms,
)


async def plan(it: Machine, request: SyncRequest = ALL) -> SyncView:
    return await sync_of(it).plan(request, terms(it))


async def apply(it: Machine, request: SyncRequest = ALL) -> SyncView:
    return await sync_of(it).apply(request, terms(it))


async def change(it: Machine, name: str, patch: Mapping[str, object]) -> None:
    await it.yard.change(name, Change(patch))


def decided(view: SyncView, server: str, target: str, choice: Choice) -> SyncRequest:
    [cell] = [it for it in view.cells if (it.server, it.target) == (server, target)]
    assert choice in cell.choices
    return SyncRequest(PROGRAMS, decisions={(target, server): SyncDecision(choice, cell.seen)})


@pytest.mark.spec("F7.1")
async def test_five_servers_reach_four_programs_and_leave_them_without_a_trace(
    tmp_path: Path,
) -> None:
    async with five_servers(tmp_path) as it:
        before = contents(it)
        planned = await plan(it)
        assert contents(it) == before
        assert planned.writes == 20
        assert {each.state for each in planned.cells if each.wanted} == {CellState.MISSING}

        done = await apply(it)
        assert [each.diff for each in done.files] == [each.diff for each in planned.files]
        assert done.different == 0
        after = await plan(it)
        assert {each.state for each in after.cells if each.wanted} == {CellState.SAME}
        assert (after.writes, after.files, after.different) == (0, [], 0)
        assert states(after, "mine") == {"codex:user": "foreign"}
        assert it.json("claude")["mcpServers"].keys() == SERVERS.keys()
        assert it.json("gemini")["mcpServers"].keys() == SERVERS.keys()
        assert it.read("codex").startswith(TEXTS["codex"])

        await it.clients.undo(done.edit)
        assert contents(it) == before
        assert (await plan(it)).writes == 20
        assert [each.undone for each in await it.clients.edits()] == [True]


@pytest.mark.spec("F7.2")
async def test_what_was_edited_deleted_and_added_outside_is_left_alone(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        await apply(it)
        edited = it.read("codex").replace('"/data"]', '"/other"]')
        it.path("codex").write_text(f'{edited}\n[mcp_servers.added]\ncommand = "new"\n')
        gemini = it.json("gemini")
        del gemini["mcpServers"]["git"]
        it.path("gemini").write_text(json.dumps(gemini))
        outside = contents(it)
        await change(it, "files", {"args": ["-y", "@acme/files", "/third"]})

        seen = await plan(it)
        assert states(seen, "files") == {
            "claude-code:user": "differs",
            "codex:user": "conflict",
            "gemini:user": "differs",
            "opencode:user": "differs",
        }
        assert states(seen, "git")["gemini:user"] == "deleted-outside"
        assert states(seen, "added") == {"codex:user": "foreign"}
        done = await apply(it)
        assert (done.conflicts, done.writes) == (1, 3)
        assert contents(it)["codex"] == outside["codex"]
        assert "git" not in it.json("gemini")["mcpServers"]
        assert "/third" in it.read("claude")
        assert "/third" in it.read("opencode")
        assert (await plan(it)).writes == 0
        await it.clients.undo(done.edit)
        assert contents(it) == outside


@pytest.mark.spec("F7.2")
async def test_each_of_several_syncs_that_are_undone_leaves_what_was_ours_before_it(
    tmp_path: Path,
) -> None:
    async with five_servers(tmp_path) as it:
        before, edits = contents(it), list[int | None]()
        for folder in ("/data", "/second", "/third"):
            await change(it, "files", {"args": ["-y", "@acme/files", folder]})
            edits.append((await apply(it)).edit)
        expected = ("differs", "differs", "missing")
        for edit, state in zip(reversed(edits), expected, strict=True):
            await it.clients.undo(edit)
            assert set(states(await plan(it), "files").values()) == {state}
        assert contents(it) == before
        assert (await apply(it)).writes == 20


async def test_a_conflict_has_three_choices(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        await apply(it)
        for client in ("codex", "claude"):
            text = it.read(client).replace('"/data"]', '"/theirs"]')
            it.path(client).write_text(text)
        seen = await plan(it)
        assert states(seen, "files")["codex:user"] == "conflict"
        [cell] = [each for each in seen.cells if each.target == "codex:user" and each.differences]
        assert [(each.field, each.entry) for each in cell.differences] == [
            ("args", "-y @acme/files /theirs")
        ]

        await apply(it, decided(seen, "files", "codex:user", Choice.THEIRS))
        after_choice = await plan(it)
        assert states(after_choice, "files")["codex:user"] == "foreign"
        assert "/theirs" in it.read("codex")

        done = await apply(it, decided(after_choice, "files", "codex:user", Choice.OURS))
        assert "/data" in it.read("codex")
        await it.clients.undo(done.edit)
        assert states(await plan(it), "files")["codex:user"] == "foreign"

        await apply(it, decided(after_choice, "files", "claude-code:user", Choice.ADOPT))
        assert it.yard.record("files").to_dict()["args"] == ["-y", "@acme/files", "/theirs"]
        after = await plan(it)
        assert set(states(after, "files").values()) == {"same"}
        assert "/theirs" in it.read("gemini")


async def test_a_choice_about_what_changed_since_is_none(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        await apply(it)
        it.path("codex").write_text(it.read("codex").replace('"/data"]', '"/one"]'))
        request = decided(await plan(it), "files", "codex:user", Choice.OURS)
        it.path("codex").write_text(it.read("codex").replace('"/one"]', '"/two"]'))
        done = await apply(it, request)
        assert (done.conflicts, done.edit) == (1, None)
        assert '"/two"]' in it.read("codex")


async def test_what_is_deleted_outside_comes_back_by_choice_alone(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        await apply(it)
        await it.clients.remove("codex", "files", terms(it))
        seen = await plan(it)
        assert (await apply(it)).edit is None
        await apply(it, decided(seen, "files", "codex:user", Choice.OURS))
        assert states(await plan(it), "files")["codex:user"] == "same"


async def test_what_leaves_the_source_is_pruned_where_it_is_ours_and_unchanged(
    tmp_path: Path,
) -> None:
    async with five_servers(tmp_path) as it:
        before = contents(it)
        await apply(it)
        gemini = it.read("gemini").replace('"@acme/files"', '"@acme/files-2"')
        it.path("gemini").write_text(gemini)
        for name in SERVERS:
            await it.yard.remove(name)
        seen = await plan(it)
        assert states(seen, "files") == {
            "claude-code:user": "prune",
            "codex:user": "prune",
            "gemini:user": "conflict",
            "opencode:user": "prune",
        }
        done = await apply(it)
        assert contents(it)["codex"] == before["codex"]
        assert [*it.json("gemini")["mcpServers"]] == ["files"]
        taken = decided(await plan(it), "files", "gemini:user", Choice.OURS)
        await apply(it, taken)
        assert it.json("gemini")["mcpServers"] == {}
        await it.clients.undo()
        await it.clients.undo(done.edit)
        assert contents(it)["gemini"] == gemini.encode()
        assert states(await plan(it), "files")["codex:user"] == "prune"


async def test_a_server_that_is_off_is_written_as_off_or_left_out(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        await change(it, "git", {"enabled": False})
        done = await apply(it)
        cells = {each.target: each for each in done.cells if each.server == "git"}
        assert cells["claude-code:user"].state == "off"
        assert "cannot say: left out" in cells["claude-code:user"].reason
        assert "git" not in it.json("claude")["mcpServers"]
        assert "enabled = false" in it.read("codex")
        after = states(await plan(it), "git")
        assert after == {
            "claude-code:user": "off",
            "codex:user": "same",
            "gemini:user": "same",
            "opencode:user": "same",
        }
        await change(it, "git", {"enabled": True})
        assert states(await plan(it), "git")["codex:user"] == "off"
        await apply(it)
        entry = await it.clients.show("codex", "git", str(it.project))
        assert not entry.enabled


async def test_a_server_that_a_program_has_off_stays_off_when_it_changes(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        await apply(it)
        for client in ("codex", "gemini"):
            await it.clients.toggle(client, "files", enabled=False, terms=terms(it))
        assert states(await plan(it), "files")["codex:user"] == "off"
        await change(it, "files", {"args": ["other"]})
        await apply(it)
        for client in ("codex", "gemini"):
            entry = await it.clients.show(client, "files", str(it.project))
            assert (entry.enabled, entry.args) == (False, ["other"])


async def test_what_a_program_adds_to_an_entry_stays(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        await apply(it)
        gemini = it.json("gemini")
        gemini["mcpServers"]["files"]["future"] = {"after_choice": True}
        it.path("gemini").write_text(json.dumps(gemini))
        assert states(await plan(it), "files")["gemini:user"] == "same"
        await change(it, "files", {"args": ["other"]})
        await apply(it)
        entry = it.json("gemini")["mcpServers"]["files"]
        assert (entry["args"], entry["future"]) == (["other"], {"after_choice": True})


async def test_oauth_reaches_the_programs_and_what_only_they_can_say_stays(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        await change(it, "docs", {"oauth": {"clientId": "me", "clientSecret": "${KEY}"}})
        cells = {each.target: each for each in (await apply(it)).cells if each.server == "docs"}
        warnings = [(each.kind, each.field) for each in cells["claude-code:user"].warnings]
        assert ("unsupported", "oauth.clientSecret") in warnings
        assert cells["codex:user"].state == "unsupported"
        claude = it.json("claude")
        assert claude["mcpServers"]["docs"]["oauth"] == {"clientId": "me"}
        expected = {"enabled": True, "clientId": "me", "clientSecret": "${KEY}"}
        assert it.json("gemini")["mcpServers"]["docs"]["oauth"] == expected
        claude["mcpServers"]["docs"]["oauth"]["scopes"] = "a b"
        it.path("claude").write_text(json.dumps(claude))
        assert states(await plan(it), "docs")["claude-code:user"] == "same"
        await change(it, "docs", {"oauth": {"clientId": "you"}})
        assert states(await plan(it), "docs")["claude-code:user"] == "differs"
        await apply(it)
        oauth = it.json("claude")["mcpServers"]["docs"]["oauth"]
        assert oauth == {"clientId": "you", "scopes": "a b"}


async def test_what_a_program_cannot_hold_is_not_written_there(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        await change(it, "git", {"args": ["${GIT_FOLDER}"]})
        await change(it, "db", {"env": {"DB_URL": "${keyring:db}"}})
        await change(it, "mail", {"type": "sse"})
        done = await apply(it)
        reasons = {(it.server, it.target): it.reason for it in done.cells if it.reason}
        assert "Codex does not expand ${GIT_FOLDER}" in reasons["git", "codex:user"]
        assert "only mcpyard resolves ${keyring:db}" in reasons["db", "gemini:user"]
        assert reasons["mail", "codex:user"] == "Codex does not support sse"
        assert states(done, "git")["claude-code:user"] == "missing"
        assert "GIT_FOLDER" not in it.read("codex")


async def test_a_program_that_writes_at_the_same_time_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with five_servers(tmp_path) as it:
        write, others = DiskClientFiles.write, [it.path("gemini"), it.path("claude")]

        async def beside(files: DiskClientFiles, change: FileWrite) -> None:
            for path in others:
                document = json.loads(path.read_bytes())
                path.write_text(json.dumps(document | {"theirs": path.name}, indent=3))
            others.clear()
            await write(files, change)

        monkeypatch.setattr(DiskClientFiles, "write", beside)
        done = await apply(it)
        assert done.edit is not None
        assert it.json("gemini")["theirs"] == "settings.json"
        assert it.json("claude")["theirs"] == ".claude.json"
        after = await plan(it)
        assert {each.state for each in after.cells if each.wanted} == {CellState.SAME}


async def test_a_write_that_fails_takes_all_of_the_plan_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with five_servers(tmp_path) as it:
        before, write = contents(it), DiskClientFiles.write

        async def full(files: DiskClientFiles, change: FileWrite) -> None:
            if change.path.endswith("settings.json"):
                raise ReadOnlyOwner("no room")
            await write(files, change)

        monkeypatch.setattr(DiskClientFiles, "write", full)
        with pytest.raises(ReadOnlyOwner):
            await apply(it)
        monkeypatch.undo()
        assert contents(it) == before
        assert await it.clients.edits() == []
        assert (await plan(it)).writes == 20


async def test_a_file_that_cannot_be_read_keeps_out_no_other(tmp_path: Path) -> None:
    async with five_servers(tmp_path, gemini='{"mcpServers": {') as it:
        done = await apply(it)
        [gemini] = [each for each in done.targets if each.client == "gemini"]
        assert gemini.problems[0].place
        assert it.read("gemini") == '{"mcpServers": {'
        assert states(await plan(it), "files")["codex:user"] == "same"


async def test_a_check_needs_no_ownership(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        check = SyncRequest(PROGRAMS, check=True)
        assert (await plan(it, check)).different == 20
        await apply(it)
        assert (await plan(it, check)).different == 0
        it.path("codex").write_text(it.read("codex").replace('"/data"]', '"/other"]'))
        differing = await plan(it, check)
        assert (differing.different, states(differing, "files")["codex:user"]) == (1, "differs")


async def test_no_program_is_reached_that_nobody_named(tmp_path: Path) -> None:
    async with machine(tmp_path) as it:
        with pytest.raises(ArgumentsRefused, match="names no program"):
            await plan(it, SyncRequest())
