"""The tables that a cluster shares: read from and written to either engine, row by row."""

import logging
from collections.abc import Sequence
from typing import Any, Final, TypeAlias

from mcpyard.domain.errors import ClusterRefused
from mcpyard.store.postgres.memory import fits_index
from mcpyard.store.postgres.schema import ADDRESSES
from mcpyard.store.sql.engine import SqlConnection
from mcpyard.store.sql.sealing import Seal

log = logging.getLogger(__name__)

SharedTables: TypeAlias = dict[str, list[tuple[Any, ...]]]

_BATCH: Final = 500

_SHARED: Final = "IN (SELECT id FROM identities WHERE scope = 'user')"
_COLUMNS: Final = {
    "identities": "scope, place, name, id",
    "definitions": "id, name, definition, digest",
    "exposed_names": "server, tool, name",
    "tools": "server, tools, digest",
    "offers": "server, offer",
    "policies": "server, policy",
    "profiles": "name, profile",
    "tokens": "id, name, hash, profile, created, last_used, revoked, expires",
    "login_sessions": "cookie_hash, key_hash, created, expires",
    "login_links": "hash, expires, used",
    "credentials": "issuer, resource, sealed",
    "secrets": "name, sealed",
}
_CHOICE: Final = {
    "identities": " WHERE scope = 'user'",
    "exposed_names": f" WHERE server {_SHARED} OR (server = '{ADDRESSES}' AND name {_SHARED})",
    "tools": f" WHERE server {_SHARED}",
    "offers": f" WHERE server {_SHARED}",
    "policies": f" WHERE server {_SHARED}",
}
_ORDER: Final = {
    "definitions": " ORDER BY rowid",
    "profiles": " ORDER BY rowid",
    "tokens": " ORDER BY rowid",
    "credentials": " ORDER BY number",
}


def read_shared(connection: SqlConnection) -> SharedTables:
    """Every row that a cluster shares, or that a home would share."""
    tables = {table: connection.execute(_select(table)).fetchall() for table in _COLUMNS}
    tables["exposed_names"] = [row for row in tables["exposed_names"] if fits_index(row[1])]
    return tables


def replace_shared(connection: SqlConnection, tables: SharedTables) -> dict[str, int]:
    """Put rows in place of those that are shared; how many of each table.

    Raises:
        ClusterRefused: Not every row arrived.
    """
    # Identities come first in the tables, and tell which rows of the others are shared.
    for table in reversed([*tables]):
        connection.execute(f"DELETE FROM {table}{_CHOICE.get(table, '')}")  # noqa: S608  constants
    for table, rows in tables.items():
        _insert(connection, table, rows)
        if count_shared(connection, table) != len(rows):
            raise ClusterRefused(f"not every row of {table} arrived; nothing was copied")
    return {table: len(rows) for table, rows in tables.items()}


def count_shared(connection: SqlConnection, table: str) -> int:
    """How many rows of a table are shared."""
    query = f"SELECT count(*) FROM {table}{_CHOICE.get(table, '')}"  # noqa: S608  constants
    return connection.execute(query).fetchone()[0]


def resealed(tables: SharedTables, old: Sequence[Seal], new: Seal) -> SharedTables:
    """The same tables, sealed by another key; what cannot be opened is left out. Blocks."""
    credentials: list[tuple[Any, ...]] = []
    for issuer, resource, sealed in tables["credentials"]:
        content = _opened(bytes(sealed), old)
        if content is None:
            log.warning("the sign-in of %s was sealed with another key; sign in again", resource)
        else:
            credentials.append((issuer, resource, new.close(content)))
    secrets: list[tuple[Any, ...]] = []
    for name, sealed in tables["secrets"]:
        content = _opened(bytes(sealed), old) if sealed else None
        if content is None:
            why = "was sealed with another key" if sealed else "is in the key ring"
            log.warning("the secret %s %s; set it again", name, why)
        else:
            secrets.append((name, new.close(content)))
    return tables | {"credentials": credentials, "secrets": secrets}


def _opened(sealed: bytes, seals: Sequence[Seal]) -> bytes | None:
    contents = (seal.open(sealed) for seal in seals)
    return next((each for each in contents if each is not None), None)


def _insert(connection: SqlConnection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    columns = _COLUMNS[table]
    places = ", ".join("?" * len(columns.split(", ")))
    statement = f"INSERT INTO {table} ({columns}) VALUES ({places})"  # noqa: S608  constants
    for at in range(0, len(rows), _BATCH):
        connection.executemany(statement, rows[at : at + _BATCH])


def _select(table: str) -> str:
    choice, order = _CHOICE.get(table, ""), _ORDER.get(table, "")
    return f"SELECT {_COLUMNS[table]} FROM {table}{choice}{order}"  # noqa: S608  constants
