"""Opening a database file: its settings, a look at its health, its migrations."""

import os
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from mcpyard.domain.errors import StateBroken
from mcpyard.store.sqlite.migrations import check, migrate, version_of
from mcpyard.store.sqlite.schema import Migration
from mcpyard.store.sqlite.used_marker import check_filled, check_there, mark_used

_BUSY_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 0.1
_LOOK_STEPS: Final = 10_000
_WAL_BYTES: Final = 64 * 1024 * 1024


class DatabaseKind(Struct, frozen=True):
    """What sort of database a file is.

    Attributes:
        migrations: How its tables came about.
        synchronous: FULL when what was written must survive the loss of power; NORMAL when it
            need only survive the end of the program.
        is_state: Whether a file that is gone or empty is an error in a home that was used.
    """

    migrations: Sequence[Migration]
    synchronous: Literal["FULL", "NORMAL"]
    is_state: bool = False


def connect(path: Path, kind: DatabaseKind) -> sqlite3.Connection:
    """Open a database for its one writer; the file is its owner's alone.

    Raises:
        NewerState: A newer version wrote it.
        StateBroken: It cannot be read, is somebody else's, or is gone from a home that was used.
        sqlite3.Error: It cannot be opened or brought up to date.
    """
    if kind.is_state:
        check_there(path)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    connection = sqlite3.connect(
        path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        check(connection, path, len(kind.migrations))
        if kind.is_state:
            check_filled(path, version_of(connection))
        _set(connection, kind)
        look(connection, path)
        migrate(connection, path, kind.migrations)
        if kind.is_state:
            mark_used(path)
    except BaseException:
        connection.close()
        raise
    return connection


def file_id(path: Path) -> tuple[int, int] | None:
    """What tells a file from any other that is ever at its path; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _set(connection: sqlite3.Connection, kind: DatabaseKind) -> None:
    for setting in (
        "journal_mode = WAL",
        f"journal_size_limit = {_WAL_BYTES}",
        f"synchronous = {kind.synchronous}",
        "foreign_keys = ON",
        "trusted_schema = OFF",
        "cell_size_check = ON",
        "secure_delete = ON",
    ):
        connection.execute(f"PRAGMA {setting}")


def look(connection: sqlite3.Connection, path: Path) -> None:
    """Find damage before anything is built on it, as far as a moment reaches.

    Raises:
        StateBroken: It is damaged.
    """
    until = time.monotonic() + _LOOK_SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > until, _LOOK_STEPS)
    try:
        (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
    else:
        if verdict != "ok":
            raise StateBroken(f"{path} is damaged: {verdict}")
    finally:
        connection.set_progress_handler(None, 0)
