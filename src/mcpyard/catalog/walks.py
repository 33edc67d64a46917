"""Walks over JSON values of any depth; none of them recurses with the data."""

import sys
from collections.abc import Iterator
from enum import Enum, auto
from math import inf
from typing import TypeAlias

from mcpyard.catalog.subschemas import REFERENCES
from mcpyard.domain.nesting import levels

Object: TypeAlias = dict[str, object]
_SCALARS: frozenset[type] = frozenset({str, int, float, bool, type(None)})


class Excess(Enum):
    """What of a value is beyond a limit."""

    DEPTH = auto()
    VALUES = auto()


def excess(value: object, max_depth: int, max_values: float = inf) -> Excess | None:
    """What there is too much of in a value, whichever is met first on the way inside."""
    seen = 0
    for depth, level in enumerate(levels(value), start=1):
        seen += sum(map(len, level))
        if depth > max_depth:
            return Excess.DEPTH
        if seen > max_values:
            return Excess.VALUES
    return None


def is_plain(value: object, limit: int) -> bool:
    """Whether a value is an object of at most so many members, without objects and arrays.

    Most arguments are, and every call asks.
    """
    if type(value) is not dict:
        return False
    members: dict[object, object] = value  # pyright: ignore[reportUnknownVariableType]
    return len(members) <= limit and _SCALARS.issuperset(map(type, members.values()))


def count_values(value: object, limit: int) -> int:
    """How many members and items a value holds; the count ends soon after the limit."""
    seen = 0
    for level in levels(value):
        seen += sum(map(len, level))
        if seen > limit:
            break
    return seen


def more_values_than(value: object, limit: int) -> bool:
    """Whether a value holds more than `limit` members and items."""
    return excess(value, sys.maxsize, limit) is Excess.VALUES


def values(value: object) -> Iterator[object]:
    """A value itself, and all members and items in it."""
    yield value
    for level in levels(value):
        for parent in level:
            yield from parent.values() if isinstance(parent, dict) else parent


def texts(value: object) -> Iterator[str]:
    """All texts of a value, names of members included."""
    if isinstance(value, str):
        yield value
    for level in levels(value):
        for parent in level:
            yield from (key for key in parent if isinstance(key, str))
            if isinstance(parent, dict):
                yield from (child for child in parent.values() if isinstance(child, str))


def references(schema: object) -> Iterator[str]:
    """All references of a schema, as they are written."""
    for node in objects(schema):
        yield from references_of(node)


def objects(value: object) -> Iterator[Object]:
    """All objects of a value, from the outside."""
    return (node for level in levels(value) for node in level if isinstance(node, dict))


def references_of(node: Object) -> list[str]:
    """The references that stand in one object of a schema."""
    targets = (node.get(keyword) for keyword in REFERENCES)
    return [reference for reference in targets if isinstance(reference, str)]
