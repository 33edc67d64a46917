"""Wires the parts of a `Yard`; its side effects begin here.

The HTTP interfaces are wired in `cli/daemon/http_interfaces.py`.
"""

import os
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from msgspec import Struct
from msgspec.structs import replace

from mcpyard import __version__
from mcpyard.cluster.node_options import NodeOptions
from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.degradation import SelfCheck
from mcpyard.domain.model import Config
from mcpyard.domain.source import Source
from mcpyard.early_start import EarlyStart, start_early
from mcpyard.runtime.clock import SystemClock
from mcpyard.runtime.commands import commands_on
from mcpyard.runtime.key_ring import UserKeyRing
from mcpyard.runtime.no_servers import IdleServers
from mcpyard.runtime.opening import WireOpener
from mcpyard.runtime.processes.keeper_client import KeeperClient
from mcpyard.runtime.session_runner import RuntimeDeps
from mcpyard.runtime.signins import SignInManager
from mcpyard.runtime.starts import Starts
from mcpyard.runtime.supervisor import Supervisor
from mcpyard.runtime.variables import Variables
from mcpyard.sources.code import CodeSource
from mcpyard.sources.environment import EnvironmentSource
from mcpyard.sources.project_file import ProjectFile, read_project
from mcpyard.storage import Storage, open_storage, storage_over
from mcpyard.store.home import user_directory
from mcpyard.wire.eras import ANSWERABLE, ClientFace
from mcpyard.yard.secrets import SecretPorts
from mcpyard.yard.server_questions import NO_ANSWERS
from mcpyard.yard.trust import ApprovalPolicy, Trust
from mcpyard.yard.usage_sampling import sampling
from mcpyard.yard.yard import Ports, YardCore

if TYPE_CHECKING:
    from mcpyard.yard.clients.transaction import ClientReach
    from mcpyard.yard.server_content import InProcessRequests

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
        keeper: KeeperClient,
    ) -> None:
        self.code = code
        self.storage = storage
        identity = replace(host.identity, instance=uuid4().hex[:12])
        environment = host.environment
        clock = SystemClock()
        variables = Variables(environment, storage.secrets, storage.secret_consents)
        storage.secrets.changed = storage.secret_consents.changed = variables.notify
        face = ClientFace("mcpyard", __version__, declared=ANSWERABLE)
        node = storage.node
        sign_ins = SignInManager(
            storage.credentials, node.name if node else "", node.claims if node else None
        )
        opener = WireOpener(keeper, storage.memory, environment, face, sign_ins)
        opener.identity = identity
        self._supervisor = Supervisor(RuntimeDeps(opener, Starts(), storage.memory, clock))
        ports = Ports(
            sources=[code, *sources],
            memory=storage.memory,
            policies=storage.policies,
            servers=node.connect(self._supervisor, opener) if node else self._supervisor,
            clock=clock,
            lookup=variables,
            secrets=variables,
            secret_store=SecretPorts(
                storage.secrets, storage.secret_consents, variables, None if node else UserKeyRing()
            ),
            journal=storage.journal,
            history=storage.history,
            sign_ins=sign_ins,
            trust=Trust(storage.approvals, clock, host.approval),
            read_project=read_project,
            profiles=storage.profiles,
            seen_clients=storage.seen_clients,
            identity=identity,
            clients=partial(reach_clients, storage, environment),
            fault=storage.fault,
            checks=[*storage.checks, SelfCheck("keeper", keeper.check)],
            turns=storage.turns,
            recording=storage.recording,
            cluster=node,
            commands=partial(commands_on, environment.get("PATH", os.defpath)),
            gateway=open_gateway,
        )
        super().__init__(ports)

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
    code, folder = CodeSource(servers), Path(home) if home is not None else None
    host = HostEnvironment(own, approval, identity)
    expected = _expect_servers([code, *all_sources])
    async with (
        start_early(folder, servers=expected) as early,
        wire_yard(early, all_sources, host, code) as yard,
    ):
        yield yard


@asynccontextmanager
async def wire_yard(
    early: EarlyStart,
    sources: Sequence[Source],
    host: "HostEnvironment",
    code: CodeSource,
    node: NodeOptions | None = None,
) -> AsyncGenerator[WiredYard]:
    """Run a yard over what was begun early (see `open_yard`), also as a node of a cluster."""
    async with storage_over(early.home, early.databases, node, __version__) as storage:
        keeper = KeeperClient(uuid4().hex, key=early.key, program=early.keeper)
        if early.keeper or _expect_servers(storage.sources):
            keeper.start_early()
        yard = WiredYard([*sources, *storage.sources], storage, code, host, keeper)
        try:
            await early.sweep
            await yard.begin()
            if storage.node and early.home:
                (source,) = storage.sources
                await storage.node.start(yard, source, keeper, early.home)
            async with sampling(yard, storage.history):
                yield yard
        finally:
            if storage.node:
                await storage.node.close()
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


def open_gateway(yard: YardCore) -> "InProcessRequests":
    """The gateway for the program that it runs in, when somebody first needs it."""
    from mcpyard.gateway.in_process import InProcessClient  # noqa: PLC0415

    return InProcessClient(yard, NO_ANSWERS)


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
        secrets=storage.secrets,
        consents=storage.secret_consents,
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
                lookup=Variables(environment, storage.secrets, storage.secret_consents),
                clients=partial(reach_clients, storage, environment),
                identity=SelfIdentity(homes=frozenset({str(home)} if home else ())),
                profiles=storage.profiles,
                seen_clients=storage.seen_clients,
            )
        )
        try:
            await yard.begin()
            yield yard
        finally:
            await yard.close()
