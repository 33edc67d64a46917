"""The clients that the gateway met: a matter of one machine, as their files are."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

from mcpyard.domain.stored import SeenClient
from mcpyard.store.sql.codec import from_micros, to_micros
from mcpyard.store.sqlite.engine import Engine

MOST: Final = 200
"""Names that are stored; clients choose them freely."""

_NOTED_EVERY: Final = timedelta(minutes=1)


class SqliteSeenClients:
    """One row a name (see the `SeenClients` port)."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._all: dict[str, SeenClient] = {}
        self._noted: dict[str, datetime] = {}

    async def load(self) -> None:
        """Read everything."""
        rows = await self._engine.read(
            lambda connection: connection.execute(
                "SELECT name, version, at FROM seen_clients"
            ).fetchall()
        )
        self._all = {name: SeenClient(name, version, from_micros(at)) for name, version, at in rows}

    def all(self) -> Collection[SeenClient]:
        """Every one."""
        return self._all.values()

    def seen(self, client: SeenClient) -> None:
        """Note in the background when a client was heard of last; the oldest ones are dropped."""
        before = self._all.get(client.name)
        if before is not None and before.at >= client.at:
            return
        self._all[client.name] = client
        while len(self._all) > MOST:
            self._drop(min(self._all.values(), key=lambda each: each.at).name)
        noted = self._noted.get(client.name)
        if noted is not None and client.at - noted < _NOTED_EVERY:
            return
        self._noted[client.name] = client.at
        row = (client.name, client.version, to_micros(client.at))
        self._engine.post(
            lambda connection: connection.execute(
                """INSERT INTO seen_clients (name, version, at) VALUES (?, ?, ?)
                ON CONFLICT (name) DO UPDATE SET version = excluded.version, at = excluded.at""",
                row,
            )
        )

    def _drop(self, name: str) -> None:
        del self._all[name]
        self._noted.pop(name, None)
        self._engine.post(
            lambda connection: connection.execute(
                "DELETE FROM seen_clients WHERE name = ?", (name,)
            )
        )
