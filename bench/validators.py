"""The time of one check of a tool's arguments, and of explaining what is wrong with them.

A check is compared with writing the arguments as JSON, an explanation with the check.
"""

import sys
from collections.abc import Callable
from timeit import repeat
from typing import Any

import jsonschema_rs
import orjson

from mcpyard.catalog.validators import compile_validator

LIMIT_US = 20.0
ROUNDS = 15
CHECKS = 10_000
EXPLAIN_FACTOR = 50
EXPLAIN_MS = 10.0

SCHEMA = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "$defs": {
        "label": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "maxLength": 50},
                "color": {"type": "string", "pattern": "^#[0-9a-f]{6}$"},
            },
            "required": ["name"],
            "additionalProperties": False,
        }
    },
    "properties": {
        "owner": {"type": "string", "minLength": 1},
        "repository": {"type": "string", "pattern": "^[A-Za-z0-9._-]+$"},
        "title": {"type": "string", "maxLength": 256},
        "body": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "state": {"enum": ["open", "closed", "draft"]},
        "labels": {"type": "array", "items": {"$ref": "#/$defs/label"}, "maxItems": 20},
        "due": {"type": "string", "format": "date-time"},
        "contact": {"type": "string", "format": "email"},
        "priority": {"type": "integer", "minimum": 1, "maximum": 5},
        "options": {
            "type": "object",
            "properties": {
                "notify": {"type": "boolean"},
                "retries": {"type": "integer", "minimum": 0},
                "timeout": {"type": "number", "exclusiveMinimum": 0},
            },
            "additionalProperties": False,
        },
    },
    "required": ["owner", "repository", "title"],
    "additionalProperties": False,
}

ARGUMENTS = {
    "owner": "example",
    "repository": "yard.tools",
    "title": "The gate does not close after rain",
    "body": "It stays open by a hand's breadth. Oiling the hinge did not help.",
    "state": "open",
    "labels": [{"name": f"label {n}", "color": "#00ff7f"} for n in range(5)],
    "due": "2030-01-02T03:04:05Z",
    "contact": "someone@example.com",
    "priority": 3,
    "options": {"notify": True, "retries": 2, "timeout": 1.5},
}


def _blocks(count: int, *, named: bool) -> dict[str, Any]:
    """Blocks that hold blocks, of many types; named by a constant, or not."""
    branches = [
        {
            "type": "object",
            "properties": {
                "type": {"const": f"t{number}"} if named else {"type": "string"},
                "text": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#"}},
            },
            "required": ["type"],
        }
        for number in range(count)
    ]
    return {"oneOf" if named else "anyOf": branches}


def _nested(depth: int, text: object) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "t1", "text": text}
    for _ in range(depth):
        block = {"type": "t1", "children": [block]}
    return block


HOSTILE: dict[str, tuple[dict[str, Any], object]] = {
    "25 types in each other": (_blocks(25, named=True), _nested(10, 5)),
    "50 alternatives in each other": (_blocks(50, named=False), _nested(10, 5)),
    "300 types for 2,000 items": (
        {"items": {"oneOf": [{"properties": {"a": {"const": n}}} for n in range(300)]}},
        [{"a": -1}] * 2_000,
    ),
    "2,000 wrong items": ({"items": {"type": "string"}}, [1] * 2_000),
}


def main() -> int:
    validator = compile_validator(SCHEMA)
    if validator.warning or validator.check(ARGUMENTS) or not validator.check({}):
        print("the schema does not judge the arguments as it should")
        return 1
    check = _microseconds(lambda: validator.check(ARGUMENTS))
    dump = _microseconds(lambda: orjson.dumps(ARGUMENTS))
    print(f"one check: {check:.2f} us (limit {LIMIT_US:.0f} us)")
    print(f"orjson.dumps of the same arguments: {dump:.2f} us, ratio {check / dump:.1f}")
    slow = [name for name, (schema, wrong) in HOSTILE.items() if not _explains(name, schema, wrong)]
    return 1 if check > LIMIT_US or slow else 0


def _explains(name: str, schema: dict[str, Any], wrong: object) -> bool:
    validator = compile_validator(schema)
    first = min(repeat(lambda: validator.check(wrong), number=1, repeat=1)) * 1e3
    explain = min(repeat(lambda: validator.check(wrong), number=1, repeat=ROUNDS)) * 1e3
    plain = jsonschema_rs.Draft202012Validator(schema)
    check = min(repeat(lambda: plain.is_valid(wrong), number=1, repeat=ROUNDS)) * 1e3
    limit = EXPLAIN_FACTOR * check + EXPLAIN_MS
    print(
        f"explaining {name}: {explain:.2f} ms (limit {limit:.1f} ms; checking {check:.3f} ms; "
        f"the first time, with compiling the outline, {first:.2f} ms)"
    )
    return explain <= limit and validator.warning is None


def _microseconds(work: Callable[[], object]) -> float:
    return min(repeat(work, number=CHECKS, repeat=ROUNDS)) / CHECKS * 1e6


if __name__ == "__main__":
    sys.exit(main())
