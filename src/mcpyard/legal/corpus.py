"""Writing documents into a corpus."""

import hashlib
import sqlite3
import threading
from collections.abc import Collection, Generator, Iterable
from contextlib import contextmanager
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Final, TypeAlias

from mcpyard.legal.model import DocumentKind, LegalDocument
from mcpyard.legal.query.terms import indexed
from mcpyard.legal.schema import connect

_SEPARATOR: Final = "\x1f"

_MARK_CURRENT: Final = """
UPDATE document SET current = (
    version_date = (
        SELECT max(other.version_date) FROM document AS other
        WHERE other.kind = document.kind AND other.title = document.title
        AND other.part = document.part
    )
) WHERE kind = ? AND title = ? AND part = ?
"""


Identity: TypeAlias = tuple[str, str, str, str]
"""What tells one document from another: its kind, title, part and version date."""


class StoreResult(StrEnum):
    """What storing a document did."""

    ADDED = "added"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"


class Corpus:
    """One corpus, in a file or in memory. Threads take turns."""

    def __init__(self, file: Path | None = None) -> None:
        """Open it; it is made if it is not there."""
        self._connection = connect(file)
        self._turn = threading.RLock()

    def close(self) -> None:
        """Let go of the file."""
        with self._turn:
            self._connection.close()

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection]:
        """The connection, for one thread."""
        with self._turn:
            yield self._connection

    def add(self, documents: Iterable[LegalDocument]) -> list[StoreResult]:
        """Store documents, all or none; of several versions of a law the newest is current."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._turn, _transaction(self._connection) as connection:
            return [_store(connection, each, now) for each in documents]

    def keep_only(self, identities: Collection[Identity]) -> int:
        """Take every other document out, all or none; how many those are."""
        with self._turn, _transaction(self._connection) as connection:
            rows = connection.execute("SELECT id, kind, title, part, version_date FROM document")
            gone = [row for row in rows.fetchall() if tuple(row)[1:] not in identities]
            for row in gone:
                _remove(connection, row["id"])
                connection.execute(_MARK_CURRENT, tuple(row)[1:4])
            return len(gone)

    def counts(self) -> dict[str, int]:
        """How many documents of each kind there are, all versions counted."""
        with self._turn:
            rows = self._connection.execute("SELECT kind, count(*) FROM document GROUP BY kind")
            counts: dict[str, int] = dict(rows.fetchall())
            return {kind.value: counts.get(kind, 0) for kind in DocumentKind}


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Generator[sqlite3.Connection]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _store(connection: sqlite3.Connection, document: LegalDocument, now: str) -> StoreResult:
    digest = _digest(document)
    identity = (document.kind, document.title, document.part)
    row = connection.execute(
        "SELECT id, digest FROM document"
        " WHERE kind = ? AND title = ? AND part = ? AND version_date = ?",
        (*identity, document.version_date),
    ).fetchone()
    if row is not None and row["digest"] == digest:
        return StoreResult.UNCHANGED
    if row is not None:
        _remove(connection, row["id"])
    cursor = connection.execute(
        "INSERT INTO document"
        " (kind, title, part, version_date, headline, source, digest, imported_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (*identity, document.version_date, document.headline, document.source, digest, now),
    )
    _write_passages(connection, cursor.lastrowid or 0, document)
    connection.execute(_MARK_CURRENT, identity)
    return StoreResult.ADDED if row is None else StoreResult.REPLACED


def _remove(connection: sqlite3.Connection, document: int) -> None:
    connection.execute(
        "DELETE FROM passage_index WHERE rowid IN (SELECT id FROM passage WHERE document = ?)",
        (document,),
    )
    connection.execute("DELETE FROM document WHERE id = ?", (document,))


def _write_passages(connection: sqlite3.Connection, owner: int, document: LegalDocument) -> None:
    for position, each in enumerate(document.passages):
        number, insertion = (each.number.main, each.number.insert) if each.number else (None, 0)
        cursor = connection.execute(
            "INSERT INTO passage (document, position, number, insertion, label, headings, text)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (owner, position, number, insertion, each.label, " > ".join(each.headings), each.text),
        )
        terms, singles = indexed(each.text)
        title, title_singles = indexed(f"{document.title} {document.part} {document.headline}")
        heading, _ = indexed(" ".join((each.label, *each.headings)))
        connection.execute(
            "INSERT INTO passage_index (rowid, terms, title, heading, singles, title_singles)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (cursor.lastrowid, terms, title, heading, singles, title_singles),
        )


def _digest(document: LegalDocument) -> str:
    """Of all that is stored; the file's own bytes may change without changing the text."""
    parts = [document.headline, document.source]
    for each in document.passages:
        parts += [each.label, str(each.number), *each.headings, each.text]
    return hashlib.sha256(_SEPARATOR.join(parts).encode()).hexdigest()
