"""One database file and the one thread that speaks to it (see `JobThread`).

Nothing is committed to a file that is not at its path any more: SQLite would write on happily into
one that was deleted, and all of it would be gone with the program.
"""

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Self, TypeAlias, TypeVar

from mcpyard.domain.errors import StateGone
from mcpyard.domain.write_errors import unwritten
from mcpyard.store.sql.engine import Delivery, JobThread, Ticket
from mcpyard.store.sqlite.database import DatabaseKind, connect, file_id
from mcpyard.store.sqlite.error_names import domain_error

T = TypeVar("T")
Job: TypeAlias = Callable[[sqlite3.Connection], T]


class Engine(JobThread[sqlite3.Connection]):
    """A database file that any number of tasks of one event loop use."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        super().__init__(path.name)
        self._connection = connection
        self._path = path
        self._file = file_id(path)
        self._begin()

    @classmethod
    async def open(cls, path: Path, kind: DatabaseKind) -> Self:
        """Open a database file, which is made when there is none.

        Raises:
            NewerState: A newer version wrote it.
            StateBroken: It cannot be read.
            StorageFull: It cannot be written.
        """
        return cls(await asyncio.to_thread(_connect, path, kind), path)

    def fault(self) -> StateGone | None:
        """Why nothing can be written: the file is not where it was."""
        if self._file is not None and file_id(self._path) == self._file:
            return None
        return StateGone(f"{self._path} was deleted or replaced")

    def _together(self, group: list[Ticket]) -> list[Delivery]:
        self._connection.execute("BEGIN IMMEDIATE")
        before = self._connection.total_changes
        outcomes = [self._attempt(self._connection, each) for each in group]
        if self._connection.total_changes != before and (fault := self.fault()):
            raise fault
        self._connection.execute("COMMIT")
        return outcomes

    def _undo(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self._connection.execute("ROLLBACK")

    def _in_transaction(self) -> bool:
        return self._connection.in_transaction

    def _named(self, error: Exception) -> Exception:
        return domain_error(error, self._path)

    def _let_go(self) -> None:
        self._connection.close()


def _connect(path: Path, kind: DatabaseKind) -> sqlite3.Connection:
    try:
        return connect(path, kind)
    except sqlite3.Error as error:
        raise domain_error(error, path) from error
    except OSError as error:
        raise unwritten(f"{path} cannot be opened: {error.strerror}", error) from error
