"""Assignments: which servers the user wants where, kept in the file that commands read too."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from mcpyard.domain.errors import ArgumentsRefused, DocumentBroken, EditRefused
from mcpyard.formats.registry import scope_ref_of
from mcpyard.yard.sync.assignments import Assignment, with_assignment
from mcpyard.yard.sync.source_file import SyncTarget
from mcpyard.yard.sync.sources import SyncRequest
from mcpyard.yard.views.sync import SyncMatrixView
from tests.clients.machine import Machine
from tests.clients.syncing import SERVERS, TEXTS, contents, five_servers, states, sync_of, terms

CODEX = scope_ref_of("codex")
EVERYWHERE = SyncRequest(everywhere=True)


def file_of(it: Machine) -> Path:
    return it.home.parent / "state" / "mcpyard.toml"


def targets(it: Machine) -> dict[str, Any]:
    return tomllib.loads(file_of(it).read_text())["targets"]


async def assign(it: Machine, *assignments: tuple[str, str, bool]) -> int | None:
    done = await sync_of(it).assign([Assignment(*each) for each in assignments], terms(it))
    return done.edit


async def matrix(it: Machine) -> SyncMatrixView:
    return await sync_of(it).matrix(terms=terms(it))


def assigned(view: SyncMatrixView, target: str) -> list[str]:
    return sorted(it.server for it in view.assignments if it.target == target and it.wanted)


def locked(view: SyncMatrixView, server: str, target: str) -> str:
    [assignment] = [it for it in view.assignments if (it.server, it.target) == (server, target)]
    return assignment.locked


@pytest.mark.parametrize(
    ("only", "excluded", "assigned", "expected"),
    [
        (None, (), True, (None, ())),
        (None, ("a",), True, (None, ())),
        (None, (), False, (None, ("a",))),
        ((), (), True, (("a",), ())),
        (("b",), (), True, (("b", "a"), ())),
        (("a", "b"), (), False, (("b",), ())),
        (("a",), (), False, ((), ())),
        (("a*",), (), True, (("a*",), ())),
        (("a*", "a"), (), False, (("a*",), ("a",))),
        (("a*",), ("a", "x"), True, (("a*",), ("x",))),
    ],
)
def test_an_assignment_changes_the_lists_of_one_target(
    only: Sequence[str] | None, excluded: tuple[str, ...], assigned: bool, expected: object
) -> None:
    target = SyncTarget(CODEX, None if only is None else tuple(only), excluded)
    changed = with_assignment(target, "a", assigned=assigned)
    assert (changed.only, changed.excluded) == expected


def test_a_name_with_the_signs_of_patterns_stands_for_itself() -> None:
    changed = with_assignment(SyncTarget(CODEX, ()), "a*[b]?", assigned=True)
    assert changed.only == ("a[*][[]b][?]",)
    assert with_assignment(changed, "a*[b]?", assigned=False).only == ()


@pytest.mark.parametrize(
    ("target", "in_profile", "reason"),
    [
        (SyncTarget(CODEX, None, ("a*",)), True, '"a*" under except leaves it out'),
        (SyncTarget(CODEX, profile="work"), False, 'the profile "work" decides'),
        (SyncTarget(CODEX, gateway=True), True, "has the gateway instead of the servers"),
    ],
)
def test_what_lists_cannot_say_of_one_name_is_refused(
    target: SyncTarget, in_profile: bool, reason: str
) -> None:
    with pytest.raises(EditRefused, match=".*" + reason.replace("*", r"\*")):
        with_assignment(target, "a", assigned=True, in_profile=in_profile)


@pytest.mark.spec("F7.1")
async def test_assignments_are_kept_where_commands_read_them_and_write_no_other_file(
    tmp_path: Path,
) -> None:
    async with five_servers(tmp_path) as it:
        before = contents(it)
        first = await matrix(it)
        assert [each.target for each in first.plan.targets] == [
            "claude-code:user",
            "codex:user",
            "gemini:user",
            "opencode:user",
        ]
        assert (first.plan.writes, assigned(first, "codex:user")) == (0, [])
        assert first.file == str(file_of(it))

        await assign(it, ("files", "codex:user", True), ("docs", "codex", True))
        assert targets(it) == {"codex:user": {"only": ["files", "docs"]}}
        assert contents(it) == before
        view = await matrix(it)
        assert assigned(view, "codex:user") == ["docs", "files"]
        assert states(view.plan, "files") == {"codex:user": "missing"}
        planned = await sync_of(it).plan(terms=terms(it))
        assert planned.files == view.plan.files

        done = await sync_of(it).apply(EVERYWHERE, terms(it))
        await assign(it, ("files", "codex:user", False))
        assert states((await matrix(it)).plan, "files") == {"codex:user": "prune"}
        await assign(it, ("files", "codex:user", True))
        await it.clients.undo(done.edit)
        assert contents(it) == before


async def test_an_assignment_keeps_every_other_byte_of_the_file_and_is_undone(
    tmp_path: Path,
) -> None:
    text = '# mine\n[targets.codex] # here\nexcept = ["git"]   # never\nscope = "user"\n'
    async with five_servers(tmp_path) as it:
        file_of(it).write_text(text)
        edit = await assign(it, ("mail", "codex:user", False))
        assert file_of(it).read_text() == text.replace('["git"]', '["git", "mail"]')
        view = await matrix(it)
        assert assigned(view, "codex:user") == ["db", "docs", "files"]
        await it.clients.undo(edit)
        assert file_of(it).read_text() == text


async def test_what_a_sync_wrote_is_assigned_to_a_client_that_no_file_names(
    tmp_path: Path,
) -> None:
    async with five_servers(tmp_path) as it:
        await sync_of(it).apply(SyncRequest(("codex",)), terms(it))
        view = await matrix(it)
        assert assigned(view, "codex:user") == sorted(SERVERS)
        assert view.plan.writes == 0
        await assign(it, ("git", "codex:user", False))
        assert targets(it) == {"codex:user": {"only": ["db", "docs", "files", "mail"]}}
        view = await matrix(it)
        assert states(view.plan, "git") == {"codex:user": "prune"}
        await sync_of(it).apply(EVERYWHERE, terms(it))
        assert "mcp_servers.git" not in it.read("codex")
        assert it.read("codex").startswith(TEXTS["codex"])


async def test_assignments_of_a_repository_can_be_changed_in_its_file_only(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        shared = it.project / "mcpyard.toml"
        shared.write_text(
            '[servers.theirs]\ncommand = "x"\n[servers.other]\ncommand = "y"\n'
            '[targets.claude]\nonly = ["theirs"]\n'
        )
        view = await matrix(it)
        at_project = [each for each in view.assignments if each.target == "claude-code:project"]
        assert [(each.server, each.wanted) for each in at_project] == [
            ("theirs", True),
            ("other", False),
        ]
        assert {(each.source, each.file) for each in at_project} == {("project", str(shared))}
        assert locked(view, "theirs", "claude-code:project") == f"decided by {shared}"
        with pytest.raises(ArgumentsRefused, match="no server"):
            await assign(it, ("theirs", "claude-code:project", True))
        with pytest.raises(ArgumentsRefused, match="of a project"):
            await assign(it, ("files", "claude-code:project", True))
        assert not file_of(it).exists()


async def test_what_only_the_file_can_say_is_locked_with_the_reason(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        file_of(it).write_text(
            '[targets.codex]\nvia = "gateway"\n[targets.claude]\nexcept = ["d*"]\n'
        )
        view = await matrix(it)
        assert locked(view, "docs", "claude-code:user") == '"d*" under except leaves it out'
        assert locked(view, "files", "claude-code:user") == ""
        assert "gateway" in locked(view, "files", "codex:user")
        assert assigned(view, "codex:user") == ["mcpyard"]


async def test_bad_assignments_are_refused_and_nothing_changes(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        for bad in (("nobody", "codex", True), ("files", "nothing", True), ("files", "yard", True)):
            with pytest.raises(ArgumentsRefused):
                await assign(it, ("docs", "codex", True), bad)
        assert not file_of(it).exists()
        file_of(it).write_text("[targets.nobody]\n")
        with pytest.raises(DocumentBroken):
            await assign(it, ("files", "codex", True))
        with pytest.raises(DocumentBroken):
            await matrix(it)


async def test_what_is_adopted_is_wanted_where_it_was_found(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        await assign(it, ("files", "codex:user", True))
        before, text = contents(it), file_of(it).read_text()
        done = await sync_of(it).adopt({}, EVERYWHERE, terms(it))
        assert {each.name: each.outcome for each in done.servers} == {"mine": "adopted"}
        view = await matrix(it)
        assert assigned(view, "codex:user") == ["files", "mine"]
        assert states(view.plan, "mine") == {"codex:user": "same"}
        assert contents(it) == before
        await it.clients.undo(done.edit)
        assert file_of(it).read_text() == text
        assert states((await matrix(it)).plan, "mine") == {"codex:user": "foreign"}


async def test_what_is_adopted_beside_a_profile_stays_foreign(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        await it.yard.profiles.create({"name": "work", "servers": ["d*"]})
        file_of(it).write_text('[targets.codex]\nprofile = "work"\n')
        await sync_of(it).adopt({}, EVERYWHERE, terms(it))
        view = await matrix(it)
        assert locked(view, "mine", "codex:user") == 'the profile "work" decides'
        assert states(view.plan, "mine") == {"codex:user": "foreign"}


async def test_the_routes_of_assignments(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        empty = await it.get("/api/sync")
        assert empty["plan"]["writes"] == 0
        body = {"assignments": [{"server": "files", "target": "codex", "wanted": True}]}
        look = await it.http.put("/api/sync/assignments", json={**body, "dryRun": True})
        assert (look.status_code, look.json()["edit"]) == (200, None)
        assert not file_of(it).exists()
        done = (await it.http.put("/api/sync/assignments", json=body)).json()
        assert done["edit"]
        view = await it.get("/api/sync")
        [one] = [each for each in view["assignments"] if each["wanted"]]
        assert (one["server"], one["target"], one["locked"]) == ("files", "codex:user", "")
        applied = await it.http.post("/api/sync/apply", json={"everywhere": True})
        assert applied.json()["writes"] == 1


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"assignments": "all"},
        {"assignments": [{"server": "files", "target": "codex"}]},
        {"assignments": [{"server": "files", "target": "codex", "wanted": 1}]},
        {"assignments": [{"server": "nobody", "target": "codex", "wanted": True}]},
        {"assignments": [{"server": "files", "target": "nothing", "wanted": True}]},
        {"assignments": [], "project": "relative"},
    ],
)
async def test_a_bad_body_is_a_problem_document(tmp_path: Path, body: object) -> None:
    async with five_servers(tmp_path) as it:
        answer = await it.http.put("/api/sync/assignments", json=body)
        assert answer.status_code == 422
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["problems"]


async def test_a_matrix_holds_until_something_that_it_follows_from_changes(
    tmp_path: Path,
) -> None:
    async with five_servers(tmp_path) as it:
        first = await matrix(it)
        assert await matrix(it) is first
        await assign(it, ("files", "codex", True))
        second = await matrix(it)
        assert assigned(second, "codex:user") == ["files"]
        it.path("codex").write_text("")
        third = await matrix(it)
        assert states(third.plan, "mine") == {}
        await it.yard.remove("mail")
        assert "mail" not in {each.server for each in (await matrix(it)).assignments}
        await sync_of(it).apply(EVERYWHERE, terms(it))
        assert states((await matrix(it)).plan, "files") == {"codex:user": "same"}
