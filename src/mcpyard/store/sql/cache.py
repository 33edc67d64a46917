"""Tables that are held in memory as well, and read anew when another program changed them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

from mcpyard.store.sql.engine import SqlConnection

K = TypeVar("K")
V = TypeVar("V")
Keys: TypeAlias = Sequence[str] | None
"""The keys of the rows that are read; None for all of them."""


class CachedTable(NamedTuple):
    """A table that a repository holds in memory.

    Attributes:
        topic: The table's name; changes are noted by it.
        fetch: Reads rows, in the thread of the engine.
        refresh: Takes rows over, in the event loop; keys without a row are gone.
    """

    topic: str
    fetch: Callable[[SqlConnection, Keys], Any]
    refresh: Callable[[Any, Keys], None]


class CachedRepository(Protocol):
    """A repository that holds tables in memory."""

    def cached(self) -> Sequence[CachedTable]:
        """Its tables, in the order in which they are taken over."""
        ...


def among(column: str, keys: Keys) -> tuple[str, Sequence[str]]:
    """The condition that a column is one of some keys, with its values."""
    if keys is None:
        return "", ()
    return f" WHERE {column} IN ({', '.join('?' * len(keys))})", keys


def refreshed(held: Mapping[K, V], rows: Mapping[K, V], keys: Collection[K] | None) -> dict[K, V]:
    """What is held once rows were read: a row that is as before stays the same object."""
    if keys is None:
        return {key: _same(held.get(key), row) for key, row in rows.items()}
    others = {key: row for key, row in held.items() if key not in keys or key in rows}
    return others | {key: _same(held.get(key), row) for key, row in rows.items()}


def _same(old: V | None, new: V) -> V:
    return new if old is None or old != new else old
