"""The tables of a corpus, and how a database of it is opened."""

import sqlite3
from pathlib import Path
from typing import Final

from mcpyard.legal.notices import say_here

VERSION: Final = 2
_TIMEOUT: Final = 10.0

TABLES: Final = """
CREATE TABLE IF NOT EXISTS document (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    part TEXT NOT NULL,
    headline TEXT NOT NULL,
    version_date TEXT NOT NULL,
    source TEXT NOT NULL,
    digest TEXT NOT NULL,
    imported_at TEXT NOT NULL,
    stated_from TEXT NOT NULL DEFAULT '',
    stated_until TEXT NOT NULL DEFAULT '',
    basis TEXT NOT NULL DEFAULT '',
    valid_from TEXT NOT NULL DEFAULT '',
    valid_until TEXT NOT NULL DEFAULT '',
    ended_by TEXT NOT NULL DEFAULT '',
    UNIQUE (kind, title, part, version_date)
);
CREATE TABLE IF NOT EXISTS passage (
    id INTEGER PRIMARY KEY,
    document INTEGER NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    number INTEGER,
    insertion INTEGER NOT NULL DEFAULT 0,
    label TEXT NOT NULL,
    headings TEXT NOT NULL,
    text TEXT NOT NULL,
    folded TEXT NOT NULL,
    folded_headings TEXT NOT NULL,
    UNIQUE (document, position)
);
CREATE INDEX IF NOT EXISTS passage_number ON passage (number, insertion);
CREATE TABLE IF NOT EXISTS citation (
    passage INTEGER NOT NULL REFERENCES passage (id) ON DELETE CASCADE,
    law TEXT NOT NULL,
    number INTEGER NOT NULL,
    insertion INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS citation_article ON citation (law, number, insertion);
CREATE INDEX IF NOT EXISTS citation_passage ON citation (passage);
CREATE TABLE IF NOT EXISTS decision (
    document INTEGER NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    court TEXT NOT NULL,
    day TEXT NOT NULL,
    number TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS decision_document ON decision (document);
CREATE TABLE IF NOT EXISTS repeal (
    document INTEGER NOT NULL REFERENCES document (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    label TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS repeal_name ON repeal (name);
CREATE INDEX IF NOT EXISTS repeal_document ON repeal (document);
CREATE VIEW IF NOT EXISTS cited AS
SELECT passage.id, document, position, passage.number, insertion, label, headings, text,
    folded, folded_headings, kind, title, part, headline, version_date, source, imported_at,
    basis, valid_from, valid_until, ended_by
FROM passage JOIN document ON document.id = passage.document;
CREATE VIRTUAL TABLE IF NOT EXISTS passage_index USING fts5 (
    terms, title, heading, singles, title_singles, tokenize = 'porter unicode61'
);
"""


class NotACorpus(Exception):
    """The file is there and no corpus of this version."""


def connect(file: Path | None) -> sqlite3.Connection:
    """A connection to the database of a corpus, made if it is not there; without a file, in memory.

    Raises:
        NotACorpus: The file is something else, or was written by a newer version.
        OSError: The folder can't be made.
        sqlite3.OperationalError: It can't be opened, or another process holds it.
    """
    if file is not None:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    connection = sqlite3.connect(
        ":memory:" if file is None else file,
        timeout=_TIMEOUT,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        _prepare(connection)
    except sqlite3.OperationalError:
        connection.close()
        raise
    except sqlite3.DatabaseError as error:
        connection.close()
        raise NotACorpus(say_here("no_corpus", file=file, error=error)) from error
    except NotACorpus:
        connection.close()
        raise
    return connection


def version_of(connection: sqlite3.Connection) -> int:
    """The version of the tables."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return version


def _prepare(connection: sqlite3.Connection) -> None:
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    version = version_of(connection)
    if version == 0:
        # Readers go on while an import writes.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(f"BEGIN IMMEDIATE; {TABLES} PRAGMA user_version={VERSION}; COMMIT")
    elif version > VERSION:
        raise NotACorpus(say_here("newer_corpus", version=version, own=VERSION))
