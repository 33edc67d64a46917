"""Backups of the state: one a day, of the last days, and the way back to one of them.

A backup is a database of its own, written by SQLite from one consistent view of the state while
others write, and put into place when it is whole. That of today is replaced when the state changed.
"""

import contextlib
import os
import re
import shutil
import sqlite3
import threading
import time
from collections.abc import Generator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import quote

from msgspec import Struct

from mcpyard.domain.errors import StateBroken, StorageFull
from mcpyard.domain.write_errors import unwritten
from mcpyard.store.sql.definitions import read_definitions
from mcpyard.store.sql.sealing import Seal
from mcpyard.store.sqlite.error_names import domain_error
from mcpyard.store.sqlite.migrations import sync_folder, version_of
from mcpyard.store.sqlite.peeking import opened
from mcpyard.store.sqlite.used_marker import mark_used

FOLDER: Final = "backups"
DAYS: Final = 5
"""Days with a backup; older ones are removed."""

_NAME: Final = re.compile(r"state-(\d{4}-\d{2}-\d{2})\.db")
_PARTS: Final = ("", "-wal", "-shm")


class Snapshot(Struct, frozen=True):
    """A backup: its file, when it was taken, its size in bytes."""

    path: Path
    at: datetime
    size: int


class Snapshots:
    """The backups of one home."""

    def __init__(self, home: Path) -> None:
        self._state = home / "state.db"
        self._folder = home / FOLDER
        self._lock = threading.Lock()

    def all(self) -> list[Snapshot]:
        """Every backup, newest first."""
        if not self._folder.is_dir():
            return []
        paths = (each for each in self._folder.iterdir() if _NAME.fullmatch(each.name))
        return [_snapshot(each) for each in sorted(paths, reverse=True)]

    def _until(self, now: datetime) -> list[Snapshot]:
        """Those of this day and of days before, newest first.

        After a clock that was wrong there may be others. They must not stand in for what is due,
        nor take the place of what was taken since.
        """
        return [each for each in self.all() if each.path.name <= _name(now)]

    def find(self, name: str) -> Path | None:
        """The file of a backup: by its path, its name or its day."""
        candidates = (Path(name), self._folder / name, self._folder / f"state-{name}.db")
        return next((each for each in candidates if each.is_file()), None)

    def take(self, now: datetime) -> bool:
        """Take a backup, unless the newest one has everything; whether one was taken.

        Raises:
            StorageFull: There is no room, or the folder cannot be written.
            StateBroken: The state cannot be read.
        """
        # One that was given up may still be at work in its thread.
        with self._lock, writing(self._folder):
            changed, size = self._changed()
            began = time.time_ns()
            if any(changed <= _written(each) <= began for each in self._until(now)[:1]):
                return False
            self._folder.mkdir(mode=0o700, exist_ok=True)
            if shutil.disk_usage(self._folder).free < 2 * size:
                raise StorageFull(f"{self._folder} has not enough room for a backup")
            path = self._folder / _name(now)
            with new_file(path) as temporary:
                _copy(f"file:{quote(str(self._state))}?mode=rw", self._state, temporary)
                os.utime(temporary, ns=(began, began))
            for old in self._until(now)[DAYS:]:
                old.path.unlink()
        return True

    def copy_to(self, path: Path) -> None:
        """Write a backup to a file of the user's, of one consistent view of the state.

        Raises:
            StorageFull: The file cannot be written.
            StateBroken: The state cannot be read.
        """
        self._changed()
        with writing(path), new_file(path) as temporary:
            _copy(f"file:{quote(str(self._state))}?mode=rw", self._state, temporary)

    def restore(self, source: Path, now: datetime) -> Path | None:
        """Put a backup in place of the state; returns where the replaced one is, if there was one.

        Only the one who holds the home may do this.

        Raises:
            StateBroken: The backup is damaged, or no state of mcpyard; nothing was changed.
            NewerState: A newer version wrote it; nothing was changed.
            StorageFull: There is no room; nothing was changed.
        """
        examine(source)
        with writing(self._state), new_file(self._state) as temporary:
            _copy_closed(source, temporary)
            aside = self._state.with_name(f"{self._state.name}.replaced-{now:%Y%m%dT%H%M%S%f}")
            replaced = self._state.exists()
            # A log that stays would be played into the state that takes the place.
            for part in _PARTS:
                with contextlib.suppress(FileNotFoundError):
                    Path(f"{self._state}{part}").rename(f"{aside}{part}")
        mark_used(self._state)
        return aside if replaced else None

    def _changed(self) -> tuple[int, int]:
        """When the state was written last, in nanoseconds; and its size."""
        try:
            status = self._state.stat()
        except OSError as error:
            raise StateBroken(f"{self._state} cannot be read: {error.strerror}") from error
        with contextlib.suppress(OSError):
            log = Path(f"{self._state}-wal").stat()
            if log.st_size:
                return max(status.st_mtime_ns, log.st_mtime_ns), status.st_size + log.st_size
        return status.st_mtime_ns, status.st_size


