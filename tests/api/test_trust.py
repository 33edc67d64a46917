"""The user's word: a file that was merely found waits for it, under review each change does."""

import asyncio
import os
import pty
import subprocess
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from mcpyard.app import Yard
from mcpyard.sources.project_file import ProjectFile
from mcpyard.yard.trust import Caution
from tests.cli.commands import MCPYARD, answer, echo, mcpyard, write_project, yard_up

pytestmark = pytest.mark.real

Opener = Callable[..., AbstractAsyncContextManager[Yard]]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path / "p", one=echo(), two=echo())


@pytest.fixture
def opened(tmp_path: Path, project: Path) -> Opener:
    def open_yard(
        *, found: bool = False, review: bool = False
    ) -> AbstractAsyncContextManager[Yard]:
        caution = Caution(frozenset({project} if found else ()), review)
        sources = [ProjectFile(project)]
        return Yard.open(sources=sources, home=tmp_path / "home", environment={}, caution=caution)

    return open_yard


async def phases(yard: Yard) -> dict[str, object]:
    settled = [await yard.settled(str(each["name"])) for each in yard.servers(tools=False)]
    return {str(each["name"]): each["phase"] for each in settled}


async def until(yard: Yard, name: str, **wanted: object) -> dict[str, object]:
    """The record of a server once it has these members."""
    async with asyncio.timeout(10):
        async for _ in yard.events(after=0):
            found = [each for each in yard.servers() if each["name"] == name]
            if found and wanted.items() <= found[0].items():
                return found[0]
    raise AssertionError


async def test_a_named_project_runs_and_follows_its_edits(opened: Opener, project: Path) -> None:
    async with opened() as yard:
        assert await phases(yard) == {"one": "connected", "two": "connected"}
        write_project(project, one=echo(), three=echo())
        await until(yard, "three", phase="connected")


async def test_a_found_project_waits_until_its_folder_is_approved(
    opened: Opener, project: Path
) -> None:
    async with opened(found=True) as yard:
        assert await phases(yard) == {"one": "needs_approval", "two": "needs_approval"}
        record = yard.record("one")
        assert (record["status"], record["pid"]) == ("error", None)
        assert record["args"] == echo()["args"]
        assert (await yard.start("one", wait=1))["phase"] == "needs_approval"
        assert (await yard.restart("one", wait=1))["phase"] == "needs_approval"
        assert await yard.approve(project.parent) == []
        assert await phases(yard) == {"one": "needs_approval", "two": "needs_approval"}
        assert await yard.approve(str(project)) == ["one", "two"]
        assert await phases(yard) == {"one": "connected", "two": "connected"}
        write_project(project, one=echo("more"), two=echo())
        await until(yard, "one", phase="connected", args=echo("more")["args"])
    async with opened(found=True) as yard:
        assert await phases(yard) == {"one": "connected", "two": "connected"}


