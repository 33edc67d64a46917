"""What becomes of a project's file is noticed, whatever is done to it and around it."""

import asyncio
import json
import os
import shutil
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest

from mcpyard.domain.desired import Document
from mcpyard.domain.model import LocalConfig
from mcpyard.formats.mcp_json import McpJsonReader
from mcpyard.sources import project_file, watching
from mcpyard.sources.project_file import ProjectFile
from mcpyard.sources.reading import read_file
from tests.runtime.waiting import eventually

LONG = 15.0
"""Seconds within which everything is noticed, on the slowest of machines."""

Happen = Callable[[Path], None]


def text_of(name: str) -> str:
    server = {"type": "stdio", "command": "echo", "args": []}
    return json.dumps({"mcpServers": {name: server}})


def names(source: ProjectFile) -> list[str]:
    return [each.name for each in source.document().definitions]


@asynccontextmanager
async def opened(folder: Path) -> AsyncGenerator[ProjectFile]:
    source = ProjectFile(folder)
    await source.open(lambda: None)
    try:
        yield source
    finally:
        await source.close()


def made_folder(around: Path) -> Path:
    folder = around / "project"
    folder.mkdir()
    (folder / ".mcp.json").write_text(text_of("first"))
    return folder


def made_link(around: Path) -> Path:
    """A project whose file is a link to a link to a file, each in a folder of its own."""
    for each in ("project", "between", "kept"):
        (around / each).mkdir()
    (around / "kept" / "servers.json").write_text(text_of("first"))
    (around / "between" / "link").symlink_to("../kept/servers.json")
    (around / "project" / ".mcp.json").symlink_to("../between/link")
    return around / "project"


def write_in_place(around: Path) -> None:
    (around / "kept" / "servers.json").write_text(text_of("second"))


def rename_over(around: Path) -> None:
    fresh = around / "kept" / "fresh"
    fresh.write_text(text_of("second"))
    fresh.replace(around / "kept" / "servers.json")


def turn_the_link_between(around: Path) -> None:
    (around / "other.json").write_text(text_of("second"))
    fresh = around / "between" / "fresh"
    fresh.symlink_to("../other.json")
    fresh.replace(around / "between" / "link")


@pytest.mark.parametrize("happen", [write_in_place, rename_over, turn_the_link_between])
async def test_a_change_behind_a_link_is_noticed(tmp_path: Path, happen: Happen) -> None:
    async with opened(made_link(tmp_path)) as source:
        assert names(source) == ["first"]
        happen(tmp_path)
        assert await eventually(lambda: names(source) == ["second"], LONG)


def swap(folder: Path) -> None:
    folder.rename(folder.with_name("old"))
    folder.mkdir()


def make_anew(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


@pytest.mark.parametrize("happen", [swap, make_anew])
async def test_a_folder_that_takes_the_place_of_the_watched_one_is_watched(
    tmp_path: Path, happen: Happen, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is noticed long before the next look from outside was told by the watch.
    monkeypatch.setattr(watching, "LOOK_EVERY", 600.0)
    folder = made_folder(tmp_path)
    watches: list[AsyncGenerator[object]] = []

    def counted(news: AsyncGenerator[object]) -> aclosing[AsyncGenerator[object]]:
        watches.append(news)
        return aclosing(news)

    monkeypatch.setattr(watching, "aclosing", counted)
    async with opened(folder) as source:
        happen(folder)
        assert await eventually(lambda: len(watches) > 1, LONG)
        (folder / ".mcp.json").write_text(text_of("second"))
        assert await eventually(lambda: names(source) == ["second"], LONG)


async def test_a_folder_that_is_made_anew_after_a_while_is_noticed(tmp_path: Path) -> None:
    folder = made_folder(tmp_path)
    async with opened(folder) as source:
        shutil.rmtree(folder)
        assert await eventually(lambda: names(source) == [], LONG)
        folder.mkdir()
        (folder / ".mcp.json").write_text(text_of("second"))
        assert await eventually(lambda: names(source) == ["second"], LONG)


async def test_a_link_to_the_folder_that_is_turned_is_noticed(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        (tmp_path / name / ".mcp.json").write_text(text_of(name))
    current = tmp_path / "current"
    current.symlink_to("first")
    async with opened(current) as source:
        fresh = tmp_path / "fresh"
        fresh.symlink_to("second")
        fresh.replace(current)
        assert await eventually(lambda: names(source) == ["second"], LONG)


async def test_a_folder_whose_name_is_no_text_is_looked_at_without_a_watcher(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / os.fsdecode(b"bad\xff")
    folder.mkdir()
    async with opened(folder) as source:
        (folder / ".mcp.json").write_text(text_of("first"))
        assert await eventually(lambda: names(source) == ["first"], LONG)
    assert "checking it every second" in caplog.text


@pytest.mark.parametrize("turns", range(5))
async def test_a_save_in_the_moment_of_closing_does_not_keep_it_from_closing(
    tmp_path: Path, turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads: list[Path] = []

    def read(path: Path) -> bytes:
        reads.append(path)
        return read_file(path)

    folder = made_folder(tmp_path)
    source = ProjectFile(folder)
    await source.open(lambda: None)
    monkeypatch.setattr(project_file, "read_file", read)
    (folder / ".mcp.json").write_text("{")
    # The third look at a text that does not parse is followed by the longest pause.
    assert await eventually(lambda: len(reads) >= 3, LONG)
    source.look_again()
    for _ in range(turns):
        await asyncio.sleep(0)
    closing = asyncio.create_task(source.close())
    done, _ = await asyncio.wait({closing}, timeout=LONG)
    assert done


async def test_a_look_that_began_before_an_edit_does_not_take_it_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def read(path: Path) -> bytes:
        text = read_file(path)
        if not begun.is_set():
            begun.set()
            go_on.wait(LONG)
        return text

    changes: list[list[str]] = []
    folder = made_folder(tmp_path)
    source = ProjectFile(folder)
    await source.open(lambda: changes.append(names(source)))
    try:
        monkeypatch.setattr(project_file, "read_file", read)
        source.look_again()
        assert await eventually(begun.is_set, LONG)
        await source.add({"second": LocalConfig(command=["echo"])})
        go_on.set()
        (folder / ".mcp.json").write_text(text_of("third"))
        assert await eventually(lambda: names(source) == ["third"], LONG)
    finally:
        await source.close()
    assert changes == [["first"], ["first", "second"], ["third"]]


async def test_a_text_is_parsed_beside_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []
    parse = McpJsonReader.read

    def read(self: McpJsonReader, text: str) -> Document:
        threads.append(threading.current_thread())
        return parse(self, text)

    monkeypatch.setattr(McpJsonReader, "read", read)
    async with opened(made_folder(tmp_path)):
        assert threads
        assert threading.main_thread() not in threads
