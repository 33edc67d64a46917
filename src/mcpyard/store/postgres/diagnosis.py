"""What `mcpyard doctor` asks the database of a cluster."""

from typing import Any, Final, NamedTuple
from uuid import uuid4

import psycopg

from mcpyard.store.postgres.connecting import LimitedConnection, named
from mcpyard.store.postgres.schema import CHANNEL, CLUSTER
from mcpyard.store.postgres.setup import examined, seal_of

_HINT_SECONDS: Final = 2.0


class DatabaseFacts(NamedTuple):
    """What is known of a database that can be used.

    Attributes:
        server: The version of PostgreSQL.
        schema: The version of the tables.
        hints: Whether hints of changes arrive; a transaction pooler passes none on.
        asynchronous: How many replicas get changes only after they were acknowledged.
    """

    server: str
    schema: int
    hints: bool
    asynchronous: int


def diagnose(dsn: str, key: str, older: str = "") -> DatabaseFacts:
    """Ask the database of a cluster; blocks.

    Raises:
        ClusterRefused: It is not made, or is of a version or with a key that does not fit.
        StoreAway: The database cannot be reached.
    """
    seal = seal_of(key, older)
    with examined(dsn, seal) as one, examined(dsn, seal) as other:
        try:
            return DatabaseFacts(
                str(one.info.parameter_status("server_version")).partition(" ")[0],
                len(CLUSTER),
                _hears(one, other),
                _asynchronous(other),
            )
        except psycopg.Error as error:
            raise named(error) from None


def _hears(listener: LimitedConnection, sender: LimitedConnection) -> bool:
    listener.execute(f"LISTEN {CHANNEL}".encode())
    token = uuid4().hex
    sender.execute(b"SELECT pg_notify(%s, %s)", (CHANNEL, token))
    hints = listener.notifies(timeout=_HINT_SECONDS)
    return any(hint.payload == token for hint in hints)


def _asynchronous(connection: LimitedConnection) -> int:
    row: Any = connection.execute(
        b"""SELECT count(*) FROM pg_stat_replication
        WHERE current_setting('synchronous_standby_names') = ''"""
    ).fetchone()
    return row[0]
