"""The servers of the user's own scope.

Whether a name is free or a digest has moved is decided in the transaction, never by what memory
says: of two callers at once, one is told.
"""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID, uuid4

from mcpyard.domain.desired import Owner, PolicyEdit, PolicyPatch
from mcpyard.domain.errors import DocumentMoved, NameTaken, ServerUnknown
from mcpyard.domain.model import Scope
from mcpyard.domain.stored import StoredDefinition
from mcpyard.store.sql.cache import CachedTable, Keys, among
from mcpyard.store.sql.codec import digest, from_text, to_text
from mcpyard.store.sql.engine import SqlConnection, SqlEngine
from mcpyard.store.sql.memory import INSERT_IDENTITY, SqlMemory, move_identity
from mcpyard.store.sql.policies import SqlPolicies, change_policy
from mcpyard.store.sql.rows import every

USER: Final = Owner(Scope.USER)


class SqlDefinitions:
    """The `Definitions` port, with the identities and policies that go with definitions."""

    def __init__(self, engine: SqlEngine, memory: SqlMemory, policies: SqlPolicies) -> None:
        self._engine = engine
        self._memory = memory
        self._policies = policies
        self._all: dict[UUID, StoredDefinition] = {}

    async def load(self) -> None:
        """Read everything."""
        await self._engine.read(read_definitions, self._refresh)

    def cached(self) -> Sequence[CachedTable]:
        """The one table."""
        return (CachedTable("definitions", read_definitions, self._refresh),)

    def all(self) -> Sequence[StoredDefinition]:
        """Every one, in the order of their arrival."""
        return tuple(self._all.values())

    def has(self, server: UUID) -> bool:
        """Whether there is a server with this id."""
        return server in self._all

    async def add_all(
        self, definitions: Mapping[str, Mapping[str, object]]
    ) -> Sequence[StoredDefinition]:
        """Register the servers whose names are free, in one write."""
        texts = {name: to_text(definition) for name, definition in definitions.items()}

        def job(connection: SqlConnection) -> list[StoredDefinition]:
            return [
                _insert(connection, name, text)
                for name, text in texts.items()
                if _is_free(connection, name)
            ]

        return await self._engine.run(job, self._added)

    async def replace(
        self,
        server: UUID,
        definition: Mapping[str, object],
        *,
        expected: str | None = None,
        name: str | None = None,
        policy: PolicyEdit | None = None,
    ) -> StoredDefinition:
        """Change a server, and its name and policy as well if they are given, in one write."""
        return await self._change(server, to_text(definition), name, expected, policy)

    async def rename(self, server: UUID, name: str) -> StoredDefinition:
        """Give a server another name; it keeps its id and the exposed names of its tools."""
        return await self._change(server, name=name)

    async def remove(self, server: UUID) -> StoredDefinition:
        """Take a server out, with its policy and what it listed."""

        def job(connection: SqlConnection) -> StoredDefinition:
            stored = _expect(connection, server)
            connection.execute("DELETE FROM definitions WHERE id = ?", (str(server),))
            connection.execute("DELETE FROM policies WHERE server = ?", (str(server),))
            connection.execute("DELETE FROM tools WHERE server = ?", (str(server),))
            connection.execute("DELETE FROM offers WHERE server = ?", (str(server),))
            return stored

        return await self._engine.run(job, self._removed)

    async def _change(
        self,
        server: UUID,
        text: str | None = None,
        name: str | None = None,
        expected: str | None = None,
        policy: PolicyEdit | None = None,
    ) -> StoredDefinition:
        def job(connection: SqlConnection) -> _Changed:
            old = _expect(connection, server, expected)
            new = _made(
                server,
                old.name if name is None else name,
                to_text(old.definition) if text is None else text,
            )
            if new.name != old.name:
                if not _is_free(connection, new.name):
                    raise NameTaken(f'the name "{new.name}" is in use')
                move_identity(connection, (USER, old.name), new.name, server)
            connection.execute(
                "UPDATE definitions SET name = ?, definition = ?, digest = ? WHERE id = ?",
                (new.name, to_text(new.definition), new.digest, str(server)),
            )
            return _Changed(old, new, change_policy(connection, server, policy) if policy else None)

        return (await self._engine.run(job, self._changed)).new

    def _added(self, made: list[StoredDefinition]) -> None:
        for each in made:
            self._all[each.id] = each
            self._memory.renamed((USER, each.name), each.name, each.id)

    def _changed(self, change: "_Changed") -> None:
        old, new, policy = change
        self._all[new.id] = new
        self._memory.renamed((USER, old.name), new.name, new.id)
        if policy is not None:
            self._policies.changed(new.id, policy)

    def _removed(self, gone: StoredDefinition) -> None:
        del self._all[gone.id]
        self._policies.forgotten(gone.id)
        self._memory.forget_tools(gone.id)

    def _refresh(self, rows: list[StoredDefinition], keys: Keys = None) -> None:
        for key in {*(self._all if keys is None else map(UUID, keys))} - {each.id for each in rows}:
            if gone := self._all.get(key):
                self._removed(gone)
        for new in rows:
            old = self._all.get(new.id)
            if new != old:
                self._changed(_Changed(old or new, new, None))


class _Changed(NamedTuple):
    old: StoredDefinition
    new: StoredDefinition
    policy: PolicyPatch | None


def _made(server: UUID, name: str, text: str) -> StoredDefinition:
    return StoredDefinition(server, name, from_text(text), digest(text.encode()))


def _identity(connection: SqlConnection, name: str) -> UUID:
    key = (USER.scope, USER.place, name)
    connection.execute(INSERT_IDENTITY, (*key, str(uuid4())))
    row = connection.execute(
        "SELECT id FROM identities WHERE scope = ? AND place = ? AND name = ?", key
    )
    return UUID(row.fetchone()[0])


def _insert(connection: SqlConnection, name: str, text: str) -> StoredDefinition:
    made = _made(_identity(connection, name), name, text)
    connection.execute(
        "INSERT INTO definitions (id, name, definition, digest) VALUES (?, ?, ?, ?)",
        (str(made.id), name, text, made.digest),
    )
    return made


def _is_free(connection: SqlConnection, name: str) -> bool:
    row = connection.execute("SELECT 1 FROM definitions WHERE name = ?", (name,)).fetchone()
    return row is None


def _expect(
    connection: SqlConnection, server: UUID, expected: str | None = None
) -> StoredDefinition:
    row = connection.execute(
        "SELECT name, definition FROM definitions WHERE id = ?", (str(server),)
    ).fetchone()
    if row is None:
        raise ServerUnknown(f"there is no server {server}")
    stored = _made(server, *row)
    if expected not in {None, stored.digest}:
        raise DocumentMoved(f'"{stored.name}" was changed meanwhile')
    return stored


def read_definitions(connection: SqlConnection, keys: Keys = None) -> list[StoredDefinition]:
    """Definitions in the order of their arrival."""
    where, values = among("id", keys)
    rows = connection.execute(
        f"SELECT id, name, definition, digest FROM definitions{where} ORDER BY rowid",  # noqa: S608  constants
        values,
    )
    return [*every(rows, _definition, "a definition")]


def _definition(server: str, name: str, text: str, digest: str) -> StoredDefinition:
    return StoredDefinition(UUID(server), name, from_text(text), digest)
