"""The one place where the parts are wired: every side effect of the program begins here."""

import asyncio
import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self
from uuid import uuid4

from mcpyard import __version__
from mcpyard.attached import AttachedYard
from mcpyard.domain.model import Config
from mcpyard.domain.ports import Memory, Source
from mcpyard.domain.repositories import Approvals, Journal, LoginSessions, Policies, Tokens
from mcpyard.runtime.clock import SystemClock
from mcpyard.runtime.keeping import Keeper
from mcpyard.runtime.opening import WireOpener
from mcpyard.runtime.orphans import sweep_dead_yards
from mcpyard.runtime.signins import SignIns, VolatileTokens
from mcpyard.runtime.starts import Starts
from mcpyard.runtime.supervisor import Supervisor
from mcpyard.runtime.tenure import Crew
from mcpyard.sources.database import DatabaseSource
from mcpyard.sources.environment import EnvironmentSource
from mcpyard.sources.memory import MemorySource
from mcpyard.sources.project_file import ProjectFile
from mcpyard.store.home import Home
from mcpyard.store.memory import VolatileMemory, VolatilePolicies
from mcpyard.store.sqlite.store import Store
from mcpyard.store.volatile import VolatileApprovals, VolatileCallTokens, VolatileSessions
from mcpyard.wire.eras import ClientFace
from mcpyard.yard.trust import Caution, Trust
from mcpyard.yard.yard import Ports, YardCore

if TYPE_CHECKING:
    from mcpyard.wire.signin import TokenStore

Servers = Mapping[str, Config | Mapping[str, object]]

_TRUSTING = Caution()


class Yard(YardCore):
    """A yard with its own children: the library's front door.

    Attributes:
        code: The servers registered from Python; `code.add(name, config)` adds one.
        kept: What it keeps; the faces find the keys of their doors there.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        kept: "Kept",
        code: MemorySource,
        environment: Mapping[str, str],
        caution: Caution,
    ) -> None:
        self.code = code
        self.kept = kept
        clock = SystemClock()
        keeper = Keeper(uuid4().hex)
        face = ClientFace("mcpyard", __version__)
        sign_ins = SignIns(kept.tokens)
        opener = WireOpener(keeper, kept.memory, environment, face, sign_ins)
        self._supervisor = Supervisor(Crew(opener, Starts(), kept.memory, clock))
        ports = Ports(
            sources=[code, *sources],
            memory=kept.memory,
            policies=kept.policies,
            servers=self._supervisor,
            clock=clock,
            lookup=environment.get,
            journal=kept.journal,
            sign_ins=sign_ins,
            trust=Trust(kept.approvals, clock, caution),
        )
        super().__init__(ports)

    @classmethod
    @asynccontextmanager
    async def open(  # noqa: PLR0913  one parameter a choice of the caller's
        cls,
        project: str | Path | None = None,
        *,
        servers: Servers | None = None,
        sources: Sequence[Source] = (),
        home: str | Path | None = None,
        environment: Mapping[str, str] | None = None,
        caution: Caution = _TRUSTING,
    ) -> AsyncGenerator[Self]:
        """A yard for as long as the block lasts; its children end with it.

        Without a home it is private: nothing is stored, nothing of the user's is touched.

        Args:
            project: A folder whose `.mcp.json` is run and watched; naming it is the word to run it.
            servers: Servers registered from Python, in any spelling.
            sources: Further places that definitions come from.
            home: A folder for what must survive; one yard at a time.
            environment: The variables that definitions and children see; the process's own
                unless told.
            caution: Which project files wait for the user's approval; none unless told.

        Raises:
            YardBusy: Another yard holds the home; names its pid and address.
        """
        own = dict(os.environ if environment is None else environment)
        found: list[Source] = [*sources, EnvironmentSource(own)]
        if project is not None:
            found.insert(0, ProjectFile(Path(project)))
        async with keeping(home) as kept:
            yard = cls([*found, *kept.sources], kept, MemorySource(servers), own, caution)
            try:
                # What a yard that was killed together with its keeper left behind.
                await asyncio.to_thread(sweep_dead_yards)
                await yard.begin()
                yield yard
            finally:
                await yard.close()

    @staticmethod
    def attach(
        home: str | Path | None = None,
    ) -> AbstractAsyncContextManager[AttachedYard]:
        """The running yard of a home, with the same interface, as an async context manager.

        Args:
            home: Its folder; the user's own unless told.
        """
        return AttachedYard.attach(home)

    def hurry(self) -> None:
        """Skip all patience in closing: a second signal came."""
        self._supervisor.hurry()


@dataclass(frozen=True, slots=True)
class Kept:
    """What a yard keeps over its restarts, or only pretends to."""

    memory: Memory
    policies: Policies
    sources: tuple[Source, ...] = ()
    journal: Journal | None = None
    tokens: "TokenStore" = field(default_factory=VolatileTokens)
    call_tokens: Tokens = field(default_factory=VolatileCallTokens)
    sessions: LoginSessions = field(default_factory=VolatileSessions)
    approvals: Approvals = field(default_factory=VolatileApprovals)


@asynccontextmanager
async def keeping(home: str | Path | None) -> AsyncGenerator[Kept]:
    """What a home keeps, for as long as the block lasts; without a home, what is forgotten.

    Raises:
        YardBusy: A yard holds the home; names its pid and address.
    """
    if home is None:
        yield Kept(VolatileMemory(), VolatilePolicies())
        return
    taken = Home(Path(home))
    taken.take()
    try:
        store = await Store.open(taken.folder)
        try:
            mine = DatabaseSource(store.definitions)
            yield Kept(
                store.memory,
                store.policies,
                (mine,),
                store.journal,
                store.credentials,
                store.tokens,
                store.sessions,
                store.approvals,
            )
        finally:
            await store.close()
    finally:
        taken.release()
