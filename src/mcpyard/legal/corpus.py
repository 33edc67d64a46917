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

from mcpyard.legal import times
from mcpyard.legal.citations import citations, decisions
from mcpyard.legal.model import DocumentKind, LegalDocument, Passage
from mcpyard.legal.query.folding import plain
from mcpyard.legal.query.numerals import Number
from mcpyard.legal.query.terms import indexed
from mcpyard.legal.schema import TABLES, VERSION, connect, version_of
from mcpyard.legal.settling import settle

_SEPARATOR: Final = "\x1f"

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
        if version_of(self._connection) < VERSION:
            _upgrade(self._connection)

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
        """Store documents, all or none."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        with self._turn, _transaction(self._connection) as connection:
            results = [_store(connection, each, now) for each in documents]
            # Also where no text changed: the tables may know more than at the last import.
            settle(connection)
            return results

    def keep_only(self, identities: Collection[Identity]) -> int:
        """Take every other document out, all or none; how many those are."""
        with self._turn, _transaction(self._connection) as connection:
            rows = connection.execute("SELECT id, kind, title, part, version_date FROM document")
            gone = [row for row in rows.fetchall() if tuple(row)[1:] not in identities]
            for row in gone:
                _remove(connection, row["id"])
            settle(connection)
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


def _upgrade(connection: sqlite3.Connection) -> None:
    """Write the texts of an older corpus anew: the index and the dates are made from them."""
    with _transaction(connection):
        documents = [
            (row, _stored(connection, row))
            for row in connection.execute("SELECT * FROM document ORDER BY id").fetchall()
        ]
        connection.execute("DROP VIEW cited")
        for table in ("passage_index", "passage", "document"):
            connection.execute(f"DROP TABLE {table}")
        for statement in filter(str.strip, TABLES.split(";\n")):
            connection.execute(statement)
        for row, document in documents:
            owner = _write_document(connection, document, row["digest"], row["imported_at"])
            _write_passages(connection, owner, document)
        settle(connection)
        connection.execute(f"PRAGMA user_version = {VERSION}")


def _stored(connection: sqlite3.Connection, row: sqlite3.Row) -> LegalDocument:
    passages = connection.execute(
        "SELECT * FROM passage WHERE document = ? ORDER BY position", (row["id"],)
    )
    return LegalDocument(
        DocumentKind(row["kind"]),
        row["title"],
        row["source"],
        tuple(
            Passage(
                each["label"],
                each["text"],
                None if each["number"] is None else Number(each["number"], each["insertion"]),
                tuple(filter(None, each["headings"].split(" > "))),
            )
            for each in passages.fetchall()
        ),
        part=row["part"],
        headline=row["headline"],
        version_date=row["version_date"],
    )


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
    owner = _write_document(connection, document, digest, now)
    _write_passages(connection, owner, document)
    return StoreResult.ADDED if row is None else StoreResult.REPLACED


def _remove(connection: sqlite3.Connection, document: int) -> None:
    connection.execute(
        "DELETE FROM passage_index WHERE rowid IN (SELECT id FROM passage WHERE document = ?)",
        (document,),
    )
    connection.execute("DELETE FROM document WHERE id = ?", (document,))


def _write_document(
    connection: sqlite3.Connection, document: LegalDocument, digest: str, now: str
) -> int:
    is_statute = document.kind is DocumentKind.STATUTE
    from_text = times.from_text(document) if is_statute else ""
    basis = times.DateBasis.FILE if document.in_force_from else times.DateBasis.TEXT
    values = {
        "kind": document.kind,
        "title": document.title,
        "part": document.part,
        "headline": document.headline,
        "version_date": document.version_date,
        "source": document.source,
        "digest": digest,
        "imported_at": now,
        "stated_from": document.in_force_from or from_text,
        "stated_until": document.in_force_until,
        "basis": basis if document.in_force_from or from_text else "",
    }
    cursor = connection.execute(
        f"INSERT INTO document ({', '.join(values)})"  # noqa: S608  our own column names
        f" VALUES ({', '.join(f':{name}' for name in values)})",
        values,
    )
    owner = cursor.lastrowid or 0
    for each in times.repeals_in(document) if is_statute else ():
        connection.execute("INSERT INTO repeal VALUES (?, ?, ?)", (owner, each.name, each.label))
    return owner


def _write_passages(connection: sqlite3.Connection, owner: int, document: LegalDocument) -> None:
    title, title_singles = indexed(f"{document.title} {document.part} {document.headline}")
    for position, each in enumerate(document.passages):
        number, insertion = (each.number.main, each.number.insert) if each.number else (None, 0)
        headings = " > ".join(each.headings)
        cursor = connection.execute(
            "INSERT INTO passage (document, position, number, insertion, label, headings, text,"
            " folded, folded_headings) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                *(owner, position, number, insertion, each.label, headings, each.text),
                *(plain(each.text), plain(f"{each.label} {headings}")),
            ),
        )
        terms, singles = indexed(each.text)
        heading, _ = indexed(" ".join((each.label, *each.headings)))
        connection.execute(
            "INSERT INTO passage_index (rowid, terms, title, heading, singles, title_singles)"
            " VALUES (?, ?, ?, ?, ?, ?)",
            (cursor.lastrowid, terms, title, heading, singles, title_singles),
        )
        if document.kind is DocumentKind.CASE:
            _write_citations(connection, owner, cursor.lastrowid or 0, each.text)


def _write_citations(connection: sqlite3.Connection, owner: int, passage: int, text: str) -> None:
    connection.executemany(
        "INSERT INTO citation VALUES (?, ?, ?, ?)",
        [(passage, each.law, each.number.main, each.number.insert) for each in citations(text)],
    )
    connection.executemany(
        "INSERT INTO decision VALUES (?, ?, ?, ?)",
        [(owner, each.court, each.day, each.number) for each in decisions(text)],
    )


def _digest(document: LegalDocument) -> str:
    """Of all that is stored; the file's own bytes may change without changing the text."""
    parts = [document.headline, document.source, document.in_force_from, document.in_force_until]
    for each in document.passages:
        parts += [each.label, str(each.number), *each.headings, each.text]
    return hashlib.sha256(_SEPARATOR.join(parts).encode()).hexdigest()
