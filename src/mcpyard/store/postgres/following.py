"""Seeing what other nodes changed.

A listener waits for hints on a connection of its own; each hint, each new connection and a few
seconds of silence make the node read what was noted above the revision that it saw last. That is
read by the thread of the engine, behind the node's own writes: memory never goes back.

A transaction pooler passes no hints on. A hint of our own shows whether they arrive; if not, the
node asks every second.
"""

import asyncio
import contextlib
import logging
import os
import socket
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final
from uuid import uuid4

import psycopg
from msgspec import Struct

from mcpyard.domain.errors import YardError
from mcpyard.store.postgres.connecting import LimitedConnection
from mcpyard.store.postgres.engine import PostgresConnection, PostgresEngine
from mcpyard.store.postgres.schema import CHANNEL
from mcpyard.store.sql.cache import CachedTable, Keys

log = logging.getLogger(__name__)

_POLL: Final = 1.0
_QUIET: Final = 5.0
"""Seconds without a hint after which a node that hears hints looks all the same."""
_MANY: Final = 5_000
"""Keys of one table from which on all of it is read."""

Changes = Mapping[str, Collection[str] | None]
"""The keys that changed, by topic; None: any may have."""
OnChanges = Callable[[Changes], None]


class _News(Struct, frozen=True):
    rev: int
    changes: Changes
    rows: Sequence[tuple[CachedTable, Any, Keys]]


class Follower:
    """Keeps what a node holds in memory as the database has it.

    Attributes:
        seen: The revision up to which this node knows everything.
        hears: Whether hints arrive; None while that is not known.
        after: Called each time the database answered.
    """

    def __init__(
        self,
        engine: PostgresEngine,
        connect: Callable[[], LimitedConnection],
        tables: Sequence[CachedTable],
    ) -> None:
        self.seen = -1
        self.hears: bool | None = None
        self._engine = engine
        self._connect = connect
        self._tables = {each.topic: each for each in tables}
        self._loop = asyncio.get_running_loop()
        self._hinted = asyncio.Event()
        self._caught_up = asyncio.Condition()
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended = threading.Event()
        self._listening: LimitedConnection | None = None
        self._thread: threading.Thread | None = None
        self._changed: OnChanges = lambda _: None
        self.after: Callable[[], None] = lambda: None

    def begin(self, changed: OnChanges) -> None:
        """Follow from now on.

        Args:
            changed: Called in the event loop after memory was changed; with no changes when the
                database was away and is back.
        """
        self._changed = changed
        self._start(self._run())
        self._thread = threading.Thread(target=self._listen, name="cluster hints", daemon=True)
        self._thread.start()

    async def catch_up(self) -> Changes:
        """Take over what was changed since the last time; everything at the first time.

        Raises:
            StoreAway: The database cannot be reached.
        """
        news = await self._engine.read(self._fetch, self._take_over)
        if news is None:
            return {}
        async with self._caught_up:
            self._caught_up.notify_all()
        return news.changes

    def look(self) -> None:
        """Look now, without waiting for a hint."""
        self._hinted.set()

    async def reload(self) -> None:
        """Read everything anew, this node's own writes too."""
        self.seen = -1
        await self.catch_up()

    async def reached(self, rev: int) -> None:
        """Return when this node knows everything up to a revision."""
        async with self._caught_up:
            await self._caught_up.wait_for(lambda: self.seen >= rev)

    async def close(self) -> None:
        """Follow no more."""
        self._ended.set()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if listening := self._listening:
            _cut(listening)
        if self._thread:
            await asyncio.to_thread(self._thread.join)

    async def _run(self) -> None:
        answers = True
        while True:
            silence = _QUIET if self.hears and answers else _POLL
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(silence):
                    await self._hinted.wait()
            self._hinted.clear()
            try:
                changes = await self.catch_up()
                self.after()
                if changes or not answers:
                    self._changed(changes)
                answers = True
            except YardError as error:
                if answers:
                    log.warning("changes of other nodes are not seen: %s", error)
                answers = False
            except Exception:
                log.exception("changes of other nodes cannot be taken over")

    def _fetch(self, connection: PostgresConnection) -> _News | None:
        (rev,) = connection.execute("SELECT rev FROM revision").fetchone()
        own = {each for each in self._engine.own if each > self.seen}
        self._engine.own = {each for each in own if each > rev}
        if rev == self.seen:
            return None
        (oldest,) = connection.execute("SELECT min(rev) FROM changes").fetchone()
        if self.seen < 0 or rev < self.seen or (oldest or 0) > self.seen + 1:
            with connection.reading_all():
                return _News(rev, dict.fromkeys(self._tables), self._rows(connection, None))
        changes: dict[str, list[str]] = {}
        noted = "SELECT DISTINCT rev, topic, key FROM changes WHERE rev > ? AND rev <= ?"
        for at, topic, key in connection.execute(noted, (self.seen, rev)):
            if at not in own and topic != "group":
                changes.setdefault(topic, []).append(key)
        return _News(rev, changes, self._rows(connection, changes))

    def _rows(
        self, connection: PostgresConnection, changes: Mapping[str, Sequence[str]] | None
    ) -> Sequence[tuple[CachedTable, Any, Keys]]:
        rows: list[tuple[CachedTable, Any, Keys]] = []
        for topic, table in self._tables.items():
            keys = None if changes is None else changes.get(topic, ())
            if keys is not None and len(keys) > _MANY:
                keys = None
            if keys is None or keys:
                rows.append((table, table.fetch(connection, keys), keys))
        return rows

    def _take_over(self, news: _News | None) -> None:
        if news is not None:
            for table, rows, keys in news.rows:
                table.refresh(rows, keys)
            self.seen = news.rev

    def _listen(self) -> None:
        while not self._ended.is_set():
            try:
                with self._connect() as raw:
                    self._listening = raw
                    self._hear(raw)
            except (YardError, psycopg.Error):
                self.hears = False
            finally:
                self._listening = None
            self._ended.wait(_POLL)

    def _hear(self, raw: LimitedConnection) -> None:
        raw.execute(f"LISTEN {CHANNEL}".encode())
        token = uuid4().hex
        self._call(self._probe, token)
        while not self._ended.is_set():
            for hint in raw.notifies(timeout=_QUIET, stop_after=1):
                if hint.payload == token:
                    self.hears = True
                self._call(self._hinted.set)
            if self.hears is not True:
                self.hears = False

    def _probe(self, token: str) -> None:
        self._hinted.set()
        self._start(self._send(token))

    async def _send(self, token: str) -> None:
        with contextlib.suppress(YardError):
            await self._engine.read(
                lambda connection: connection.execute(
                    "SELECT pg_notify(?, ?)", (CHANNEL, token)
                ).fetchall()
            )

    def _start(self, work: "Any") -> None:  # noqa: ANN401  a coroutine of ours
        task: asyncio.Task[None] = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _call(self, function: Callable[..., object], *values: object) -> None:
        # The loop is gone when its program ended without closing us.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function, *values)


def _cut(connection: LimitedConnection) -> None:
    """End a connection that another thread waits on."""
    with (
        contextlib.suppress(OSError, psycopg.Error),
        socket.socket(fileno=os.dup(connection.fileno())) as cut,
    ):
        cut.shutdown(socket.SHUT_RDWR)
