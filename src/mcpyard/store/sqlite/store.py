"""The store of one home: every repository, over its two databases."""

import asyncio
import logging
from pathlib import Path
from typing import Final, Self

from mcpyard.domain.errors import StateBroken, StateGone
from mcpyard.domain.write_errors import unwritten
from mcpyard.store.journal_limits import JournalLimits
from mcpyard.store.sqlite.approvals import SqliteApprovals
from mcpyard.store.sqlite.browser_sessions import SqliteSessions
from mcpyard.store.sqlite.credentials import SqliteCredentials
from mcpyard.store.sqlite.database import DatabaseKind
from mcpyard.store.sqlite.definitions import SqliteDefinitions
from mcpyard.store.sqlite.dropped_fields import SqliteDroppedFields
from mcpyard.store.sqlite.edits import SqliteEdits
from mcpyard.store.sqlite.engine import Engine
from mcpyard.store.sqlite.journal import SqliteJournal
from mcpyard.store.sqlite.memory import SqliteMemory
from mcpyard.store.sqlite.owned_entries import SqliteOwnedEntries
from mcpyard.store.sqlite.policies import SqlitePolicies
from mcpyard.store.sqlite.profiles import SqliteProfiles
from mcpyard.store.sqlite.schema import JOURNAL, STATE
from mcpyard.store.sqlite.sealing import Seal
from mcpyard.store.sqlite.snapshots import Snapshots
from mcpyard.store.sqlite.tokens import SqliteTokens

log = logging.getLogger(__name__)

STATE_KIND: Final = DatabaseKind(STATE, "FULL", is_state=True)
_LIMITS: Final = JournalLimits()
JOURNAL_KIND: Final = DatabaseKind(JOURNAL, "NORMAL")


class Store:
    """All that a yard keeps. One at a time a folder: the home's lock sees to it."""

    def __init__(self, state: Engine, journal: Engine, folder: Path, limits: JournalLimits) -> None:
        self._state = state
        self._journal = journal
        self.memory = SqliteMemory(state)
        self.policies = SqlitePolicies(state)
        self.definitions = SqliteDefinitions(state, self.memory, self.policies)
        self.profiles = SqliteProfiles(state)
        self.tokens = SqliteTokens(state)
        self.sessions = SqliteSessions(state)
        self.approvals = SqliteApprovals(state)
        self.credentials = SqliteCredentials(state, Seal(folder / "key"))
        self.edits = SqliteEdits(state)
        self.dropped_fields = SqliteDroppedFields(state)
        self.owned_entries = SqliteOwnedEntries(state)
        self.journal = SqliteJournal(journal, limits)
        self.snapshots = Snapshots(folder)

    @classmethod
    async def open(cls, folder: Path, limits: JournalLimits = _LIMITS) -> Self:
        """Open the store of a home; both are made when they are not there.

        Raises:
            NewerState: A newer version wrote it; nothing was touched.
            StateBroken: It cannot be read, or is gone from a home that was used; nothing was
                touched.
            StorageFull: The disk has no room, or cannot be written.
        """
        await asyncio.to_thread(_make_folder, folder)
        state = await Engine.open(folder / "state.db", STATE_KIND)
        try:
            journal = await _open_journal(folder / "journal.db")
        except BaseException:
            await state.close()
            raise
        store = cls(state, journal, folder, limits)
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
        ):
            await each.load()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise unwritten(f"{folder} cannot be created: {error.strerror}", error) from error


async def _open_journal(path: Path) -> Engine:
    try:
        return await Engine.open(path, JOURNAL_KIND)
    except StateBroken as error:
        # Lines of a journal are worth less than a yard that starts.
        log.warning("%s; moved aside; starting with a new one", error)
        await asyncio.to_thread(_put_aside, path)
        return await Engine.open(path, JOURNAL_KIND)


def _put_aside(path: Path) -> None:
    for part in ("-wal", "-shm"):
        path.with_name(f"{path.name}{part}").unlink(missing_ok=True)
    path.replace(path.with_name(f"{path.name}.unreadable"))
