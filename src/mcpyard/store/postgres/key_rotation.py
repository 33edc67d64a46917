"""Changing the key of a cluster: everything that it sealed is sealed anew, in one transaction.

Nodes work meanwhile if they have both keys: they open what either sealed, and seal with the one
that the cluster has at that moment.
"""

from collections.abc import Sequence
from typing import Final

import psycopg
from msgspec import Struct

from mcpyard.store.postgres.connecting import named
from mcpyard.store.postgres.engine import BEGIN, PostgresConnection
from mcpyard.store.postgres.setup import PROBE, examined, seal_of

# The row makes every writer of the cluster wait.
_RAISE: Final = "UPDATE revision SET rev = rev + 1, raised = pg_current_xact_id()"

_SEALED: Final = (("credentials", "number", "resource"), ("secrets", "name", "name"))
"""The tables with sealed columns: the key of a row, and what names it to people."""


class RotatedKey(Struct, frozen=True):
    """What became of the sign-ins and secrets of a cluster.

    Attributes:
        sealed: How many are sealed with the new key now.
        unreadable: The resources and names of those that neither key opens.
    """

    sealed: int
    unreadable: Sequence[str]


def rotate_key(dsn: str, key: str, older: str) -> RotatedKey:
    """Seal everything with a new key that the one before sealed; blocks. It may be repeated.

    Raises:
        ClusterRefused: The cluster has neither key, or cannot be used; nothing was changed.
        StoreAway: The database cannot be reached; nothing was changed.
    """
    either, new = seal_of(key, older), seal_of(key)
    probe = new.close(PROBE)
    with examined(dsn, either) as raw:
        connection, unreadable, count = PostgresConnection(raw), list[str](), 0
        try:
            connection.last(BEGIN)
            connection.execute(_RAISE)
            for table, column, title in _SEALED:
                changed: list[tuple[bytes, object]] = []
                query = f"SELECT {column}, {title}, sealed FROM {table} WHERE sealed <> ''"  # noqa: S608
                for row, name, sealed in connection.execute(query).fetchall():
                    content = either.open(bytes(sealed))
                    if content is None:
                        unreadable.append(name)
                    else:
                        changed.append((new.close(content), row))
                statement = f"UPDATE {table} SET sealed = ? WHERE {column} = ?"  # noqa: S608  constants
                connection.executemany(statement, changed)
                count += len(changed)
            connection.execute("UPDATE meta SET probe = ?", (probe,))
            connection.execute("COMMIT")
        except psycopg.Error as error:
            raise named(error) from None
    return RotatedKey(count, unreadable)
