"""A yard that was killed between the two writes of a rename: the file's, and the identity's."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mcpyard import Yard
from mcpyard.domain.desired import Owner
from mcpyard.domain.model import Scope
from mcpyard.store.sqlite.store import Store
from mcpyard.yard.edit import Change
from tests.cli.commands import missing, write_project

pytestmark = pytest.mark.real


class Folders:
    """A project and a home."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.project = folder / "p"
        self.home = folder / "home"
        self.owner = Owner(Scope.PROJECT, str(self.project / ".mcp.json"))

    def write(self, *names: str) -> None:
        off = missing(self._folder) | {"enabled": False}
        write_project(self.project, **dict.fromkeys(names, off))

    async def ids(self) -> dict[str, object]:
        async with Yard.open(self.project, home=self.home) as yard:
            return {str(each.name): each.id for each in yard.servers()}

    @asynccontextmanager
    async def store(self) -> AsyncGenerator[Store]:
        store = await Store.open(self.home)
        try:
            yield store
        finally:
            await store.close()

    async def intend(self, name: str, new: str) -> None:
        """Write what a yard writes before it renames a server in the file."""
        async with self.store() as store:
            await store.memory.intend_rename(self.owner, name, new)

    async def intended(self) -> list[tuple[Owner, str, str]]:
        async with self.store() as store:
            return [*store.memory.intended_renames()]


@pytest.fixture
def place(tmp_path: Path) -> Folders:
    project = Folders(tmp_path)
    project.write("old")
    return project


async def test_the_server_keeps_its_id_where_the_file_was_written(place: Folders) -> None:
    before = await place.ids()
    await place.intend("old", "new")
    place.write("new")
    assert await place.ids() == {"new": before["old"]}
    assert await place.intended() == []


async def test_the_old_name_keeps_it_where_the_file_was_not_written(place: Folders) -> None:
    before = await place.ids()
    await place.intend("old", "new")
    assert await place.ids() == before
    assert await place.intended() == []


async def test_where_the_file_has_both_names_they_are_two_servers(place: Folders) -> None:
    before = await place.ids()
    await place.intend("old", "new")
    place.write("old", "new")
    after = await place.ids()
    assert after["old"] == before["old"] != after["new"]
    assert await place.intended() == []


async def test_a_file_that_cannot_be_read_leaves_it_open(place: Folders) -> None:
    before = await place.ids()
    await place.intend("old", "new")
    (place.project / ".mcp.json").write_text("{")
    assert await place.ids() == {}
    place.write("new")
    assert await place.ids() == {"new": before["old"]}


@pytest.mark.parametrize("refused", [True, False])
async def test_a_rename_that_was_done_or_refused_leaves_nothing_open(
    place: Folders, refused: bool
) -> None:
    async with Yard.open(place.project, home=place.home) as yard:
        if refused:
            (place.project / ".mcp.json").write_text("{")
            with pytest.raises(ValueError, match=r"mcp\.json"):
                await yard.change("old", Change({"name": "new"}))
        else:
            await yard.change("old", Change({"name": "new"}))
    assert await place.intended() == []
