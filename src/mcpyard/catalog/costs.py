"""What a schema and arguments may cost before anything is done with them.

The validator is native code that recurses: too deep a value ends the whole process instead of
raising, and references that fan out (`a` is twice `b`, `b` is twice `c`, ...) make one check take
hours. A schema is written by whoever wrote the server, so both are ruled out here first.

The validator remembers what came of a reference back to a schema that it is in the middle of, for
each value. So a schema that holds itself does not multiply, and counts once where it comes back.
"""

import json
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias, cast

from mcpyard.catalog.comparing import SLOW_NUMBER, comparisons
from mcpyard.catalog.pointers import is_pointer, resolve
from mcpyard.catalog.subschemas import (
    UNEVALUATED,
    Schema,
    in_place,
    on_item,
    on_member,
    schemas,
)
from mcpyard.catalog.walks import objects, references, references_of
from mcpyard.domain.narrowing import object_of
from mcpyard.domain.nesting import nested_deeper

MAX_SCHEMA_BYTES: Final = 1024 * 1024
MAX_SCHEMA_DEPTH: Final = 64
MAX_ARGUMENT_DEPTH: Final = 128

_MAX_WEIGHT: Final = 10_000
_MAX_TOTAL: Final = 100_000
_MAX_CHAIN: Final = 128
# Compiling recurses along the whole way from the root, some kilobytes of stack each step.
_MAX_WAY: Final = 400
# Where such a reference leads is known only after resolving URIs. With so few of them even the
# worst fan-out stays small, so they need no resolving.
_MAX_NAMED_REFERENCES: Final = 12
# A native stack of 8 MiB overflows at 2,300 schemas inside each other, one of 1 MiB at 700.
_MAX_STACK: Final = 600
# Native checks take some 50 ns each.
_MAX_CHECKS: Final = 5_000_000
# What is left unevaluated is found by applying everything in place once more; measured.
_UNEVALUATED_FACTOR: Final = 3


class TooCostly(Exception):
    """A schema is beyond a limit; the message says which."""


