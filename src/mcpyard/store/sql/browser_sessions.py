"""The browsers that were let in, and the links that let one in."""

from collections.abc import Sequence
from datetime import datetime

from mcpyard.domain.stored import LoginSession
from mcpyard.store.sql.cache import CachedTable, Keys, among, refreshed
from mcpyard.store.sql.codec import from_micros, to_micros
from mcpyard.store.sql.engine import SqlConnection, SqlEngine
from mcpyard.store.sql.rows import readable
from mcpyard.store.volatile import VolatileSessions


class SqlSessions(VolatileSessions):
    """Sessions in memory as well, links on the disk alone: a link is used once."""

    def __init__(self, engine: SqlEngine) -> None:
        super().__init__()
        self._engine = engine

    async def load(self) -> None:
        """Read everything."""
        await self._engine.read(_read, self._refresh)

    def cached(self) -> Sequence[CachedTable]:
        """The sessions; a link is only ever used in the database."""
        return (CachedTable("login_sessions", _read, self._refresh),)

    async def add(self, session: LoginSession) -> None:
        """Let a browser in, or on; sessions and links that have run out are forgotten."""
        await self._engine.run(
            lambda connection: _insert(connection, session), lambda _: self._keep(session)
        )

    async def remove(self, cookie_hash: str) -> None:
        """Shut a browser out."""
        await self._engine.execute(
            "DELETE FROM login_sessions WHERE cookie_hash = ?",
            (cookie_hash,),
            lambda _: self._all.pop(cookie_hash, None),
        )

    def removed_elsewhere(self, cookie_hash: str) -> None:
        """Another program of the same database shut a browser out."""
        self._all.pop(cookie_hash, None)

    async def add_link(self, link_hash: str, expires: datetime) -> None:
        """Keep a link that lets one browser in, once."""
        await self._engine.execute(
            "INSERT INTO login_links (hash, expires) VALUES (?, ?)", (link_hash, to_micros(expires))
        )

    async def take_link(self, link_hash: str, now: datetime) -> bool:
        """Use a link up; whether it was there, unused and in time."""
        at = to_micros(now)
        taken = await self._engine.execute(
            """UPDATE login_links SET used = ?
            WHERE hash = ? AND used IS NULL AND expires > ? RETURNING hash""",
            (at, link_hash, at),
        )
        return bool(taken)

    def _refresh(self, rows: dict[str, LoginSession], keys: Keys = None) -> None:
        self._all = refreshed(self._all, rows, keys)


def _insert(connection: SqlConnection, session: LoginSession) -> None:
    created = to_micros(session.created)
    connection.execute("DELETE FROM login_sessions WHERE expires <= ?", (created,))
    connection.execute("DELETE FROM login_links WHERE expires <= ?", (created,))
    connection.execute(
        """INSERT INTO login_sessions (cookie_hash, key_hash, created, expires)
        VALUES (?, ?, ?, ?) ON CONFLICT (cookie_hash) DO UPDATE SET
        key_hash = excluded.key_hash, created = excluded.created, expires = excluded.expires""",
        (session.cookie_hash, session.key_hash, created, to_micros(session.expires)),
    )


def _read(connection: SqlConnection, keys: Keys = None) -> dict[str, LoginSession]:
    where, values = among("cookie_hash", keys)
    rows = connection.execute(
        f"SELECT cookie_hash, key_hash, created, expires FROM login_sessions{where}",  # noqa: S608  constants
        values,
    )
    return {each.cookie_hash: each for each in readable(rows, _session, "a login session")}


def _session(cookie_hash: str, key_hash: str, created: int, expires: int) -> LoginSession:
    return LoginSession(cookie_hash, key_hash, from_micros(created), from_micros(expires))
