"""The values that references find by their names, sealed; only the names are readable."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence

from mcpyard.domain.stored import StoredSecret
from mcpyard.store.sql.cache import CachedTable, Keys, among, refreshed
from mcpyard.store.sql.codec import from_text, to_text
from mcpyard.store.sql.engine import SqlConnection, SqlEngine
from mcpyard.store.sql.sealing import Seal

log = logging.getLogger(__name__)

_IN_KEY_RING = b""
"""Stands for the content of a name whose value is in the key ring."""

_PUT = """INSERT INTO secrets (name, sealed) VALUES (?, ?)
    ON CONFLICT (name) DO UPDATE SET sealed = excluded.sealed"""


class SqlSecrets:
    """One sealed value a name (see the `Secrets` port)."""

    def __init__(self, engine: SqlEngine, seal: Seal) -> None:
        self._engine = engine
        self._seal = seal
        self._all: dict[str, StoredSecret] = {}
        self.changed: Callable[[], None] = lambda: None

    async def load(self) -> None:
        """Read everything."""
        await self._engine.read(self._read, self._refresh)

    def cached(self) -> Sequence[CachedTable]:
        """The one table."""
        return (CachedTable("secrets", self._read, self._refresh),)

    def all(self) -> Mapping[str, StoredSecret]:
        """Every one by its name."""
        return self._all

    async def set(self, name: str, value: str | None) -> None:
        """Store a value in place of the one there was; None stands for one in the key ring."""
        content = None
        if value is not None:
            content = to_text({"name": name, "value": value}).encode()

        def job(connection: SqlConnection) -> None:
            sealed = _IN_KEY_RING if content is None else self.sealed_now(connection, content)
            connection.execute(_PUT, (name, sealed))

        await self._engine.run(
            job, self._takes(name, StoredSecret(value, in_key_ring=value is None))
        )

    def sealed_now(self, _connection: SqlConnection, content: bytes) -> bytes:
        """A content sealed with the key of the storage; called in a transaction."""
        return self._seal.close(content)

    async def sealed(self, name: str) -> bytes | None:
        """What is stored under a name, as it is stored; None where there is nothing."""
        row = await self._engine.read(
            lambda connection: connection.execute(
                "SELECT sealed FROM secrets WHERE name = ?", (name,)
            ).fetchone()
        )
        return None if row is None else bytes(row[0])

    async def restore(self, name: str, sealed: bytes | None) -> None:
        """Store again what was stored once, or nothing."""
        if sealed is not None:
            secret = await asyncio.to_thread(self._opened, name, sealed)
            statement = f"{_PUT} RETURNING name"
            await self._engine.execute(statement, (name, sealed), self._takes(name, secret))
            return

        def then(_: object) -> None:
            if self._all.pop(name, None):
                self.changed()

        await self._engine.execute("DELETE FROM secrets WHERE name = ?", (name,), then)

    def _takes(self, name: str, secret: StoredSecret) -> Callable[[object], None]:
        def then(_: object) -> None:
            self._all = {**self._all, name: secret}
            self.changed()

        return then

    def _read(self, connection: SqlConnection, keys: Keys = None) -> dict[str, StoredSecret]:
        where, values = among("name", keys)
        rows = connection.execute(f"SELECT name, sealed FROM secrets{where} ORDER BY name", values)  # noqa: S608  constants
        # Opened here, in the thread of the engine: the key is costly to derive.
        return {name: self._opened(name, bytes(sealed)) for name, sealed in rows.fetchall()}

    def _opened(self, name: str, sealed: bytes) -> StoredSecret:
        if sealed == _IN_KEY_RING:
            return StoredSecret(in_key_ring=True)
        content = self._seal.open(sealed)
        if content is None:
            log.warning("the secret %s was sealed with another key; set it again", name)
            return StoredSecret()
        members = from_text(content.decode())
        # A row that was put under another name opens nothing.
        return StoredSecret(members["value"] if members["name"] == name else None)

    def _refresh(self, rows: dict[str, StoredSecret], keys: Keys = None) -> None:
        before = self._all
        self._all = refreshed(self._all, rows, keys)
        if self._all != before:
            self.changed()
