"""The tables of a corpus, and how a database of it is opened."""

import sqlite3
from pathlib import Path
from typing import Final

VERSION: Final = 1
_TIMEOUT: Final = 10.0

_TABLES: Final = """
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
    current INTEGER NOT NULL DEFAULT 1,
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
    UNIQUE (document, position)
);
CREATE INDEX IF NOT EXISTS passage_number ON passage (number, insertion);
CREATE VIEW IF NOT EXISTS cited AS
SELECT passage.id, document, position, number, insertion, label, headings, text,
    kind, title, part, headline, version_date, source, imported_at, current
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
        NotACorpus: The file is something else, or was written by another version.
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
        raise NotACorpus(f"{file} is not a corpus: {error}") from error
    except NotACorpus:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == 0:
        # Readers go on while an import writes.
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(
            f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version={VERSION}; COMMIT"
        )
    elif version != VERSION:
        raise NotACorpus(f"the corpus has version {version}; this program reads version {VERSION}")
