"""What people changed about servers, of whatever owner."""

import sqlite3
from collections.abc import Mapping
from uuid import UUID

from mcpyard.domain.desired import PolicyEdit, PolicyPatch
from mcpyard.store.sqlite.codec import from_text, to_text
from mcpyard.store.sqlite.engine import Engine
from mcpyard.store.sqlite.migrations import version_of
from mcpyard.store.sqlite.rows import every
from mcpyard.store.sqlite.schema import NEW_POLICY_NAMES, with_new_names


class SqlitePolicies:
    """One JSON object a server."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._all: dict[UUID, PolicyPatch] = {}

    async def load(self) -> None:
        """Read everything."""
        self._all = await self._engine.run(read_policies)

    def all(self) -> Mapping[UUID, PolicyPatch]:
        """The policy of each server that has one."""
        return self._all

    async def set(self, server: UUID, policy: PolicyPatch) -> None:
        """Put a policy in place of the one there was; an empty one is as good as none."""
        text = to_text(policy)
        await self.change(server, lambda _: from_text(text))

    async def set_all(self, policies: Mapping[UUID, PolicyPatch]) -> None:
        """Put policies in place of those there were, in one write."""
        texts = {server: to_text(policy) for server, policy in policies.items()}

        def job(connection: sqlite3.Connection) -> list[tuple[UUID, PolicyPatch]]:
            return [
                (server, _write(connection, server, from_text(text)))
                for server, text in texts.items()
            ]

        def then(written: list[tuple[UUID, PolicyPatch]]) -> None:
            for server, policy in written:
                self.changed(server, policy)

        await self._engine.run(job, then)

    async def change(self, server: UUID, edit: PolicyEdit) -> PolicyPatch:
        """Make a policy out of the one there is; of two changes at once none is lost."""
        return await self._engine.run(
            lambda connection: change_policy(connection, server, edit),
            lambda policy: self.changed(server, policy),
        )

    def changed(self, server: UUID, policy: PolicyPatch) -> None:
        """Know that a policy is another one on the disk."""
        self.forgotten(server)
        if policy:
            self._all[server] = policy

    def forgotten(self, server: UUID) -> None:
        """Know that a policy is gone from the disk."""
        self._all.pop(server, None)


def change_policy(connection: sqlite3.Connection, server: UUID, edit: PolicyEdit) -> PolicyPatch:
    """Make a policy out of the one on the disk, in the transaction that is open."""
    return _write(connection, server, edit(_one(connection, server)))


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


def read_policies(connection: sqlite3.Connection) -> dict[UUID, PolicyPatch]:
    """Every policy by its server; also of a database that was not brought up to date."""
    rows = connection.execute("SELECT server, policy FROM policies")
    old = version_of(connection) < NEW_POLICY_NAMES
    return dict(every(rows, _old_policy if old else _policy, "a policy"))


def _policy(server: str, text: str) -> tuple[UUID, PolicyPatch]:
    return UUID(server), from_text(text)


def _old_policy(server: str, text: str) -> tuple[UUID, PolicyPatch]:
    return _policy(server, with_new_names(text))
