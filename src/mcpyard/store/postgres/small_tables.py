"""The restarts that were asked for, and the admin token: what one node says and all heed."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from mcpyard.store.sql.cache import CachedTable, Keys, among, refreshed
from mcpyard.store.sql.engine import SqlConnection, SqlEngine


class SharedTurns:
    """How often a restart of each server was asked for, on whichever node."""

    def __init__(self, engine: SqlEngine) -> None:
        self._engine = engine
        self._all: dict[UUID, int] = {}

    def cached(self) -> Sequence[CachedTable]:
        """The one table."""
        return (CachedTable("turns", _read_turns, self._refresh),)

    def all(self) -> Mapping[UUID, int]:
        """The turn of each server that was restarted ever."""
        return self._all

    async def raise_(self, server: UUID) -> int:
        """Ask for a restart; the turn that a server is to have."""

        def job(connection: SqlConnection) -> int:
            return connection.execute(
                """INSERT INTO turns AS t (server, turn) VALUES (?::uuid, 1)
                ON CONFLICT (server) DO UPDATE SET turn = t.turn + 1 RETURNING turn""",
                (str(server),),
            ).fetchone()[0]

        def then(turn: int) -> None:
            self._all[server] = turn

        return await self._engine.run(job, then)

    def _refresh(self, rows: dict[UUID, int], keys: Keys) -> None:
        self._all = refreshed(self._all, rows, None if keys is None else {*map(UUID, keys)})


class AdminToken:
    """The hash of the token that opens the REST interface of every node."""

    def __init__(self, engine: SqlEngine) -> None:
        self._engine = engine
        self._hash: str | None = None

    def cached(self) -> Sequence[CachedTable]:
        """The one row."""
        return (CachedTable("meta", _read_hash, self._refresh),)

    @property
    def hash(self) -> str | None:
        """The hash; None when no token was set yet."""
        return self._hash

    async def set(self, token_hash: str, *, only_first: bool = False) -> str:
        """Set the hash, or only if there is none; the one that holds now."""

        def job(connection: SqlConnection) -> str:
            new = "coalesce(admin_hash, ?)" if only_first else "?"
            return connection.execute(
                f"UPDATE meta SET admin_hash = {new} RETURNING admin_hash",  # noqa: S608  constants
                (token_hash,),
            ).fetchone()[0]

        return await self._engine.run(job, self._refresh)

    def _refresh(self, token_hash: str | None, keys: Keys = None) -> None:
        del keys
        self._hash = token_hash


def _read_turns(connection: SqlConnection, keys: Keys) -> dict[UUID, int]:
    where, values = among("server::text", keys)
    rows = connection.execute(f"SELECT server, turn FROM turns{where}", values)  # noqa: S608  constants
    return dict(rows.fetchall())


def _read_hash(connection: SqlConnection, keys: Keys) -> str | None:
    del keys
    return connection.execute("SELECT admin_hash FROM meta").fetchone()[0]
