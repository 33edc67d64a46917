"""The time of one check of a tool's arguments, and how it compares with writing them as JSON."""

import sys
from collections.abc import Callable
from timeit import repeat

import orjson

from mcpyard.catalog.validators import compile_validator

LIMIT_US = 20.0
ROUNDS = 15
CHECKS = 10_000

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


def main() -> int:
    validator = compile_validator(SCHEMA)
    if validator.warning or validator.check(ARGUMENTS) or not validator.check({}):
        print("the schema does not judge the arguments as it should")
        return 1
    check = _microseconds(lambda: validator.check(ARGUMENTS))
    dump = _microseconds(lambda: orjson.dumps(ARGUMENTS))
    print(f"one check: {check:.2f} us (limit {LIMIT_US:.0f} us)")
    print(f"orjson.dumps of the same arguments: {dump:.2f} us, ratio {check / dump:.1f}")
    return 1 if check > LIMIT_US else 0


def _microseconds(work: Callable[[], object]) -> float:
    return min(repeat(work, number=CHECKS, repeat=ROUNDS)) / CHECKS * 1e6


if __name__ == "__main__":
    sys.exit(main())
