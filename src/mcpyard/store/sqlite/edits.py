"""The last edits of files, with what was there before: the way back."""

import asyncio
import sqlite3
import zlib
from collections.abc import Sequence
from typing import Any, Final

from mcpyard.domain.stored import EditEntry, FileEdit
from mcpyard.store.sql.codec import from_micros, to_micros
from mcpyard.store.sqlite.engine import Engine
from mcpyard.store.volatile_edits import KEPT

_ENTRY: Final = "id, at, who, kind, path, undone, unit"
_UNIT: Final = f"SELECT {_ENTRY}, before, after FROM edits WHERE unit = ? ORDER BY id"  # noqa: S608  constants
_LAST_UNITS: Final = "SELECT DISTINCT unit FROM edits ORDER BY unit DESC LIMIT ?"


class SqliteEdits:
    """Edits, newest first, up to a number of units."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def add(self, edit: FileEdit, unit: int | None = None) -> EditEntry:
        """Keep an edit; the oldest ones beyond the limit are forgotten."""
        row = await asyncio.to_thread(_row, edit)
        return await self._engine.run(lambda connection: _insert(connection, row, unit))

    async def recent(self) -> Sequence[EditEntry]:
        """The last edits, newest first."""
        rows = await self._engine.execute(f"SELECT {_ENTRY} FROM edits ORDER BY id DESC")  # noqa: S608  constants
        return [_entry(row) for row in rows]

    async def together(self, unit: int) -> Sequence[tuple[EditEntry, FileEdit]]:
        """The edits of a unit with their contents, in the order they were made."""
        rows = await self._engine.execute(_UNIT, (unit,))
        return await asyncio.to_thread(lambda: [_both(row) for row in rows])

    async def drop(self, unit: int) -> None:
        """Forget a unit that was not carried out after all."""
        await self._engine.execute("DELETE FROM edits WHERE unit = ?", (unit,))

    async def mark_undone(self, number: int) -> EditEntry | None:
        """Say that an edit was undone; None when there is no such edit."""
        rows = await self._engine.execute(
            f"UPDATE edits SET undone = 1 WHERE id = ? RETURNING {_ENTRY}",  # noqa: S608  constants
            (number,),
        )
        return _entry(rows[0]) if rows else None


def _insert(connection: sqlite3.Connection, row: tuple[object, ...], unit: int | None) -> EditEntry:
    number = connection.execute(
        """INSERT INTO edits (at, who, kind, path, before, after) VALUES (?, ?, ?, ?, ?, ?)""",
        row,
    ).lastrowid
    made = connection.execute(
        f"UPDATE edits SET unit = ? WHERE id = ? RETURNING {_ENTRY}",  # noqa: S608  constants
        (unit or number, number),
    ).fetchone()
    connection.execute(f"DELETE FROM edits WHERE unit NOT IN ({_LAST_UNITS})", (KEPT,))  # noqa: S608  constants
    return _entry(made)


def _row(edit: FileEdit) -> tuple[object, ...]:
    return (
        to_micros(edit.at),
        edit.who,
        edit.kind,
        edit.path,
        None if edit.before is None else zlib.compress(edit.before),
        None if edit.after is None else zlib.compress(edit.after),
    )


def _entry(row: tuple[Any, ...]) -> EditEntry:
    number, at, who, kind, path, undone, unit = row
    return EditEntry(number, from_micros(at), who, kind, path, bool(undone), unit)


def _both(row: tuple[Any, ...]) -> tuple[EditEntry, FileEdit]:
    *listed, before, after = row
    entry = _entry(tuple(listed))
    contents = (None if each is None else zlib.decompress(each) for each in (before, after))
    return entry, FileEdit(entry.at, entry.who, entry.kind, entry.path, *contents)
