"""What a cluster shares at one moment, while its nodes go on writing."""

from collections.abc import Callable
from typing import Final
from uuid import UUID

import psycopg
from msgspec import Struct

from mcpyard.store.postgres.connecting import LimitedConnection, named
from mcpyard.store.postgres.engine import PostgresConnection
from mcpyard.store.postgres.shared_tables import SharedTables, read_shared

_BEGIN: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path TO mcpyard"


class ClusterSnapshot(Struct, frozen=True):
    """The shared rows of a cluster, and what else a restored one needs.

    Attributes:
        tables: The rows by table; sign-ins are sealed with the key of the cluster.
        cluster: The id of the cluster.
        version: The version of its schema.
        probe: A known text, sealed with the key of the cluster.
        admin_hash: The hash of the admin token.
        fences: The fence of each server that was ever placed.
    """

    tables: SharedTables
    cluster: UUID
    version: int
    probe: bytes
    admin_hash: str | None
    fences: list[tuple[str, int]]


def read_snapshot(connect: Callable[[], LimitedConnection]) -> ClusterSnapshot:
    """Read everything in one view of the database; blocks.

    Raises:
        StoreAway: The database cannot be reached, or was lost meanwhile.
    """
    with connect() as raw:
        try:
            return _read(PostgresConnection(raw))
        except psycopg.Error as error:
            raise named(error) from None


def _read(connection: PostgresConnection) -> ClusterSnapshot:
    connection.last(_BEGIN)
    with connection.reading_all():
        tables = read_shared(connection)
        cluster, version, probe, admin_hash = connection.execute(
            "SELECT cluster, schema_version, probe, admin_hash FROM meta"
        ).fetchone()
        fences = connection.execute("SELECT server::text, fence FROM placements").fetchall()
    connection.execute("COMMIT")
    return ClusterSnapshot(tables, cluster, version, bytes(probe), admin_hash, fences)
