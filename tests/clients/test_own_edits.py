"""Edits of mcpyard's own servers over REST: each is one edit, and can be undone."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from mcpyard.domain.errors import ChangedSince, EditUnknown
from mcpyard.yard.clients.clients import Copy
from tests.api.asgi import slug
from tests.clients.machine import Machine, machine

CLAUDE = '{"mcpServers": {"x": {"command": "run"}, "y": {"command": "ran"}}}'
SERVERS = "/api/mcp/servers"


async def add(it: Machine, name: str = "own", **more: object) -> Any:  # noqa: ANN401  any JSON
    body = {"name": name, "command": "cat", "args": ["a"], "start": False, **more}
    answer = await it.http.post(f"{SERVERS}?wait=0", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def undo(it: Machine, number: int | None = None) -> Any:  # noqa: ANN401  any JSON
    body = {} if number is None else {"id": number}
    return await it.http.post("/api/clients/undo", json=body)


def names(it: Machine) -> Sequence[str]:
    return [each.server.name for each in it.yard.pictures()]


async def until(it: Machine, condition: Callable[[], bool]) -> None:
    """Wait until what the file of the project says is seen."""
    events = it.yard.events()
    while not condition():
        await anext(aiter(events))
    events.finish()


@pytest.mark.parametrize("scope", ["user", "project"])
async def test_what_is_added_changed_and_removed_over_rest_is_walked_back(
    tmp_path: Path, scope: str
) -> None:
    async with machine(tmp_path) as it:
        await add(it, scope=scope)
        change = {"args": ["b"], "timeout": 5000, "name": "other"}
        assert (await it.http.patch(f"{SERVERS}/own?wait=0", json=change)).status_code == 200
        assert (await it.http.delete(f"{SERVERS}/other")).status_code == 204
        kinds = [(each.kind, each.who, each.servers) for each in await it.clients.edits()]
        assert [(kind, who) for kind, who, _ in kinds] == [
            (kind, "rest") for kind in ("remove", "edit", "add")
        ]
        assert (await undo(it)).status_code == 200
        await until(it, lambda: names(it) == ["other"])
        config = it.yard.server("other").config
        assert (config.model_dump()["command"], config.timeout) == (["cat", "b"], 5000)
        assert (await undo(it)).status_code == 200
        await until(it, lambda: names(it) == ["own"])
        config = it.yard.server("own").config
        assert (config.model_dump()["command"], config.timeout) == (["cat", "a"], 30000)
        assert (await undo(it)).status_code == 200
        await until(it, lambda: not names(it))
        with pytest.raises(EditUnknown):
            await it.clients.undo()


async def test_an_import_from_a_text_is_one_edit(tmp_path: Path) -> None:
    async with machine(tmp_path) as it:
        await add(it)
        report = await it.http.post("/api/mcp/import", json={"text": CLAUDE})
        assert sorted(names(it)) == ["own", "x", "y"]
        (edit, _) = await it.clients.edits()
        assert (edit.id, edit.kind, edit.servers) == (report.json()["edit"], "import", ["x", "y"])
        await undo(it)
        await until(it, lambda: names(it) == ["own"])
        again = await it.http.post("/api/mcp/import", json={"text": CLAUDE, "dryRun": True})
        assert again.json()["edit"] is None
        assert len(await it.clients.edits()) == 2


async def test_an_import_from_the_machine_tells_its_edit(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        report = await it.http.post("/api/mcp/import", json={})
        (edit,) = await it.clients.edits()
        assert (edit.id, edit.servers) == (report.json()["edit"], ["x", "y"])


async def test_nothing_is_journalled_of_an_edit_that_is_refused(tmp_path: Path) -> None:
    async with machine(tmp_path) as it:
        await add(it)
        refused = await it.http.post(SERVERS, json={"name": "own", "command": "cat"})
        assert slug(refused) == (409, "name-taken")
        assert (await it.http.patch(f"{SERVERS}/own", json={"args": ["a"]})).status_code == 200
        assert [each.kind for each in await it.clients.edits()] == ["add"]


async def test_the_newest_edit_is_undone_only_while_what_it_left_is_there(tmp_path: Path) -> None:
    async with machine(tmp_path, claude=CLAUDE) as it:
        await it.clients.copy(Copy("claude", "codex", "x"))
        (edit,) = await it.clients.edits()
        it.path("codex").write_text('model = "o"\n')
        refused = await undo(it)
        assert slug(refused) == (409, "changed-since")
        assert refused.json()["detail"].endswith("changed since the edit")
        assert refused.json()["hint"] == f"Undo it by its id: mcpyard undo {edit.id}"
        by_id = await undo(it, edit.id)
        assert (by_id.status_code, by_id.json()["files"]) == (200, [])
        assert it.read("codex") == 'model = "o"\n'


async def test_an_edit_that_a_newer_one_went_over_names_that(tmp_path: Path) -> None:
    async with machine(tmp_path) as it:
        await add(it)
        await it.http.patch(f"{SERVERS}/own?wait=0", json={"args": ["b"]})
        await it.http.patch(f"{SERVERS}/own?wait=0", json={"args": ["c"]})
        newest, middle, first = await it.clients.edits()
        refused = await undo(it, first.id)
        assert slug(refused) == (409, "changed-since")
        assert f"newer edits: {newest.id} (edit by rest), {middle.id}" in refused.json()["detail"]
        advice = f"Undo the newer edit first: mcpyard undo {newest.id}"
        assert refused.json()["hint"] == advice


async def test_what_changed_in_the_yard_by_other_means_is_not_walked_over(tmp_path: Path) -> None:
    async with machine(tmp_path) as it:
        await add(it)
        await it.yard.remove("own")
        with pytest.raises(ChangedSince, match="changed since the edit"):
            await it.clients.undo()
        (edit,) = await it.clients.edits()
        await it.clients.undo(edit.id)
        assert names(it) == []
