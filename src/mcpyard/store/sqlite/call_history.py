"""Calls by the minute, which outlast their lines, and what the processes of servers used.

No call waits or works for it: the thread of the journal counts the lines that are there when
somebody asks, and before any are removed. SQLite does the counting, without the interpreter.
"""

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Final
from uuid import UUID

from mcpyard.domain.call_history import BOUNDS, MINUTE, CallCount, CallPoint, Span, UsageSample
from mcpyard.store.sqlite.engine import Engine

DAYS: Final = 8
"""How long minutes are kept: a week, and a day more."""

ROWS: Final = 400_000
"""Rows of about 20 bytes for single servers; those for all of them together come on top."""

EVERYTHING: Final = 0
"""Stands for all servers together."""

_MICROS: Final = 1_000_000
_DAY: Final = 24 * 3600
_SLACK: Final = 10

_LINES: Final = """
    SELECT at / :minute AS minute, {server} AS server, outcome,
        {bucket} AS bucket, count(*) AS calls
    FROM calls {join} WHERE calls.id > :after AND calls.id <= :newest
    GROUP BY 1, 2, 3, 4"""
_COUNT: Final = """
    INSERT INTO call_minutes (minute, server, outcome, bucket, calls)
    SELECT minute, server, outcome, bucket, calls FROM ({lines}) WHERE true
    ON CONFLICT DO UPDATE SET calls = calls + excluded.calls"""
_BY_STEP: Final = """
    SELECT minute / :step * :step * 60, outcome, bucket, sum(calls) FROM call_minutes
    WHERE server = :server AND minute >= :since AND minute < :until GROUP BY 1, 2, 3"""

_USAGE: Final = """
    SELECT minute / :step * :step * 60, max(rss), avg(cpu)
    FROM usage_minutes JOIN call_servers USING (number)
    WHERE server = :server AND minute >= :since AND minute < :until GROUP BY 1"""


