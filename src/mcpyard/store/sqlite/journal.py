"""The last calls. No call waits for its line here: lines are written together, a moment later."""

import asyncio
import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from typing import Final
from uuid import UUID

from mcpyard.domain.stored import CallQuery, CallRecord
from mcpyard.store.sqlite.codec import from_micros, to_micros
from mcpyard.store.sqlite.engine import Engine

KEPT: Final = 10_000
_WAITING: Final = 20_000
"""Lines that may wait for the disk; what comes on top is dropped and counted."""

_DELAY: Final = 0.2
_SLACK: Final = 10
"""The journal is cut back when it is a tenth too long: a cut costs, and few lines more do not."""

_WIDTH: Final = 9
_TOGETHER: Final = 100
"""Lines in one statement: between statements the threads of the yard fight over the interpreter."""

_INSERT: Final = """INSERT INTO calls
    (at, who, server, server_name, tool, ms, outcome, bytes_in, bytes_out)
    VALUES """
_VALUES: Final = "(?, ?, ?, ?, ?, ?, ?, ?, ?)"
_INSERT_ONE: Final = _INSERT + _VALUES
_INSERT_MANY: Final = _INSERT + ", ".join([_VALUES] * _TOGETHER)

_SELECT: Final = """SELECT at, who, server, server_name, tool, ms, outcome, bytes_in, bytes_out, id
    FROM calls
    WHERE (:server IS NULL OR server = :server) AND (:tool IS NULL OR tool = :tool)
    AND (:outcome IS NULL OR outcome = :outcome) AND (:who IS NULL OR who = :who)
    AND id < ifnull(:before, 9223372036854775807)
    ORDER BY id DESC LIMIT :limit"""


class SqliteJournal:
    """Calls, newest first, up to a number.

    Attributes:
        dropped: How many lines found too many others waiting.
    """

    def __init__(self, engine: Engine, limit: int = KEPT) -> None:
        self.dropped = 0
        self._engine = engine
        self._kept = limit
        # Value after value: a tuple a line would be one thing more for the collector to look at.
        self._waiting: list[object] = []
        self._writing = 0
        self._timer: asyncio.TimerHandle | None = None

    def append(self, call: CallRecord) -> None:
        """Note a call, in the background; dropped when too many are waiting."""
        if len(self._waiting) + self._writing >= _WAITING * _WIDTH:
            self.dropped += 1
            return
        at, who, server, name, tool, ms, outcome, came, left, _ = call
        micros, named = to_micros(at), _text_of(server)
        self._waiting += (micros, who, named, name, tool, ms, outcome, came, left)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_DELAY, self._write_soon)

    async def query(self, query: CallQuery) -> Sequence[CallRecord]:
        """The calls asked for, newest first."""
        self._write_soon()
        return await self._engine.run(lambda connection: _select(connection, query))

    async def close(self) -> None:
        """Write the lines that wait."""
        self._write_soon()
        await self._engine.flush()

    def _write_soon(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        values, self._waiting = self._waiting, []
        if not values:
            return
        self._writing += len(values)

        def after(done: bool) -> None:
            self._writing -= len(values)
            self.dropped += 0 if done else len(values) // _WIDTH

        self._engine.post(lambda connection: self._write(connection, values), after)

    def _write(self, connection: sqlite3.Connection, values: list[object]) -> None:
        size = _TOGETHER * _WIDTH
        whole = len(values) - len(values) % size
        for start in range(0, whole, size):
            connection.execute(_INSERT_MANY, values[start : start + size])
        for start in range(whole, len(values), _WIDTH):
            connection.execute(_INSERT_ONE, values[start : start + _WIDTH])
        (count,) = connection.execute(
            "SELECT ifnull((SELECT max(id) FROM calls) - (SELECT min(id) FROM calls) + 1, 0)"
        ).fetchone()
        if count > self._kept + self._kept // _SLACK:
            connection.execute(
                "DELETE FROM calls WHERE id <= (SELECT max(id) FROM calls) - ?", (self._kept,)
            )


@lru_cache(maxsize=1024)
def _text_of(server: UUID) -> str:
    return str(server)


def _select(connection: sqlite3.Connection, query: CallQuery) -> list[CallRecord]:
    rows = connection.execute(
        _SELECT,
        {
            "server": query.server and str(query.server),
            "tool": query.tool,
            "outcome": query.outcome,
            "who": query.who,
            "before": query.before,
            "limit": max(query.limit, 0),
        },
    )
    return [
        CallRecord(from_micros(at), who, UUID(server), *rest) for at, who, server, *rest in rows
    ]
