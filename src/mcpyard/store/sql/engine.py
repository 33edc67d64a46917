"""One database and the one thread that speaks to it, whichever engine it is.

A job is a function of the connection; all that a job does is done, or none of it. Jobs that wait
together share one transaction, because making it durable is what costs: 32 callers at once pay for
one. Each has a savepoint in it, so a job that fails takes nothing of the others with it; and when
the transaction as a whole fails, every job is tried again in one of its own, so that the one too
many is told and the rest are not. A job must therefore do nothing but speak to the connection.

The outcome goes back to the event loop in the order of the transactions. What a caller keeps in
memory is changed there, by `then`, whether or not the caller still waits: memory can neither run
ahead of the disk nor fall behind it.
"""

import asyncio
import contextlib
import logging
import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Generic, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from mcpyard.domain.errors import OutcomeUnknown, StateGone, StorageFull, StoreAway

log = logging.getLogger(__name__)

T = TypeVar("T")

_GROUP: Final = 256
"""Jobs in one transaction at most: none waits for more than these."""

_EXPECTED: Final = (StorageFull, StateGone, StoreAway, OutcomeUnknown)


class SqlRows(Protocol):
    """What a statement gives back."""

    def fetchone(self) -> Any:  # noqa: ANN401  columns as they come
        """The next row; None when there is none."""
        ...

    def fetchall(self) -> list[Any]:
        """All rows that are left."""
        ...

    def __iter__(self) -> Iterator[Any]: ...


class SqlConnection(Protocol):
    """A connection of either engine."""

    def execute(self, sql: str, values: Sequence[Any] = ..., /) -> SqlRows:
        """Do a statement; `?` stands for each value."""
        ...

    def executemany(self, sql: str, rows: Sequence[Sequence[Any]], /) -> object:
        """Do a statement once for each row of values."""
        ...


C = TypeVar("C", bound=SqlConnection)
SqlJob: TypeAlias = Callable[[SqlConnection], T]


class SqlEngine(Protocol):
    """What the repositories need of an engine (see `JobThread`)."""

    async def run(self, job: SqlJob[T], then: Callable[[T], object] | None = None) -> T:
        """Do a job, and return when what it wrote is there to stay."""
        ...

    async def read(self, job: SqlJob[T], then: Callable[[T], object] | None = None) -> T:
        """Do a job that writes nothing."""
        ...

    async def execute(
        self,
        statement: str,
        values: Sequence[object] = (),
        then: Callable[[object], object] | None = None,
    ) -> list[tuple[Any, ...]]:
        """Do a job of one statement, and return its rows."""
        ...

    def post(self, job: SqlJob[object], after: Callable[[bool], None] | None = None) -> None:
        """Do a job in the background, after all that were asked for before it."""
        ...

    async def flush(self) -> None:
        """Wait for everything that was asked for so far."""
        ...


class Ticket(Struct, frozen=True, eq=False):
    """A job that waits, and who is told of its outcome."""

    job: Callable[[Any], Any]
    succeed: Callable[[Any], None]
    fail: Callable[[Exception], None]
    reads: bool = False


Delivery: TypeAlias = Callable[[], None]


class JobThread(ABC, Generic[C]):
    """A database that any number of tasks of one event loop use."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._loop = asyncio.get_running_loop()
        self._queue: queue.SimpleQueue[Ticket | None] = queue.SimpleQueue()
        self._closed = False
        # A daemon, because a store that was forgotten must not keep the program from ending.
        self._thread = threading.Thread(target=self._work, name=f"store {label}", daemon=True)

    def _begin(self) -> None:
        self._thread.start()

    async def run(self, job: Callable[[C], T], then: Callable[[T], object] | None = None) -> T:
        """Do a job, and return when what it wrote is there to stay.

        Args:
            job: What to do; called in another thread, maybe twice.
            then: What follows in memory; called in this one, also when the caller is cancelled.

        Raises:
            StorageFull: The disk refused; nothing was changed.
            StateGone: The file is gone, or is another one; nothing was changed.
            StoreAway: The database cannot be reached; nothing was changed.
            OutcomeUnknown: The database was lost while it stored this.
        """
        return await self._ask(job, then, reads=False)

    async def read(self, job: Callable[[C], T], then: Callable[[T], object] | None = None) -> T:
        """Do a job that writes nothing (see `run`)."""
        return await self._ask(job, then, reads=True)

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

    def post(self, job: Callable[[C], object], after: Callable[[bool], None] | None = None) -> None:
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
            self._put(Ticket(job, lambda _: follow(done=True), fail))

    async def flush(self) -> None:
        """Wait for everything that was asked for so far."""
        if not self._closed:
            await self.read(_nothing)

    async def close(self) -> None:
        """Finish what was asked for, and let the database go."""
        if not self._closed:
            self._closed = True
            self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    @abstractmethod
    def _together(self, group: list[Ticket]) -> list[Delivery]:
        """Do the jobs of a group in one transaction."""

    @abstractmethod
    def _undo(self) -> None:
        """Roll a transaction back that failed."""

    @abstractmethod
    def _in_transaction(self) -> bool:
        """Whether a job that failed left the transaction open."""

    @abstractmethod
    def _named(self, error: Exception) -> Exception:
        """An error of the engine as callers know it."""

    @abstractmethod
    def _let_go(self) -> None:
        """Close the connection."""

    async def _ask(
        self, job: Callable[[C], T], then: Callable[[T], object] | None, *, reads: bool
    ) -> T:
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

        self._put(Ticket(job, succeed, fail, reads))
        return await done

    def _put(self, ticket: Ticket) -> None:
        if self._closed:
            raise RuntimeError(f"{self._label} is closed")
        self._queue.put(ticket)

    def _work(self) -> None:
        more = True
        while more:
            group, more = self._take()
            outcomes = self._carry_out(group) if group else []
            # The loop is gone when its program ended without closing us.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(_deliver, outcomes)
            # What was written may be long, and the next job may come tomorrow.
            del group, outcomes
        self._let_go()

    def _take(self) -> tuple[list[Ticket], bool]:
        """All that waits, up to a group; and whether more can come."""
        group: list[Ticket] = []
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

    def _carry_out(self, group: list[Ticket]) -> list[Delivery]:
        try:
            return self._together(group)
        except Exception as error:  # noqa: BLE001  it belongs to those who wait
            self._undo()
            if len(group) > 1:
                return [outcome for each in group for outcome in self._carry_out([each])]
            return [failure(group[0], self._named(error))]

    def _attempt(self, connection: C, ticket: Ticket) -> Delivery:
        """Do one job of a group in a savepoint."""
        connection.execute("SAVEPOINT job")
        try:
            value = ticket.job(connection)
        except Exception as error:
            # Some errors undo the whole transaction, the other jobs with it.
            if not self._in_transaction():
                raise
            connection.execute("ROLLBACK TO job")
            connection.execute("RELEASE job")
            return failure(ticket, self._named(error))
        connection.execute("RELEASE job")
        # A cursor ends in this thread: in another one that would reset a statement at work.
        result = None if hasattr(value, "fetchone") else value
        return lambda: ticket.succeed(result)


def failure(ticket: Ticket, error: Exception) -> Delivery:
    """The outcome of a job that failed."""
    return lambda: ticket.fail(error)


def _deliver(outcomes: list[Delivery]) -> None:
    for outcome in outcomes:
        try:
            outcome()
        except Exception:
            # The others of the group have somebody who waits for them.
            log.exception("what follows a job failed")


def _nothing(_: object) -> None:
    pass


def _unless_expected(error: Exception) -> Exception | None:
    return None if isinstance(error, _EXPECTED) else error
