"""The store of one home: every repository, over its two databases."""

from pathlib import Path
from typing import Final, Self

from mcpyard.domain.errors import StateGone
from mcpyard.store.journal_limits import JournalLimits
from mcpyard.store.sql.browser_sessions import SqlSessions
from mcpyard.store.sql.credentials import SqlCredentials
from mcpyard.store.sql.definitions import SqlDefinitions
from mcpyard.store.sql.memory import SqlMemory
from mcpyard.store.sql.policies import SqlPolicies
from mcpyard.store.sql.profiles import SqlProfiles
from mcpyard.store.sql.sealing import Seal
from mcpyard.store.sql.secrets import SqlSecrets
from mcpyard.store.sql.tokens import SqlTokens
from mcpyard.store.sqlite.approvals import SqliteApprovals
from mcpyard.store.sqlite.call_history import SqliteCallHistory
from mcpyard.store.sqlite.databases import Databases
from mcpyard.store.sqlite.dropped_fields import SqliteDroppedFields
from mcpyard.store.sqlite.edits import SqliteEdits
from mcpyard.store.sqlite.journal import SqliteJournal
from mcpyard.store.sqlite.owned_entries import SqliteOwnedEntries
from mcpyard.store.sqlite.secret_consents import SqliteSecretConsents
from mcpyard.store.sqlite.seen_clients import SqliteSeenClients
from mcpyard.store.sqlite.snapshots import Snapshots

_LIMITS: Final = JournalLimits()


class Store:
    """All that a yard keeps. One at a time a folder: the home's lock sees to it."""

    def __init__(self, databases: Databases, limits: JournalLimits) -> None:
        self._state, self._journal = state, journal = databases.state, databases.journal
        folder = databases.folder
        seal = Seal(folder / "key")
        self.memory = SqlMemory(state)
        self.policies = SqlPolicies(state)
        self.definitions = SqlDefinitions(state, self.memory, self.policies)
        self.profiles = SqlProfiles(state)
        self.tokens = SqlTokens(state)
        self.sessions = SqlSessions(state)
        self.approvals = SqliteApprovals(state)
        self.credentials = SqlCredentials(state, seal)
        self.secrets = SqlSecrets(state, seal)
        self.secret_consents = SqliteSecretConsents(state)
        self.seen_clients = SqliteSeenClients(state)
        self.edits = SqliteEdits(state)
        self.dropped_fields = SqliteDroppedFields(state)
        self.owned_entries = SqliteOwnedEntries(state)
        self.journal = SqliteJournal(journal, limits, seal)
        self.history = SqliteCallHistory(journal)
        self.snapshots = Snapshots(folder)

    @classmethod
    async def open(cls, folder: Path, limits: JournalLimits = _LIMITS) -> Self:
        """Open the store of a home (see `Databases.open`)."""
        return await cls.over(await Databases.open(folder), limits)

    @classmethod
    async def over(cls, databases: Databases, limits: JournalLimits = _LIMITS) -> Self:
        """The store over databases that are open; it closes them.

        Raises:
            StateBroken: They cannot be read.
        """
        store = cls(databases, limits)
        try:
            await store._load()
        except BaseException:
            await store.close()
            raise
        return store

    def fault(self) -> StateGone | None:
        """Why nothing can be stored, where that is known without trying."""
        return self._state.fault()

    async def responds(self) -> None:
        """Wait until both databases took a transaction.

        Raises:
            YardError: One refuses it.
        """
        await self._state.flush()
        await self._journal.flush()

    async def close(self) -> None:
        """Write what is not written yet, and let the files go."""
        try:
            await self.memory.close()
            await self.journal.close()
        finally:
            await self._state.close()
            await self._journal.close()

    async def _load(self) -> None:
        for each in (
            self.memory,
            self.policies,
            self.definitions,
            self.profiles,
            self.tokens,
            self.sessions,
            self.approvals,
            self.secrets,
            self.secret_consents,
            self.seen_clients,
        ):
            await each.load()
