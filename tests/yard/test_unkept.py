"""A store that refuses: what is wanted of a server holds all the same, until the yard ends."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from uuid import UUID

import pytest

from mcpyard.domain.desired import Definition, Document, Owner, PolicyEdit, PolicyPatch
from mcpyard.domain.errors import StorageFull
from mcpyard.domain.model import LocalConfig, Scope
from mcpyard.testing import (
    FakeEditableSource,
    FakeServers,
    ManualClock,
    VolatileMemory,
    VolatilePolicies,
)
from mcpyard.yard.edit import Change
from mcpyard.yard.yard import Ports, YardCore
from tests.yard.begun import begun

STOPPED = "not stored: stopped (no room); a restart of mcpyard starts it again"
RUNNING = "not stored: running (no room); a restart of mcpyard restores its previous state"


class RefusingPolicies(VolatilePolicies):
    full = False

    async def change(self, server: UUID, edit: PolicyEdit) -> PolicyPatch:
        if self.full:
            raise StorageFull("no room")
        return await super().change(server, edit)


class Setup:
    def __init__(self) -> None:
        one = Definition("one", LocalConfig(command=["x"]))
        source = FakeEditableSource(Document(Owner(Scope.PROJECT, "p/.mcp.json"), (one,)))
        self.policies = RefusingPolicies()
        ports = Ports(
            [source], VolatileMemory(), self.policies, FakeServers(), ManualClock(), {}.get
        )
        self.yard = YardCore(ports)

    @property
    def stored(self) -> list[PolicyPatch]:
        return [*self.policies.all().values()]


@asynccontextmanager
async def on_a_full_disk() -> AsyncGenerator[Setup]:
    around = Setup()
    async with begun(around.yard):
        await around.yard.start("one", wait=1)
        around.policies.full = True
        yield around


async def test_a_server_is_stopped_and_the_record_says_that_it_is_forgotten() -> None:
    async with on_a_full_disk() as it:
        record = await it.yard.stop("one", wait=1)
        assert (record.state, record.wanted) == ("stopped", "stopped")
        assert record.warnings == [STOPPED]
        assert it.yard.record("one").warnings == [STOPPED]
        assert it.stored == []


async def test_the_last_word_counts() -> None:
    async with on_a_full_disk() as it:
        await it.yard.stop("one", wait=1)
        record = await it.yard.start("one", wait=1)
        assert (record.state, record.warnings) == ("running", [RUNNING])
        restarted = await it.yard.restart("one", wait=1)
        assert (restarted.state, restarted.warnings) == ("running", [RUNNING])
        assert (await it.yard.stop("one", wait=1)).warnings == [STOPPED]


@pytest.mark.parametrize("action", ["stop", "start"])
async def test_saying_it_again_stores_it_once_there_is_room(action: str) -> None:
    async with on_a_full_disk() as it:
        await it.yard.stop("one", wait=1)
        it.policies.full = False
        record = await getattr(it.yard, action)("one", wait=1)
        assert record.warnings == []
        assert it.stored == [{"wanted": {"stop": "stopped", "start": "running"}[action]}]


async def test_it_is_stored_with_the_next_change_of_the_server() -> None:
    async with on_a_full_disk() as it:
        await it.yard.stop("one", wait=1)
        with pytest.raises(StorageFull):
            await it.yard.change("one", Change({"timeout": 5}))
        it.policies.full = False
        record = await it.yard.change("one", Change({"timeout": 5}), wait=1)
        assert (record.state, record.warnings) == ("stopped", [])
        assert it.stored == [{"wanted": "stopped", "timeout": 5}]


async def test_a_change_that_says_nothing_of_it_does_not_fail_with_it() -> None:
    async with on_a_full_disk() as it:
        await it.yard.stop("one", wait=1)
        record = await it.yard.change("one", Change({"args": ["y"]}), wait=1)
        assert (record.args, record.warnings) == (["y"], [STOPPED])


async def test_nothing_of_it_is_left_of_a_server_that_is_removed() -> None:
    async with on_a_full_disk() as it:
        await it.yard.stop("one", wait=1)
        it.policies.full = False
        await it.yard.remove("one")
        record = await it.yard.register({"name": "one", "command": "x", "args": []}, wait=1)
        assert record.state == "running"
        assert "not stored" not in str(record.warnings)
