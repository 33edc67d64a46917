"""What SQLite's errors are called here."""

import sqlite3
from pathlib import Path
from typing import Final

from mcpyard.domain.errors import NotWritable, StateBroken, StorageFull, YardBusy, YardError

_PRIMARY: Final = 0xFF
"""The low byte of an error code says what kind it is, the rest where it arose."""

_KINDS: Final[dict[int, tuple[type[YardError], str]]] = {
    sqlite3.SQLITE_PERM: (NotWritable, "cannot be written"),
    sqlite3.SQLITE_READONLY: (NotWritable, "cannot be written"),
    sqlite3.SQLITE_IOERR: (StorageFull, "cannot be written"),
    sqlite3.SQLITE_FULL: (StorageFull, "cannot be written"),
    sqlite3.SQLITE_CANTOPEN: (NotWritable, "cannot be written"),
    sqlite3.SQLITE_BUSY: (YardBusy, "is locked by another program"),
    sqlite3.SQLITE_LOCKED: (YardBusy, "is locked by another program"),
    sqlite3.SQLITE_CORRUPT: (StateBroken, "cannot be read"),
    sqlite3.SQLITE_NOTADB: (StateBroken, "cannot be read"),
}


def domain_error(error: Exception, path: Path) -> Exception:
    """An error as callers know it; a mistake of our own stays what it is."""
    code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY
    if code not in _KINDS:
        return error
    kind, sentence = _KINDS[code]
    named = kind(f"{path} {sentence}: {error}")
    named.__cause__ = error
    return named
