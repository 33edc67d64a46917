"""How deep objects and arrays stand in each other; found without recursing with the data."""

from collections.abc import Iterator
from typing import TypeAlias, cast

Container: TypeAlias = dict[str, object] | list[object] | tuple[object, ...]
_CONTAINERS: tuple[type, ...] = (dict, list, tuple)


def levels(value: object) -> Iterator[list[Container]]:
    """The objects and arrays of a value, level by level from the outside.

    What is shared by several parents on one level comes once, so that a value that holds itself
    twice does not double with each level.
    """
    level: list[Container] = [cast("Container", value)] if isinstance(value, _CONTAINERS) else []
    while level:
        yield level
        children = {
            id(child): cast("Container", child)
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, _CONTAINERS)
        }
        level = list(children.values())


def nested_deeper(value: object, limit: int) -> bool:
    """Whether objects and arrays stand in each other more than `limit` levels deep."""
    return any(depth > limit for depth, _ in enumerate(levels(value), start=1))
