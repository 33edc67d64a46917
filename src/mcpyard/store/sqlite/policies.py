"""What people changed about servers, of whatever owner."""

import sqlite3
from collections.abc import Callable, Mapping
from uuid import UUID

from mcpyard.domain.desired import PolicyPatch
from mcpyard.store.sqlite.codec import from_text, to_text
from mcpyard.store.sqlite.engine import Engine


class SqlitePolicies:
    """One JSON object a server."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._all: dict[UUID, PolicyPatch] = {}

    async def load(self) -> None:
        """Read everything."""
        await self._engine.run(_read, self._take)

    def all(self) -> Mapping[UUID, PolicyPatch]:
        """The policy of each server that has one."""
        return self._all

    async def set(self, server: UUID, policy: PolicyPatch) -> None:
        """Put a policy in place of the one there was; an empty one is as good as none."""
        text = to_text(policy)
        await self.change(server, lambda _: from_text(text))

    async def change(self, server: UUID, edit: Callable[[PolicyPatch], PolicyPatch]) -> PolicyPatch:
        """Make a policy out of the one there is; of two changes at once none is lost."""

        def job(connection: sqlite3.Connection) -> PolicyPatch:
            return _write(connection, server, edit(_one(connection, server)))

        def then(policy: PolicyPatch) -> None:
            self.forgotten(server)
            if policy:
                self._all[server] = policy

        return await self._engine.run(job, then)

    def forgotten(self, server: UUID) -> None:
        """Know that a policy is gone from the disk."""
        self._all.pop(server, None)

    def _take(self, found: dict[UUID, PolicyPatch]) -> None:
        self._all = found


def _one(connection: sqlite3.Connection, server: UUID) -> PolicyPatch:
    row = connection.execute(
        "SELECT policy FROM policies WHERE server = ?", (str(server),)
    ).fetchone()
    return from_text(row[0]) if row else {}


def _write(connection: sqlite3.Connection, server: UUID, policy: PolicyPatch) -> PolicyPatch:
    text = to_text(policy)
    if policy:
        connection.execute(
            """INSERT INTO policies (server, policy) VALUES (?, ?)
            ON CONFLICT DO UPDATE SET policy = excluded.policy""",
            (str(server), text),
        )
    else:
        connection.execute("DELETE FROM policies WHERE server = ?", (str(server),))
    return from_text(text)


def _read(connection: sqlite3.Connection) -> dict[UUID, PolicyPatch]:
    rows = connection.execute("SELECT server, policy FROM policies")
    return {UUID(server): from_text(text) for server, text in rows}
