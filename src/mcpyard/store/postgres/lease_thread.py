"""A thread with a connection of its own, for what must not wait behind anything else.

Whoever asks gets an answer within three seconds, or `StoreAway`: a lease lives for a few seconds
only. A connection that is lost is made anew for the next job; a job is never done twice.
"""

import asyncio
import select
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.sql import Composed

from mcpyard.domain.errors import ClusterRefused, StoreAway
from mcpyard.store.postgres.connecting import LimitedConnection, connect, conninfo_of, named
from mcpyard.store.postgres.engine import PostgresConnection, PostgresRows

T = TypeVar("T")

JOB_SECONDS: Final = 2.5
"""How long a job may take, with the time in which its connection is made."""
_WAIT_SECONDS: Final = 2.9
"""After which nobody waits for a job any more: looking up a host name knows no limit."""
_LEAST_SECONDS: Final = 0.05
_LOST: Final = "the database of the cluster does not answer"

_SETTINGS: Final = {
    "keepalives_idle": 1,
    "keepalives_interval": 1,
    "keepalives_count": 2,
    "tcp_user_timeout": 2000,
}


class TimedConnection(PostgresConnection):
    """A connection whose statements all end by the same moment."""

    def __init__(self, raw: LimitedConnection, until: float) -> None:
        super().__init__(raw)
        self._until = until

    def execute(self, sql: str, values: Sequence[Any] = (), /) -> PostgresRows:
        """Do a statement; `?` stands for each value."""
        self._limit_time()
        return super().execute(sql, values)

    def executemany(self, sql: str, rows: Sequence[Sequence[Any]], /) -> None:
        """Do a statement once for each row of values."""
        self._limit_time()
        super().executemany(sql, rows)

    def last(self, statements: str) -> Any:  # noqa: ANN401  columns as they come
        """Do several statements at once, and return the row of the last one."""
        self._limit_time()
        return super().last(statements)

    def changed(self, statements: Composed) -> int:
        """Do several statements at once; how many rows they changed."""
        self._limit_time()
        cursor = self.raw.execute(statements)
        rows = 0
        while True:
            rows += cursor.rowcount if (cursor.statusmessage or "").startswith("UPDATE") else 0
            if not cursor.nextset():
                return rows

    def _limit_time(self) -> None:
        self.raw.limit = max(_LEAST_SECONDS, self._until - time.monotonic())


class LeaseThread:
    """Does one job after the other on one connection."""

    def __init__(self, dsn: str, name: str) -> None:
        self._conninfo = make_conninfo(conninfo_of(dsn), **_SETTINGS)
        self._executor = ThreadPoolExecutor(1, name)
        self._raw: LimitedConnection | None = None

    async def run(self, job: Callable[[TimedConnection], T]) -> T:
        """What a job gives; one that nobody waits for any more is not begun.

        Raises:
            StoreAway: There is no answer in time; whether the job was done is not known.
        """
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(_WAIT_SECONDS):
                return await loop.run_in_executor(self._executor, self._do, job)
        except TimeoutError:
            raise StoreAway(_LOST) from None

    async def close(self) -> None:
        """Finish the job that is under way, and let the connection go."""
        await asyncio.to_thread(self._executor.shutdown, cancel_futures=True)
        self._drop()

    def _do(self, job: Callable[[TimedConnection], T]) -> T:
        until = time.monotonic() + JOB_SECONDS
        try:
            return job(TimedConnection(self._connected(), until))
        except ClusterRefused as error:
            raise StoreAway(error.message).advising(error.advice) from None
        except psycopg.Error as error:
            lost = self._raw is None or self._raw.closed
            self._drop()
            raise StoreAway(_LOST) if lost else named(error) from None
        except BaseException:
            # What a rule refuses ends in the middle of a transaction.
            self._undo()
            raise

    def _connected(self) -> LimitedConnection:
        if self._raw and _has_ended(self._raw):
            self._drop()
        if self._raw is None:
            self._raw = connect(self._conninfo)
        return self._raw

    def _undo(self) -> None:
        if self._raw:
            try:
                self._raw.rollback()
            except psycopg.Error:
                self._drop()

    def _drop(self) -> None:
        if self._raw:
            self._raw.close()
            self._raw = None


def _has_ended(raw: LimitedConnection) -> bool:
    """Whether the other end said anything unasked: that is how it says good-bye."""
    return raw.closed or bool(select.select((raw,), (), (), 0)[0])
