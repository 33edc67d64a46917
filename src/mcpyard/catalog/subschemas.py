"""Where a schema holds further schemas, and to what of the value they apply."""

from collections.abc import Iterator
from typing import Final, TypeAlias

from mcpyard.domain.narrowing import is_object, list_of, object_of

Schema: TypeAlias = dict[str, object]

REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
UNIONS: Final = ("anyOf", "oneOf")
UNEVALUATED: Final = ("unevaluatedProperties", "unevaluatedItems")

_PLACE_SINGLES: Final = ("not", "if", "then", "else")
_PLACE_LISTS: Final = ("allOf", *UNIONS)
_PLACE_MAPS: Final = ("dependentSchemas", "dependencies")

SINGLES: Final = frozenset(
    {
        *_PLACE_SINGLES,
        *UNEVALUATED,
        "additionalItems",
        "additionalProperties",
        "contains",
        "items",
        "propertyNames",
    }
)
LISTS: Final = frozenset({*_PLACE_LISTS, "items", "prefixItems"})
MAPS: Final = frozenset({*_PLACE_MAPS, "patternProperties", "properties"})


def in_place(node: Schema) -> Iterator[object]:
    """What a schema applies to the same value as itself, references left out."""
    yield from (node.get(keyword) for keyword in _PLACE_SINGLES)
    for keyword in _PLACE_LISTS:
        yield from list_of(node.get(keyword))
    for keyword in _PLACE_MAPS:
        yield from object_of(node.get(keyword)).values()


def on_member(node: Schema) -> tuple[list[object], list[object]]:
    """What a schema applies to one member: one of the first, and all of the second."""
    named = list(object_of(node.get("properties")).values())
    patterns = list(object_of(node.get("patternProperties")).values())
    return (
        [*named, node.get("additionalProperties")],
        [*patterns, node.get("unevaluatedProperties")],
    )


def on_item(node: Schema) -> tuple[list[object], list[object]]:
    """What a schema applies to one item: one of the first, and all of the second."""
    items = node.get("items")
    first = [*list_of(node.get("prefixItems")), *(list_of(items) or [items])]
    return [*first, node.get("additionalItems")], [
        node.get("contains"),
        node.get("unevaluatedItems"),
    ]


def schemas(values: list[object]) -> list[Schema]:
    """Those of the values that are schemas which say anything."""
    return [value for value in values if is_object(value)]
