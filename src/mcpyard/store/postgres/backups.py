"""Backups of a cluster: one file with the layout of a home's `state.db`.

So everything that reads a state can read a backup. Two tables more have what a home does not know.
"""

import contextlib
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import psycopg

from mcpyard.domain.errors import ClusterRefused, NewerState, StateBroken
from mcpyard.store.postgres.connecting import BEGIN_DURABLE, LimitedConnection, named
from mcpyard.store.postgres.engine import PostgresConnection
from mcpyard.store.postgres.schema import CLUSTER
from mcpyard.store.postgres.setup import PROBE
from mcpyard.store.postgres.shared_tables import read_shared, replace_shared, resealed
from mcpyard.store.postgres.snapshot import ClusterSnapshot, read_snapshot
from mcpyard.store.sql.sealing import Seal
from mcpyard.store.sqlite.error_names import domain_error
from mcpyard.store.sqlite.migrations import migrate
from mcpyard.store.sqlite.peeking import opened
from mcpyard.store.sqlite.schema import STATE
from mcpyard.store.sqlite.snapshots import new_file, writing

_TABLES: Final = (
    """CREATE TABLE cluster_backup (
        cluster TEXT NOT NULL, version INTEGER NOT NULL, probe BLOB NOT NULL, admin_hash TEXT,
        taken TEXT NOT NULL)""",
    "CREATE TABLE cluster_fences (server TEXT PRIMARY KEY, fence INTEGER NOT NULL)",
)
_LOOK_SECONDS: Final = 0.5
_BEAT_SECONDS: Final = 1.5

# The row of the revision makes every writer of the cluster wait.
_BEGIN: Final = f"""{BEGIN_DURABLE}; SET LOCAL search_path TO mcpyard;
    UPDATE revision SET rev = rev + 1, raised = pg_current_xact_id()"""  # noqa: S608  constants
_BEATS: Final = """SELECT name, epoch, beat, ttl_ms FROM mcpyard.nodes
    WHERE state <> 'left' AND NOT blocked"""


def back_up_cluster(
    connect: Callable[[], LimitedConnection], path: Path, now: datetime
) -> Mapping[str, int]:
    """Write what a cluster shares to a file; how many rows of each table. Blocks.

    Raises:
        StoreAway: The database cannot be reached.
        StorageFull: The file cannot be written.
    """
    snapshot = read_snapshot(connect)
    with writing(path), new_file(path) as temporary:
        try:
            with contextlib.closing(sqlite3.connect(temporary, isolation_level=None)) as connection:
                _write(connection, snapshot, now, path)
        except sqlite3.Error as error:
            raise domain_error(error, path) from error
    return {table: len(rows) for table, rows in snapshot.tables.items()}


def read_backup(path: Path, seal: Seal) -> ClusterSnapshot:
    """What a backup of a cluster has; blocks.

    Raises:
        StateBroken: It is damaged.
        NewerState: A newer version wrote it.
        ClusterRefused: It was sealed with another key.
    """
    with opened(path) as connection:
        (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
        if verdict != "ok":
            raise StateBroken(f"{path} is damaged: {verdict}")
        tables = read_shared(connection)
        cluster, version, probe, admin_hash = connection.execute(
            "SELECT cluster, version, probe, admin_hash FROM cluster_backup"
        ).fetchone()
        fences = connection.execute("SELECT server, fence FROM cluster_fences").fetchall()
    if version > len(CLUSTER):
        raise NewerState(f"{path} was written by a newer mcpyard (schema {version})")
    if seal.open(probe) != PROBE:
        raise ClusterRefused(f"{path} was sealed with another MCPYARD_KEY").advising(
            "Set MCPYARD_KEY_OLD to the key of that time as well."
        )
    return ClusterSnapshot(tables, UUID(cluster), version, probe, admin_hash, fences)


def running_nodes(connect: Callable[[], LimitedConnection]) -> list[str]:
    """The nodes that beat, watched for the longest of their TTLs; blocks."""
    with connect() as raw:
        connection = PostgresConnection(raw)
        first = _beats(connection)
        looks = max((row[3] for row in first), default=0) / 1000 / _LOOK_SECONDS
        for _ in range(int(looks) + 1 if first else 0):
            connection.execute("SELECT pg_sleep(?)", (_LOOK_SECONDS,))
            if _changed(first, _beats(connection)):
                # The others beat within the next second or so, and are to be named as well.
                connection.execute("SELECT pg_sleep(?)", (_BEAT_SECONDS,))
                return sorted(_changed(first, _beats(connection)))
    return []


def restore_cluster(
    connect: Callable[[], LimitedConnection], snapshot: ClusterSnapshot, seal: Seal
) -> Mapping[str, int]:
    """Put a backup in place of what a cluster shares, in one transaction; blocks.

    Raises:
        ClusterRefused: A node joined meanwhile; nothing was changed.
        StoreAway: The database cannot be reached; nothing was changed.
    """
    tables = resealed(snapshot.tables, [seal], seal)
    with connect() as raw:
        connection = PostgresConnection(raw)
        before = _beats(connection)
        try:
            connection.last(_BEGIN)
            with connection.reading_all():
                connection.execute("LOCK TABLE nodes IN EXCLUSIVE MODE")
                if joined := _changed(before, _beats(connection)):
                    raise ClusterRefused(f'the node "{joined[0]}" joined; nothing was restored')
                counts = replace_shared(connection, tables)
                _place_nowhere(connection, snapshot.fences)
                connection.execute("UPDATE meta SET admin_hash = ?", (snapshot.admin_hash,))
            connection.execute("COMMIT")
        except psycopg.Error as error:
            raise named(error) from None
    return counts


def _write(
    connection: sqlite3.Connection, snapshot: ClusterSnapshot, now: datetime, path: Path
) -> None:
    migrate(connection, path, STATE)
    connection.execute("BEGIN")
    for statement in _TABLES:
        connection.execute(statement)
    replace_shared(connection, snapshot.tables)
    connection.executemany("INSERT INTO cluster_fences VALUES (?, ?)", snapshot.fences)
    taken = now.isoformat(timespec="seconds")
    row = (str(snapshot.cluster), snapshot.version, snapshot.probe, snapshot.admin_hash, taken)
    connection.execute("INSERT INTO cluster_backup VALUES (?, ?, ?, ?, ?)", row)
    connection.execute("COMMIT")


def _place_nowhere(connection: PostgresConnection, fences: Sequence[tuple[str, int]]) -> None:
    """Take all servers from their nodes; no fence is ever lower than it was anywhere."""
    connection.execute(
        "UPDATE placements SET node = '', next_node = '', fence = fence + 1, since = now()"
    )
    connection.executemany(
        """INSERT INTO placements AS p (server, node, fence) VALUES (?::uuid, '', ?)
        ON CONFLICT (server) DO UPDATE SET fence = greatest(p.fence, excluded.fence)""",
        [(server, fence + 1) for server, fence in fences],
    )


def _beats(connection: PostgresConnection) -> list[Any]:
    return connection.execute(_BEATS).fetchall()


def _changed(before: Sequence[Any], now: Sequence[Any]) -> list[str]:
    """The nodes that beat between two looks, or came."""
    seen = {name: (epoch, beat) for name, epoch, beat, _ in before}
    return [name for name, epoch, beat, _ in now if seen.get(name) != (epoch, beat)]
