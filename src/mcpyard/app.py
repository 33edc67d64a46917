"""Wires the parts of a `Yard`; its side effects begin here.

The HTTP interfaces are wired in `cli/daemon/http_interfaces.py`.
"""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from msgspec import Struct, field
from msgspec.structs import replace

from mcpyard import __version__
from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.degradation import SelfCheck
from mcpyard.domain.errors import YardError
from mcpyard.domain.model import Config
from mcpyard.domain.ports import Memory, Source
from mcpyard.domain.repositories import (
    Approvals,
    DroppedFields,
    Edits,
    Journal,
    LoginSessions,
    OwnedEntries,
    Policies,
    Profiles,
    Tokens,
)
from mcpyard.runtime.clock import SystemClock
from mcpyard.runtime.no_servers import IdleServers
from mcpyard.runtime.opening import WireOpener
from mcpyard.runtime.processes.keeper_client import KeeperClient
from mcpyard.runtime.processes.marks import MarkKey
from mcpyard.runtime.processes.orphans import sweep_dead_yards
from mcpyard.runtime.session_runner import RuntimeDeps
from mcpyard.runtime.signins import SignInManager, VolatileCredentials
from mcpyard.runtime.starts import Starts
from mcpyard.runtime.supervisor import Supervisor
from mcpyard.runtime.variables import Variables
from mcpyard.sources.code import CodeSource
from mcpyard.sources.database import DatabaseSource
from mcpyard.sources.environment import EnvironmentSource
from mcpyard.sources.project_file import ProjectFile, read_project
from mcpyard.store.home import Home, user_directory
from mcpyard.store.journal_limits import JournalLimits
from mcpyard.store.lenient import LenientSessions
from mcpyard.store.mark_key import home_mark_key, user_folder, user_mark_key
from mcpyard.store.memory import VolatileMemory, VolatilePolicies
from mcpyard.store.sqlite.store import Store
from mcpyard.store.storage_checks import storage_checks
from mcpyard.store.upkeep import Upkeep
from mcpyard.store.volatile import VolatileApprovals, VolatileCallTokens, VolatileSessions
from mcpyard.store.volatile_edits import VolatileDroppedFields, VolatileEdits
from mcpyard.store.volatile_owned import VolatileOwnedEntries
from mcpyard.wire.eras import ANSWERABLE, ClientFace
from mcpyard.yard.profiles import VolatileProfiles
from mcpyard.yard.trust import ApprovalPolicy, Trust
from mcpyard.yard.yard import Ports, YardCore

if TYPE_CHECKING:
    from mcpyard.wire.remote.credentials import CredentialStore
    from mcpyard.yard.clients.transaction import ClientReach

ServerDefinitions = Mapping[str, Config | Mapping[str, object]]
"""Definitions of servers by name, in any accepted format."""

TRUSTING = ApprovalPolicy()
"""No project file needs approval."""

_NOWHERE = SelfIdentity()


