"""The database of a cluster and the one thread that speaks to it (see `JobThread`).

A group that writes begins by raising the revision: that row serialises the writers of all nodes,
and gives the commits their order. A lost connection leaves open whether a COMMIT that was sent
took place. The next connection finds out: once the transaction is over, the row that names the
group is there or is not. So nothing that was stored is stored twice, and nothing that was not is
said to be.

While the database is away, jobs fail at once; one a second tries to connect again.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final
from uuid import uuid4

import psycopg
from msgspec import Struct
from psycopg.pq import TransactionStatus

from mcpyard.domain.errors import ClusterRefused, OutcomeUnknown, StoreAway, YardError
from mcpyard.store.postgres.connecting import BEGIN_DURABLE, LimitedConnection, named
from mcpyard.store.sql.engine import Delivery, JobThread, Ticket, failure

KEPT_REVISIONS: Final = 10_000
"""How many revisions back a node can catch up change by change."""

_PRUNED_EVERY: Final = 250
_RETRY_SECONDS: Final = 1.0
_DOUBT_SECONDS: Final = 3.0
"""How long the outcome of a COMMIT is asked for."""
_ASK_AGAIN: Final = 0.05
_READ_ALL_SECONDS: Final = 60

# Local to the transaction, because a pooler gives each transaction another connection. The limits
# end the transaction of a node that was frozen in its middle, and free the others.
BEGIN: Final = f"""{BEGIN_DURABLE}; SET LOCAL search_path TO mcpyard;
    SET LOCAL statement_timeout TO 4000; SET LOCAL idle_in_transaction_session_timeout TO 1500"""
_RAISE: Final = """WITH raised AS (
        UPDATE revision SET rev = rev + 1, raised = pg_current_xact_id() RETURNING rev
    ) INSERT INTO changes (rev, topic, key) SELECT rev, 'group', '{}' FROM raised
    RETURNING rev, pg_current_xact_id()::text"""

_OPEN: Final = {TransactionStatus.INTRANS, TransactionStatus.INERROR}


class PostgresRows:
    """What a statement gave back, all of it."""

    def __init__(self, rows: list[Any]) -> None:
        self._rows = iter(rows)

    def fetchone(self) -> Any:  # noqa: ANN401  columns as they come
        """The next row; None when there is none."""
        return next(self._rows, None)

    def fetchall(self) -> list[Any]:
        """All rows that are left."""
        return [*self._rows]

    def __iter__(self) -> Iterator[Any]:
        return self._rows


class PostgresConnection:
    """A connection as the repositories know it (see `SqlConnection`)."""

    def __init__(self, raw: LimitedConnection) -> None:
        self.raw = raw

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> PostgresRows:
        """Do a statement; `?` stands for each value."""
        cursor = self.raw.execute(_translated(sql), values or None)
        return PostgresRows(cursor.fetchall() if cursor.description else [])

    def executemany(self, sql: str, rows: Sequence[Sequence[Any]], /) -> None:
        """Do a statement once for each row of values."""
        with self.raw.cursor() as cursor:
            cursor.executemany(_translated(sql), rows)

    @contextlib.contextmanager
    def reading_all(self) -> Generator[None]:
        """Give the statements of the block the time that reading everything takes."""
        limit = self.raw.limit
        self.execute(f"SET LOCAL statement_timeout TO {_READ_ALL_SECONDS * 1000}")
        self.raw.limit = _READ_ALL_SECONDS
        try:
            yield
        finally:
            self.raw.limit = limit

    def last(self, statements: str) -> Any:  # noqa: ANN401  columns as they come
        """Do several statements at once, and return the row of the last one."""
        cursor = self.raw.execute(statements.encode())
        while cursor.nextset():
            pass
        return cursor.fetchone() if cursor.description else None


class _Doubt(Struct, frozen=True):
    """A group whose COMMIT was sent."""

    group: str
    rev: int
    transaction: str
    deliveries: list[Delivery]


class PostgresEngine(JobThread[PostgresConnection]):
    """A database that the event loops of all nodes use."""

    def __init__(self, connect: Callable[[], LimitedConnection]) -> None:
        super().__init__("the cluster's database")
        self._connect = connect
        self._connection: PostgresConnection | None = None
        self._away: YardError | None = None
        self._retry_at = 0.0
        self._doubt: _Doubt | None = None
        self._ending = threading.Event()
        self.written = 0
        self.own: set[int] = set()
        self._begin()

    def fault(self) -> StoreAway | None:
        """Why nothing can be read or written just now; None while the database answers."""
        return _away(self._away) if self._away else None

    async def close(self) -> None:
        """Finish what was asked for, and let the connection go."""
        self._ending.set()
        await super().close()

    def _carry_out(self, group: list[Ticket], *, again: bool = True) -> list[Delivery]:
        self._doubt = None
        try:
            return self._together(group)
        except Exception as error:  # noqa: BLE001  it belongs to those who wait
            if self._is_usable() and not isinstance(self._named(error), StoreAway):
                return self._one_by_one(group, error)
            return self._after_loss(group, error, again=again)

    def _one_by_one(self, group: list[Ticket], error: Exception) -> list[Delivery]:
        self._undo()
        if len(group) > 1:
            return [each for ticket in group for each in self._carry_out([ticket])]
        return [failure(group[0], self._named(error))]

    def _after_loss(self, group: list[Ticket], error: Exception, *, again: bool) -> list[Delivery]:
        """What became of a group whose connection was lost, or could not be made."""
        lost = self._connection is not None and not self._is_usable()
        self._undo()
        self._let_go()
        if doubt := self._doubt:
            stored = self._settle(doubt)
            if stored is None:
                unknown = OutcomeUnknown("the database was lost while it stored this")
                return [failure(each, unknown) for each in group]
            if stored:
                self._noted(doubt.rev)
                return doubt.deliveries
        if lost and again:
            # Certainly not stored; a database that was restarted meanwhile takes it now.
            return self._carry_out(group, again=False)
        return [failure(each, _away(error)) for each in group]

    def _together(self, group: list[Ticket]) -> list[Delivery]:
        connection = self._connected()
        if all(each.reads for each in group):
            connection.last(BEGIN)
            deliveries = self._jobs(connection, group)
            connection.execute("COMMIT")
            return deliveries
        name = uuid4().hex
        rev, transaction = connection.last(f"{BEGIN}; {_RAISE.format(name)}")
        deliveries = self._jobs(connection, group)
        if rev % _PRUNED_EVERY == 0:
            connection.execute("DELETE FROM changes WHERE rev <= ?", (rev - KEPT_REVISIONS,))
        self._doubt = _Doubt(name, rev, transaction, deliveries)
        connection.execute("COMMIT")
        self._noted(rev)
        return deliveries

    def _jobs(self, connection: PostgresConnection, group: list[Ticket]) -> list[Delivery]:
        if len(group) > 1:
            return [self._attempt(connection, each) for each in group]
        (ticket,) = group
        value = ticket.job(connection)
        return [lambda: ticket.succeed(value)]

    def _noted(self, rev: int) -> None:
        self.own.add(rev)
        self.written = rev

    def _settle(self, doubt: _Doubt) -> bool | None:
        """Whether a group was stored; None when that cannot be found out in time."""
        until = time.monotonic() + _DOUBT_SECONDS
        while time.monotonic() < until:
            with contextlib.suppress(YardError, psycopg.Error):
                self._retry_at = 0.0
                connection = self._connected()
                if not _is_running(connection, doubt.transaction):
                    return _is_there(connection, doubt)
            if self._connection and not self._is_usable():
                self._let_go()
            self._ending.wait(_ASK_AGAIN)
        return None

    def _connected(self) -> PostgresConnection:
        if self._connection is None:
            if time.monotonic() < self._retry_at:
                raise self._away or StoreAway("the database of the cluster cannot be reached")
            try:
                self._connection = PostgresConnection(self._connect())
            except YardError as error:
                self._away, self._retry_at = error, time.monotonic() + _RETRY_SECONDS
                raise
            self._away = None
        return self._connection

    def _is_usable(self) -> bool:
        return self._connection is not None and not self._connection.raw.closed

    def _in_transaction(self) -> bool:
        connection = self._connection
        return (
            connection is not None
            and not connection.raw.closed
            and connection.raw.info.transaction_status in _OPEN
        )

    def _undo(self) -> None:
        if self._in_transaction() and self._connection:
            with contextlib.suppress(psycopg.Error):
                self._connection.execute("ROLLBACK")

    def _named(self, error: Exception) -> Exception:
        return named(error)

    def _let_go(self) -> None:
        if self._connection:
            self._connection.raw.close()
            self._connection = None


def _is_running(connection: PostgresConnection, transaction: str) -> bool:
    """Whether a transaction is under way still; one that nobody can end any more is ended."""
    try:
        row = connection.execute("SELECT pg_xact_status(?::xid8)", (transaction,)).fetchone()
    except psycopg.errors.InvalidParameterValue:
        # The server never had it: it was restarted before it wrote anything of it down.
        return False
    if row[0] != "in progress":
        return False
    connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_xid = ?::xid8::xid",
        (transaction,),
    )
    return True


def _is_there(connection: PostgresConnection, doubt: _Doubt) -> bool:
    # Not the status of the transaction: after a crash, another one may have its number.
    return bool(
        connection.execute(
            "SELECT 1 FROM mcpyard.changes WHERE rev = ? AND topic = 'group' AND key = ?",
            (doubt.rev, doubt.group),
        ).fetchone()
    )


def _away(error: Exception) -> StoreAway:
    if isinstance(error, StoreAway):
        return error
    if isinstance(error, ClusterRefused):
        return StoreAway(error.message).advising(error.advice)
    return StoreAway("the connection to the cluster's database was lost; nothing was changed")


@lru_cache(maxsize=512)
def _translated(sql: str) -> bytes:
    """A statement with the placeholders of psycopg; none of ours has a percent sign."""
    return sql.replace("?", "%s").encode()
