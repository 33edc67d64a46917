"""The servers people use, each over every transport it has."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from mcpyard import Yard
from tests.faults.real_servers import (
    ROOT,
    definition,
    definitions,
    everything_over,
    needs_npm,
    needs_pypi,
)
from tests.faults.watching import connected, state_of, until, write_project

pytestmark = [pytest.mark.real, needs_pypi, needs_npm]

VERSIONS = {
    "time": "2026-07-28",
    "git": "2026-07-28",
    "everything": "2025-11-25",
    "filesystem": "2025-11-25",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "note.txt").write_text("in the yard")
    subprocess.run(["git", "init", "--quiet", "--initial-branch=trunk", tmp_path], check=True)
    return tmp_path


@pytest.mark.spec("A2.1", "D1.1", "D1.3")
async def test_four_servers_of_two_worlds_connect_at_once(project: Path) -> None:
    write_project(project, definitions(project))
    async with Yard.open(project) as yard:
        records = [await yard.settled(name) for name in VERSIONS]
    assert {each.name: each.status for each in records} == dict.fromkeys(VERSIONS, "connected")
    assert {each.name: each.protocol_version for each in records} == VERSIONS
    assert all(each.tool_count for each in records)
    assert len({each.pid for each in records}) == 4


@pytest.mark.spec("D3.1")
@pytest.mark.parametrize(
    ("server", "tool", "arguments", "answer"),
    [
        ("time", "get_current_time", {"timezone": "UTC"}, '"timezone": "UTC"'),
        ("git", "git_status", {"repo_path": "."}, "note.txt"),
        ("everything", "get-sum", {"a": 19, "b": 23}, "42"),
        ("filesystem", "read_text_file", {"path": "note.txt"}, "in the yard"),
    ],
)
async def test_a_tool_of_a_real_server_answers(
    project: Path, server: str, tool: str, arguments: dict[str, Any], answer: str
) -> None:
    write_project(project, {server: definitions(project)[server] | {"cwd": str(project)}})
    async with Yard.open(project) as yard:
        await yard.settled(server)
        outcome = await yard.call_tool(server, tool, arguments)
    assert not outcome.is_error
    assert answer in outcome.text


@pytest.mark.spec("D2.1", "D2.2")
async def test_what_a_real_server_lists_is_read_and_outlives_its_connection(project: Path) -> None:
    write_project(project, {"filesystem": definitions(project)["filesystem"]})
    async with Yard.open(project) as yard:
        await yard.settled("filesystem")
        listed: dict[Any, dict[str, Any]] = {
            tool.name: tool.to_dict() for tool in yard.tools("filesystem")
        }
        await yard.stop("filesystem", wait=10)
        cached = [tool.to_dict() for tool in yard.tools("filesystem")]
    tool = listed["read_text_file"]
    assert "contents of a file" in tool["description"]
    assert tool["inputSchema"]["properties"]["path"]["type"] == "string"
    assert tool["outputSchema"]["properties"]["content"]["type"] == "string"
    assert not tool["stale"]
    assert cached == [each | {"stale": True} for each in listed.values()]


@pytest.mark.spec("A2.2")
async def test_the_handshake_and_the_tools_come_over_streamable_http(project: Path) -> None:
    async with everything_over("streamableHttp") as port:
        write_project(
            project, {"web": {"transport": "http", "url": f"http://127.0.0.1:{port}/mcp"}}
        )
        async with Yard.open(project) as yard:
            record = await yard.settled("web")
            outcome = await yard.call_tool("web", "echo", {"message": "over http"})
    assert (record.status, record.protocol_version) == ("connected", "2025-11-25")
    assert outcome.text == "Echo: over http"


@pytest.mark.spec("D1.2")
async def test_the_handshake_and_the_tools_come_over_sse(project: Path) -> None:
    async with everything_over("sse") as port:
        write_project(project, {"old": {"transport": "sse", "url": f"http://127.0.0.1:{port}/sse"}})
        async with Yard.open(project) as yard:
            record = await yard.settled("old")
            outcome = await yard.call_tool("old", "echo", {"message": "over sse"})
    assert (record.status, record.protocol_version) == ("connected", "2025-11-25")
    assert outcome.text == "Echo: over sse"


async def test_a_remote_server_that_goes_away_is_disconnected(project: Path) -> None:
    async with Yard.open(project) as yard:
        async with everything_over("sse") as port:
            write_project(
                project, {"old": {"transport": "sse", "url": f"http://127.0.0.1:{port}/sse"}}
            )
            await connected(yard, "old")
        await until(yard, lambda: state_of(yard, "old")["status"] == "disconnected")
        record = state_of(yard, "old")
    assert record["state"] == "error"
    assert record["error"]["message"]


async def test_npx_starts_a_server_by_the_name_of_its_package(project: Path) -> None:
    started = definition("npx", "-y", "@modelcontextprotocol/server-everything", "stdio")
    write_project(project, {"everything": started | {"cwd": str(ROOT / "tests")}})
    async with Yard.open(project) as yard:
        record = await yard.settled("everything")
        outcome = await yard.call_tool("everything", "echo", {"message": "by npx"})
    assert record.status == "connected"
    assert outcome.text == "Echo: by npx"
