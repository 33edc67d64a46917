"""One database file and the one thread that speaks to it.

A job is a function of the connection; all that a job does is done, or none of it. Jobs that wait
together share one transaction, because making it durable is what costs: 32 callers at once pay for
one. Each has a savepoint in it, so a job that fails takes nothing of the others with it; and when
the transaction as a whole fails, every job is tried again in one of its own, so that the one too
many is told and the rest are not. A job must therefore do nothing but speak to the connection.

Nothing is committed to a file that is not at its path any more: SQLite would write on happily into
one that was deleted, and all of it would be gone with the program.

The outcome goes back to the event loop in the order of the transactions. What a caller keeps in
memory is changed there, by `then`, whether or not the caller still waits: memory can neither run
ahead of the disk nor fall behind it.
"""

import asyncio
import contextlib
import logging
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Self, TypeAlias, TypeVar

from msgspec import Struct

from mcpyard.domain.errors import StateGone, StorageFull
from mcpyard.domain.write_errors import unwritten
from mcpyard.store.sqlite.database import DatabaseKind, connect, file_id
from mcpyard.store.sqlite.error_names import domain_error

log = logging.getLogger(__name__)

T = TypeVar("T")
Job: TypeAlias = Callable[[sqlite3.Connection], T]

_GROUP: Final = 256
"""Jobs in one transaction at most: none waits for more than these."""


class _Ticket(Struct, frozen=True, eq=False):
    job: Job[Any]
    succeed: Callable[[Any], None]
    fail: Callable[[Exception], None]


class Engine:
    """A database that any number of tasks of one event loop use."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path
        self._file = file_id(path)
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[_Ticket | None] = queue.SimpleQueue()
        self._closed = False
        # A daemon, because a store that was forgotten must not keep the program from ending.
        self._thread = threading.Thread(target=self._work, name=f"store {path.name}", daemon=True)
        self._thread.start()

    @classmethod
    async def open(cls, path: Path, kind: DatabaseKind) -> Self:
        """Open a database file, which is made when there is none.

        Raises:
            NewerState: A newer version wrote it.
            StateBroken: It cannot be read.
            StorageFull: It cannot be written.
        """
        return cls(await asyncio.to_thread(_connect, path, kind), path)

    async def run(self, job: Job[T], then: Callable[[T], object] | None = None) -> T:
        """Do a job, and return when what it wrote is there to stay.

        Args:
            job: What to do; called in another thread, maybe twice.
            then: What follows in memory; called in this one, also when the caller is cancelled.

        Raises:
            StorageFull: The disk refused; nothing was changed.
            StateGone: The file is gone, or is another one; nothing was changed.
        """
        done: asyncio.Future[T] = self._loop.create_future()

        def succeed(value: T) -> None:
            try:
                if then is not None:
                    then(value)
            except Exception as error:
                if done.done():
                    raise
                done.set_exception(error)
            if not done.done():
                done.set_result(value)

        def fail(error: Exception) -> None:
            if not done.done():
                done.set_exception(error)

        self._put(_Ticket(job, succeed, fail))
        return await done

    async def execute(
        self,
        statement: str,
        values: Sequence[object] = (),
        then: Callable[[object], object] | None = None,
    ) -> list[tuple[Any, ...]]:
        """Do a job of one statement, and return its rows (see `run`)."""
        return await self.run(
            lambda connection: connection.execute(statement, values).fetchall(), then
        )

    def post(self, job: Job[object], after: Callable[[bool], None] | None = None) -> None:
        """Do a job in the background, after all that were asked for before it.

        What comes after the end is dropped: servers have last words while a yard closes.

        Args:
            job: What to do; called in another thread, maybe twice.
            after: What follows; told whether the job was done. If not, that is logged.
        """

        def follow(*, done: bool) -> None:
            if after is not None:
                after(done)

        def fail(error: Exception) -> None:
            log.error("in the background: %s", error, exc_info=_unless_expected(error))
            follow(done=False)

        if not self._closed:
            self._put(_Ticket(job, lambda _: follow(done=True), fail))

    async def flush(self) -> None:
        """Wait for everything that was asked for so far."""
        if not self._closed:
            await self.run(_nothing)

    def fault(self) -> StateGone | None:
        """Why nothing can be written: the file is not where it was."""
        if self._file is not None and file_id(self._path) == self._file:
            return None
        return StateGone(f"{self._path} was deleted or replaced")

    async def close(self) -> None:
        """Finish what was asked for, and let the file go."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _put(self, ticket: _Ticket) -> None:
        if self._closed:
            raise RuntimeError(f"{self._path.name} is closed")
        self._queue.put(ticket)

    def _work(self) -> None:
        more = True
        while more:
            group, more = self._take()
            outcomes = self._carry_out(group) if group else []
            # The loop is gone when its program ended without closing us.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(_deliver, outcomes)
        self._connection.close()

    def _take(self) -> tuple[list[_Ticket], bool]:
        """All that waits, up to a group; and whether more can come."""
        group: list[_Ticket] = []
        ticket = self._queue.get()
        while ticket is not None:
            group.append(ticket)
            if len(group) == _GROUP:
                return group, True
            try:
                ticket = self._queue.get_nowait()
            except queue.Empty:
                return group, True
        return group, False

    def _carry_out(self, group: list[_Ticket]) -> list[Callable[[], None]]:
        try:
            return self._together(group)
        except Exception as error:  # noqa: BLE001  it belongs to those who wait
            with contextlib.suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            if len(group) > 1:
                return [outcome for each in group for outcome in self._carry_out([each])]
            return [_failure(group[0], domain_error(error, self._path))]

    def _together(self, group: list[_Ticket]) -> list[Callable[[], None]]:
        self._connection.execute("BEGIN IMMEDIATE")
        before = self._connection.total_changes
        outcomes = [self._attempt(each) for each in group]
        if self._connection.total_changes != before and (fault := self.fault()):
            raise fault
        self._connection.execute("COMMIT")
        return outcomes

    def _attempt(self, ticket: _Ticket) -> Callable[[], None]:
        self._connection.execute("SAVEPOINT job")
        try:
            value = ticket.job(self._connection)
        except Exception as error:
            # Some errors make SQLite undo the whole transaction, the other jobs with it.
            if not self._connection.in_transaction:
                raise
            self._connection.execute("ROLLBACK TO job")
            self._connection.execute("RELEASE job")
            return _failure(ticket, domain_error(error, self._path))
        self._connection.execute("RELEASE job")
        return lambda: ticket.succeed(value)


def _connect(path: Path, kind: DatabaseKind) -> sqlite3.Connection:
    try:
        return connect(path, kind)
    except sqlite3.Error as error:
        raise domain_error(error, path) from error
    except OSError as error:
        raise unwritten(f"{path} cannot be opened: {error.strerror}", error) from error


def _failure(ticket: _Ticket, error: Exception) -> Callable[[], None]:
    return lambda: ticket.fail(error)


def _deliver(outcomes: list[Callable[[], None]]) -> None:
    for outcome in outcomes:
        try:
            outcome()
        except Exception:
            # The others of the group have somebody who waits for them.
            log.exception("what follows a job failed")


def _nothing(_: object) -> None:
    pass


def _unless_expected(error: Exception) -> Exception | None:
    return None if isinstance(error, StorageFull | StateGone) else error
