"""The store of a node: what its cluster shares, and what stays on its machine."""

import asyncio
import logging
from functools import partial
from pathlib import Path
from typing import Final, Self
from uuid import UUID

from mcpyard.domain.errors import ClusterRefused, StateGone, StoreAway, YardError
from mcpyard.store.journal_limits import JournalLimits
from mcpyard.store.postgres.claims import ClaimedCredentials
from mcpyard.store.postgres.credentials import SharedSecrets
from mcpyard.store.postgres.engine import PostgresEngine
from mcpyard.store.postgres.following import Follower, OnChanges
from mcpyard.store.postgres.memory import SharedMemory
from mcpyard.store.postgres.setup import examined, seal_of
from mcpyard.store.postgres.small_tables import AdminToken, SharedTurns
from mcpyard.store.postgres.splitting import SplitMemory, SplitPolicies
from mcpyard.store.sql.browser_sessions import SqlSessions
from mcpyard.store.sql.definitions import SqlDefinitions
from mcpyard.store.sql.policies import SqlPolicies
from mcpyard.store.sql.profiles import SqlProfiles
from mcpyard.store.sql.sealing import Seal
from mcpyard.store.sql.tokens import SqlTokens
from mcpyard.store.sqlite.store import Store

log = logging.getLogger(__name__)

_LIMITS: Final = JournalLimits()


class SharedStore:
    """All that a cluster shares, without what a node keeps for itself."""

    def __init__(self, dsn: str, seal: Seal) -> None:
        self.seal = seal
        self.connect = connect = partial(examined, dsn, seal)
        self.engine = PostgresEngine(connect)
        self.memory = SharedMemory(self.engine)
        self.policies = SqlPolicies(self.engine)
        self.definitions = SqlDefinitions(self.engine, self.memory, self.policies)
        self.profiles = SqlProfiles(self.engine)
        self.tokens = SqlTokens(self.engine)
        self.sessions = SqlSessions(self.engine)
        self.credentials = ClaimedCredentials(self.engine, self.seal)
        self.secrets = SharedSecrets(self.engine, self.seal)
        self.turns = SharedTurns(self.engine)
        self.admin = AdminToken(self.engine)
        repositories = (
            *(self.definitions, self.memory, self.policies, self.profiles),
            *(self.tokens, self.sessions, self.secrets, self.turns, self.admin),
        )
        tables = [table for each in repositories for table in each.cached()]
        self.follower = Follower(self.engine, connect, tables)
        self.follower.after = self.memory.retry

    @classmethod
    async def open(cls, dsn: str, key: str, older_key: str = "", *, required: bool = True) -> Self:
        """Open what a cluster shares.

        Args:
            dsn: The address of the database, which is a secret.
            key: The key of the cluster, as in MCPYARD_KEY.
            older_key: The key before, while it is changed.
            required: Whether the database must answer now. Otherwise a store whose database is
                away is empty until it is back.

        Raises:
            ClusterRefused: It cannot be joined as it is set up, or does not answer.
        """
        seal = seal_of(key, older_key)
        store = cls(dsn, seal)
        try:
            await store.follower.catch_up()
        except StoreAway as error:
            refusal = await asyncio.to_thread(_refusal, dsn, seal)
            if refusal or required:
                await store.close()
                raise refusal or _unreachable(error) from None
            log.warning("%s; shared servers are not known until it is back", error)
        except BaseException:
            await store.close()
            raise
        return store

    async def close(self) -> None:
        """Write what is not written yet, and let the database go."""
        await self.follower.close()
        await self.credentials.close()
        try:
            await self.memory.close()
        finally:
            await self.engine.close()


class ClusterStore:
    """All that a node keeps: the shared part in PostgreSQL, its own in the SQLite of its home."""

    def __init__(self, shared: SharedStore, local: Store) -> None:
        self.shared = shared
        self.local = local
        # A policy is stored before the definition that it belongs to.
        is_shared = shared.memory.has
        self.memory = SplitMemory(shared.memory, local.memory, is_shared)
        self.policies = SplitPolicies(shared.policies, local.policies, is_shared)
        self.definitions = shared.definitions
        self.profiles = shared.profiles
        self.tokens = shared.tokens
        self.sessions = shared.sessions
        self.credentials = shared.credentials
        self.secrets = shared.secrets
        self.secret_consents = local.secret_consents
        self.seen_clients = local.seen_clients
        self.turns = shared.turns
        self.admin = shared.admin
        self.approvals = local.approvals
        self.edits = local.edits
        self.dropped_fields = local.dropped_fields
        self.owned_entries = local.owned_entries
        self.journal = local.journal
        self.history = local.history
        self.snapshots = local.snapshots

    @classmethod
    async def open(
        cls,
        folder: Path,
        dsn: str,
        key: str,
        limits: JournalLimits = _LIMITS,
        *,
        required: bool = True,
    ) -> Self:
        """Open the store of a node: its home, and its cluster (see `SharedStore.open`).

        Raises:
            ClusterRefused: The cluster cannot be joined as it is set up.
            NewerState: A newer version wrote the home.
            StateBroken: The home cannot be read.
            StorageFull: The disk has no room, or cannot be written.
        """
        shared = await SharedStore.open(dsn, key, required=required)
        try:
            local = await Store.open(folder, limits)
        except BaseException:
            await shared.close()
            raise
        return cls(shared, local)

    def follow(self, changed: OnChanges) -> None:
        """See what other nodes change from now on.

        Args:
            changed: Called in the event loop once memory is up to date, with the keys that other
                nodes changed by topic: the name of a table, such as `definitions` or `tokens`.
                With none when the database was away and is back.
        """
        self.shared.follower.begin(changed)

    @property
    def away(self) -> StoreAway | None:
        """Why the cluster's database cannot be used; None while it answers."""
        return self.shared.engine.fault()

    @property
    def hears(self) -> bool | None:
        """Whether hints of other nodes arrive; behind a transaction pooler they do not."""
        return self.shared.follower.hears

    @property
    def written(self) -> int:
        """The revision of this node's last change."""
        return self.shared.engine.written

    def look(self) -> None:
        """Read now what other nodes changed, without a hint."""
        self.shared.follower.look()

    async def reached(self, rev: int) -> None:
        """Return when this node knows every change up to a revision."""
        await self.shared.follower.reached(rev)

    def fault(self) -> StateGone | None:
        """Why nothing can be stored in the home, where that is known without trying."""
        return self.local.fault()

    async def responds(self) -> None:
        """Wait until the databases of the home took a transaction."""
        await self.local.responds()

    def is_shared(self, server: UUID) -> bool:
        """Whether a server is the cluster's; others are pinned to this machine."""
        return self.shared.memory.has(server)

    async def close(self) -> None:
        """Write what is not written yet, and let go of home and cluster."""
        try:
            await self.shared.close()
        finally:
            await self.local.close()


def _refusal(dsn: str, seal: Seal) -> ClusterRefused | None:
    try:
        examined(dsn, seal).close()
    except ClusterRefused as refusal:
        return refusal
    except YardError:
        return None
    return None


def _unreachable(error: StoreAway) -> ClusterRefused:
    return ClusterRefused(error.message).advising(error.advice)
