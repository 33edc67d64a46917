"""What is recorded of calls: sealed, bounded in size and age, and gone with the lines of the calls.

When there is too much, the callers with the most lose their oldest: no caller can remove what is
recorded of another.
"""

import asyncio
import logging
import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

import msgspec

from mcpyard.domain.call_contents import CallContents, ContentsUsage
from mcpyard.domain.stored import CallRecord
from mcpyard.store.journal_limits import JournalLimits
from mcpyard.store.sql.codec import to_micros
from mcpyard.store.sql.sealing import Seal
from mcpyard.store.sqlite.engine import Engine

log = logging.getLogger(__name__)

_SLACK: Final = 10
"""It is cut back when it is a tenth too large."""

_INSERT: Final = """INSERT OR REPLACE INTO call_contents (id, at, who, size, error, sealed)
    SELECT ?, ?, ?, ?, ?, ? WHERE EXISTS (SELECT 1 FROM calls WHERE id = ?)"""

_OVER: Final = """DELETE FROM call_contents WHERE id IN (
    SELECT id FROM (SELECT id, sum(size) OVER (ORDER BY id DESC) AS total
        FROM call_contents WHERE who = :who)
    WHERE total > :share)"""

_Row = tuple[int, int, str, int, bytes | None, bytes]

_contents = msgspec.json.Decoder(CallContents)


class SqliteCallContents:
    """Sealed JSON, by the id of the call."""

    def __init__(self, engine: Engine, seal: Seal, limits: JournalLimits) -> None:
        self._engine = engine
        self._seal = seal
        self._limits = limits
        # Only the thread of the engine uses it; after a job that failed it is too high, which
        # the next cut corrects.
        self._stored: int | None = None

    def put(self, calls: Sequence[tuple[int, CallRecord, CallContents]]) -> None:
        """Keep what is recorded of calls, by their ids; in the background, from any thread."""
        rows = [self._sealed(*each) for each in calls]
        self._engine.post(lambda connection: self._write(connection, rows))

    async def get(self, call: int) -> CallContents | None:
        """What is recorded of a call."""
        row = await self._engine.read(
            lambda connection: connection.execute(
                "SELECT sealed FROM call_contents WHERE id = ?", (call,)
            ).fetchone()
        )
        if row is None:
            return None
        content = await asyncio.to_thread(self._seal.open, row[0])
        if content is None:
            log.warning("what is recorded of call %d was sealed with another key", call)
            return None
        return _contents.decode(content)

    async def clear(self) -> int:
        """Delete everything that is recorded; of how many calls that was."""
        return await self._engine.run(self._clear)

    async def usage(self) -> ContentsUsage:
        """How much is recorded."""
        return ContentsUsage(*await self._engine.read(_usage))

    async def expire(self, now: datetime) -> None:
        """Remove what is too old."""
        oldest = to_micros(now - self._limits.contents_age)
        await self._engine.execute("DELETE FROM call_contents WHERE at < ?", (oldest,))

    def _sealed(self, call: int, record: CallRecord, contents: CallContents) -> _Row:
        sealed = self._seal.close(msgspec.json.encode(contents))
        error = self._seal.close(_searched(record, contents)) if record.outcome != "ok" else None
        size = len(sealed) + len(error or b"")
        return call, to_micros(record.at), record.who, size, error, sealed

    def _write(self, connection: sqlite3.Connection, rows: Sequence[_Row]) -> None:
        connection.executemany(_INSERT, [(*row, row[0]) for row in rows])
        if self._stored is None:
            self._stored = _usage(connection)[1]
        else:
            self._stored += sum(row[3] for row in rows)
        limit = self._limits.contents_bytes
        if self._stored > limit + limit // _SLACK:
            _trim(connection, limit)
            self._stored = _usage(connection)[1]

    def _clear(self, connection: sqlite3.Connection) -> int:
        self._stored = None
        return connection.execute("DELETE FROM call_contents").rowcount


def fair_share(counts: Iterable[int], limit: int) -> int:
    """How much each caller may have so that all together have at most as much as the limit.

    Whoever has less keeps it all, and leaves the rest to the others.
    """
    ascending = sorted(counts)
    for position, count in enumerate(ascending):
        share = limit // (len(ascending) - position)
        if count > share:
            return max(share, 1)
        limit -= count
    return ascending[-1] if ascending else limit


def _searched(record: CallRecord, contents: CallContents) -> bytes:
    """The text by which a call that failed is found."""
    text = contents.error.text if contents.error else ""
    if record.outcome == "tool_error" and contents.result:
        text = contents.result.text
    return text[:_SEARCHED].encode()


_SEARCHED: Final = 2000
"""Characters of an error that are searched."""


def _usage(connection: sqlite3.Connection) -> tuple[int, int]:
    query = "SELECT count(*), ifnull(sum(size), 0) FROM call_contents"
    calls, size = connection.execute(query).fetchone()
    return calls, size


def _trim(connection: sqlite3.Connection, limit: int) -> None:
    query = "SELECT who, sum(size) FROM call_contents GROUP BY who"
    sizes = dict(connection.execute(query).fetchall())
    share = fair_share(sizes.values(), limit)
    for who in (who for who, size in sizes.items() if size > share):
        connection.execute(_OVER, {"who": who, "share": share})
