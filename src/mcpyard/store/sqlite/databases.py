"""The two databases of a home, before anything is read from them."""

import asyncio
import logging
from pathlib import Path
from typing import Final, Self

from msgspec import Struct

from mcpyard.domain.errors import StateBroken
from mcpyard.domain.write_errors import unwritten
from mcpyard.store.sqlite.database import DatabaseKind
from mcpyard.store.sqlite.engine import Engine
from mcpyard.store.sqlite.schema import JOURNAL, STATE

log = logging.getLogger(__name__)

STATE_KIND: Final = DatabaseKind(STATE, "FULL", is_state=True)
JOURNAL_KIND: Final = DatabaseKind(JOURNAL, "NORMAL")


class Databases(Struct, frozen=True):
    """The open databases of a home: its state, and the journal of calls."""

    folder: Path
    state: Engine
    journal: Engine

    @classmethod
    async def open(cls, folder: Path) -> Self:
        """Open the databases of a home; both are made when they are not there.

        Raises:
            NewerState: A newer version wrote it; nothing was touched.
            StateBroken: It cannot be read, or is gone from a home that was used; nothing was
                touched.
            StorageFull: The disk has no room, or cannot be written.
        """
        await asyncio.to_thread(_make_folder, folder)
        state = await Engine.open(folder / "state.db", STATE_KIND)
        try:
            return cls(folder, state, await _open_journal(folder / "journal.db"))
        except BaseException:
            await state.close()
            raise

    async def close(self) -> None:
        """Finish what was asked for, and let the files go. May be repeated."""
        await self.state.close()
        await self.journal.close()


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
