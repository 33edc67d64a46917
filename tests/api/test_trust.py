"""Approval of project files over real yards: bound to the entries, kept over restarts."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mcpyard.app import WiredYard, open_yard
from mcpyard.domain.definition.approval import ApprovedEntry
from mcpyard.domain.errors import (
    ApprovalOutdated,
    ArgumentsRefused,
    DocumentBroken,
    NeedsApproval,
    StorageFull,
)
from mcpyard.domain.model import LocalConfig
from mcpyard.domain.stored import Approval
from mcpyard.runtime.clock import SystemClock
from mcpyard.sources.project_file import ProjectFile, read_project
from mcpyard.store.sqlite.store import Store
from mcpyard.store.volatile import VolatileApprovals
from mcpyard.yard.clients.clients import EditTerms
from mcpyard.yard.trust import ApprovalPolicy, Trust
from mcpyard.yard.views.servers import ServerView
from tests.cli.commands import echo, write_project

pytestmark = pytest.mark.real

Opener = Callable[..., AbstractAsyncContextManager[WiredYard]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path / "p", one=echo(), two=echo())


@pytest.fixture
def opened(tmp_path: Path, project: Path) -> Opener:
    def open_it(
        *, discovered: bool = False, **environment: str
    ) -> AbstractAsyncContextManager[WiredYard]:
        folder = frozenset({project})
        policy = ApprovalPolicy(found=folder) if discovered else ApprovalPolicy(named=folder)
        return open_yard(
            sources=[ProjectFile(project)],
            home=tmp_path / "home",
            environment=environment,
            approval=policy,
        )

    return open_it


async def phases(yard: WiredYard) -> dict[str, object]:
    settled = [await yard.settled(str(each.name)) for each in yard.servers(tools=False)]
    return {str(each.name): each.phase for each in settled}


async def until(yard: WiredYard, reached: Callable[[], bool]) -> None:
    """Return once something is so; it is looked at whenever something happens."""
    async with asyncio.timeout(10):
        async for _ in yard.events(after=0):
            if reached():
                return


async def record_with(yard: WiredYard, name: str, **members: object) -> ServerView:
    """The record of a server once it has these members."""

    def records() -> list[ServerView]:
        candidates = [each for each in yard.servers() if each.name == name]
        return [
            each
            for each in candidates
            if all(getattr(each, word) == value for word, value in members.items())
        ]

    await until(yard, lambda: bool(records()))
    return records()[0]


async def waiting(yard: WiredYard, *names: str) -> None:
    """Return once exactly these entries wait."""
    await until(yard, lambda: waiting_names(yard) == {*names})


def waiting_names(yard: WiredYard) -> set[str]:
    return {each.definition.name for folder in yard.approvals.waiting() for each in folder.entries}


async def test_a_trusted_project_follows_its_edits(tmp_path: Path, project: Path) -> None:
    async with open_yard(project, home=tmp_path / "home", environment={}) as yard:
        assert await phases(yard) == {"one": "connected", "two": "connected"}
        write_project(project, one=echo(), three=echo())
        await record_with(yard, "three", phase="connected")
        assert waiting_names(yard) == set()


async def test_a_found_project_waits_until_its_folder_is_approved(
    opened: Opener, project: Path
) -> None:
    async with opened(discovered=True) as yard:
        assert await phases(yard) == {"one": "needs_approval", "two": "needs_approval"}
        record = yard.record("one")
        assert (record.status, record.pid) == ("error", None)
        assert record.args == echo()["args"]
        assert (await yard.start("one", wait=1)).phase == "needs_approval"
        assert (await yard.restart("one", wait=1)).phase == "needs_approval"
        assert await yard.approve(project.parent) == []
        assert await phases(yard) == {"one": "needs_approval", "two": "needs_approval"}
        assert await yard.approve(str(project)) == ["one", "two"]
        assert await phases(yard) == {"one": "connected", "two": "connected"}
    async with opened(discovered=True) as yard:
        assert await phases(yard) == {"one": "connected", "two": "connected"}


async def test_a_folder_is_the_same_by_whatever_way_it_is_named(
    opened: Opener, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(project)
    async with opened(discovered=True) as yard:
        assert await yard.approve(tmp_path / "link" / ".." / "link") == ["one", "two"]


@pytest.mark.spec("F3.1")
@pytest.mark.parametrize("discovered", [True, False])
async def test_what_is_changed_or_added_waits_while_the_approved_process_keeps_running(
    opened: Opener, project: Path, discovered: bool
) -> None:
    async with opened(discovered=discovered) as yard:
        await yard.approve(project)
        assert await phases(yard) == {"one": "connected", "two": "connected"}
        pid = yard.record("one").pid
        write_project(project, one=echo("changed"), two=echo(), three=echo())
        await waiting(yard, "one", "three")
        assert await phases(yard) == {
            "one": "connected",
            "two": "connected",
            "three": "needs_approval",
        }
        one = yard.record("one")
        assert (one.pid, one.args) == (pid, echo()["args"])
        assert (await yard.restart("one", wait=10)).args == echo()["args"]
    async with opened(discovered=discovered) as yard:
        assert (await phases(yard))["three"] == "needs_approval"
        assert yard.record("one").phase == "connected"
        assert yard.record("one").args == echo()["args"]
        assert await yard.approve(project) == ["one", "three"]
        assert {*(await phases(yard)).values()} == {"connected"}
        assert yard.record("one").args == echo("changed")["args"]


@pytest.mark.spec("F3.1")
async def test_what_is_removed_or_switched_off_in_the_file_ends_at_once(
    opened: Opener, project: Path
) -> None:
    async with opened() as yard:
        assert await phases(yard) == {"one": "connected", "two": "connected"}
        write_project(project, one=echo("changed", disabled=True))
        await record_with(yard, "one", phase="stopped", enabled=False)
        await until(yard, lambda: len(yard.servers()) == 1)
        assert yard.record("one").args == echo()["args"]


@pytest.mark.spec("F3.1")
async def test_an_entry_that_was_taken_out_runs_again_only_as_it_was(
    opened: Opener, project: Path
) -> None:
    async with opened() as yard:
        assert await phases(yard) == {"one": "connected", "two": "connected"}
        write_project(project, two=echo())
        await until(yard, lambda: len(yard.servers()) == 1)
        await yard.settled("two")
    async with opened() as yard:
        write_project(project, one=echo("changed"), two=echo())
        await record_with(yard, "one", phase="needs_approval")
        write_project(project, one=echo(), two=echo())
        await record_with(yard, "one", phase="connected")


@pytest.mark.spec("F3.2")
async def test_an_entry_replaces_a_server_of_ones_own_only_with_an_approval_of_its_own(
    opened: Opener, project: Path
) -> None:
    async with opened() as yard:
        await yard.register({**echo(), "name": "mine", "scope": "user", "start": True}, wait=10)
        pid = yard.record("mine").pid
        write_project(project, one=echo(), two=echo(), mine=echo("theirs"))
        await waiting(yard, "mine")
        assert await yard.approve(project) == []
        mine = await yard.settled("mine")
        assert (mine.scope, mine.pid, waiting_names(yard)) == ("user", pid, {"mine"})
    async with opened() as yard:
        assert (await yard.settled("mine")).scope == "user"
        with pytest.raises(ArgumentsRefused, match="one"):
            await yard.approve(project, replace=["one"])
        assert await yard.approve(project, replace=["mine"]) == ["mine"]
        theirs = await record_with(yard, "mine", scope="project", phase="connected")
        assert theirs.args == echo("theirs")["args"]
        write_project(project, one=echo(), two=echo(), mine=echo("others"))
        await waiting(yard, "mine")
        assert yard.record("mine").args == echo("theirs")["args"]
        assert await yard.approve(project) == ["mine"]
        await record_with(yard, "mine", phase="connected", args=echo("others")["args"])


@pytest.mark.spec("F3.1")
async def test_another_value_of_a_variable_asks_nothing(opened: Opener, project: Path) -> None:
    write_project(project, one=echo(env={"TOKEN": "${TOKEN}"}))
    for value in ("first", "second"):
        async with opened(TOKEN=value) as yard:
            assert await phases(yard) == {"one": "connected"}
            assert waiting_names(yard) == set()


@pytest.mark.spec("F3.1")
async def test_a_new_time_limit_asks_nothing(opened: Opener, project: Path) -> None:
    async with opened() as yard:
        assert await phases(yard) == {"one": "connected", "two": "connected"}
        write_project(project, one=echo(timeout=7000), two=echo())
        assert (await record_with(yard, "one", timeout=7000)).phase == "connected"
        assert waiting_names(yard) == set()


@pytest.mark.spec("F3.1")
@pytest.mark.parametrize("first", [True, False])
async def test_naming_a_folder_approves_only_what_its_file_says_the_first_time(
    opened: Opener, project: Path, first: bool
) -> None:
    if not first:
        (project / ".mcp.json").unlink()
    async with opened() as yard:
        assert len(yard.servers()) == (2 if first else 0)
    write_project(project, new=echo())
    async with opened() as yard:
        assert await phases(yard) == {"new": "needs_approval"}


@pytest.mark.spec("F3.1")
async def test_an_approval_of_version_0_1_binds_to_what_is_found_at_the_first_start(
    opened: Opener, project: Path, tmp_path: Path
) -> None:
    store = await Store.open(tmp_path / "home")
    await store.approvals.set(Approval(str(project.resolve()), datetime.now(UTC)))
    await store.close()
    async with opened(discovered=True) as yard:
        assert await phases(yard) == {"one": "connected", "two": "connected"}
        write_project(project, one=echo("changed"), two=echo())
        await waiting(yard, "one")
    async with opened(discovered=True) as yard:
        await waiting(yard, "one")


async def test_what_is_approved_must_be_what_was_shown(opened: Opener, project: Path) -> None:
    async with opened(discovered=True) as yard:
        (folder,) = yard.approvals.waiting()
        write_project(project, one=echo("changed"), two=echo())
        await record_with(yard, "one", args=echo("changed")["args"])
        with pytest.raises(ApprovalOutdated):
            await yard.approvals.approve(project, folder.digest)
        assert {*(await phases(yard)).values()} == {"needs_approval"}
        (folder,) = yard.approvals.waiting()
        done = await yard.approvals.approve(project, folder.digest)
        assert (done.servers, done.waiting) == (["one", "two"], [])


async def test_an_edit_from_here_is_approved_by_whoever_makes_it(
    opened: Opener, project: Path
) -> None:
    async with opened(discovered=True) as yard:
        before = (project / ".mcp.json").read_text()
        landed = await yard.register({**echo(), "name": "mine"})
        assert (landed.scope, landed.phase) == ("user", "stopped")
        assert (project / ".mcp.json").read_text() == before
        ours = await yard.register({**echo(), "name": "ours", "scope": "project"}, wait=10)
        assert (ours.scope, ours.phase) == ("project", "connected")
        assert yard.record("one").phase == "needs_approval"
        one = await yard.change("one", {"args": echo("changed")["args"]}, wait=10)
        assert (one.phase, one.args) == ("connected", echo("changed")["args"])
        await yard.change("ours", {"name": "renamed", "env": {"A": "1"}}, wait=10)
        assert waiting_names(yard) == {"two"}
        await yard.change("renamed", {"url": "http://127.0.0.1:9/", "command": None, "args": None})
        await yard.change("renamed", {"headers": {"X": "1"}})
        assert waiting_names(yard) == {"two"}
        await yard.remove("renamed")
    async with opened(discovered=True) as yard:
        assert await phases(yard) == {
            "mine": "stopped",
            "one": "connected",
            "two": "needs_approval",
        }


async def test_an_edit_that_is_refused_approves_nothing(opened: Opener, project: Path) -> None:
    async with opened(discovered=True) as yard:
        (project / ".mcp.json").write_text("{")
        with pytest.raises(DocumentBroken):
            await yard.register({**echo(), "name": "ours", "scope": "project"})
        with pytest.raises(DocumentBroken):
            await yard.change("one", {"args": echo("changed")["args"]})
        write_project(project, one=echo("changed"), ours=echo())
        await record_with(yard, "ours", phase="needs_approval")
        assert waiting_names(yard) == {"one", "ours"}


async def test_an_edit_does_not_write_over_a_change_that_waits(
    opened: Opener, project: Path
) -> None:
    async with opened() as yard:
        write_project(project, one=echo("changed"), two=echo())
        await waiting(yard, "one")
        text = (project / ".mcp.json").read_text()
        with pytest.raises(NeedsApproval, match=r"\.mcp\.json"):
            await yard.change("one", {"args": echo("mine")["args"]})
        assert (project / ".mcp.json").read_text() == text
        assert (await yard.change("one", {"timeout": 7000})).timeout == 7000
        assert waiting_names(yard) == {"one"}


async def test_undoing_an_edit_from_here_is_approved_too(opened: Opener) -> None:
    async with opened() as yard:
        edited = await yard.clients.edit(
            "yard:project", "one", {"args": echo("changed")["args"]}, EditTerms()
        )
        await record_with(yard, "one", phase="connected", args=echo("changed")["args"])
        await yard.clients.undo(edited.edit, EditTerms())
        await record_with(yard, "one", phase="connected", args=echo()["args"])
        assert waiting_names(yard) == set()


async def test_what_waits_to_replace_a_server_is_listed_as_hidden_by_it(
    opened: Opener, project: Path
) -> None:
    async with opened() as yard:
        await yard.register({**echo(), "name": "mine", "scope": "user"})
        write_project(project, one=echo(), two=echo(), mine=echo("theirs"))
        await waiting(yard, "mine")
        entry = await yard.clients.show("yard:project", "mine")
        assert (entry.effective, entry.args) == ("shadowed", echo("theirs")["args"])


async def test_a_disk_without_room_costs_no_server_and_no_approval_is_pretended(
    project: Path,
) -> None:
    class Full(VolatileApprovals):
        async def set(self, approval: Approval) -> None:
            raise StorageFull(f"no room for {approval.folder}")

    trust = Trust(Full(), SystemClock(), ApprovalPolicy(named=frozenset({project})))
    document = read_project(project)
    await trust.begin([document])
    assert {*(trust.entries(document.owner) or {})} == {"one", "two"}
    with pytest.raises(StorageFull):
        await trust.approve(document.owner, {"new": ApprovedEntry(LocalConfig(command=["x"]))})
    assert {*(trust.entries(document.owner) or {})} == {"one", "two"}


async def test_a_folder_that_is_not_served_is_approved_for_the_next_yard_that_serves_it(
    tmp_path: Path, opened: Opener, project: Path
) -> None:
    async with open_yard(home=tmp_path / "home", environment={}) as yard:
        folder = await yard.approvals.waiting_in(project)
        assert [each.definition.name for each in folder.entries] == ["one", "two"]
        write_project(project, one=echo("changed"), two=echo())
        with pytest.raises(ApprovalOutdated):
            await yard.approvals.approve(project, folder.digest)
        assert await yard.approve(project) == ["one", "two"]
        (project / ".mcp.json").write_text("{")
        with pytest.raises(DocumentBroken):
            await yard.approve(project)
        write_project(project, one=echo("changed"), two=echo())
    async with opened(discovered=True) as yard:
        assert await phases(yard) == {"one": "connected", "two": "connected"}
