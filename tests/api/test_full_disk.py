"""A disk without room: refused with 507, nothing lost, and people are let in and obeyed."""

from pathlib import Path

import httpx2
import pytest

from tests.api.daemon import SERVERS, daemon, one
from tests.api.no_room import no_room
from tests.cli.commands import answer, echo, mcpyard

pytestmark = pytest.mark.real


@pytest.mark.parametrize("scope", ["project", "user"])
def test_a_full_disk_refuses_a_change_and_leaves_the_old_state(tmp_path: Path, scope: str) -> None:
    project = tmp_path / "project"
    project.mkdir()
    with daemon(tmp_path / "home", "--project", project) as it:
        it.register("old", echo(), scope=scope, start=False)
        before = it.record("old")
        text = (project / ".mcp.json").read_bytes() if scope == "project" else b""
        with no_room(it.up.process.pid):
            refused = it.client.post(SERVERS, json={"name": "new", **echo(), "scope": scope})
            assert refused.status_code == 507, refused.text
            assert refused.json()["type"] == "urn:mcpyard:error:storage-full"
            assert "state.db cannot be written: " in refused.json()["detail"]
            assert it.client.patch(one("old"), json={"args": ["x"]}).status_code == 507
            assert [each["name"] for each in it.get(SERVERS)] == ["old"]
        assert it.record("old") == before
        if scope == "project":
            assert (project / ".mcp.json").read_bytes() == text
            assert [each.name for each in project.iterdir()] == [".mcp.json"]
        it.register("new", echo(), scope=scope, start=False)
        assert [each["name"] for each in it.get(SERVERS)] == ["new", "old"]


def test_a_server_is_stopped_though_that_cannot_be_remembered(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with daemon(home) as it:
        for name in ("one", "two"):
            it.register(name, echo(), start=True)
            it.until(name, lambda each: each["status"] == "connected")
        with no_room(it.up.process.pid):
            stopped = it.post(f"{one('one', 'stop')}?wait=20")
            assert stopped["state"] == "stopped"
            (note,) = stopped["warnings"]
            assert note.startswith("not stored: stopped (")
            assert "state.db cannot be written" in note
            assert note.endswith("a restart of mcpyard starts it again")
            result = mcpyard("stop", "two", home=home)
            assert (result.returncode, result.stdout) == (0, "two: stopped\n")
            assert result.stderr.startswith("warning: not stored: stopped (")
            restarted = it.post(f"{one('two', 'restart')}?wait=20")
            assert restarted["status"] == "connected"
            assert restarted["warnings"] == [], "which is what the disk says"
        assert it.post(one("one", "stop"))["warnings"] == [], "remembered, now that it can be"
    with daemon(home) as it:
        assert (it.record("one")["wanted"], it.record("two")["wanted"]) == ("stopped", "running")


def test_a_browser_comes_in_by_a_new_link(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with daemon(home) as it, httpx2.Client(base_url=it.up.url) as browser:
        before = answer("login-link", home=home)["url"]
        browser.get(before)
        with no_room(it.up.process.pid):
            link = answer("login-link", home=home)["url"]
            assert browser.get(link).status_code == 200
            assert browser.get(link).status_code != 200, "it works once"
            assert "servers" in browser.get("/healthz").json()
