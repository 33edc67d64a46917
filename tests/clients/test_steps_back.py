"""What one step back is: a whole import, one server of the yard, the token of a connection."""

import asyncio
import json
from pathlib import Path

import pytest

from mcpyard.api.app import build
from mcpyard.app import open_yard
from mcpyard.domain.errors import ChangedSince, StorageFull
from mcpyard.domain.stored import CallToken
from mcpyard.gateway.app import Gateway
from mcpyard.yard.clients.clients import Copy
from mcpyard.yard.edit import ServerEditor
from tests.api.asgi import client_of, keys_of
from tests.clients.machine import Machine, machine

THREE = json.dumps({"mcpServers": {name: {"command": "run", "args": [name]} for name in "abc"}})


async def names(it: Machine) -> set[str]:
    return {each["name"] for each in await it.get("/api/mcp/servers")}


async def add(it: Machine, name: str) -> None:
    body = {"name": name, "scope": "user", "start": False, "command": "other", "args": []}
    assert (await it.http.post("/api/mcp/servers", json=body)).status_code == 201


@pytest.mark.parametrize("scope", ["user", "project"])
async def test_a_whole_import_is_one_step_back(tmp_path: Path, scope: str) -> None:
    async with machine(tmp_path, claude=THREE) as it:
        rows = await it.clients.import_all(scope)
        assert {each.outcome for each in rows} == {"imported"}
        (edit,) = await it.clients.edits()
        assert edit.kind == "import"
        if scope == "user":
            assert (edit.paths, edit.servers) == (["yard:user"], ["a", "b", "c"])
        undone = await it.clients.undo()
        assert undone.removes == ("a", "b", "c")
        events = it.yard.events()
        while await names(it):
            await anext(aiter(events))
        events.finish()


async def test_what_was_added_or_removed_since_does_not_keep_an_import_from_being_undone(
    tmp_path: Path,
) -> None:
    async with machine(tmp_path, claude=THREE) as it:
        await it.clients.copy(Copy("claude", "codex", "a"))
        await it.clients.import_all()
        imported, copied = [each.id for each in await it.clients.edits()]
        await add(it, "legal")
        await it.http.delete("/api/mcp/servers/b")
        await it.clients.undo(imported)
        assert await names(it) == {"legal"}
        await it.clients.undo(copied)
        assert not it.path("codex").exists()


async def test_a_server_that_changed_since_is_named_and_nothing_else_is_shown(
    tmp_path: Path,
) -> None:
    async with machine(tmp_path, claude=THREE) as it:
        await it.clients.import_all()
        (imported,) = await it.clients.edits()
        await add(it, "legal")
        await it.http.patch("/api/mcp/servers/b", json={"args": ["mine"]})
        with pytest.raises(ChangedSince, match=r'^"b" in yard:user changed since') as refused:
            await it.clients.undo(imported.id)
        ((path, diff),) = refused.value.files
        assert path == "yard:user"
        assert '+        "mine"' in diff
        assert "legal" not in diff
        assert await names(it) == {"a", "b", "c", "legal"}


async def test_one_server_that_cannot_be_taken_keeps_out_no_other(tmp_path: Path) -> None:
    text = json.dumps({"mcpServers": {"ok": {"command": "run"}, "a\u0000b": {"command": "run"}}})
    async with machine(tmp_path, claude=text) as it:
        rows = await it.clients.import_all()
        assert {each.name: each.outcome for each in rows} == {
            "ok": "imported",
            "a\u0000b": "refused",
        }
        assert await names(it) == {"ok"}


async def test_of_an_import_that_fails_half_way_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    register_all = ServerEditor.register_all

    async def full(self: ServerEditor, bodies: list[dict[str, object]]) -> list[object]:
        others = [each for each in bodies if each["name"] != "c"]
        return [*await register_all(self, others), StorageFull("the disk is full")]

    async with machine(tmp_path, claude=THREE) as it:
        monkeypatch.setattr(ServerEditor, "register_all", full)
        with pytest.raises(StorageFull):
            await it.clients.import_all()
        assert await names(it) == set()
        assert await it.clients.edits() == []


async def test_a_rename_that_is_undone_removes_nothing(tmp_path: Path) -> None:
    async with machine(tmp_path) as it:
        await add(it, "x")
        await it.clients.rename("yard", "x", "y")
        undone = await it.clients.undo()
        assert undone.removes == ()
        assert await names(it) == {"x"}


async def test_with_a_connection_its_token_goes_and_no_other(tmp_path: Path) -> None:
    closing = asyncio.Event()
    async with open_yard(environment={"HOME": str(tmp_path)}) as yard:
        keys, dismissed = keys_of(yard), list[CallToken]()
        yard.clients.revoked = dismissed.append
        gateway = Gateway(yard, closing)
        app = build(yard, keys=keys, hosts=[], closing=closing, gateway=gateway)
        async with client_of(app) as http:
            for client in ("claude", "codex"):
                body = {"client": client, "http": True}
                assert (await http.post("/api/clients/connect", json=body)).status_code == 200
            look = await http.post("/api/clients/undo", json={"dryRun": True})
            assert look.json()["removes"] == []
            assert [each.revoked for each in keys.tokens.all()] == [None, None]
            await http.post("/api/clients/undo", json={})
            first, second = keys.tokens.all()
            assert first.revoked is None
            assert second.revoked is not None
            assert [each.id for each in dismissed] == [second.id]
            edits = (await http.get("/api/clients/edits")).json()
            assert [len(each["paths"]) for each in edits] == [1, 1]
        closing.set()
