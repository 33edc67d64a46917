"""An import of many servers: worked out once, beside the loop, and taken back whole."""

import json
import threading
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import Problem
from mcpyard.sources.client_files import DiskClientFiles
from mcpyard.yard.clients import workspace
from mcpyard.yard.clients.operations import Importing
from mcpyard.yard.clients.workspace import Workspace
from mcpyard.yard.clients.yard_scope_documents import Plain, document
from mcpyard.yard.edit import Change, ServerEditor
from tests.clients.machine import machine

MANY = [f"s{number}" for number in range(12)]
CLAUDE = json.dumps(
    {"mcpServers": {name: {"command": "run", "args": [name], "timeout": 5000} for name in MANY}}
)


@pytest.mark.parametrize("scope", ["user", "project"])
async def test_it_is_worked_out_once_and_nobody_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scope: str
) -> None:
    real, threads = Importing.do, list[int]()

    def do(self: Importing, workspace: Workspace) -> None:
        threads.append(threading.get_ident())
        real(self, workspace)

    monkeypatch.setattr(Importing, "do", do)
    async with machine(tmp_path, claude=CLAUDE) as it:
        rows = await it.clients.import_all(scope)
        assert {each.outcome for each in rows} == {"imported"}
    assert len(threads) == 1
    assert threading.get_ident() not in threads


@pytest.mark.parametrize("scope", ["user", "project"])
async def test_what_the_yard_will_say_is_spelled_once_however_many_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scope: str
) -> None:
    spelled = list[int]()

    def counting(servers: dict[str, Plain]) -> str:
        spelled.append(len(servers))
        return document(servers)

    monkeypatch.setattr(workspace, "document", counting)
    async with machine(tmp_path, claude=CLAUDE) as it:
        await it.clients.import_all(scope)
    assert spelled == [len(MANY)]


async def test_a_name_that_is_taken_after_the_first_look_is_left_to_whoever_took_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = DiskClientFiles.locked
    async with machine(tmp_path, claude=CLAUDE) as it:

        @asynccontextmanager
        async def late(self: DiskClientFiles, *args: Iterable[object]) -> AsyncGenerator[None]:
            await it.yard.register({"name": "s3", "command": "theirs", "args": []})
            async with real(self, *args):  # pyright: ignore[reportArgumentType]  as it was called
                yield

        monkeypatch.setattr(DiskClientFiles, "locked", late)
        rows = await it.clients.import_all()
        refused = [each.name for each in rows if each.outcome == "refused"]
        assert refused == ["s3"]
        assert it.yard.record("s3").command == "theirs"
        assert len(it.yard.pictures()) == len(MANY)


async def test_it_is_taken_back_whole_although_the_projects_file_is_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = ServerEditor.change
    async with machine(tmp_path, claude=CLAUDE) as it:
        stays = {"name": "stays", "scope": "project", "command": "run", "args": []}
        await it.yard.register(stays)
        await it.clients.import_all("project")

        async def late(self: ServerEditor, server: DesiredServer, change: Change) -> list[Problem]:
            events = it.yard.events()
            while len(it.yard.pictures()) > 1:
                await anext(aiter(events))
            events.finish()
            return await real(self, server, change)

        monkeypatch.setattr(ServerEditor, "change", late)
        await it.clients.undo()
        assert [each.server.name for each in it.yard.pictures()] == ["stays"]
        (edit,) = await it.clients.edits()
        assert edit.undone
        assert set(json.loads((it.project / ".mcp.json").read_text())["mcpServers"]) == {"stays"}
