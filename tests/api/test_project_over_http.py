"""The project's servers through the running yard, with real children."""

import json
from pathlib import Path

import psutil
import pytest

from tests.api.daemon import SERVERS, daemon, is_gone, one
from tests.cli.commands import echo, write_project

pytestmark = pytest.mark.real


@pytest.mark.spec("A5.1")
def test_every_server_is_listed_with_its_transport_status_and_tools(tmp_path: Path) -> None:
    project = write_project(tmp_path / "p", one=echo(), off=echo(enabled=False))
    with daemon(tmp_path / "home", "--project", project) as it:
        it.until("one", lambda each: each["status"] == "connected")
        off, server = it.get(SERVERS)
        assert (server["name"], server["transport"]) == ("one", "stdio")
        assert (server["status"], server["toolCount"]) == ("connected", 7)
        assert server["tools"][0] == {
            "name": "echo",
            "description": "Say it again.\nIn as many words.",
        }
        assert (off["name"], off["status"], off["toolCount"]) == ("off", "disconnected", 0)
        assert all("tools" not in each for each in it.get(f"{SERVERS}?tools=0"))


@pytest.mark.spec("A5.2")
def test_a_posted_server_is_written_to_the_file_and_connected(tmp_path: Path) -> None:
    project = write_project(tmp_path / "p", there=echo())
    file = project / ".mcp.json"
    file.write_text("// mine\n" + file.read_text())
    with daemon(tmp_path / "home", "--project", project) as it:
        record = it.register("new", echo(env={"A": "${HOME}"}))
        assert (record["scope"], record["status"], record["toolCount"]) == (
            "project",
            "connected",
            7,
        )
        assert psutil.pid_exists(record["pid"])
        text = file.read_text()
        assert text.startswith("// mine\n")
        written = json.loads(text.removeprefix("// mine\n"))["mcpServers"]
        assert written["there"] == echo()
        assert written["new"]["args"] == echo()["args"]
        assert written["new"]["env"] == {"A": "${HOME}"}


@pytest.mark.spec("A5.3")
def test_a_deleted_server_is_closed_and_leaves_the_file(tmp_path: Path) -> None:
    project = write_project(tmp_path / "p", one=echo(), two=echo())
    with daemon(tmp_path / "home", "--project", project) as it:
        gone = it.until("one", lambda each: each["status"] == "connected")
        stays = it.until("two", lambda each: each["status"] == "connected")
        assert it.client.delete(one("one")).status_code == 204
        assert is_gone(gone["pid"])
        assert [*json.loads((project / ".mcp.json").read_text())["mcpServers"]] == ["two"]
        assert [(each["name"], each["pid"]) for each in it.get(SERVERS)] == [("two", stays["pid"])]


@pytest.mark.spec("A5.4")
def test_a_restarted_server_is_another_process_and_connected(tmp_path: Path) -> None:
    project = write_project(tmp_path / "p", one=echo())
    with daemon(tmp_path / "home", "--project", project) as it:
        before = it.until("one", lambda each: each["status"] == "connected")
        after = it.post(one("one", "restart"))
        assert (after["status"], after["toolCount"]) == ("connected", 7)
        assert after["pid"] != before["pid"]
        assert is_gone(before["pid"])


@pytest.mark.spec("A5.5")
def test_the_tools_of_a_server_are_listed_with_their_schemas(tmp_path: Path) -> None:
    project = write_project(tmp_path / "p", one=echo())
    with daemon(tmp_path / "home", "--project", project) as it:
        record = it.until("one", lambda each: each["status"] == "connected")
        tools = it.get(one(record["id"], "tools"))
        assert [each["name"] for each in tools][:2] == ["echo", "fail"]
        assert tools[0]["inputSchema"]["required"] == ["text"]
        assert tools[0]["exposedName"] == "mcp_one_echo"
