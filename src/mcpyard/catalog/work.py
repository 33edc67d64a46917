"""How much there is to check in a value, found by a walk that ends at a budget."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, TypeAlias

from mcpyard.catalog.costs import Costs
from mcpyard.catalog.pointers import is_pointer, resolve
from mcpyard.catalog.subschemas import UNIONS, Schema, in_place, schemas
from mcpyard.catalog.walks import count_values, objects, references_of
from mcpyard.domain.narrowing import is_object, is_sequence, list_of, object_of

Pair: TypeAlias = tuple[object, object]

# Copying a value takes as long as making an error once it holds so many.
_VALUES_IN_AN_ERROR: Final = 20
# A union is only checked, natively: so many checks take as long as making an error.
_CHECKS_IN_AN_ERROR: Final = 100

_ON_ITEMS: Final = ("additionalItems", "contains", "unevaluatedItems")

_NAMING: Final = ("$anchor", "$dynamicAnchor", "$id", "id", "$recursiveAnchor")


class Work:
    """What there is to check against a schema and its parts."""

    def __init__(self, root: object, costs: Costs) -> None:
        self._root = root
        self._costs = costs
        self._named = [node for node in objects(root) if _is_named(node)]
        self._embedded = any(node is not root for node in self._named)
        self._nodes: dict[tuple[int, bool], tuple[int, list[Schema]]] = {}

    def up_to(self, limit: int, pairs: Iterable[Pair], *, into_unions: bool = True) -> int:
        """How many keywords are checked when schemas meet values, all branches counted.

        As many errors can come of it, and each holds a copy of its value: a large value counts as
        several. The count ends soon after it is beyond the limit.
        """
        count = 0
        copied: dict[int, int] = {}
        stack = list(pairs)
        while stack and count <= limit:
            node, value = stack.pop()
            if not is_object(node):
                count += 1
                continue
            mark = (id(node), into_unions)
            if mark not in self._nodes:
                parts = self._in_place(node, into_unions=into_unions)
                self._nodes[mark] = (self._size(node, into_unions=into_unions), parts)
            size, parts = self._nodes[mark]
            below = list(islice(_below(node, value, limit), limit))
            if id(value) not in copied:
                copied[id(value)] = count_values(value, limit * _VALUES_IN_AN_ERROR)
            count += size * (1 + copied[id(value)] // _VALUES_IN_AN_ERROR) + len(below)
            stack.extend((part, value) for part in parts)
            stack.extend(below)
        return count

    def _size(self, node: Schema, *, into_unions: bool) -> int:
        # An error stands for each name that is required, and carries all choices of an `enum`.
        required = object_of(node.get("dependentRequired")).values()
        size = 1 + len(node) + sum(map(_length, node.values())) + sum(map(_length, required))
        if not into_unions and any(keyword in node for keyword in UNIONS):
            size += self._costs.of(node).total // _CHECKS_IN_AN_ERROR
        return size

    def _in_place(self, node: Schema, *, into_unions: bool) -> list[Schema]:
        parts = list(in_place(node if into_unions else _without_unions(node)))
        for reference in references_of(node):
            if is_pointer(reference) and not self._embedded:
                parts.append(resolve(self._root, reference))
            else:
                # Which one is known only after resolving names, and all are as many as it can be.
                parts.extend(self._named)
        return schemas(parts)


def _is_named(node: Schema) -> bool:
    return any(isinstance(node.get(name), str | bool) for name in _NAMING)


def _length(value: object) -> int:
    return len(value) if is_object(value) or is_sequence(value) else 0


def _without_unions(node: Schema) -> Schema:
    return {keyword: part for keyword, part in node.items() if keyword not in UNIONS}


def _below(node: Schema, value: object, limit: int) -> Iterator[Pair]:
    if is_object(value):
        members = islice(value.items(), limit)
        yield from _members(node, members)
    elif is_sequence(value):
        yield from _items(node, value)


def _members(node: Schema, members: Iterable[tuple[str, object]]) -> Iterator[Pair]:
    properties = object_of(node.get("properties"))
    others = schemas(
        [
            *object_of(node.get("patternProperties")).values(),
            node.get("additionalProperties"),
            node.get("unevaluatedProperties"),
        ]
    )
    names = schemas([node.get("propertyNames")])
    for name, child in members:
        yield from ((each, name) for each in names)
        if name in properties:
            yield properties[name], child
        yield from ((other, child) for other in others)


def _items(node: Schema, items: Sequence[object]) -> Iterator[Pair]:
    every = node.get("items")
    yield from zip(list_of(node.get("prefixItems")) or list_of(every), items, strict=False)
    others = schemas([every, *(node.get(key) for key in _ON_ITEMS)])
    if others:
        yield from ((other, item) for item in items for other in others)
