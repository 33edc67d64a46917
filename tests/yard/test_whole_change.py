"""A change of one of the user's own servers is made as a whole, whenever the yard is killed."""

import contextlib
from pathlib import Path

import pytest

from mcpyard.domain.errors import DocumentMoved, NameTaken, StorageFull
from mcpyard.store.sqlite.engine import Engine
from mcpyard.store.sqlite.store import Store
from mcpyard.yard.edit import Change
from tests.clients.machine import Machine, machine

BEFORE = {"name": "x", "scope": "user", "command": "run", "args": ["a"], "timeout": 1000}
PATCH = {"name": "y", "args": ["b"], "timeout": 2000, "fallback": ["other"], "enabled": False}


async def kept(folder: Path) -> list[tuple[object, ...]]:
    """What the store of a yard that is gone says of its servers."""
    store = await Store.open(folder / "state")
    try:
        return [
            (each.name, each.definition["args"], *sorted(store.policies.all()[each.id].items()))
            for each in store.definitions.all()
        ]
    finally:
        await store.close()


def stop_writing(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Let so many writes through and no more, as a kill would."""
    real, writes = Engine.run, 0

    async def run(engine: Engine, *arguments: object) -> object:
        nonlocal writes
        writes += 1
        if writes > after:
            raise StorageFull("killed")
        return await real(engine, *arguments)  # pyright: ignore[reportArgumentType]  as it was called

    monkeypatch.setattr(Engine, "run", run)


@pytest.mark.parametrize("writes", range(5))
async def test_of_a_change_that_was_cut_short_nothing_or_everything_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, writes: int
) -> None:
    async with machine(tmp_path) as it:
        await it.http.post("/api/mcp/servers", json=BEFORE)
        with monkeypatch.context() as patched, contextlib.suppress(StorageFull):
            stop_writing(patched, writes)
            await it.yard.change("x", Change(PATCH))
    (definition,) = await kept(tmp_path)
    assert definition in [
        ("x", ["a"], ("timeout", 1000)),
        ("y", ["b"], ("enabled", False), ("fallback", ["other"]), ("timeout", 2000)),
    ]


async def fields_of(it: Machine, name: str) -> list[object]:
    record = await it.get(f"/api/mcp/servers/{name}")
    return [record[word] for word in ("id", "args", "timeout", "fallback", "enabled")]


async def test_a_change_of_everything_keeps_the_id(tmp_path: Path) -> None:
    async with machine(tmp_path) as it:
        await it.http.post("/api/mcp/servers", json=BEFORE)
        identity, *_ = await fields_of(it, "x")
        await it.http.patch("/api/mcp/servers/x", json=PATCH)
        assert await fields_of(it, "y") == [identity, ["b"], 2000, ["other"], False]
        await it.http.patch("/api/mcp/servers/y", json={"fallback": None, "timeout": 3000})
        assert await fields_of(it, "y") == [identity, ["b"], 3000, [], False]
        assert "x" not in {each.server.name for each in it.yard.pictures()}


async def test_a_change_to_a_name_in_use_changes_nothing(tmp_path: Path) -> None:
    async with machine(tmp_path) as it:
        for name in ("x", "y"):
            await it.http.post("/api/mcp/servers", json={**BEFORE, "name": name})
        before = await fields_of(it, "x")
        with pytest.raises(NameTaken):
            await it.yard.change("x", Change(PATCH))
        assert await fields_of(it, "x") == before


async def test_a_change_of_what_somebody_changed_meanwhile_is_refused_whole(
    tmp_path: Path,
) -> None:
    async with machine(tmp_path) as it:
        await it.http.post("/api/mcp/servers", json=BEFORE)
        seen = (await it.get("/api/mcp/servers/x"))["digest"]
        await it.http.patch("/api/mcp/servers/x", json={"args": ["theirs"]})
        with pytest.raises(DocumentMoved):
            await it.yard.change("x", Change(PATCH, expected=seen))
        assert (await fields_of(it, "x"))[1:3] == [["theirs"], 1000]
