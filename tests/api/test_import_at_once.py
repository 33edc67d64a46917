"""A pasted import of many servers is one edit: one write, one look, whatever their number."""

import json
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from mcpyard.domain.definition.merge import plain
from mcpyard.formats.mcp_json import McpJsonReader
from mcpyard.sources import project_file
from mcpyard.store.sql.definitions import SqlDefinitions
from mcpyard.store.sql.policies import SqlPolicies
from mcpyard.yard import reconcile
from tests.api.fake_yard import Faked, faked

MANY = 50
PASTED = json.dumps(
    {"mcpServers": {f"s{number}": {"command": "run", "args": []} for number in range(MANY)}}
)


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Generator[Counter[str]]:
    """Counts what an import does to files, to the store and to the desired state."""
    counts: Counter[str] = Counter()

    def count(owner: Any, name: str) -> None:  # noqa: ANN401  a module or a class
        real: Callable[..., object] = getattr(owner, name)

        def counting(*args: object, **kwargs: object) -> object:
            counts[name] += 1
            return real(*args, **kwargs)

        monkeypatch.setattr(owner, name, counting)

    with monkeypatch.context() as patch:
        monkeypatch = patch
        count(project_file, "edit_file")
        count(McpJsonReader, "read")
        count(reconcile, "desire")
        count(SqlDefinitions, "add_all")
        count(SqlPolicies, "set_all")
        count(SqlPolicies, "change")
        yield counts


async def imported(it: Faked, scope: str) -> list[dict[str, Any]]:
    body = {"text": PASTED, "scope": scope}
    return (await it.client.post("/api/mcp/import", json=body)).json()["servers"]


async def test_a_file_is_written_once_and_read_once_for_fifty_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with faked(tmp_path / "home", tmp_path) as it:
        await it.register("before", scope="project")
        events = it.yard.events()
        with counted(monkeypatch) as counts:
            servers = await imported(it, "project")
            # The watch may see the write and read it once more.
            assert counts.pop("read") in {1, 2}
            assert counts.pop("desire") in {1, 2}
            assert counts == {"edit_file": 1, "set_all": 1}
        assert [each["outcome"] for each in servers] == ["imported"] * MANY
        assert {each["server"]["state"] for each in servers} == {"stopped"}
        written = json.loads((tmp_path / ".mcp.json").read_text())["mcpServers"]
        assert [*written] == ["before", *(each["name"] for each in servers)]
        events.finish()
        kinds = Counter([event.kind async for event in events])
        assert kinds["documents"] <= 2


async def test_the_store_is_written_once_for_fifty_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with faked(tmp_path / "home") as it:
        with counted(monkeypatch) as counts:
            servers = await imported(it, "user")
            assert counts == {"add_all": 1, "set_all": 1, "desire": 1}
        assert [each["outcome"] for each in servers] == ["imported"] * MANY
        ids = {each["server"]["name"]: each["server"]["id"] for each in servers}
    async with faked(tmp_path / "home") as it:
        again = {each.server.name: str(each.server.id) for each in it.yard.pictures()}
        assert again == ids


@pytest.mark.parametrize("scope", ["project", "user"])
async def test_names_in_use_are_refused_and_the_others_imported(tmp_path: Path, scope: str) -> None:
    async with faked(tmp_path / "home", tmp_path) as it:
        await it.register("s7", scope=scope)
        servers = {each["name"]: each for each in await imported(it, scope)}
        assert [name for name, each in servers.items() if each["outcome"] != "imported"] == ["s7"]
        assert servers["s7"]["problem"]["type"] == "urn:mcpyard:error:name-taken"
        assert len(it.yard.pictures()) == MANY


async def test_a_name_that_another_program_just_wrote_is_refused_and_the_others_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = project_file.edit_file
    path = tmp_path / ".mcp.json"

    def late(target: Path, edit: project_file.Edit) -> object:
        path.write_text('{"mcpServers": {"s3": {"command": "theirs", "args": []}}}')
        return real(target, edit)

    async with faked(tmp_path / "home", tmp_path) as it:
        monkeypatch.setattr(project_file, "edit_file", late)
        servers = {each["name"]: each for each in await imported(it, "project")}
        assert [name for name, each in servers.items() if each["outcome"] != "imported"] == ["s3"]
        assert servers["s3"]["problem"]["detail"] == f'the name "s3" is in use in {path}'
        assert [*plain(it.yard.server("s3").config).values()] == ["theirs", []]
        assert it.yard.server("s3").config.wanted is None
