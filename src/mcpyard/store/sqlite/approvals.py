"""What was approved of project files."""

import sqlite3
from collections.abc import Mapping
from typing import Any

from mcpyard.domain.definition.approval import ApprovedEntry, Entries
from mcpyard.domain.definition.merge import plain
from mcpyard.domain.definition.parsing import read_definition
from mcpyard.domain.stored import Approval
from mcpyard.store.sqlite.codec import from_micros, from_text, to_micros, to_text
from mcpyard.store.sqlite.engine import Engine
from mcpyard.store.sqlite.migrations import version_of
from mcpyard.store.sqlite.rows import readable
from mcpyard.store.sqlite.schema import BINDS_ENTRIES, WHOLE_FOLDER


class SqliteApprovals:
    """One approval a folder."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._all: dict[str, Approval] = {}
        self._texts: dict[str, dict[str, tuple[ApprovedEntry, str]]] = {}

    async def load(self) -> None:
        """Read everything."""
        approvals = await self._engine.run(read_approvals)
        self._all = {each.folder: each for each in approvals}

    def all(self) -> Mapping[str, Approval]:
        """Every approval by its folder."""
        return self._all

    async def set(self, approval: Approval) -> None:
        """Keep an approval in place of the folder's earlier one."""
        entries = None if approval.entries is None else self._to_text(approval)

        def then(_: object) -> None:
            self._all[approval.folder] = approval

        await self._engine.execute(
            """INSERT INTO approvals (folder, at, entries) VALUES (?, ?, ?)
            ON CONFLICT DO UPDATE SET at = excluded.at, entries = excluded.entries""",
            (approval.folder, to_micros(approval.at), entries),
            then,
        )

    def _to_text(self, approval: Approval) -> str:
        """The entries of an approval; one that stays as it was is not written out anew."""
        before = self._texts.get(approval.folder, {})
        texts: dict[str, tuple[ApprovedEntry, str]] = {}
        for name, entry in (approval.entries or {}).items():
            cached = before.get(name)
            texts[name] = cached if cached and cached[0] is entry else (entry, _member(name, entry))
        self._texts[approval.folder] = texts
        return "{" + ",".join(text for _, text in texts.values()) + "}"


def read_approvals(connection: sqlite3.Connection) -> list[Approval]:
    """Every approval; also of a database that was not brought up to date."""
    if version_of(connection) < BINDS_ENTRIES:
        query = f"SELECT folder, at, NULL FROM approvals WHERE {WHOLE_FOLDER}"  # noqa: S608  a constant of ours
    else:
        query = "SELECT folder, at, entries FROM approvals ORDER BY rowid"
    return [*readable(connection.execute(query), _approval, "an approval")]


def _approval(folder: str, at: int, entries: str | None) -> Approval:
    return Approval(folder, from_micros(at), None if entries is None else _from_text(entries))


def _member(name: str, entry: ApprovedEntry) -> str:
    """A member of the object that an approval is stored as."""
    value = {
        "definition": plain(entry.config),
        "shadows": entry.shadows,
        "gone": entry.gone,
        "edit": plain(entry.edit) if entry.edit else None,
    }
    return to_text({name: value})[1:-1]


def _from_text(text: str) -> Entries:
    # Whatever else than an object stands there has no such pairs.
    return {name: _entry(**each) for name, each in dict(from_text(text)).items()}


def _entry(
    *, definition: dict[str, Any], shadows: bool, gone: bool, edit: dict[str, Any] | None
) -> ApprovedEntry:
    edited = read_definition(edit).config if edit else None
    return ApprovedEntry(read_definition(definition).config, shadows, gone, edited)
