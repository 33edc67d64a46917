"""`.mcp.json` while the yard runs: what is saved is applied, and nothing else is touched."""

import asyncio
import itertools
import json
import logging
from pathlib import Path
from typing import Any

import pytest

from mcpyard import Yard
from mcpyard.yard.events import Subscription
from tests.conftest import FULL
from tests.faults.editors import WAYS
from tests.faults.watching import connected, state_of, until, write_project, zoo
from tests.runtime.waiting import alive, eventually

pytestmark = pytest.mark.real

ROUNDS = 200 if FULL else 12


def names(yard: Yard) -> list[object]:
    return [record.name for record in yard.servers()]


async def test_however_an_editor_saves_the_last_content_is_applied_and_none_half_read(
    tmp_path: Path,
) -> None:
    path = tmp_path / ".mcp.json"
    path.write_bytes(text_of_round("first"))
    async with Yard.open(tmp_path) as yard:
        await connected(yard, "steady", "changing")
        pid = state_of(yard, "steady")["pid"]
        reading = asyncio.create_task(documents(yard.events()))
        for number, save in zip(range(ROUNDS), itertools.cycle(WAYS), strict=False):
            await save(path, text_of_round(f"draft {number}"), text_of_round(f"round {number}"))
            await until(yard, lambda number=number: is_in_round(yard, number))
        assert yard.desired.problems == ()
        assert state_of(yard, "steady")["pid"] == pid
    read = await reading
    assert {(data["servers"], *data["problems"]) for data in read} == {(2,)}
    assert len(read) >= ROUNDS


def text_of_round(name: str) -> bytes:
    changing = zoo("good")
    changing["args"].append(name)
    return json.dumps({"mcpServers": {"steady": zoo("good"), "changing": changing}}).encode()


def is_in_round(yard: Yard, number: int) -> bool:
    record = state_of(yard, "changing")
    return record["status"] == "connected" and record["args"][-1] == f"round {number}"


async def documents(events: Subscription) -> list[Any]:
    """What was read out of the file, each time, until the yard is closed."""
    return [event.data async for event in events if event.kind == "documents"]


def is_anew(yard: Yard, name: str, digest: str) -> bool:
    record = state_of(yard, name)
    return record["status"] == "connected" and record["digest"] != digest


async def test_of_a_burst_of_saves_the_last_one_counts(tmp_path: Path) -> None:
    write_project(tmp_path, {"steady": zoo("good")})
    async with Yard.open(tmp_path) as yard:
        await connected(yard, "steady")
        pid = state_of(yard, "steady")["pid"]
        for number in range(30):
            write_project(tmp_path, {"steady": zoo("good"), f"server-{number}": zoo("good")})
            await asyncio.sleep(0)
        await connected(yard, "server-29")
        await until(yard, lambda: names(yard) == ["server-29", "steady"])
        assert state_of(yard, "steady")["pid"] == pid


@pytest.mark.spec("A4.1")
async def test_a_server_that_is_added_connects_and_its_tools_are_there(tmp_path: Path) -> None:
    write_project(tmp_path, {"first": zoo("good")})
    async with Yard.open(tmp_path) as yard:
        await connected(yard, "first")
        pid = state_of(yard, "first")["pid"]
        write_project(tmp_path, {"first": zoo("good"), "second": zoo("good")})
        await connected(yard, "second")
        servers = {tool.server for tool in yard.tools()}
        outcome = await yard.call_tool("second", "echo", {"text": "new here"})
        assert state_of(yard, "first")["pid"] == pid
    assert servers == {"first", "second"}
    assert outcome.text == "new here"


@pytest.mark.spec("A4.2")
async def test_a_server_that_is_removed_is_closed_and_its_tools_are_gone(tmp_path: Path) -> None:
    write_project(tmp_path, {"first": zoo("good"), "second": zoo("good")})
    async with Yard.open(tmp_path) as yard:
        await connected(yard, "first", "second")
        remaining, ended = (state_of(yard, name)["pid"] for name in ("first", "second"))
        write_project(tmp_path, {"first": zoo("good")})
        await until(yard, lambda: names(yard) == ["first"])
        assert {tool.server for tool in yard.tools()} == {"first"}
        assert await eventually(lambda: not alive(ended), 5)
        assert state_of(yard, "first")["pid"] == remaining
        assert alive(remaining)


