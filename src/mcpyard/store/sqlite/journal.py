"""The last calls. No call waits for its line here: lines are written together, a moment later.

No caller can remove the lines of another one. When there are too many, the callers with the most
lines lose their oldest ones; and when too many wait for the disk, the callers with the most of
those are the first whose lines are dropped.
"""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cache, lru_cache
from secrets import token_hex
from typing import Final, TypeAlias
from uuid import UUID

from mcpyard.domain.call_contents import CallTrace, TracedCall
from mcpyard.domain.stored import CallQuery, CallRecord
from mcpyard.store.journal_limits import JournalLimits
from mcpyard.store.sql.codec import to_micros
from mcpyard.store.sql.sealing import Seal
from mcpyard.store.sqlite.call_contents import SqliteCallContents, fair_share
from mcpyard.store.sqlite.call_history import count_lines, expire_minutes, lines_removed
from mcpyard.store.sqlite.call_queries import select_call, select_calls
from mcpyard.store.sqlite.engine import Engine

Record: TypeAlias = Callable[[int | None, Sequence[TracedCall]], None]

_WAITING: Final = 20_000
"""Lines that may wait for the disk; what comes on top is dropped and counted."""

_CROWDED: Final = 2
"""When one in so many of the places is taken, each caller gets only a share of the rest."""

_RECENT: Final = 300.0
"""Seconds for which dropped lines count as a problem of now."""

_DELAY: Final = 0.2
_SLACK: Final = 10
"""The journal is cut back when it is a tenth too long: a cut costs, and few lines more do not."""

_WIDTH: Final = 9
_TOGETHER: Final = (3000, 1000, 300, 100, 30, 10, 3, 1)
"""Lines in one statement: as many as there are. Around each statement this thread waits for the
interpreter, and while it waits, each request costs the event loop a futile wake-up of it."""

_INSERT: Final = """INSERT INTO calls
    (at, who, server, server_name, tool, ms, outcome, bytes_in, bytes_out)
    VALUES """
_VALUES: Final = "(?, ?, ?, ?, ?, ?, ?, ?, ?)"

_OVER: Final = """DELETE FROM calls WHERE who = :who AND id <= (
    SELECT id FROM calls WHERE who = :who ORDER BY id DESC LIMIT 1 OFFSET :share)"""
_OLDEST: Final = """DELETE FROM calls WHERE id <= (
    SELECT id FROM calls ORDER BY id DESC LIMIT 1 OFFSET :limit)"""


