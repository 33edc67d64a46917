"""JSON of which nothing is known, taken for what it should be: anything else holds nothing."""

from typing import cast


def object_of(value: object) -> dict[str, object]:
    """The object that a value is, or an empty one."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def list_of(value: object) -> list[object]:
    """The list that a value is, or an empty one."""
    return cast("list[object]", value) if isinstance(value, list) else []