async def test_a_folder_is_the_same_by_whatever_way_it_is_named(
    opened: Opener, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(project)
    async with opened(found=True) as yard:
        assert await yard.approve(tmp_path / "link" / ".." / "link") == ["one", "two"]


async def test_a_new_server_lands_in_a_project_only_when_that_may_run(
    opened: Opener, project: Path
) -> None:
    async with opened(found=True) as yard:
        before = (project / ".mcp.json").read_text()
        landed = await yard.register({**echo(), "name": "mine"})
        assert (landed["scope"], landed["phase"]) == ("user", "stopped")
        assert (project / ".mcp.json").read_text() == before
        asked = await yard.register({**echo(), "name": "ours", "scope": "project"}, wait=5)
        assert (asked["scope"], asked["phase"]) == ("project", "needs_approval")
        await yard.approve(project)
        assert (await yard.register({**echo(), "name": "new"}))["scope"] == "project"


async def test_under_review_what_a_named_project_says_first_runs_and_each_change_waits(
    opened: Opener, project: Path
) -> None:
    async with opened(review=True) as yard:
        assert await phases(yard) == {"one": "connected", "two": "connected"}
        write_project(project, one=echo("changed"), two=echo(), three=echo())
        waiting = await until(yard, "one", phase="needs_approval")
        assert waiting["args"] == echo("changed")["args"]
        await until(yard, "three", phase="needs_approval")
        assert yard.record("two")["phase"] == "connected"
        assert await yard.approve(project) == ["one", "three"]
        assert {*(await phases(yard)).values()} == {"connected"}
        write_project(project, one=echo(), two=echo(), three=echo())
        await until(yard, "one", phase="needs_approval")


async def test_under_review_a_new_time_limit_is_no_new_launch(
    opened: Opener, project: Path
) -> None:
    async with opened(review=True) as yard:
        assert await phases(yard) == {"one": "connected", "two": "connected"}
        write_project(project, one=echo(timeout=7000), two=echo())
        assert (await until(yard, "one", timeout=7000))["phase"] == "connected"


@pytest.mark.parametrize("first", [True, False])
async def test_under_review_a_change_behind_the_yards_back_waits_too(
    opened: Opener, project: Path, first: bool
) -> None:
    if not first:
        (project / ".mcp.json").unlink()
    async with opened(review=True) as yard:
        assert len(yard.servers()) == (2 if first else 0)
    write_project(project, one=echo("changed"))
    async with opened(review=True) as yard:
        assert await phases(yard) == {"one": "needs_approval"}
    async with opened() as yard:
        assert await phases(yard) == {"one": "connected"}


async def test_under_review_a_found_project_waits_for_both(opened: Opener, project: Path) -> None:
    async with opened(found=True, review=True) as yard:
        assert {*(await phases(yard)).values()} == {"needs_approval"}
        await yard.approve(project)
        assert {*(await phases(yard)).values()} == {"connected"}
        write_project(project, one=echo("changed"), two=echo())
        await until(yard, "one", phase="needs_approval")


async def test_under_review_a_folder_that_was_approved_before_runs_what_it_says_first(
    opened: Opener, project: Path
) -> None:
    async with opened(found=True, review=True) as yard:
        assert {*(await phases(yard)).values()} == {"needs_approval"}
    write_project(project, one=echo("later"), two=echo())
    async with opened(found=True) as yard:
        await yard.approve(project)
    async with opened(found=True, review=True) as yard:
        assert {*(await phases(yard)).values()} == {"connected"}
        write_project(project, one=echo("changed"), two=echo())
        await until(yard, "one", phase="needs_approval")


def test_up_holds_what_it_merely_finds_and_approve_starts_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    mark = tmp_path / "started"
    write_project(
        tmp_path, one=echo(), mark={"command": "touch", "args": [str(mark)], "transport": "stdio"}
    )
    with yard_up(home) as up:
        up.event("status", name="one", phase="needs_approval")
        up.event("status", name="mark", phase="needs_approval")
        assert not mark.exists()
        (one,) = [each for each in answer("ls", home=home) if each["name"] == "one"]
        assert (one["error"]["code"], one["args"]) == ("needs_approval", echo()["args"])
        told = answer("call", "mcp_one_echo", "--args", '{"text": "hi"}', home=home, code=2)
        assert told["error"]["type"] == "urn:mcpyard:error:tool-unknown"
        approved = answer("approve", home=home)
        assert approved == {"folder": str(tmp_path.resolve()), "servers": ["one", "mark"]}
        up.event("status", name="one", status="connected")
        assert up.end() == 0
    with yard_up(home) as up:
        up.event("status", name="one", status="connected")


def test_approve_without_a_yard_is_remembered_for_the_next(tmp_path: Path) -> None:
    write_project(tmp_path, one=echo())
    said = mcpyard("approve", tmp_path, home=tmp_path / "home")
    assert (said.returncode, said.stdout) == (0, f"approved {tmp_path.resolve()}\n")
    with yard_up(tmp_path / "home") as up:
        up.event("status", name="one", status="connected")


def test_a_folder_that_is_not_there_cannot_be_approved(tmp_path: Path) -> None:
    assert mcpyard("approve", "nowhere", home=tmp_path / "home", cwd=tmp_path).returncode == 2


def test_a_named_project_is_the_word_and_the_current_folder_is_left_alone(tmp_path: Path) -> None:
    write_project(tmp_path, found=echo())
    project = write_project(tmp_path / "p", named=echo())
    with yard_up(tmp_path / "home", "--project", project) as up:
        assert up.event("documents")["servers"] == 1
        up.event("status", name="named", status="connected")


def test_review_is_an_option_of_up(tmp_path: Path) -> None:
    project = write_project(tmp_path / "p", one=echo())
    with yard_up(tmp_path / "home", "--project", project, "--review") as up:
        up.event("status", name="one", status="connected")
        write_project(project, one=echo("changed"))
        up.event("status", name="one", phase="needs_approval")
        answer("approve", project, home=tmp_path / "home")
        up.event("status", name="one", status="connected")


@pytest.mark.parametrize(("said", "phase"), [("y\n", "connected"), ("\n", "needs approval")])
def test_on_a_terminal_the_user_is_asked_and_no_is_what_enter_means(
    tmp_path: Path, said: str, phase: str
) -> None:
    long = "x" * 300
    write_project(tmp_path, one=echo(env={"LONG": long}), two=echo(long))
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*MCPYARD, "up", "--port", "0"],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        cwd=tmp_path,
        env=os.environ | {"MCPYARD_HOME": str(tmp_path / "home")},
    ) as up:
        os.close(theirs)
        try:
            shown = b""
            while b"[y/N] " not in shown:
                shown += os.read(ours, 1 << 16)
            assert long in shown.decode(), "a command is shown whole"
            os.write(ours, said.encode())
            assert up.stdout
            while not (line := up.stdout.readline().decode()).startswith(f"{phase:14} one"):
                assert line, "it ended"
        finally:
            up.terminate()
            up.wait(20)
            os.close(ours)
