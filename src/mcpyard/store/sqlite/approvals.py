"""What was approved of project files."""

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import chain, compress
from operator import is_not
from typing import Any

from mcpyard.domain.continuation import is_continued
from mcpyard.domain.definition.approval import ApprovedEntry, Entries
from mcpyard.domain.definition.merge import plain
from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.stored import Approval
from mcpyard.store.sql.codec import from_micros, from_text, to_micros, to_text
from mcpyard.store.sql.rows import readable
from mcpyard.store.sqlite.engine import Engine
from mcpyard.store.sqlite.migrations import version_of
from mcpyard.store.sqlite.schema import BINDS_ENTRIES, NO_ENTRIES, SPLITS_ENTRIES, WHOLE_FOLDER

_PUT = """INSERT INTO approvals (folder, at, entries) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET at = excluded.at, entries = excluded.entries"""
_PUT_ENTRY = """INSERT INTO approved_entries (folder, name, entry) VALUES (?, ?, ?)
    ON CONFLICT DO UPDATE SET entry = excluded.entry"""


class SqliteApprovals:
    """One approval a folder, and a row for each of its entries."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._all: dict[str, Approval] = {}
        self._written: dict[str, Entries] = {}
        self._writes = Counter[str]()

    async def load(self) -> None:
        """Read everything."""
        approvals = await self._engine.run(read_approvals)
        self._all = {each.folder: each for each in approvals}

    def all(self) -> Mapping[str, Approval]:
        """Every approval by its folder."""
        return self._all

    async def set(self, approval: Approval) -> None:
        """Keep an approval in place of the folder's earlier one.

        Only the entries that are others than those that were written last are written.
        """
        folder, entries = approval.folder, approval.entries or {}
        marker = None if approval.entries is None else NO_ENTRIES
        self._writes[folder] += 1
        number = self._writes[folder]
        # What is there is unknown while a write is under way, or when one failed.
        before = self._written.pop(folder, None)
        changed, gone = _difference(before or {}, entries)
        rows = [(folder, name, _text(entry)) for name, entry in changed.items()]

        def job(connection: sqlite3.Connection) -> None:
            connection.execute(_PUT, (folder, to_micros(approval.at), marker))
            if before is None:
                connection.execute("DELETE FROM approved_entries WHERE folder = ?", (folder,))
            names = [(folder, name) for name in gone]
            connection.executemany(
                "DELETE FROM approved_entries WHERE folder = ? AND name = ?", names
            )
            connection.executemany(_PUT_ENTRY, rows)

        def then(_: object) -> None:
            self._all[folder] = approval
            if self._writes[folder] == number:
                self._written[folder] = entries

        await self._engine.run(job, then)


def _difference(before: Entries, after: Entries) -> tuple[Entries, list[str]]:
    """The entries that came or are others than before, and the names of those that are gone."""
    names, values = [*after], [*after.values()]
    if is_continued([*before], names):
        # Mostly one is new and the one before it was looked at since; the others are no news.
        others = compress(names, map(is_not, before.values(), values))
        return {name: after[name] for name in chain(others, names[len(before) :])}, []
    changed = {name: entry for name, entry in after.items() if before.get(name) is not entry}
    return changed, [*(before.keys() - after.keys())]


def read_approvals(connection: sqlite3.Connection) -> list[Approval]:
    """Every approval; also of a database that was not brought up to date."""
    version = version_of(connection)
    if version < BINDS_ENTRIES:
        query = f"SELECT folder, at, NULL FROM approvals WHERE {WHOLE_FOLDER}"  # noqa: S608  a constant of ours
    else:
        query = "SELECT folder, at, entries FROM approvals ORDER BY rowid"
    members: dict[str, dict[str, str]] = defaultdict(dict)
    if version >= SPLITS_ENTRIES:
        query_entries = "SELECT folder, name, entry FROM approved_entries ORDER BY rowid"
        for folder, name, entry in connection.execute(query_entries):
            members[folder][name] = entry

    def read(folder: str, at: int, entries: str | None) -> Approval:
        if entries is None:
            return Approval(folder, from_micros(at))
        if version < SPLITS_ENTRIES or entries != NO_ENTRIES:
            return Approval(folder, from_micros(at), _from_text(entries))
        split = {name: from_text(text) for name, text in members[folder].items()}
        return Approval(folder, from_micros(at), _entries(split))

    return [*readable(connection.execute(query), read, "an approval")]


def _text(entry: ApprovedEntry) -> str:
    return to_text(
        {
            "definition": plain(entry.config),
            "shadows": entry.shadows,
            "gone": entry.gone,
            "edit": plain(entry.edit) if entry.edit else None,
        }
    )


def _from_text(text: str) -> Entries:
    # Whatever else than an object stands there has no such pairs.
    return _entries(dict(from_text(text)))


def _entries(members: Mapping[str, Any]) -> Entries:
    return {name: _entry(**each) for name, each in members.items()}


def _entry(
    *, definition: dict[str, Any], shadows: bool, gone: bool, edit: dict[str, Any] | None
) -> ApprovedEntry:
    edited = read_definition(edit).config if edit else None
    return ApprovedEntry(read_definition(definition).config, shadows, gone, edited)