class WiredYard(YardCore):
    """The core with real ports: processes, connections, files and databases.

    Attributes:
        code: The servers registered from Python; `code.add(name, config)` adds one.
        storage: Its storage, with tokens and sessions.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        storage: "Storage",
        code: CodeSource,
        host: "HostEnvironment",
    ) -> None:
        self.code = code
        self.storage = storage
        identity = replace(host.identity, instance=uuid4().hex[:12])
        environment = host.environment
        clock = SystemClock()
        variables = Variables(environment)
        self._keeper = keeper = KeeperClient(uuid4().hex, key=storage.mark_key)
        face = ClientFace("mcpyard", __version__, declared=ANSWERABLE)
        sign_ins = SignInManager(storage.credentials)
        opener = WireOpener(keeper, storage.memory, environment, face, sign_ins)
        opener.identity = identity
        self._supervisor = Supervisor(RuntimeDeps(opener, Starts(), storage.memory, clock))
        ports = Ports(
            sources=[code, *sources],
            memory=storage.memory,
            policies=storage.policies,
            servers=self._supervisor,
            clock=clock,
            lookup=variables,
            secrets=variables,
            journal=storage.journal,
            sign_ins=sign_ins,
            trust=Trust(storage.approvals, clock, host.approval),
            read_project=read_project,
            profiles=storage.profiles,
            identity=identity,
            clients=partial(reach_clients, storage, environment),
            fault=storage.fault,
            checks=[*storage.checks, SelfCheck("keeper", keeper.check)],
        )
        super().__init__(ports)

    def start_keeper(self) -> None:
        """Have the process that starts servers ready by the time the first one is started."""
        self._keeper.start_early()

    def force_close(self) -> None:
        """Close without waiting, after a second signal."""
        self._supervisor.force_close()


@asynccontextmanager
async def open_yard(  # noqa: PLR0913  one parameter a choice of the caller's
    project: str | Path | None = None,
    *,
    servers: ServerDefinitions | None = None,
    sources: Sequence[Source] = (),
    home: str | Path | None = None,
    environment: Mapping[str, str] | None = None,
    approval: ApprovalPolicy = TRUSTING,
    identity: SelfIdentity = _NOWHERE,
) -> AsyncGenerator[WiredYard]:
    """Run a yard inside the block (see `Yard.open`); its servers stop when the block ends.

    Args:
        project: A folder with a `.mcp.json`.
        servers: Definitions of servers by name.
        sources: Additional sources of definitions.
        home: A folder for persistent state.
        environment: The environment variables for definitions and server processes.
        approval: Which project files need the user's approval.
        identity: Identifies entries that point back to this instance.

    Raises:
        YardBusy: Another process uses the home; names its pid and address.
    """
    own = dict(os.environ if environment is None else environment)
    all_sources: list[Source] = [*sources, EnvironmentSource(own)]
    if project is not None:
        all_sources.insert(0, ProjectFile(Path(project)))
    async with open_storage(home) as storage:
        host = HostEnvironment(own, approval, identity)
        code = CodeSource(servers)
        yard = WiredYard([*all_sources, *storage.sources], storage, code, host)
        try:
            if _expect_servers([code, *all_sources, *storage.sources]):
                yard.start_keeper()
            # What a yard that was killed together with its keeper left behind.
            await asyncio.to_thread(sweep_dead_yards, storage.mark_key)
            await yard.begin()
            yield yard
        finally:
            await yard.close()


def _expect_servers(sources: Sequence[Source]) -> bool:
    """Whether there are definitions, or a file that is still to be read may have some."""
    return any(isinstance(each, ProjectFile) or each.document().definitions for each in sources)


class HostEnvironment(Struct, frozen=True):
    """The environment that a `Yard` runs in.

    Attributes:
        environment: The environment variables for definitions and server processes.
        approval: Which project files need the user's approval.
        identity: Identifies entries that point back to this instance.
    """

    environment: Mapping[str, str]
    approval: ApprovalPolicy
    identity: SelfIdentity


class Storage(Struct, frozen=True):
    """The storage of a `Yard`; without a home it is in memory."""

    memory: Memory
    policies: Policies
    sources: tuple[Source, ...] = ()
    journal: Journal | None = None
    credentials: "CredentialStore" = field(default_factory=VolatileCredentials)
    call_tokens: Tokens = field(default_factory=VolatileCallTokens)
    sessions: LoginSessions = field(default_factory=VolatileSessions)
    approvals: Approvals = field(default_factory=VolatileApprovals)
    profiles: Profiles = field(default_factory=VolatileProfiles)
    edits: Edits = field(default_factory=VolatileEdits)
    dropped_fields: DroppedFields = field(default_factory=VolatileDroppedFields)
    owned_entries: OwnedEntries = field(default_factory=VolatileOwnedEntries)
    home: str = ""
    locks: Path = field(default_factory=user_folder)
    client_definitions: Path | None = None
    mark_key: MarkKey = field(default_factory=MarkKey)
    fault: Callable[[], YardError | None] = lambda: None
    checks: Sequence[SelfCheck] = ()


def reach_clients(storage: Storage, environment: Mapping[str, str]) -> "ClientReach":
    """Access to the configuration files of other clients on this machine."""
    # Their formats are many, and most yards never need them.
    from mcpyard.formats import locations  # noqa: PLC0415
    from mcpyard.formats.registry import ClientRegistry  # noqa: PLC0415
    from mcpyard.sources.client_definitions import read_client_definitions  # noqa: PLC0415
    from mcpyard.sources.client_files import DiskClientFiles  # noqa: PLC0415
    from mcpyard.yard.clients.transaction import ClientReach  # noqa: PLC0415

    # A user without a home directory has no files in it; other programs look into the root then.
    home = environment.get("HOME") or str(user_directory() or "/")
    folders = locations.ClientFolders(environment, home, platform=sys.platform)
    files = DiskClientFiles(storage.locks)
    definitions = read_client_definitions(files, storage.client_definitions)
    return ClientReach(
        files,
        storage.edits,
        storage.dropped_fields,
        folders,
        storage.call_tokens,
        storage.owned_entries,
        storage.approvals,
        storage.home,
        ClientRegistry.defined_by(definitions),
    )


@asynccontextmanager
async def still_yard(home: Path | None, project: Path | None = None) -> AsyncGenerator[YardCore]:
    """Open a home for edits without running servers, while mcpyard is not running.

    Args:
        home: The folder; it is locked in the same way. Without one, nothing is stored.
        project: A folder with a `.mcp.json`.

    Raises:
        YardBusy: Another process uses the home; names its pid and address.
    """
    environment = dict(os.environ)
    async with open_storage(home) as storage:
        sources: list[Source] = [ProjectFile(project)] if project else []
        clock = SystemClock()
        policy = ApprovalPolicy(found=frozenset({project} if project else ()))
        yard = YardCore(
            Ports(
                sources=[*sources, EnvironmentSource(environment), *storage.sources],
                memory=storage.memory,
                policies=storage.policies,
                servers=IdleServers(),
                clock=clock,
                trust=Trust(storage.approvals, clock, policy),
                read_project=read_project,
                lookup=Variables(environment),
                clients=partial(reach_clients, storage, environment),
                identity=SelfIdentity(homes=frozenset({str(home)} if home else ())),
                profiles=storage.profiles,
            )
        )
        try:
            await yard.begin()
            yield yard
        finally:
            await yard.close()


@asynccontextmanager
async def open_storage(home: str | Path | None) -> AsyncGenerator[Storage]:
    """Open the storage of a home for the block; without a home, in memory.

    Raises:
        YardBusy: Another process uses the home; names its pid and address.
    """
    if home is None:
        key = MarkKey(user_mark_key())
        yield Storage(VolatileMemory(), VolatilePolicies(), mark_key=key)
        return
    taken = Home(Path(home))
    taken.take()
    try:
        store = await Store.open(taken.folder, JournalLimits.of(os.environ))
        upkeep = Upkeep(store, SystemClock().now)
        upkeep_task = asyncio.create_task(upkeep.run(), name="upkeep")
        try:
            mine = DatabaseSource(store.definitions)
            yield Storage(
                memory=store.memory,
                policies=store.policies,
                sources=(mine,),
                journal=store.journal,
                credentials=store.credentials,
                call_tokens=store.tokens,
                sessions=LenientSessions(store.sessions),
                approvals=store.approvals,
                profiles=store.profiles,
                edits=store.edits,
                dropped_fields=store.dropped_fields,
                owned_entries=store.owned_entries,
                home=str(taken.folder),
                locks=taken.folder / "locks",
                client_definitions=taken.folder / "clients",
                mark_key=_mark_key(taken),
                fault=store.fault,
                checks=storage_checks(store, upkeep, taken.folder),
            )
        finally:
            upkeep_task.cancel()
            await asyncio.wait({upkeep_task})
            await store.close()
            await upkeep.take_snapshot()
    finally:
        taken.release()


def _mark_key(home: Home) -> MarkKey:
    # Version 0.1 did not sign: what its killed yard left is known by that yard's pid and start.
    before = home.predecessor
    unsigned = [(before.pid, before.started)] if before and before.started else []
    return MarkKey(home_mark_key(home.folder), unsigned)