@pytest.mark.spec("A4.3")
async def test_a_server_that_is_changed_runs_anew_with_its_new_definition(tmp_path: Path) -> None:
    write_project(tmp_path, {"first": zoo("good"), "second": zoo("good")})
    async with Yard.open(tmp_path) as yard:
        await connected(yard, "first", "second")
        before = {name: state_of(yard, name) for name in ("first", "second")}
        write_project(tmp_path, {"first": zoo("good"), "second": zoo("many_tools")})
        await until(yard, lambda: is_anew(yard, "second", before["second"]["digest"]))
        after = {name: state_of(yard, name) for name in ("first", "second")}
        assert not alive(before["second"]["pid"])
    assert after["first"]["pid"] == before["first"]["pid"]
    assert after["second"]["pid"] != before["second"]["pid"]
    assert after["second"]["toolCount"] == 5000


@pytest.mark.spec("A1.4")
async def test_without_a_file_the_yard_starts_with_no_server_and_no_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with Yard.open(tmp_path) as yard:
        assert yard.servers() == []
        assert yard.desired.problems == ()
        assert [entry for entry in caplog.records if entry.levelno >= logging.WARNING] == []
        write_project(tmp_path, {"late": zoo("good")})
        await connected(yard, "late")


async def test_a_project_folder_may_be_made_later(tmp_path: Path) -> None:
    folder = tmp_path / "later"
    async with Yard.open(folder) as yard:
        folder.mkdir()
        write_project(folder, {"late": zoo("good")})
        await connected(yard, "late")


@pytest.mark.spec("A1.5")
async def test_of_a_file_with_a_bad_definition_the_good_ones_load(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    good = json.dumps(zoo("good"))
    text = f'{{"mcpServers": {{\n  // a comment\n  "good": {good},\n  "bad": {{"args": []}},\n}}}}'
    (tmp_path / ".mcp.json").write_text(text)
    async with Yard.open(tmp_path) as yard:
        await connected(yard, "good")
        assert names(yard) == ["good"]
    assert ".mcp.json:4:" in logged(caplog, logging.ERROR)
    notes = logged(caplog, logging.WARNING)
    assert ".mcp.json:2:3" in notes
    assert "comma" in notes


@pytest.mark.spec("A1.5")
async def test_a_file_that_turns_invalid_keeps_the_servers_that_run(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_project(tmp_path, {"first": zoo("good")})
    async with Yard.open(tmp_path) as yard:
        await connected(yard, "first")
        pid = state_of(yard, "first")["pid"]
        (tmp_path / ".mcp.json").write_text('{"mcpServers": {\n  "first": oops\n}}')
        await until(yard, lambda: yard.desired.problems)
        assert state_of(yard, "first")["pid"] == pid
        write_project(tmp_path, {"first": zoo("good"), "second": zoo("good")})
        await connected(yard, "second")
        assert yard.desired.problems == ()
        assert state_of(yard, "first")["pid"] == pid
    assert ".mcp.json:2:12" in logged(caplog, logging.ERROR)


async def test_a_file_that_is_gone_for_a_second_takes_its_servers_with_it(tmp_path: Path) -> None:
    write_project(tmp_path, {"first": zoo("good")})
    async with Yard.open(tmp_path) as yard:
        await connected(yard, "first")
        pid = state_of(yard, "first")["pid"]
        (tmp_path / ".mcp.json").unlink()
        await until(yard, lambda: not yard.servers())
        assert await eventually(lambda: not alive(pid), 5)


@pytest.mark.parametrize("text", ["", " \n", '{"mcpServers": {'])
async def test_an_empty_or_half_written_file_leaves_the_last_good_one_in_force(
    tmp_path: Path, text: str
) -> None:
    write_project(tmp_path, {"first": zoo("good")})
    async with Yard.open(tmp_path) as yard:
        await connected(yard, "first")
        pid = state_of(yard, "first")["pid"]
        (tmp_path / ".mcp.json").write_text(text)
        await until(yard, lambda: yard.desired.problems)
        assert state_of(yard, "first")["pid"] == pid
        assert alive(pid)


def logged(caplog: pytest.LogCaptureFixture, level: int) -> str:
    return "\n".join(entry.message for entry in caplog.records if entry.levelno == level)