class SqliteJournal:
    """Calls, newest first, up to a number and an age.

    Attributes:
        dropped: How many lines were never written: too many waited, or the disk refused them.
        trimmed: How many lines were removed before their age, for want of room.
        contents: What is recorded of the calls.
    """

    def __init__(
        self, engine: Engine, limits: JournalLimits | None = None, seal: Seal | None = None
    ) -> None:
        self.dropped = 0
        self.trimmed = 0
        self._engine = engine
        self._limits = limits or JournalLimits()
        self._seal = seal or Seal(text=token_hex(), environment=False)
        self.contents = SqliteCallContents(engine, self._seal, self._limits)
        self._traced: list[TracedCall] = []
        self._record: Record = _nothing
        # Value after value: a tuple a line would be one thing more for the collector to look at.
        self._waiting: list[object] = []
        self._writing = 0
        self._crowd: dict[str, int] = {}
        self._dropped_at = float("-inf")
        # Only the thread of the engine uses it; after a job that failed it is too high, which
        # the next cut corrects.
        self._stored: int | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_dropping(self) -> bool:
        """Whether lines were dropped just now."""
        return time.monotonic() - self._dropped_at < _RECENT

    def append(self, call: CallRecord, trace: CallTrace | None = None) -> None:
        """Note a call, in the background; dropped when too many are waiting."""
        at, who, server, name, tool, ms, outcome, came, left, *_ = call
        waiting = len(self._waiting) + self._writing
        if waiting * _CROWDED >= _WAITING * _WIDTH and not self._has_room(who, waiting // _WIDTH):
            self._drop(1)
            if trace:
                self._record(None, [TracedCall(0, call, trace)])
            return
        if trace:
            self._traced.append(TracedCall(len(self._waiting) // _WIDTH, call, trace))
        micros, named = to_micros(at), _text_of(server)
        self._waiting += (micros, who, named, name, tool, ms, outcome, came, left)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_DELAY, self._write_soon)

    def record_by(self, record: Record) -> None:
        """Give the traces of calls to this function, when the lines of the calls were written."""
        self._record = record

    async def query(self, query: CallQuery) -> Sequence[CallRecord]:
        """The calls asked for, in their order."""
        self._write_soon()
        return await self._engine.read(
            lambda connection: select_calls(connection, query, self._seal)
        )

    async def get(self, call: int) -> CallRecord | None:
        """One call."""
        self._write_soon()
        return await self._engine.read(lambda connection: select_call(connection, call))

    async def expire(self, now: datetime) -> None:
        """Remove the lines that are too old, and what is recorded of calls for too long."""
        oldest = to_micros(now - self._limits.age)

        def expire(connection: sqlite3.Connection) -> None:
            count_lines(connection)
            connection.execute("DELETE FROM calls WHERE at < ?", (oldest,))
            lines_removed(connection)
            expire_minutes(connection, now)

        await self._engine.run(expire)
        await self.contents.expire(now)

    async def flush(self) -> None:
        """Write the lines that wait."""
        self._write_soon()
        await self._engine.flush()

    async def close(self) -> None:
        """Write the lines that wait."""
        await self.flush()

    def _has_room(self, who: str, waiting: int) -> bool:
        """Whether a caller may have one more of the last places: at most as many as are left."""
        mine = self._crowd.get(who, 0)
        if mine >= _WAITING - waiting:
            return False
        self._crowd[who] = mine + 1
        return True

    def _drop(self, lines: int) -> None:
        self.dropped += lines
        self._dropped_at = time.monotonic()

    def _write_soon(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        values, self._waiting = self._waiting, []
        traced, self._traced = self._traced, []
        if not values:
            return
        self._writing += len(values)
        trimmed = first = 0

        def write(connection: sqlite3.Connection) -> None:
            nonlocal trimmed, first
            first, trimmed = self._write(connection, values)

        def after(done: bool) -> None:
            self._writing -= len(values)
            if done:
                self.trimmed += trimmed
            else:
                self._drop(len(values) // _WIDTH)
            if traced:
                self._record(first if done else None, traced)
            if not self._writing:
                self._crowd.clear()

        self._engine.post(write, after)

    def _write(self, connection: sqlite3.Connection, values: list[object]) -> tuple[int, int]:
        """Write lines; returns the id of the first, and how many others were removed for them."""
        start, most = 0, connection.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER)
        last = 0
        for lines in _TOGETHER:
            size = lines * _WIDTH
            while size <= min(most, len(values) - start):
                cursor = connection.execute(_insert(lines), values[start : start + size])
                last = cursor.lastrowid or 0
                start += size
        if self._stored is None:
            self._stored = int(connection.execute("SELECT count(*) FROM calls").fetchone()[0])
        else:
            self._stored += len(values) // _WIDTH
        limit, removed = self._limits.calls, 0
        if self._stored > limit + limit // _SLACK:
            count_lines(connection)
            removed, self._stored = _trim(connection, limit)
        # This is the one writer, so that the lines of a transaction have ids one after another.
        return last - len(values) // _WIDTH + 1, removed


def _trim(connection: sqlite3.Connection, limit: int) -> tuple[int, int]:
    """Cut the journal back; how many lines were removed, and how many are left."""
    counts = dict(connection.execute("SELECT who, count(*) FROM calls GROUP BY who").fetchall())
    share, stored, removed = fair_share(counts.values(), limit), sum(counts.values()), 0
    for who in (who for who, count in counts.items() if count > share):
        removed += connection.execute(_OVER, {"who": who, "share": share}).rowcount
    if stored - removed > limit:
        # More callers than lines.
        removed += connection.execute(_OLDEST, {"limit": limit}).rowcount
    return removed, stored - removed


@cache
def _insert(lines: int) -> str:
    return _INSERT + ", ".join([_VALUES] * lines)


@lru_cache(maxsize=1024)
def _text_of(server: UUID) -> str:
    return str(server)


def _nothing(_first: int | None, _calls: Sequence[TracedCall]) -> None:
    """Nobody records."""
