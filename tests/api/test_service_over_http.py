"""The service manager through the running yard, with real children."""

import os
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from uuid import UUID

import psutil
import pytest

from tests.api.daemon import SERVERS, daemon, is_gone, one
from tests.cli.commands import ECHO_SERVER, echo, missing

pytestmark = pytest.mark.real


@pytest.mark.spec("C1.1")
@pytest.mark.spec("C6.2")
def test_a_registered_server_has_an_id_is_stopped_and_is_answered_whole(tmp_path: Path) -> None:
    with daemon(tmp_path / "home") as it:
        record = it.register("fs", echo(env={"LEVEL": "${LEVEL:-1}"}))
        assert str(UUID(record["id"])) == record["id"]
        assert (record["name"], record["state"], record["pid"]) == ("fs", "stopped", None)
        assert (record["command"], record["args"]) == (echo()["command"], echo()["args"])
        assert (record["env"], record["enabled"]) == ({"LEVEL": "${LEVEL:-1}"}, True)
        assert it.record(record["id"]) == it.record("fs")


@pytest.mark.spec("C1.2")
def test_a_name_in_use_is_refused_and_named(tmp_path: Path) -> None:
    with daemon(tmp_path / "home") as it:
        first = it.register("fs", echo())
        refused = it.client.post(SERVERS, json={"name": "fs", **missing(tmp_path)})
        assert refused.status_code == 409
        assert refused.headers["content-type"] == "application/problem+json"
        assert refused.json()["type"] == "urn:mcpyard:error:name-taken"
        assert 'the name "fs" is in use' in refused.json()["detail"]
        first.pop("figures")
        assert it.get(SERVERS) == [first]


@pytest.mark.spec("C2.1")
@pytest.mark.spec("C6.3")
def test_start_spawns_the_child_and_the_news_is_told_at_once(tmp_path: Path) -> None:
    with daemon(tmp_path / "home") as it:
        it.register("fs", echo())
        record = it.post(one("fs", "start"))
        assert (record["state"], record["status"]) == ("running", "connected")
        child = psutil.Process(record["pid"])
        assert ECHO_SERVER in child.cmdline()
        event = it.up.event("status", name="fs", status="connected")
        assert event["pid"] == record["pid"]
        assert it.post(one("fs", "start"))["pid"] == record["pid"]


@pytest.mark.spec("C2.2")
@pytest.mark.spec("C6.4")
def test_stop_ends_the_child_and_frees_what_it_held(tmp_path: Path) -> None:
    with daemon(tmp_path / "home") as it:
        it.register("fs", echo(), start=True)
        yard = psutil.Process(it.up.process.pid)
        files = yard.num_fds()
        pid = it.record("fs")["pid"]
        record = it.post(one("fs", "stop"))
        assert (record["state"], record["pid"]) == ("stopped", None)
        assert is_gone(pid)
        assert yard.num_fds() < files
        assert it.post(one("fs", "stop"))["state"] == "stopped"


@pytest.mark.spec("C2.3")
def test_a_bad_command_is_an_error_with_its_reason(tmp_path: Path) -> None:
    with daemon(tmp_path / "home") as it:
        it.register("none", missing(tmp_path))
        record = it.post(one("none", "start"))
        assert (record["state"], record["status"]) == ("error", "error")
        assert record["error"]["code"] == "command_missing"
        assert "no such program" in record["error"]["message"]
        it.register("exits", echo("exits"), start=True)
        failed = it.until("exits", lambda each: each["error"] is not None)
        assert failed["state"] == "error"
        assert failed["error"]["code"] == "exited"
        assert "3" in failed["error"]["message"]
        assert "no licence found" in failed["error"]["stderr"]


@pytest.mark.spec("C2.4")
def test_restart_is_stop_then_start(tmp_path: Path) -> None:
    with daemon(tmp_path / "home") as it:
        it.register("fs", echo(), start=True)
        before = it.record("fs")
        after = it.post(one("fs", "restart"))
        assert (after["state"], after["pid"] != before["pid"]) == ("running", True)
        assert is_gone(before["pid"])
        it.post(one("fs", "stop"))
        assert it.post(one("fs", "restart"))["state"] == "running"


@pytest.mark.spec("C3.2")
def test_a_child_that_dies_is_noticed(tmp_path: Path) -> None:
    with daemon(tmp_path / "home") as it:
        it.register("fs", echo(), start=True)
        pid = it.record("fs")["pid"]
        os.kill(pid, signal.SIGKILL)
        event = it.up.event("status", name="fs", state="error")
        assert event["status"] == "disconnected"
        assert event["error"]["code"] == "exited"
        again = it.up.event("status", name="fs", status="connected")
        assert again["pid"] != pid


@pytest.mark.spec("C4.1")
def test_a_stopped_server_is_changed_stored_and_started_as_changed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with daemon(home) as it:
        first = it.register("fs", missing(tmp_path))
        patch = {"name": "files", **echo(), "env": {"A": "1"}}
        record = it.patch(one("fs"), patch)
        assert (record["id"], record["name"], record["state"]) == (first["id"], "files", "stopped")
        assert record["env"] == {"A": {"masked": True, "hint": ""}}
        with closing(sqlite3.connect(home / "state.db")) as stored:
            rows = stored.execute("SELECT name FROM definitions").fetchall()
        assert rows == [("files",)]
        started = it.post(one("files", "start"))
        assert started["state"] == "running"
        assert psutil.Process(started["pid"]).environ()["A"] == "1"


@pytest.mark.spec("C4.2")
def test_a_running_server_that_is_changed_is_restarted_as_changed(tmp_path: Path) -> None:
    with daemon(tmp_path / "home") as it:
        before = it.register("fs", echo(), start=True)
        after = it.patch(one("fs"), {"env": {"MODE": "new"}})
        assert (after["state"], after["pid"] != before["pid"]) == ("running", True)
        assert psutil.Process(after["pid"]).environ()["MODE"] == "new"
        assert is_gone(before["pid"])
        spared = it.patch(f"{one('fs')}?when_running=refuse", {"env": {"MODE": "x"}}, 409)
        assert spared["type"] == "urn:mcpyard:error:still-running"
        assert it.record("fs")["pid"] == after["pid"]


@pytest.mark.spec("C5.1")
def test_a_stopped_server_is_removed(tmp_path: Path) -> None:
    with daemon(tmp_path / "home") as it:
        it.register("fs", echo())
        assert it.client.delete(one("fs")).status_code == 204
        assert it.get(SERVERS) == []


@pytest.mark.spec("C5.2")
@pytest.mark.spec("C6.5")
def test_a_running_server_is_stopped_and_removed(tmp_path: Path) -> None:
    with daemon(tmp_path / "home") as it:
        record = it.register("fs", echo(), start=True)
        removed = it.client.delete(one(record["id"]))
        assert (removed.status_code, removed.content) == (204, b"")
        assert is_gone(record["pid"])
        assert it.get(SERVERS) == []


@pytest.mark.spec("C6.1")
def test_definitions_and_states_are_listed_together(tmp_path: Path) -> None:
    with daemon(tmp_path / "home") as it:
        it.register("idle", echo())
        it.register("busy", echo(), start=True)
        busy, idle = it.get(SERVERS)
        assert [busy["command"], idle["command"]] == [echo()["command"]] * 2
        assert [busy["state"], idle["state"]] == ["running", "stopped"]
