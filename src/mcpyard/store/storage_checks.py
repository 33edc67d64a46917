"""Checks of a store that is open: whether it can be written, and what it lost."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from mcpyard.domain.degradation import Degradation, SelfCheck
from mcpyard.domain.write_errors import unwritten
from mcpyard.store.atomic_files import probe_writing
from mcpyard.store.sqlite.journal import SqliteJournal
from mcpyard.store.sqlite.store import Store
from mcpyard.store.upkeep import Upkeep

_DROPPED: Final = "{} calls were not recorded since mcpyard started"
_SLOW_DISK: Final = "Check the disk: it is full, read-only or too slow."


def storage_checks(store: Store, upkeep: Upkeep, folder: Path) -> Sequence[SelfCheck]:
    """The checks of a store in a folder."""

    async def storage() -> None:
        if fault := store.fault():
            raise fault
        try:
            await asyncio.to_thread(probe_writing, folder)
        except OSError as error:
            raise unwritten(f"{folder} is not writable: {error.strerror}", error) from error
        await store.responds()

    async def journal() -> Degradation | None:
        return _journal(store.journal)

    async def snapshots() -> Degradation | None:
        return Degradation.of("backups", upkeep.fault) if upkeep.fault else None

    return [
        SelfCheck("storage", storage),
        SelfCheck("journal", journal),
        SelfCheck("backups", snapshots),
    ]


def _journal(journal: SqliteJournal) -> Degradation | None:
    if not journal.is_dropping:
        return None
    return Degradation("journal", _DROPPED.format(journal.dropped), _SLOW_DISK)
