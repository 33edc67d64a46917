"""Identities, exposed names, tools and other lists of the servers that a cluster shares.

A name is given in memory first and claimed in the database a moment later. Of two nodes that gave
one name to two tools, or two names to one tool, the first keeps it; the other drops the name that
it lost, and gives another.
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple
from uuid import UUID

from mcpyard.domain.desired import Owner
from mcpyard.domain.errors import YardError
from mcpyard.store.postgres.engine import PostgresEngine
from mcpyard.store.postgres.schema import ADDRESSES
from mcpyard.store.sql.cache import CachedTable, Keys, among
from mcpyard.store.sql.engine import SqlConnection, SqlJob
from mcpyard.store.sql.memory import (
    INSERT_NAME,
    NameKey,
    SqlMemory,
    read_identities,
    read_names,
    read_offers,
    read_tools,
)

log = logging.getLogger(__name__)

_CLAIM: Final = """INSERT INTO exposed_names (server, tool, name) VALUES (?, ?, ?)
    ON CONFLICT DO NOTHING"""
_LONGEST: Final = 2_000
"""Bytes of a tool's name or an address that an index of PostgreSQL has room for."""
_ID_LENGTH: Final = 36

_Row = tuple[str, str, str]


class _Claims(NamedTuple):
    """What became of names that were claimed: those lost, and what is stored instead."""

    lost: list[NameKey]
    stored: dict[NameKey, str]


class SharedMemory(SqlMemory):
    """The memory that is in PostgreSQL; `SplitMemory` is the whole of a node's.

    Attributes:
        on_names: Called with the names that became known, and the servers whose tools have lost
            the name they had here.
        fence: The fence under which this node runs a server; what is listed under an older one
            is not kept. None where it is not known.
    """

    def __init__(self, engine: PostgresEngine) -> None:
        super().__init__(engine)
        self._database = engine
        self.on_names: Callable[[Collection[str], Collection[UUID]], None] = lambda _, __: None
        self.fence: Callable[[UUID], int | None] = lambda _: None
        self._claims: dict[object, _Claims] = {}
        self._ids: set[UUID] = set()

    def has(self, server: UUID) -> bool:
        """Whether a server is, or was, one that the cluster shares."""
        if len(self._ids) != len(self._identities):
            self._ids = {*self._identities.values()}
        return server in self._ids

    def cached(self) -> Sequence[CachedTable]:
        """What other nodes change too."""
        return (
            CachedTable("identities", read_identities, self._refresh_identities),
            CachedTable("exposed_names", _read_names, self._refresh_names),
            CachedTable("tools", read_tools, self._refresh_tools),
            CachedTable("offers", read_offers, self._refresh_offers),
        )

    def retry(self) -> None:
        """Write what was refused while the database was away."""
        self._save_refused()

    async def close(self) -> None:
        """Write what is not written yet; a node also ends while its database is away."""
        try:
            await super().close()
        except YardError as error:
            if self._refused:
                log.warning("not everything was stored: %s", error)
                self._refused.clear()

    def _save(self, key: object, writer: Callable[[], SqlJob[object]]) -> None:
        if self._database.fault():
            # What waits is tried once when the database is back, and not with each change.
            self._refused[key] = writer
        else:
            super()._save(key, writer)

    def _names_writer(self, keys: frozenset[NameKey]) -> SqlJob[object]:
        rows = [
            (str(key[0]), key[1], self._names[key])
            for key in keys
            if key in self._names and fits_index(key[1])
        ]

        def job(connection: SqlConnection) -> None:
            self._claims[keys] = _claim(connection, rows)

        return job

    def _written(self, key: object) -> None:
        claims = self._claims.pop(key, None)
        if claims and claims.lost:
            for lost in claims.lost:
                self._names.pop(lost, None)
            self._names |= claims.stored
            self.on_names(claims.stored.values(), {server for server, _ in claims.lost})

    def _tools_writer(self, server: UUID) -> SqlJob[object]:
        return self._fenced(server, super()._tools_writer(server))

    def _offer_writer(self, server: UUID) -> SqlJob[object]:
        return self._fenced(server, super()._offer_writer(server))

    def _fenced(self, server: UUID, job: SqlJob[object]) -> SqlJob[object]:
        fence = self.fence(server)
        if fence is None:
            return job
        held = "SELECT 1 FROM placements WHERE server = ?::uuid AND fence = ?"

        def fenced(connection: SqlConnection) -> None:
            if connection.execute(held, (str(server), fence)).fetchone():
                job(connection)

        return fenced

    def _refresh_identities(self, rows: Mapping[tuple[Owner, str], UUID], keys: Keys) -> None:
        names = {*(keys or ())}
        others = {key: each for key, each in self._identities.items() if key[1] not in names}
        self._identities = others | {**rows}
        self._ids.clear()

    def _refresh_names(self, rows: dict[NameKey, str], keys: Keys) -> None:
        del keys  # No name is ever given up.
        renamed = {key[0] for key, name in rows.items() if self._names.get(key, name) != name}
        self._names |= rows
        self.on_names(rows.values(), renamed)

    def _refresh_tools(self, rows: dict[UUID, bytes], keys: Keys) -> None:
        for server in {*rows, *(map(UUID, keys or ()))}:
            self._tools.pop(server, None)
            self._unread.pop(server, None)
        self._unread |= rows

    def _refresh_offers(self, rows: dict[UUID, bytes], keys: Keys) -> None:
        for server in {*rows, *(map(UUID, keys or ()))}:
            self._offers.pop(server, None)
            self._unread_offers.pop(server, None)
        self._unread_offers |= rows


def _claim(connection: SqlConnection, rows: Sequence[_Row]) -> _Claims:
    tools = [row for row in rows if row[0] != ADDRESSES]
    connection.executemany(INSERT_NAME, [row for row in rows if row[0] == ADDRESSES])
    connection.executemany(_CLAIM, tools)
    stored = _read_names(connection, [f"{server} {tool}" for server, tool, _ in tools])
    lost = [
        (UUID(server), tool)
        for server, tool, name in tools
        if stored.get((UUID(server), tool)) != name
    ]
    if not lost:
        return _Claims([], {})
    where, values = among("name", [name for _, _, name in tools])
    return _Claims(lost, stored | read_names(connection, where, values))


def _read_names(connection: SqlConnection, keys: Keys = None) -> dict[NameKey, str]:
    if keys is None:
        return read_names(connection)
    if not keys:
        return {}
    pairs = ", ".join(["(?, ?)"] * len(keys))
    values = [part for key in keys for part in (key[:_ID_LENGTH], key[_ID_LENGTH + 1 :])]
    return read_names(connection, f" WHERE (server, tool) IN (VALUES {pairs})", values)


def fits_index(tool: str) -> bool:
    """Whether PostgreSQL can store the name of a tool, or an address, as a key."""
    return "\0" not in tool and len(tool.encode(errors="surrogatepass")) <= _LONGEST
