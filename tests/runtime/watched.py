"""A supervisor over fake sessions: what it is told, and what it tells."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from uuid import UUID

from mcpyard.domain.backoff import RestartPolicy
from mcpyard.domain.definition.launch import LocalLaunch, RemoteLaunch
from mcpyard.domain.desired import Desired, DesiredServer, Owner
from mcpyard.domain.lifecycle import Phase
from mcpyard.domain.model import HealthCheck, LocalConfig, RemoteConfig, Scope, Wanted
from mcpyard.domain.observed import Observed
from mcpyard.domain.plan import plan
from mcpyard.domain.ports import CallTerms
from mcpyard.runtime.clock import SystemClock
from mcpyard.runtime.session_runner import RuntimeDeps
from mcpyard.runtime.starts import Starts
from mcpyard.runtime.supervisor import Supervisor
from mcpyard.store.memory import VolatileMemory
from tests.runtime.openers import FakeOpener

ID = UUID(int=1)
QUICK = RestartPolicy(delays=(0.001, 0.001, 0.001))
TERMS = CallTerms(timeout=2)


def server(target: Wanted = Wanted.RUNNING, **more: object) -> DesiredServer:
    base = DesiredServer(
        id=ID,
        name="fs",
        owner=Owner(Scope.PROJECT),
        config=LocalConfig(command=["x"]),
        wanted=target,
        launch=LocalLaunch(("x",), {}, None, ()),
        launch_digest="l",
        policy_digest="p",
    )
    return replace(base, **more)


def remote_server(target: Wanted = Wanted.RUNNING) -> DesiredServer:
    """A server at an address."""
    config = RemoteConfig(url="http://127.0.0.1:9/mcp")
    return server(target, config=config, launch=RemoteLaunch(config.url, {}, None))


def checked(**settings: int) -> DesiredServer:
    """A server with these settings of its health check."""
    return server(config=LocalConfig(command=["x"], health=HealthCheck(**settings)))


class Watched:
    """A supervisor, what it is told, and what it tells."""

    def __init__(self, policy: RestartPolicy = QUICK) -> None:
        self.opener = FakeOpener()
        self.memory = VolatileMemory()
        deps = RuntimeDeps(self.opener, Starts(4), self.memory, SystemClock(), policy)
        self.supervisor = Supervisor(deps)
        self.supervisor.listen(self.note)
        self.phases: list[Phase] = []
        self.changed = asyncio.Event()

    def note(self, observed: Observed) -> None:
        if not self.phases or self.phases[-1] is not observed.state.phase:
            self.phases.append(observed.state.phase)
        self.changed.set()

    @property
    def seen(self) -> Observed:
        return self.supervisor.observed()[ID]

    def want(self, *servers: DesiredServer) -> None:
        desired = Desired({each.id: each for each in servers})
        self.supervisor.apply(plan(desired, self.supervisor.observed()), desired.servers)

    async def until(self, condition: Callable[[Observed], bool]) -> Observed:
        async with asyncio.timeout(3):
            while not condition(self.seen):
                self.changed.clear()
                await self.changed.wait()
        return self.seen

    async def phase(self, phase: Phase) -> Observed:
        return await self.until(lambda seen: seen.state.phase is phase)

    async def call(self, terms: CallTerms = TERMS) -> bytes:
        return await self.supervisor.call(ID, "t", b"{}", terms)


@asynccontextmanager
async def watched(policy: RestartPolicy = QUICK) -> AsyncGenerator[Watched]:
    watch = Watched(policy)
    try:
        yield watch
    finally:
        await watch.supervisor.close()
        assert watch.opener.closed
