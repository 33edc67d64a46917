"""The storage of a yard: in the databases of a home, in a cluster, or in memory."""

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from mcpyard.cluster.node_options import NodeOptions
from mcpyard.domain.call_repositories import CallHistoryStore, Journal, RecordingSettings
from mcpyard.domain.degradation import SelfCheck
from mcpyard.domain.errors import YardError
from mcpyard.domain.ports import Memory
from mcpyard.domain.repositories import (
    Approvals,
    DroppedFields,
    Edits,
    LoginSessions,
    OwnedEntries,
    Policies,
    Profiles,
    SecretConsents,
    Secrets,
    SeenClients,
    Tokens,
    Turns,
)
from mcpyard.runtime.clock import SystemClock
from mcpyard.runtime.signins import VolatileCredentials
from mcpyard.sources.database import DatabaseSource
from mcpyard.store.home import Home
from mcpyard.store.journal_limits import JournalLimits
from mcpyard.store.lenient import LenientSessions
from mcpyard.store.mark_key import user_folder
from mcpyard.store.memory import VolatileMemory, VolatilePolicies
from mcpyard.store.recording_settings import FileRecordingSettings
from mcpyard.store.sqlite.databases import Databases
from mcpyard.store.sqlite.store import Store
from mcpyard.store.storage_checks import storage_checks
from mcpyard.store.upkeep import Upkeep
from mcpyard.store.volatile import VolatileApprovals, VolatileCallTokens, VolatileSessions
from mcpyard.store.volatile_edits import VolatileDroppedFields, VolatileEdits
from mcpyard.store.volatile_owned import VolatileOwnedEntries
from mcpyard.store.volatile_secrets import VolatileSecretConsents, VolatileSecrets
from mcpyard.yard.calls.recording import VolatileRecordingSettings
from mcpyard.yard.intent import VolatileTurns
from mcpyard.yard.profiles import VolatileProfiles
from mcpyard.yard.seen_clients import VolatileSeenClients

if TYPE_CHECKING:
    from mcpyard.cluster_node import ClusterNode
    from mcpyard.store.postgres.store import ClusterStore
    from mcpyard.wire.remote.credentials import CredentialStore


class Storage(Struct, frozen=True):
    """The storage of a `Yard`; without a home it is in memory."""

    memory: Memory
    policies: Policies
    sources: tuple[DatabaseSource, ...] = ()
    journal: Journal | None = None
    history: CallHistoryStore | None = None
    credentials: "CredentialStore" = field(default_factory=VolatileCredentials)
    call_tokens: Tokens = field(default_factory=VolatileCallTokens)
    sessions: LoginSessions = field(default_factory=VolatileSessions)
    approvals: Approvals = field(default_factory=VolatileApprovals)
    profiles: Profiles = field(default_factory=VolatileProfiles)
    edits: Edits = field(default_factory=VolatileEdits)
    dropped_fields: DroppedFields = field(default_factory=VolatileDroppedFields)
    owned_entries: OwnedEntries = field(default_factory=VolatileOwnedEntries)
    secrets: Secrets = field(default_factory=VolatileSecrets)
    secret_consents: SecretConsents = field(default_factory=VolatileSecretConsents)
    seen_clients: SeenClients = field(default_factory=VolatileSeenClients)
    home: str = ""
    locks: Path = field(default_factory=user_folder)
    client_definitions: Path | None = None
    turns: Turns = field(default_factory=VolatileTurns)
    recording: RecordingSettings = field(default_factory=VolatileRecordingSettings)
    fault: Callable[[], YardError | None] = lambda: None
    checks: Sequence[SelfCheck] = ()
    node: "ClusterNode | None" = None


@asynccontextmanager
async def open_storage(home: str | Path | None) -> AsyncGenerator[Storage]:
    """Open the storage of a home for the block; without a home, in memory.

    Raises:
        YardBusy: Another process uses the home; names its pid and address.
    """
    if home is None:
        async with storage_over(None, None) as storage:
            yield storage
        return
    taken = Home(Path(home))
    taken.take()
    try:
        async with storage_over(taken.folder, Databases.open(taken.folder)) as storage:
            yield storage
    finally:
        taken.release()


@asynccontextmanager
async def storage_over(
    home: Path | None,
    databases: Awaitable[Databases] | None,
    node: NodeOptions | None = None,
    version: str = "",
) -> AsyncGenerator[Storage]:
    """The storage over the databases of a home; without them, in memory.

    `version` is what other nodes of a cluster are told.
    """
    if home is None or databases is None:
        yield Storage(VolatileMemory(), VolatilePolicies())
        return
    store = await Store.over(await databases, JournalLimits.of(os.environ))
    upkeep = Upkeep(store, SystemClock().now)
    upkeep_task = asyncio.create_task(upkeep.run(), name="upkeep")
    try:
        checks = storage_checks(store, upkeep, home)
        if node is None:
            yield _stored(store, home, checks)
        else:
            # PostgreSQL and the links between nodes are for clusters only.
            from mcpyard.cluster_node import open_node  # noqa: PLC0415

            async with open_node(store, node, version) as opened:
                parts = _stored(opened.store, home, [*checks, *opened.checks])
                yield replace(parts, turns=opened.turns, node=opened)
    finally:
        upkeep_task.cancel()
        await asyncio.wait({upkeep_task})
        await store.close()
        await upkeep.take_snapshot()


def _stored(store: "Store | ClusterStore", home: Path, checks: Sequence[SelfCheck]) -> Storage:
    return Storage(
        memory=store.memory,
        policies=store.policies,
        sources=(DatabaseSource(store.definitions),),
        journal=store.journal,
        history=store.history,
        credentials=store.credentials,
        call_tokens=store.tokens,
        sessions=LenientSessions(store.sessions),
        approvals=store.approvals,
        profiles=store.profiles,
        edits=store.edits,
        dropped_fields=store.dropped_fields,
        owned_entries=store.owned_entries,
        secrets=store.secrets,
        secret_consents=store.secret_consents,
        seen_clients=store.seen_clients,
        home=str(home),
        locks=home / "locks",
        client_definitions=home / "clients",
        recording=FileRecordingSettings(home / "recording"),
        fault=store.fault,
        checks=checks,
    )
