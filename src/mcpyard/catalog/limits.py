"""What a schema and arguments may cost before anything is done with them.

The validator is native code that recurses: too deep a value ends the whole process instead of
raising, and references that fan out (`a` is twice `b`, `b` is twice `c`, ...) make one check take
hours. A schema is written by whoever wrote the server, so both are ruled out here first, by walks
that do not recurse with the data.
"""

import json
from collections.abc import Iterator
from typing import Final, TypeAlias, cast

from mcpyard.catalog.pointers import resolve
from mcpyard.catalog.shapes import list_of, object_of

MAX_SCHEMA_BYTES: Final = 1024 * 1024
MAX_SCHEMA_DEPTH: Final = 64
MAX_ARGUMENT_DEPTH: Final = 128

_MAX_WEIGHT: Final = 10_000
_MAX_CHAIN: Final = 128
# Where such a reference leads is known only after resolving URIs. With so few of them even the
# worst fan-out stays small, so they need no resolving.
_MAX_NAMED_REFERENCES: Final = 12

_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_LISTS: Final = ("allOf", "anyOf", "oneOf")
_SINGLES: Final = ("not", "if", "then", "else")
_MAPS: Final = ("dependentSchemas", "dependencies")

Object: TypeAlias = dict[str, object]
Container: TypeAlias = Object | list[object] | tuple[object, ...]
_CONTAINERS: tuple[type, ...] = (dict, list, tuple)
_SCALARS: frozenset[type] = frozenset({str, int, float, bool, type(None)})


class _Excess(Exception):
    """A limit was passed; the message says which."""


def excess(schema: object) -> str | None:
    """Why a schema is beyond the limits, or None."""
    if nested_deeper(schema, MAX_SCHEMA_DEPTH):
        return f"it is nested deeper than {MAX_SCHEMA_DEPTH} levels"
    try:
        text = json.dumps(schema, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        return f"it is not JSON: {error}"
    if len(text.encode("utf-8", "surrogatepass")) > MAX_SCHEMA_BYTES:
        return f"it is larger than {MAX_SCHEMA_BYTES} bytes"
    try:
        _Weights(schema).check()
    except _Excess as error:
        return str(error)
    return None


def nested_deeper(value: object, limit: int) -> bool:
    """Whether objects and arrays stand in each other more than `limit` levels deep."""
    # Most arguments are flat, and every call asks.
    if limit > 0 and _is_flat(value):
        return False
    return any(depth > limit for depth, _ in enumerate(levels(value), start=1))


def _is_flat(value: object) -> bool:
    if type(value) is not dict:
        return False
    return _SCALARS.issuperset(map(type, cast("dict[object, object]", value).values()))


def levels(value: object) -> Iterator[list[Container]]:
    """The objects and arrays of a value, level by level from the outside.

    What is shared by several parents on one level comes once, so that a value that holds itself
    twice does not double with each level.
    """
    level: list[Container] = [cast("Container", value)] if isinstance(value, _CONTAINERS) else []
    while level:
        yield level
        found = {
            id(child): cast("Container", child)
            for parent in level
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, _CONTAINERS)
        }
        level = list(found.values())


def more_values_than(value: object, limit: int) -> bool:
    """Whether a value holds more than `limit` members and items."""
    seen = 0
    for level in levels(value):
        seen += sum(map(len, level))
        if seen > limit:
            return True
    return False


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
    for node in _objects(schema):
        yield from _references_of(node)


class _Weights:
    """How many checks of one and the same value each part of a schema stands for.

    Only what applies in place counts. `properties` and `items` move on to a part of the value, and
    there the value is the limit.
    """

    def __init__(self, schema: object) -> None:
        self._root = schema
        self._known: dict[int, int] = {}
        self._open: set[int] = set()
        self._embedded = _holds_embedded_ids(schema)

    def check(self) -> None:
        named = sum(1 for reference in references(self._root) if self._is_named(reference))
        if named > _MAX_NAMED_REFERENCES:
            raise _Excess(f"it has more than {_MAX_NAMED_REFERENCES} references by name")
        for node in _objects(self._root):
            self._weigh(node, 1)

    def _weigh(self, node: Object, chain: int) -> int:
        mark = id(node)
        if mark in self._known:
            return self._known[mark]
        if mark in self._open:
            raise _Excess("it refers to itself without end")
        if chain > _MAX_CHAIN:
            raise _Excess(f"its references follow each other more than {_MAX_CHAIN} times")
        self._open.add(mark)
        weight = 1
        for part in self._applied(node):
            weight += self._weigh(part, chain + 1)
        if weight > _MAX_WEIGHT:
            raise _Excess(f"its references multiply to more than {_MAX_WEIGHT} checks")
        self._open.remove(mark)
        self._known[mark] = weight
        return weight

    def _applied(self, node: Object) -> Iterator[Object]:
        parts: list[object] = [node.get(keyword) for keyword in _SINGLES]
        for keyword in _LISTS:
            parts.extend(list_of(node.get(keyword)))
        for keyword in _MAPS:
            parts.extend(object_of(node.get(keyword)).values())
        pointers = (ref for ref in _references_of(node) if not self._is_named(ref))
        parts.extend(resolve(self._root, pointer) for pointer in pointers)
        return (cast("Object", part) for part in parts if isinstance(part, dict))

    def _is_named(self, reference: str) -> bool:
        # Below an embedded `$id` a pointer starts there, not at the root.
        return self._embedded or not (reference == "#" or reference.startswith("#/"))


def _objects(value: object) -> Iterator[Object]:
    return (node for level in levels(value) for node in level if isinstance(node, dict))


def _references_of(node: Object) -> list[str]:
    found = (node.get(keyword) for keyword in _REFERENCES)
    return [reference for reference in found if isinstance(reference, str)]


def _holds_embedded_ids(schema: object) -> bool:
    keywords = ("$id", "id") if "draft-04" in str(object_of(schema).get("$schema")) else ("$id",)
    return any(
        isinstance(node.get(keyword), str)
        for node in _objects(schema)
        if node is not schema
        for keyword in keywords
    )
