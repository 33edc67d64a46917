"""The entries in the files of other programs that a sync wrote, by hashes of what it wrote.

Every claim of an entry is a row, as long as the edit that made it can be undone: who undoes several
edits owns at each step what was owned then.
"""

import json
import sqlite3
from collections.abc import Mapping
from typing import Final

from mcpyard.domain.sync.plan import EntryDigest, EntryKey, OwnedEntry
from mcpyard.store.sqlite.engine import Engine

_ALL: Final = """SELECT path, keys, name, written, before, settled FROM (
    SELECT *, LAG(written) OVER claims AS before, LEAD(id) OVER claims AS next FROM owned_claims
    WINDOW claims AS (PARTITION BY path, keys, name ORDER BY id)) WHERE next IS NULL"""
_CLAIM: Final = """INSERT INTO owned_claims (path, keys, name, written, unit, settled)
    VALUES (?, ?, ?, ?, ?, ?)"""
_FORGET_EARLIER: Final = """DELETE FROM owned_claims AS earlier WHERE EXISTS (
    SELECT 1 FROM owned_claims AS later WHERE later.id > earlier.id
    AND (later.path, later.keys, later.name) = (earlier.path, earlier.keys, earlier.name)
    AND (later.unit IS NULL OR later.unit NOT IN (SELECT unit FROM edits)))"""
"""What comes before a claim is kept for as long as that claim can be undone."""
_FORGET: Final = """DELETE FROM owned_claims AS given_up
    WHERE written IS NULL AND settled = 1 AND (unit IS NULL OR unit NOT IN (SELECT unit FROM edits))
    AND NOT EXISTS (SELECT 1 FROM owned_claims AS later WHERE later.id > given_up.id
    AND (later.path, later.keys, later.name) = (given_up.path, given_up.keys, given_up.name))"""
_OF_UNIT: Final = "SELECT id, path, keys, name, written FROM owned_claims WHERE unit = ?"
_NEWEST: Final = """SELECT written FROM owned_claims WHERE path = ? AND keys = ? AND name = ?
    ORDER BY id DESC LIMIT 1"""
_TAKE_BACK: Final = """DELETE FROM owned_claims WHERE path = ? AND keys = ? AND name = ?
    AND (id = ? OR (id > ? AND ?))"""


class SqliteOwnedEntries:
    """Entries, in the database of the state (see the `OwnedEntries` port)."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def all(self) -> Mapping[EntryKey, OwnedEntry]:
        """Every one."""
        entries: dict[EntryKey, OwnedEntry] = {}
        for path, keys, name, written, before, settled in await self._engine.execute(_ALL):
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
            connection.execute(_FORGET_EARLIER)
            connection.execute(_FORGET)

        await self._engine.run(store)

    async def settle(self, unit: int) -> None:
        """Say that a unit was written."""
        await self._engine.execute("UPDATE owned_claims SET settled = 1 WHERE unit = ?", (unit,))

    async def take_back(self, unit: int) -> None:
        """Let what a unit claimed be owned as before it."""

        def store(connection: sqlite3.Connection) -> None:
            for number, *entry, written in connection.execute(_OF_UNIT, (unit,)).fetchall():
                (newest,) = connection.execute(_NEWEST, entry).fetchone()
                # What was claimed since and says the same is taken out of its file as well.
                connection.execute(_TAKE_BACK, (*entry, number, number, newest == written))

        await self._engine.run(store)


def _text(digest: EntryDigest | None) -> str | None:
    if digest is None:
        return None
    source = [digest.source] if digest.source else []
    return json.dumps([digest.meaning, digest.whole, digest.on, *source])


def _digest(text: str | None) -> EntryDigest | None:
    return None if text is None else EntryDigest(*json.loads(text))
