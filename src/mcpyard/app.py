"""The one place where the parts are wired: every side effect of the program begins here."""

import os
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Self
from uuid import uuid4

from mcpyard import __version__
from mcpyard.domain.model import LocalConfig, RemoteConfig
from mcpyard.domain.ports import Memory, Source
from mcpyard.runtime.clock import SystemClock
from mcpyard.runtime.keeping import Keeper
from mcpyard.runtime.opening import WireOpener
from mcpyard.runtime.starts import Starts
from mcpyard.runtime.supervisor import Supervisor
from mcpyard.runtime.tenure import Crew
from mcpyard.sources.environment import EnvironmentSource
from mcpyard.sources.memory import MemorySource
from mcpyard.sources.project_file import ProjectFile
from mcpyard.store.memory import VolatileMemory
from mcpyard.wire.eras import ClientFace
from mcpyard.yard.yard import YardCore

Servers = Mapping[str, LocalConfig | RemoteConfig | Mapping[str, object]]


class Yard(YardCore):
    """A yard with its own children: the library's front door.

    Attributes:
        code: The servers registered from Python; `code.add(name, config)` adds one.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        memory: Memory,
        code: MemorySource,
        environment: Mapping[str, str],
    ) -> None:
        self.code = code
        clock = SystemClock()
        keeper = Keeper(uuid4().hex)
        opener = WireOpener(keeper, memory, environment, ClientFace("mcpyard", __version__))
        self._supervisor = Supervisor(Crew(opener, Starts(), memory, clock))
        super().__init__([code, *sources], memory, self._supervisor, clock, environment.get)

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        project: str | Path | None = None,
        *,
        servers: Servers | None = None,
        sources: Sequence[Source] = (),
        environment: Mapping[str, str] | None = None,
    ) -> AsyncGenerator[Self]:
        """A private yard: its own children, nothing stored, nothing listening.

        Args:
            project: A folder whose `.mcp.json` is run and watched; naming it is the word to run it.
            servers: Servers registered from Python, in any spelling.
            sources: Further places that definitions come from.
            environment: The variables that definitions and children see; the process's own
                unless told.
        """
        own = dict(os.environ if environment is None else environment)
        found: list[Source] = [*sources, EnvironmentSource(own)]
        if project is not None:
            found.insert(0, ProjectFile(Path(project)))
        yard = cls(found, VolatileMemory(), MemorySource(servers), own)
        try:
            await yard.begin()
            yield yard
        finally:
            await yard.close()
