"""Many servers: each is made once, however many others come after it."""

import asyncio
from collections.abc import Callable, Iterable, Mapping

import pytest
from msgspec.structs import replace

from mcpyard.domain import desiring
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
from tests.steps import counting, steps
from tests.yard.begun import begun

MANY = 30
LINES_A_SERVER = 100
"""To make one takes two thousand."""
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
    monkeypatch.setattr(desiring, "make_launch", counting.make)
    return counting


def fresh_yard(trust: Trusting) -> YardCore:
    source = FakeEditableSource(Document(OWNER))
    ports = Ports(
        [source], VolatileMemory(), VolatilePolicies(), FakeServers(), ManualClock(), {}.get
    )
    return YardCore(replace(ports, trust=trust))


def body(number: int) -> dict[str, object]:
    return {"name": f"s{number}", "command": "run", "args": [], "start": False}


def work_of_one_more(count: int) -> int:
    """The steps of adding one server to so many."""

    async def work() -> int:
        async with begun(fresh_yard(Trusting())) as yard:
            await yard.register_all(body(number) for number in range(count))
            await yard.settled("s0")
            with counting() as taken:
                await yard.register(body(count))
            return taken.lines

    return asyncio.run(work())


async def register_many(yard: YardCore) -> None:
    for number in range(MANY):
        await yard.register(body(number))


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


def test_four_times_as_many_servers_at_once_are_four_times_the_work() -> None:
    async def work(count: int) -> None:
        async with begun(fresh_yard(Trusting())) as yard:
            await yard.register_all(body(number) for number in range(count))
            assert len(yard.servers()) == count

    few, many = (steps(lambda count=count: asyncio.run(work(count))) for count in (MANY, 4 * MANY))
    assert many < 4 * few * 1.2


def test_what_one_more_server_looks_at_of_each_other_is_little() -> None:
    few, many = work_of_one_more(MANY), work_of_one_more(5 * MANY)
    assert (many - few) / (4 * MANY) < LINES_A_SERVER
