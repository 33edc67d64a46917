"""`mcpyard approve`, what `up` asks, and the routes they speak to, with real yards."""

import os
import pty
import subprocess
from pathlib import Path

import pytest

from tests.api.daemon import daemon
from tests.cli.commands import MCPYARD, Json, answer, echo, mcpyard, write_project, yard_up

pytestmark = pytest.mark.real

WAITING, APPROVE = "/api/projects/waiting", "/api/projects/approve"


@pytest.mark.spec("F3.1")
def test_what_waits_is_shown_with_everything_it_would_run_and_approved_by_its_digest(
    tmp_path: Path,
) -> None:
    project = write_project(tmp_path / "p", one=echo(env={"PATH": "/bin"}))
    with daemon(tmp_path / "home", "--project", project) as it:
        assert it.get(WAITING) == []
        remote = {
            "type": "http",
            "url": "https://user:hunter2secret@a.example/mcp",
            "headers": {"Authorization": "Bearer ${TOKEN}", "X": "a-literal-secret-0123"},
            "fallback": ["one"],
            "tools": {"t": {"description": "Call me first."}},
        }
        one = echo("more", env={"PATH": "/evil", "KEY": "a-literal-secret-0123"}, inherit=["*"])
        write_project(project, one=one, far=remote)
        it.up.event("status", name="far", phase="needs_approval")
        (folder,) = it.get(WAITING)
        servers = {each["name"]: each for each in folder["servers"]}
        assert folder["folder"] == str(project)
        assert "a-literal-secret" not in str(folder)
        assert "hunter2secret" not in str(folder)
        assert fields(servers["far"]) == {
            "url": "https://user:***@a.example/mcp",
            "transport": "http",
            "headers.Authorization": "Bearer ${TOKEN}",
            "headers.X": {"masked": True, "hint": "...0123"},
            "fallback": ["one"],
            "tools.t": {"description": "Call me first."},
        }
        assert servers["far"]["variables"] == [
            {"name": "TOKEN", "field": "headers.Authorization", "host": "a.example"}
        ]
        assert (servers["far"]["kind"], servers["one"]["kind"]) == ("added", "changed")
        marked = [each["field"] for each in servers["one"]["fields"] if each["marked"]]
        assert marked == ["env.PATH", "inherit"]
        assert servers["one"]["changes"] == [
            {"field": "args", "before": echo()["args"], "after": echo("more")["args"]},
            {"field": "env.PATH", "before": "/bin", "after": "/evil"},
            {"field": "env.KEY", "before": None, "after": {"masked": True, "hint": "...0123"}},
            {"field": "inherit", "before": None, "after": ["*"]},
        ]
        assert it.record("one")["needsApproval"] == "changed"
        write_project(project, one=echo("again"))
        while "again" not in it.client.get(WAITING).text:
            it.up.event("documents")
        body = {"folder": str(project), "digest": folder["digest"]}
        refused = it.post(APPROVE, body, 409)
        assert refused["type"] == "urn:mcpyard:error:approval-outdated"
        (folder,) = it.get(WAITING)
        done = it.post(APPROVE, body | {"digest": folder["digest"]})
        assert done == {"folder": str(project), "servers": ["one"], "waiting": []}
        it.until("one", lambda each: each["args"] == echo("again")["args"])
        for wrong in ({}, {"digest": 1}, {"digest": "", "replace": "one"}, {"digest": "", "x": 1}):
            it.post(APPROVE, {"folder": str(project), **wrong}, 422)
        it.post(APPROVE, {"folder": "p", "digest": ""}, 422)
        assert it.client.get(f"{WAITING}?folder=p").status_code == 422


def fields(server: Json) -> dict[str, object]:
    return {each["field"]: each["value"] for each in server["fields"]}


@pytest.mark.spec("F3.2")
@pytest.mark.parametrize("running", [True, False])
def test_approve_shows_what_it_approves_and_replaces_a_server_only_when_told(
    tmp_path: Path, *, running: bool
) -> None:
    home, project = tmp_path / "home", write_project(tmp_path / "p", mine=echo("a\nb"), two=echo())
    with daemon(home) as it:
        it.register("mine", echo(), scope="user", start=True)
        if running:
            replaces(home, project)
        assert it.up.end() == 0
    if not running:
        replaces(home, project)
    with daemon(home, "--project", project) as it:
        assert it.until("mine", lambda each: each["pid"] is not None)["scope"] == "project"
        assert (it.record("mine")["scope"], it.record("two")["scope"]) == ("project", "project")


