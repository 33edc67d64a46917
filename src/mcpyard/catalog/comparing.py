"""How long a validator compares numbers, counted in checks of 50 ns.

Texts are compared as fast as anything is checked. A fraction is compared exactly, which takes as
long as 40 checks, whether the schema names it or the arguments hold it: a thousand fractions in
one `enum` take 2 ms for each value. The same goes for integers beyond 64 bits. All is measured.
"""

from typing import Final

from mcpyard.catalog.subschemas import Schema
from mcpyard.catalog.walks import values
from mcpyard.domain.narrowing import list_of

SLOW_NUMBER: Final = 40
_NUMBERS: Final = frozenset({int, float})
_CONTAINER: Final = 6
_INTEGER: Final = 4
_MAX_INTEGER: Final = 2**63
_BOUNDS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")


def slow_numbers(value: object) -> int:
    """How many numbers a value holds that take long to compare."""
    return sum(_is_slow(each) for each in values(value) if type(each) in _NUMBERS)


def comparisons(schema: Schema) -> int:
    """How many checks it takes to compare with what one part of a schema names."""
    bounds = sum(_is_slow(schema.get(name)) for name in _BOUNDS)
    return bounds * SLOW_NUMBER + _of_enum(list_of(schema.get("enum"))) + _of(schema.get("const"))


def _of_enum(choices: list[object]) -> int:
    looked_up = all(type(choice) is int and not _is_slow(choice) for choice in choices)
    # An integer is looked up among integers; a fraction is compared with each.
    return len(choices) if looked_up else sum(map(_of, choices))


def _of(named: object) -> int:
    return sum(map(_of_one, values(named)))


def _of_one(value: object) -> int:
    if _is_slow(value):
        return SLOW_NUMBER
    if isinstance(value, dict | list):
        return _CONTAINER
    return _INTEGER if isinstance(value, int) else 0


def _is_slow(value: object) -> bool:
    return isinstance(value, float) or (isinstance(value, int) and abs(value) >= _MAX_INTEGER)
