"""What people changed about servers, of whatever owner."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from mcpyard.domain.desired import PolicyEdit, PolicyPatch
from mcpyard.store.sql.cache import CachedTable, Keys, among, refreshed
from mcpyard.store.sql.codec import from_text, to_text
from mcpyard.store.sql.engine import SqlConnection, SqlEngine
from mcpyard.store.sql.rows import every


class SqlPolicies:
    """One JSON object a server."""

    def __init__(self, engine: SqlEngine) -> None:
        self._engine = engine
        self._all: dict[UUID, PolicyPatch] = {}

    async def load(self) -> None:
        """Read everything."""
        await self._engine.read(read_policies, self._refresh)

    def cached(self) -> Sequence[CachedTable]:
        """The one table."""
        return (CachedTable("policies", read_policies, self._refresh),)

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

        def job(connection: SqlConnection) -> list[tuple[UUID, PolicyPatch]]:
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

    def _refresh(self, rows: dict[UUID, PolicyPatch], keys: Keys = None) -> None:
        ids = None if keys is None else {*map(UUID, keys)}
        self._all = refreshed(self._all, rows, ids)


def change_policy(connection: SqlConnection, server: UUID, edit: PolicyEdit) -> PolicyPatch:
    """Make a policy out of the one on the disk, in the transaction that is open."""
    return _write(connection, server, edit(_one(connection, server)))


def _one(connection: SqlConnection, server: UUID) -> PolicyPatch:
    row = connection.execute(
        "SELECT policy FROM policies WHERE server = ?", (str(server),)
    ).fetchone()
    return from_text(row[0]) if row else {}


def _write(connection: SqlConnection, server: UUID, policy: PolicyPatch) -> PolicyPatch:
    text = to_text(policy)
    if policy:
        connection.execute(
            """INSERT INTO policies (server, policy) VALUES (?, ?)
            ON CONFLICT (server) DO UPDATE SET policy = excluded.policy""",
            (str(server), text),
        )
    else:
        connection.execute("DELETE FROM policies WHERE server = ?", (str(server),))
    return from_text(text)


def read_policies(connection: SqlConnection, keys: Keys = None) -> dict[UUID, PolicyPatch]:
    """Policies by their servers."""
    where, values = among("server", keys)
    rows = connection.execute(f"SELECT server, policy FROM policies{where}", values)  # noqa: S608  constants
    return dict(every(rows, policy_of, "a policy"))


def policy_of(server: str, text: str) -> tuple[UUID, PolicyPatch]:
    """A server and its policy, out of a row."""
    return UUID(server), from_text(text)