class SqliteCallHistory:
    """Counts of calls, and samples of usage, by the minute; up to a number and an age."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def counts(self, span: Span, server: UUID | None = None) -> Sequence[CallCount]:
        """The calls of a span, of one server or of all."""
        return await self._engine.run(lambda connection: _counts(connection, span, server))

    async def points(
        self, span: Span, server: UUID | None = None, most: int = 2000
    ) -> tuple[Sequence[CallPoint], int]:
        """Single calls of a span, at most so many: one in as many as the number says."""
        return await self._engine.run(lambda connection: _points(connection, span, server, most))

    async def last_calls(self) -> dict[UUID, int]:
        """The minute of the last call of each server, in seconds since 1970."""
        return await self._engine.run(_last_calls)

    def note_usage(self, samples: Sequence[UsageSample]) -> None:
        """Keep what servers used, in the background."""
        rows = [(each.minute // MINUTE, str(each.server), each.rss, each.cpu) for each in samples]
        self._engine.post(lambda connection: _note_usage(connection, rows), lambda _: None)

    async def usage(self, span: Span, server: UUID) -> Sequence[UsageSample]:
        """What a server used in a span."""
        values = _minutes_of(span) | {"server": str(server)}
        rows = await self._engine.run(
            lambda connection: connection.execute(_USAGE, values).fetchall()
        )
        return [UsageSample(minute, server, rss, cpu) for minute, rss, cpu in rows]


def count_lines(connection: sqlite3.Connection) -> None:
    """Count the lines of the journal that were not counted yet."""
    after = connection.execute("SELECT counted FROM call_progress").fetchone()[0]
    newest = connection.execute("SELECT ifnull(max(id), 0) FROM calls").fetchone()[0]
    if newest == after:
        return
    # After the newest lines were removed, their ids are given out again.
    values = {"after": min(after, newest), "newest": newest, "minute": MINUTE * _MICROS}
    connection.execute(
        "INSERT INTO call_servers (server) SELECT DISTINCT server FROM calls "
        "WHERE id > :after AND id <= :newest ON CONFLICT DO NOTHING",
        values,
    )
    connection.execute(_counting(of_all=True), values)
    connection.execute(_counting(of_all=False), values)
    connection.execute("UPDATE call_progress SET counted = ?", (newest,))
    _cut(connection)


def lines_removed(connection: sqlite3.Connection) -> None:
    """Take note that lines were removed, all of which were counted."""
    connection.execute(
        "UPDATE call_progress SET counted = min(counted, (SELECT ifnull(max(id), 0) FROM calls))"
    )


def expire_minutes(connection: sqlite3.Connection, now: datetime) -> None:
    """Remove what is too old."""
    oldest = (int(now.timestamp()) - DAYS * _DAY) // MINUTE
    for table in ("call_minutes", "usage_minutes"):
        connection.execute(f"DELETE FROM {table} WHERE minute < ?", (oldest,))  # noqa: S608  ours


@cache
def _counting(*, of_all: bool) -> str:
    server = str(EVERYTHING) if of_all else "number"
    join = "" if of_all else "JOIN call_servers USING (server)"
    lines = _LINES.format(server=server, join=join, bucket=_bucket(0, len(BOUNDS)))
    return _COUNT.format(lines=lines)


def _bucket(low: int, high: int) -> str:
    """The class of a duration as an expression: halved again and again, as by `bisect_left`."""
    if low == high:
        return str(low)
    middle = (low + high) // 2
    after, before = _bucket(middle + 1, high), _bucket(low, middle)
    return f"CASE WHEN ms > {BOUNDS[middle]!r} THEN {after} ELSE {before} END"


def _counts(connection: sqlite3.Connection, span: Span, server: UUID | None) -> list[CallCount]:
    count_lines(connection)
    number = EVERYTHING
    if server is not None:
        row = connection.execute(
            "SELECT number FROM call_servers WHERE server = ?", (str(server),)
        ).fetchone()
        if row is None:
            return []
        number = row[0]
    values: dict[str, object] = _minutes_of(span) | {"server": number}
    return [CallCount(*row) for row in connection.execute(_BY_STEP, values)]


def _minutes_of(span: Span) -> dict[str, object]:
    return {
        "since": span.since // MINUTE,
        "until": span.until // MINUTE,
        "step": span.step // MINUTE,
    }


def _points(
    connection: sqlite3.Connection, span: Span, server: UUID | None, most: int
) -> tuple[list[CallPoint], int]:
    values = {
        "since": span.since * _MICROS,
        "until": span.until * _MICROS,
        "server": server and str(server),
    }
    where = "at >= :since AND at < :until AND (:server IS NULL OR server = :server)"
    total = connection.execute(f"SELECT count(*) FROM calls WHERE {where}", values).fetchone()[0]  # noqa: S608  ours
    every = max(1, -(-total // most))
    rows = connection.execute(
        f"SELECT at, ms, outcome FROM calls WHERE {where} AND id % :every = 0 ORDER BY id",  # noqa: S608  ours
        values | {"every": every},
    )
    return [CallPoint(at / _MICROS, ms, outcome) for at, ms, outcome in rows], every


def _last_calls(connection: sqlite3.Connection) -> dict[UUID, int]:
    count_lines(connection)
    rows = connection.execute(
        "SELECT call_servers.server, max(minute) FROM call_minutes "
        "JOIN call_servers ON number = call_minutes.server GROUP BY number"
    )
    return {UUID(server): minute * MINUTE for server, minute in rows}


def _note_usage(connection: sqlite3.Connection, rows: list[tuple[int, str, int, float]]) -> None:
    servers = [(server,) for _, server, _, _ in rows]
    connection.executemany(
        "INSERT INTO call_servers (server) VALUES (?) ON CONFLICT DO NOTHING", servers
    )
    connection.executemany(
        "INSERT INTO usage_minutes (minute, number, rss, cpu) "
        "SELECT ?1, number, ?3, ?4 FROM call_servers WHERE server = ?2 "
        "ON CONFLICT DO UPDATE SET rss = max(rss, excluded.rss), cpu = (cpu + excluded.cpu) / 2",
        rows,
    )
    _cut_table(connection, "usage_minutes", "true")


def _cut(connection: sqlite3.Connection) -> None:
    _cut_table(connection, "call_minutes", f"server <> {EVERYTHING}")


def _cut_table(connection: sqlite3.Connection, table: str, of_servers: str) -> None:
    """Remove the oldest minutes where there are too many rows."""
    rows = f"FROM {table} WHERE {of_servers}"
    count = connection.execute(f"SELECT count(*) {rows}").fetchone()[0]
    if count <= ROWS + ROWS // _SLACK:
        return
    connection.execute(
        f"DELETE {rows} AND minute <= (SELECT minute {rows} ORDER BY minute DESC LIMIT 1 OFFSET ?)",
        (ROWS,),
    )