def examine(path: Path) -> int:
    """Check the whole content of a backup; returns how many servers of the user it has.

    Raises:
        StateBroken: It is damaged, or no state of mcpyard.
        NewerState: A newer version wrote it.
    """
    with opened(path) as connection:
        if not version_of(connection):
            raise StateBroken(f"{path} is empty")
        (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if verdict != "ok":
            raise StateBroken(f"{path} is damaged: {verdict}")
        return len([*read_definitions(connection)])


def is_of_cluster(path: Path) -> bool:
    """Whether a backup is one of a cluster (see `store.postgres.backups`).

    Raises:
        StateBroken: It is damaged, or no state of mcpyard.
        NewerState: A newer version wrote it.
    """
    with opened(path) as connection:
        query = "SELECT 1 FROM sqlite_master WHERE name = 'cluster_backup'"
        return connection.execute(query).fetchone() is not None


def unreadable_sign_ins(path: Path, seal: Seal) -> list[str]:
    """The resources of sign-ins in a backup that a key does not open; blocks."""
    with opened(path) as connection:
        tables = "SELECT 1 FROM sqlite_master WHERE name = 'credentials'"
        if connection.execute(tables).fetchone() is None:
            return []
        rows = connection.execute("SELECT resource, sealed FROM credentials ORDER BY resource")
        return [resource for resource, sealed in rows if seal.open(sealed) is None]


def newest(snapshots: Sequence[Snapshot], now: datetime) -> Snapshot:
    """The newest of some backups that is not of the future, where a wrong clock put it."""
    return next((each for each in snapshots if each.at <= now), snapshots[0])


def _name(now: datetime) -> str:
    return f"state-{now:%Y-%m-%d}.db"


def _written(snapshot: Snapshot) -> int:
    return snapshot.path.stat().st_mtime_ns


def _snapshot(path: Path) -> Snapshot:
    status = path.stat()
    return Snapshot(path, datetime.fromtimestamp(status.st_mtime, UTC), status.st_size)


def _copy(address: str, source: Path, target: Path) -> None:
    try:
        with contextlib.closing(sqlite3.connect(address, uri=True)) as connection:
            connection.execute("VACUUM INTO ?", (str(target),))
    except sqlite3.Error as error:
        raise domain_error(error, source) from error


def _copy_closed(source: Path, target: Path) -> None:
    """Copy a database that nobody writes, with the log beside it if it has one."""
    with opened(source) as connection:
        connection.execute("VACUUM INTO ?", (str(target),))


@contextlib.contextmanager
def new_file(path: Path) -> Generator[Path]:
    """An empty file that takes the place of another one when the block succeeds."""
    temporary = path.with_name(f".{path.name}.new")
    temporary.unlink(missing_ok=True)
    try:
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        yield temporary
        descriptor = os.open(temporary, os.O_RDWR | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        temporary.replace(path)
        sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def writing(path: Path) -> Generator[None]:
    """Say which file could not be written when the block fails for that."""
    try:
        yield
    except OSError as error:
        raise unwritten(f"{path} cannot be written: {error.strerror}", error) from error