def replaces(home: Path, project: Path) -> None:
    done = mcpyard("approve", project, home=home)
    assert (done.returncode, done.stdout) == (0, f"approved {project}: two\n")
    assert "mine (replaces the server of that name in the user scope)\n" in done.stderr
    assert "'a\\nb'" in done.stderr, "nothing that it shows can begin a line of its own"
    assert f"mcpyard approve {project} --replace mine\n" in done.stderr
    wrong = answer("approve", project, "--replace", "two", home=home, code=2)
    assert wrong["error"]["type"] == "urn:mcpyard:error:invalid-arguments"
    done = answer("approve", project, "--replace", "mine", home=home)
    assert done == {"folder": str(project), "servers": ["mine"], "waiting": []}


@pytest.mark.spec("F3.1")
def test_ls_and_show_tell_what_waits_with_and_without_a_yard(tmp_path: Path) -> None:
    home, project = tmp_path / "home", write_project(tmp_path / "p", one=echo())
    with yard_up(home, "--project", project) as up:
        up.event("status", name="one", status="connected")
        write_project(project, one=echo("changed"), two=echo())
        up.event("status", name="two", phase="needs_approval")
        listed = mcpyard("ls", home=home).stdout.splitlines()
        assert "connected" in listed[1]
        assert "a change needs your approval" in listed[1]
        assert listed[2].startswith("needs approval")
        assert "a change needs your approval" in mcpyard("show", "one", home=home).stdout
        assert up.end() == 0
    still = {each["name"]: each for each in answer("ls", home=home, cwd=project)}
    assert still["one"]["args"] == echo()["args"]
    assert [each["needsApproval"] for each in still.values()] == ["changed", "added"]


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
        reply = answer("call", "mcp_one_echo", "--args", '{"text": "hi"}', home=home, code=2)
        assert reply["error"]["type"] == "urn:mcpyard:error:tool-unknown"
        approved = answer("approve", home=home)
        assert approved == {
            "folder": str(tmp_path.resolve()),
            "servers": ["one", "mark"],
            "waiting": [],
        }
        up.event("status", name="one", status="connected")
        assert up.end() == 0
    with yard_up(home) as up:
        up.event("status", name="one", status="connected")


def test_approve_without_a_yard_is_kept_for_the_next(tmp_path: Path) -> None:
    write_project(tmp_path, one=echo())
    result = mcpyard("approve", tmp_path, home=tmp_path / "home")
    assert (result.returncode, result.stdout) == (0, f"approved {tmp_path.resolve()}: one\n")
    again = mcpyard("approve", tmp_path, home=tmp_path / "home")
    assert again.stdout == f"nothing to approve in {tmp_path.resolve()}\n"
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


@pytest.mark.spec("F3.1")
def test_a_file_that_changes_under_up_waits_and_trust_folder_follows_it(tmp_path: Path) -> None:
    home, project = tmp_path / "home", write_project(tmp_path / "p", one=echo())
    with yard_up(home, "--project", project) as up:
        pid = up.event("status", name="one", status="connected")["pid"]
        write_project(project, one=echo("changed"), two=echo())
        up.event("status", name="two", phase="needs_approval")
        servers = {each["name"]: each for each in answer("ls", home=home)}
        assert (servers["one"]["pid"], servers["one"]["args"]) == (pid, echo()["args"])
        assert up.end() == 0
    with yard_up(home, "--project", project, "--trust-folder") as up:
        up.event("status", name="two", status="connected")
        write_project(project, three=echo())
        up.event("status", name="three", status="connected")


@pytest.mark.parametrize(("typed", "phase"), [("y\n", "connected"), ("\n", "needs approval")])
def test_on_a_terminal_the_user_is_asked_and_no_is_what_enter_means(
    tmp_path: Path, typed: str, phase: str
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
            output = b""
            while b"[y/N] " not in output:
                output += os.read(ours, 1 << 16)
            assert long in output.decode(), "a command is shown whole"
            os.write(ours, typed.encode())
            assert up.stdout
            while not (line := up.stdout.readline().decode()).startswith(f"{phase:14} one"):
                assert line, "it ended"
        finally:
            up.terminate()
            up.wait(20)
            os.close(ours)
