"""Many servers: each is made once, however many others come after it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import pytest

from mcpyard.domain import desired
from mcpyard.domain.definition.approval import Entries
from mcpyard.domain.definition.launch import Launch, Unlaunchable, make_launch
from mcpyard.domain.desired import Document, Owner
from mcpyard.domain.model import Config, Scope
from mcpyard.testing import (
    FakeEditableSource,
    FakeServers,
    ManualClock,
    VolatileMemory,
    VolatilePolicies,
)
from mcpyard.yard.trust import Trusting
from mcpyard.yard.yard import Ports, YardCore
from tests.yard.begun import begun

MANY = 30
OWNER = Owner(Scope.USER)


class Holding(Trusting):
    """Lets every server wait."""

    def approved(self, documents: Iterable[Document]) -> Mapping[Owner, Entries]:
        return {each.owner: {} for each in documents}


class Counting:
    """Counts the launches that are made."""

    def __init__(self) -> None:
        self.made = 0

    def make(self, config: Config, lookup: Callable[[str], str | None]) -> Launch | Unlaunchable:
        self.made += 1
        return make_launch(config, lookup)


@pytest.fixture
def launches(monkeypatch: pytest.MonkeyPatch) -> Counting:
    counting = Counting()
    monkeypatch.setattr(desired, "make_launch", counting.make)
    return counting


def fresh_yard(trust: Trusting) -> YardCore:
    source = FakeEditableSource(Document(OWNER))
    ports = Ports(
        [source], VolatileMemory(), VolatilePolicies(), FakeServers(), ManualClock(), {}.get
    )
    return YardCore(replace(ports, trust=trust))


async def register_many(yard: YardCore) -> None:
    for number in range(MANY):
        await yard.register({"name": f"s{number}", "command": "run", "args": [], "start": False})


@pytest.mark.parametrize("trust", [Trusting(), Holding()], ids=["trusted", "held"])
async def test_servers_that_come_one_by_one_are_made_once_each(
    launches: Counting, trust: Trusting
) -> None:
    async with begun(fresh_yard(trust)) as yard:
        await register_many(yard)
        assert (len(yard.servers()), launches.made) == (MANY, MANY)


async def test_a_word_about_one_server_makes_no_other_anew(launches: Counting) -> None:
    async with begun(fresh_yard(Trusting())) as yard:
        await register_many(yard)
        launches.made = 0
        await yard.start("s7", wait=5)
        await yard.restart("s7", wait=5)
        await yard.stop("s7", wait=5)
        # What it is wanted to be is part of its policy; that it begins anew is not.
        assert launches.made == len({"start", "stop"})