@dataclass(frozen=True)
class Cost:
    """How often a schema is applied when one value is checked.

    Attributes:
        here: Times that it and its parts are applied to the value itself.
        total: The same, counting one member or item of the value, one of that, and so on; slow
            comparisons count as the checks that take as long.
        chain: How many of those applied to one value stand inside each other.
    """

    here: int
    total: int
    chain: int

    @cached_property
    def max_depth(self) -> int:
        """How deep arguments may be nested, for the stack to hold their check."""
        return min(MAX_ARGUMENT_DEPTH, _MAX_STACK // self.chain)

    @cached_property
    def max_values(self) -> int:
        """How many values arguments may hold to be checked."""
        return _MAX_CHECKS // self.total

    @cached_property
    def max_numbers(self) -> int:
        """How many of them may be numbers of any kind."""
        return self.max_values // SLOW_NUMBER


@dataclass(frozen=True, slots=True)
class _Visit:
    """A part on the way from the root, where the cost of it is asked for.

    Attributes:
        node: The part.
        level: How many times the way led to a member or an item.
        chain: How many parts of the way apply to the same value.
    """

    node: Schema
    level: int
    chain: int


_Summing: TypeAlias = Generator[_Visit, Cost, Cost]

_ONE: Final = Cost(1, 1, 1)


def costs_of(schema: object) -> "Costs":
    """What it costs to use a schema and its parts.

    Raises:
        TooCostly: It is beyond a limit.
    """
    if nested_deeper(schema, MAX_SCHEMA_DEPTH):
        raise TooCostly(f"it is nested deeper than {MAX_SCHEMA_DEPTH} levels")
    try:
        text = json.dumps(schema, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise TooCostly(f"it is not JSON: {error}") from None
    if len(text.encode("utf-8", "surrogatepass")) > MAX_SCHEMA_BYTES:
        raise TooCostly(f"it is larger than {MAX_SCHEMA_BYTES} bytes")
    return Costs(schema)


class Costs:
    """The costs of all parts of a schema, each found once.

    Attributes:
        whole: The highest of them.
    """

    def __init__(self, schema: object) -> None:
        self._root = schema
        self._known: dict[int, Cost] = {}
        self._open: dict[int, int] = {}
        self._embedded = _holds_embedded_ids(schema)
        self.whole = self._of_all()

    def of(self, part: Schema) -> Cost:
        """The cost of a part."""
        return self._known.get(id(part), self.whole)

    def _of_all(self) -> Cost:
        named = sum(1 for reference in references(self._root) if self._is_named(reference))
        if named > _MAX_NAMED_REFERENCES:
            raise TooCostly(f"it has more than {_MAX_NAMED_REFERENCES} references by name")
        costs = [self._of(_Visit(node, 0, 1)) for node in objects(self._root)] or [_ONE]
        return Cost(
            max(cost.here for cost in costs),
            max(cost.total for cost in costs),
            max(cost.chain for cost in costs),
        )

    def _of(self, visit: _Visit) -> Cost:
        # A stack of our own: the way from the root can be longer than Python may recurse.
        stack = [self._sum(visit)]
        cost: Cost | None = None
        while stack:
            try:
                stack.append(self._sum(stack[-1].send(cast("Cost", cost))))
                cost = None
            except StopIteration as finished:
                cost = cast("Cost", finished.value)
                stack.pop()
        return cost or _ONE

    def _sum(self, visit: _Visit) -> _Summing:
        mark = id(visit.node)
        if mark in self._known:
            return self._known[mark]
        if mark in self._open:
            if self._open[mark] == visit.level:
                raise TooCostly("it refers to itself endlessly")
            return _ONE
        self._enter(visit)
        node_cost = yield from self._in_place(visit)
        members = yield from self._below(*on_member(visit.node), visit.level + 1)
        items = yield from self._below(*on_item(visit.node), visit.level + 1)
        cost = Cost(node_cost.here, node_cost.total + max(members, items), node_cost.chain)
        if cost.here > _MAX_WEIGHT:
            raise TooCostly(f"its references multiply to more than {_MAX_WEIGHT} checks")
        if cost.total > _MAX_TOTAL:
            raise TooCostly(f"its parts multiply to more than {_MAX_TOTAL} checks")
        del self._open[mark]
        self._known[mark] = cost
        return cost

    def _enter(self, visit: _Visit) -> None:
        if visit.chain > _MAX_CHAIN:
            raise TooCostly(f"its references follow each other more than {_MAX_CHAIN} times")
        if len(self._open) >= _MAX_WAY:
            raise TooCostly(f"its parts lead to each other more than {_MAX_WAY} times")
        self._open[id(visit.node)] = visit.level

    def _in_place(self, visit: _Visit) -> _Summing:
        weight = total = chain = 0
        for part in self._applied(visit.node):
            cost = yield _Visit(part, visit.level, visit.chain + 1)
            weight, total, chain = weight + cost.here, total + cost.total, max(chain, cost.chain)
        unevaluated = any(keyword in visit.node for keyword in UNEVALUATED)
        factor = _UNEVALUATED_FACTOR if unevaluated else 1
        own = 1 + comparisons(visit.node)
        return Cost(1 + factor * weight, own + factor * total, 1 + chain)

    def _below(
        self, either: list[object], each: list[object], level: int
    ) -> Generator[_Visit, Cost, int]:
        highest = total = 0
        for part in schemas(either):
            cost = yield _Visit(part, level, 1)
            highest = max(highest, cost.total)
        for part in schemas(each):
            cost = yield _Visit(part, level, 1)
            total += cost.total
        return highest + total

    def _applied(self, node: Schema) -> Iterator[Schema]:
        yield from schemas(list(in_place(node)))
        pointers = (ref for ref in references_of(node) if not self._is_named(ref))
        yield from schemas([resolve(self._root, pointer) for pointer in pointers])

    def _is_named(self, reference: str) -> bool:
        # Below an embedded `$id` a pointer starts there, not at the root.
        return self._embedded or not is_pointer(reference)


def _holds_embedded_ids(schema: object) -> bool:
    keywords = ("$id", "id") if "draft-04" in str(object_of(schema).get("$schema")) else ("$id",)
    return any(
        isinstance(node.get(keyword), str)
        for node in objects(schema)
        if node is not schema
        for keyword in keywords
    )
