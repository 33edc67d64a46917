"""From the version a database has to the one this program knows.

Forward only, a transaction a step, and never without a copy of what was there before; a new one in
one transaction. A version that this program does not know is not touched: it was written by a newer
one.
"""

import contextlib
import os
import sqlite3
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

from mcpyard.domain.errors import NewerState, StateBroken
from mcpyard.store.sqlite.schema import Migration, Step

APPLICATION_ID: Final = 0x6D637079
"""Marks the files as ours: "mcpy"."""


def migrate(connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration]) -> None:
    """Bring a database up to date."""
    version = version_of(connection)
    if not version:
        # There is nothing to lose by the way, and every transaction waits for the disk.
        _step(connection, len(migrations), [*chain.from_iterable(migrations)])
        return
    if version < len(migrations):
        back_up(connection, path.with_name(f"{path.name}.version-{version}"))
    for number, steps in enumerate(migrations[version:], version + 1):
        _step(connection, number, steps)


def check(connection: sqlite3.Connection, path: Path, newest: int) -> None:
    """Make sure that a database is ours to write.

    Raises:
        NewerState: A newer version wrote it.
        StateBroken: It is somebody else's.
    """
    version = version_of(connection)
    mark = connection.execute("PRAGMA application_id").fetchone()[0]
    if mark != (APPLICATION_ID if version else 0):
        raise StateBroken(f"{path} is not a database of mcpyard")
    if version > newest:
        raise NewerState(
            f"{path} was written by a newer mcpyard (version {version}, this one knows {newest}); "
            "update mcpyard, or use another home"
        )


def version_of(connection: sqlite3.Connection) -> int:
    """The version of a database; 0 for a new one."""
    return connection.execute("PRAGMA user_version").fetchone()[0]


def back_up(connection: sqlite3.Connection, path: Path) -> None:
    """Copy a database to a file, which is whole or not there."""
    temporary = path.with_name(f".{path.name}.new")
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_TRUNC | os.O_RDWR, 0o600))
        with contextlib.closing(sqlite3.connect(temporary)) as copy:
            connection.backup(copy)
            if copy.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok":
                raise StateBroken(f"the copy of {path} cannot be read")
        temporary.replace(path)
        sync_folder(path.parent)
    finally:
        for each in (temporary, *(Path(f"{temporary}-{part}") for part in ("wal", "shm"))):
            each.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make sure that the names in a folder survive the loss of power."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _step(connection: sqlite3.Connection, number: int, steps: Iterable[Step]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for step in steps:
            if isinstance(step, str):
                connection.execute(step)
            else:
                step(connection)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {number}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
