"""A secret that is slow to come by holds up the servers that mention it, and nothing else."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import pytest

from mcpyard.domain.definition.launch import Launch, LocalLaunch, Unlaunchable
from mcpyard.domain.desired import Definition, DesiredServer, Document, Owner
from mcpyard.domain.model import LocalConfig, Scope, Wanted
from mcpyard.domain.observed import Observed
from mcpyard.testing import FakeServers, FakeSource, ManualClock, VolatileMemory, VolatilePolicies
from mcpyard.yard.yard import Ports, YardCore
from tests.yard.begun import begun

PLAIN = LocalConfig(command=["run"], wanted=Wanted.RUNNING)
SECRET = LocalConfig(command=["run", "${TOKEN}"], wanted=Wanted.RUNNING)


class Vault:
    """Variables that become known when a test says so."""

    def __init__(self) -> None:
        self.changed: Callable[[], None] = lambda: None
        self.values: dict[str, str] = {}
        self.awaited: set[str] = set()
        self.fault: Exception | None = None
        self.opened = asyncio.Event()

    def __call__(self, name: str) -> str | None:
        if self.fault:
            raise self.fault
        return self.values.get(name)

    async def answered(self) -> None:
        if self.awaited:
            await self.opened.wait()

    def ask(self) -> None:
        self.awaited.add("TOKEN")
        self.opened.clear()

    def answer(self, secret: str) -> None:
        self.values["TOKEN"] = secret
        self.awaited.clear()
        self.opened.set()
        self.changed()


class Bench(FakeServers):
    """Remembers what was tried out."""

    tried: Launch | Unlaunchable | None = None

    async def trial(self, server: DesiredServer) -> Observed:
        self.tried = server.launch
        return await super().trial(server)


class Setup:
    def __init__(self) -> None:
        self.owner = Owner(Scope.USER)
        self.source = FakeSource(Document(self.owner))
        self.servers = Bench()
        self.vault = Vault()
        self.yard = YardCore(
            Ports(
                [self.source],
                VolatileMemory(),
                VolatilePolicies(),
                self.servers,
                ManualClock(),
                self.vault,
                secrets=self.vault,
            )
        )

    def say(self, **configs: LocalConfig) -> None:
        definitions = tuple(Definition(name, config) for name, config in configs.items())
        self.source.say(Document(self.owner, definitions))

    def statuses(self) -> dict[str, str]:
        return {str(each.name): str(each.status) for each in self.yard.servers()}


@asynccontextmanager
async def running() -> AsyncGenerator[Setup]:
    around = Setup()
    async with begun(around.yard):
        yield around


async def test_only_the_server_that_mentions_it_waits_for_a_secret() -> None:
    async with running() as it:
        it.vault.ask()
        it.say(plain=PLAIN, secret=SECRET)
        await it.yard.settled("plain")
        assert it.statuses() == {"plain": "connected", "secret": "disconnected"}
        waiting = asyncio.create_task(it.yard.settled("secret"))
        it.vault.answer("abc")
        assert (await waiting).status == "connected"


async def test_a_server_that_runs_stays_as_it_is_while_its_secret_is_asked_for_again() -> None:
    async with running() as it:
        it.vault.answer("abc")
        it.say(secret=SECRET)
        await it.yard.settled("secret")
        it.servers.applied.clear()
        it.vault.ask()
        it.say(secret=SECRET, plain=PLAIN)
        await it.yard.settled("plain")
        assert [type(each).__name__ for each in it.servers.applied] == ["StartServer"]
        await it.yard.stop("secret", wait=5)
        assert it.statuses() == {"plain": "connected", "secret": "disconnected"}


async def test_a_trial_waits_for_its_secret() -> None:
    async with running() as it:
        it.vault.ask()
        body = {"command": "run", "args": ["${TOKEN}"], "transport": "stdio"}
        trial = asyncio.create_task(it.yard.trial(body))
        await asyncio.sleep(0)
        it.vault.answer("abc")
        assert (await trial).ok
        assert isinstance(it.servers.tried, LocalLaunch)
        assert it.servers.tried.command == ("run", "abc")


async def test_a_yard_comes_up_when_the_secrets_it_mentions_are_answered() -> None:
    it = Setup()
    it.vault.ask()
    it.say(secret=SECRET)
    beginning = asyncio.create_task(it.yard.begin())
    await asyncio.sleep(0)
    assert not beginning.done()
    it.vault.answer("abc")
    await beginning
    assert it.statuses() == {"secret": "connected"}
    await it.yard.close()


async def test_an_edit_that_could_not_be_looked_at_is_looked_at_the_next_time() -> None:
    async with running() as it:
        it.vault.fault = OSError("the bus is gone")
        it.say(secret=SECRET)
        with pytest.raises(OSError, match="the bus is gone"):
            it.yard.servers()
        it.vault.fault = None
        assert [*it.statuses()] == ["secret"]
