"""The entries in the files of other programs that a sync wrote, by hashes of what it wrote."""

import json
import sqlite3
from collections.abc import Mapping
from typing import Final

from mcpyard.domain.sync.plan import EntryDigest, EntryKey, OwnedEntry
from mcpyard.store.sqlite.engine import Engine

_CLAIM: Final = """INSERT INTO owned_entries (path, keys, name, written, unit, settled)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (path, keys, name) DO UPDATE SET
    before = written, written = excluded.written, unit = excluded.unit,
    settled = excluded.settled"""
_FORGET: Final = """DELETE FROM owned_entries
    WHERE written IS NULL AND settled = 1 AND (unit IS NULL OR unit NOT IN (SELECT unit FROM edits))
"""
"""What was given up is kept for as long as that can be undone."""


class SqliteOwnedEntries:
    """Entries, in the database of the state (see the `OwnedEntries` port)."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def all(self) -> Mapping[EntryKey, OwnedEntry]:
        """Every one."""
        rows = await self._engine.execute(
            "SELECT path, keys, name, written, before, settled FROM owned_entries"
        )
        entries: dict[EntryKey, OwnedEntry] = {}
        for path, keys, name, written, before, settled in rows:
            last, earlier = _digest(written), _digest(before)
            if owned := last or (None if settled else earlier):
                key = EntryKey(path, tuple(json.loads(keys)), name)
                entries[key] = OwnedEntry(owned, earlier, bool(settled))
        return entries

    async def claim(
        self, entries: Mapping[EntryKey, EntryDigest | None], unit: int | None = None
    ) -> None:
        """Say what is about to be written by a unit of edits; None gives one up."""
        rows = [
            (key.path, json.dumps(key.keys), key.name, _text(written), unit, unit is None)
            for key, written in entries.items()
        ]

        def store(connection: sqlite3.Connection) -> None:
            connection.executemany(_CLAIM, rows)
            connection.execute(_FORGET)

        await self._engine.run(store)

    async def settle(self, unit: int) -> None:
        """Say that a unit was written."""
        await self._engine.execute("UPDATE owned_entries SET settled = 1 WHERE unit = ?", (unit,))

    async def take_back(self, unit: int) -> None:
        """Let what a unit claimed and nothing claimed since be owned as before it."""

        def store(connection: sqlite3.Connection) -> None:
            connection.execute(
                "DELETE FROM owned_entries WHERE unit = ? AND before IS NULL", (unit,)
            )
            connection.execute(
                """UPDATE owned_entries SET written = before, before = NULL, unit = NULL,
                settled = 1 WHERE unit = ?""",
                (unit,),
            )

        await self._engine.run(store)


def _text(digest: EntryDigest | None) -> str | None:
    return None if digest is None else json.dumps([digest.meaning, digest.whole, digest.on])


def _digest(text: str | None) -> EntryDigest | None:
    return None if text is None else EntryDigest(*json.loads(text))
