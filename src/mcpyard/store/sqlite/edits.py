"""The last edits of files, with what was there before: the way back."""

import asyncio
import sqlite3
import zlib
from collections.abc import Sequence
from typing import Any, Final

from mcpyard.domain.stored import Edit, EditEntry
from mcpyard.store.sqlite.codec import digest, from_micros, to_micros
from mcpyard.store.sqlite.engine import Engine

KEPT: Final = 100

_SELECT: Final = """SELECT id, at, who, kind, path, before_digest, after_digest, undone,
    before, after FROM edits WHERE id = ?"""


class SqliteEdits:
    """Edits, newest first, up to a number."""

    def __init__(self, engine: Engine, kept: int = KEPT) -> None:
        self._engine = engine
        self._kept = kept

    async def add(self, edit: Edit) -> EditEntry:
        """Keep an edit; the oldest ones beyond the limit are forgotten."""
        row = await asyncio.to_thread(_row, edit)
        return await self._engine.run(lambda connection: self._insert(connection, row))

    async def recent(self, limit: int = KEPT) -> Sequence[EditEntry]:
        """The last edits, newest first."""

        def job(connection: sqlite3.Connection) -> list[EditEntry]:
            rows = connection.execute(
                """SELECT id, at, who, kind, path, before_digest, after_digest, undone
                FROM edits ORDER BY id DESC LIMIT ?""",
                (max(limit, 0),),
            )
            return [_entry(row) for row in rows]

        return await self._engine.run(job)

    async def get(self, number: int) -> tuple[EditEntry, Edit] | None:
        """One edit with its contents."""
        row = await self._engine.run(
            lambda connection: connection.execute(_SELECT, (number,)).fetchone()
        )
        return await asyncio.to_thread(_both, row) if row else None

    async def mark_undone(self, number: int, *, undone: bool = True) -> EditEntry | None:
        """Say that an edit was undone, or done again; None when there is no such edit."""

        def job(connection: sqlite3.Connection) -> EditEntry | None:
            row = connection.execute(
                """UPDATE edits SET undone = ? WHERE id = ? RETURNING
                id, at, who, kind, path, before_digest, after_digest, undone""",
                (undone, number),
            ).fetchone()
            return _entry(row) if row else None

        return await self._engine.run(job)

    def _insert(self, connection: sqlite3.Connection, row: tuple[object, ...]) -> EditEntry:
        made = connection.execute(
            """INSERT INTO edits (at, who, kind, path, before_digest, after_digest, before, after)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            RETURNING id, at, who, kind, path, before_digest, after_digest, undone""",
            row,
        ).fetchone()
        connection.execute("DELETE FROM edits WHERE id <= ?", (made[0] - self._kept,))
        return _entry(made)


def _row(edit: Edit) -> tuple[object, ...]:
    return (
        to_micros(edit.at),
        edit.who,
        edit.kind,
        edit.path,
        None if edit.before is None else digest(edit.before),
        None if edit.after is None else digest(edit.after),
        None if edit.before is None else zlib.compress(edit.before),
        None if edit.after is None else zlib.compress(edit.after),
    )


def _entry(row: tuple[Any, ...]) -> EditEntry:
    number, at, who, kind, path, before, after, undone = row
    return EditEntry(number, from_micros(at), who, kind, path, before, after, bool(undone))


def _both(row: tuple[Any, ...]) -> tuple[EditEntry, Edit]:
    *listed, before, after = row
    entry = _entry(tuple(listed))
    contents = (None if each is None else zlib.decompress(each) for each in (before, after))
    return entry, Edit(entry.at, entry.who, entry.kind, entry.path, *contents)
