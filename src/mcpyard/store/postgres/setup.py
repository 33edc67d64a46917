"""Making the schema of a cluster, and checking it before it is used."""

from typing import Any, Final, NamedTuple
from uuid import UUID, uuid4

import psycopg

from mcpyard.domain.errors import ClusterRefused, StoreAway
from mcpyard.store.postgres.connecting import (
    BEGIN_DURABLE,
    LimitedConnection,
    connect,
    conninfo_of,
    named,
)
from mcpyard.store.postgres.engine import PostgresConnection
from mcpyard.store.postgres.schema import CLUSTER, OLDEST_NODE
from mcpyard.store.sql.sealing import Seal

PROBE: Final = b"mcpyard"
"""Sealed in the database: whoever can open it has the key of the cluster."""
_OLDEST_SERVER: Final = 130_000
_LOCK: Final = 0x6D637079
"""Under which two programs do not migrate at once: "mcpy"."""

_OF_OTHERS: Final = (psycopg.errors.DuplicateTable, psycopg.errors.UndefinedColumn)
"""What a schema raises that has the same name and other tables."""

_SET_KEY: Final = "Set MCPYARD_KEY to the key that `mcpyard cluster init` printed."


class ClusterSchema(NamedTuple):
    """What was made, or found.

    Attributes:
        cluster: The id of the cluster.
        made: Whether there was none before.
        migrated: Whether it was of an older version.
    """

    cluster: UUID
    made: bool
    migrated: bool


class ClusterConnection(NamedTuple):
    """How a cluster is reached, and what opens its secrets."""

    dsn: str
    seal: Seal

    def connect(self) -> LimitedConnection:
        """A connection to a cluster that can be joined (see `examined`); blocks."""
        return examined(self.dsn, self.seal)


def init(dsn: str, key: str) -> ClusterSchema:
    """Make the schema of a cluster, or bring it up to date; blocks.

    Raises:
        ClusterRefused: The DSN or the key is not accepted, or a newer mcpyard made the schema.
    """
    seal = seal_of(key)
    with reached(dsn) as raw:
        _check_server(raw)
        connection = PostgresConnection(raw)
        try:
            connection.last(BEGIN_DURABLE)
            connection.execute("SELECT pg_advisory_xact_lock(?)", (_LOCK,))
            connection.execute("CREATE SCHEMA IF NOT EXISTS mcpyard")
            connection.execute("SET LOCAL search_path TO mcpyard")
            made = _migrate(connection, seal)
            connection.execute("COMMIT")
        except psycopg.Error as error:
            raise _refused(error) from None
    return made


def examined(dsn: str, seal: Seal) -> LimitedConnection:
    """A connection to a cluster that can be joined; blocks.

    Raises:
        ClusterRefused: It is not made, or is of a version or with a key that does not fit.
        StoreAway: The database cannot be reached.
    """
    raw = connect(conninfo_of(dsn))
    try:
        _check_server(raw)
        _check(_meta(PostgresConnection(raw)), seal)
    except BaseException as error:
        raw.close()
        if isinstance(error, psycopg.Error):
            raise _named(error) from None
        raise
    return raw


def reached(dsn: str) -> LimitedConnection:
    """A connection to a database, of whatever content; blocks.

    Raises:
        ClusterRefused: It refuses, or cannot be reached.
    """
    try:
        return connect(conninfo_of(dsn))
    except StoreAway as error:
        raise ClusterRefused(error.message).advising(error.advice) from None


def _migrate(connection: PostgresConnection, seal: Seal) -> ClusterSchema:
    meta = _meta(connection)
    if meta is not None:
        _check_key(meta, seal)
        _check_newer(meta)
    version = meta.version if meta else 0
    for step in (each for steps in CLUSTER[version:] for each in steps):
        connection.execute(step)
    if meta is None:
        cluster = uuid4()
        connection.execute(
            """INSERT INTO meta (schema_version, min_version, cluster, probe)
            VALUES (?, ?, ?, ?)""",
            (len(CLUSTER), OLDEST_NODE, cluster, seal.close(PROBE)),
        )
        return ClusterSchema(cluster, made=True, migrated=False)
    if version < len(CLUSTER):
        connection.execute(
            "UPDATE meta SET schema_version = ?, min_version = greatest(min_version, ?)",
            (len(CLUSTER), OLDEST_NODE),
        )
    return ClusterSchema(meta.cluster, made=False, migrated=version < len(CLUSTER))


class _Meta(NamedTuple):
    version: int
    oldest: int
    cluster: UUID
    probe: bytes


def _meta(connection: PostgresConnection) -> _Meta | None:
    row: Any = connection.execute("SELECT to_regclass('mcpyard.meta')::text").fetchone()
    if row[0] is None:
        return None
    row = connection.execute(
        "SELECT schema_version, min_version, cluster, probe FROM mcpyard.meta"
    ).fetchone()
    return _Meta(*row) if row else None


def _check(meta: _Meta | None, seal: Seal) -> None:
    if meta is None:
        raise ClusterRefused("the database has no cluster in it").advising(
            "Run: mcpyard cluster init"
        )
    _check_newer(meta)
    if meta.version < len(CLUSTER):
        raise ClusterRefused(
            f"the cluster's schema has version {meta.version}, this mcpyard needs {len(CLUSTER)}"
        ).advising("Bring it up to date with this version: mcpyard cluster init")
    _check_key(meta, seal)


def _check_newer(meta: _Meta) -> None:
    if meta.oldest > len(CLUSTER):
        raise ClusterRefused(
            f"the cluster's schema needs version {meta.oldest}, this mcpyard knows {len(CLUSTER)}"
        ).advising("Update mcpyard on this node.")


def _check_key(meta: _Meta, seal: Seal) -> None:
    if seal.open(bytes(meta.probe)) != PROBE:
        raise ClusterRefused("MCPYARD_KEY is not the key of this cluster").advising(_SET_KEY)


def _check_server(raw: LimitedConnection) -> None:
    if raw.info.server_version < _OLDEST_SERVER:
        raise ClusterRefused("the database is older than PostgreSQL 13").advising(
            "Use PostgreSQL 13 or newer."
        )
    try:
        # Not in one statement, which such a pooler passes on.
        raw.execute("BEGIN")
        raw.execute("COMMIT")
    except psycopg.errors.ProtocolViolation:
        raise ClusterRefused("the pooler of the database allows no transactions").advising(
            "Set its pool mode to session or transaction, or name PostgreSQL itself in the DSN."
        ) from None


def seal_of(key: str, older: str = "") -> Seal:
    """The seal of a cluster's key, which no file has; with two while the key is changed.

    Raises:
        ClusterRefused: There is no key.
    """
    if not key:
        raise ClusterRefused("a cluster needs a key and MCPYARD_KEY is not set").advising(_SET_KEY)
    return Seal(text=key, older=older)


def _named(error: psycopg.Error) -> Exception:
    if isinstance(error, _OF_OTHERS):
        return ClusterRefused(
            "the schema mcpyard of the database is not one of a cluster"
        ).advising("Name another database in the DSN, or drop that schema if nothing needs it.")
    return named(error)


def _refused(error: psycopg.Error) -> Exception:
    refusal = _named(error)
    if isinstance(refusal, StoreAway):
        return ClusterRefused(refusal.message).advising(refusal.advice)
    return refusal
