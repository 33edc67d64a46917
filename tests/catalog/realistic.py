"""Schemas as servers of today write them, with wrong arguments.

The sentences for each case stand in `realistic.json`, in the same order.
"""

from typing import Any, Final

ISSUE: Final[dict[str, Any]] = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "type": "object",
    "definitions": {
        "label": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "color": {"pattern": "^#[0-9a-f]{6}$"}},
            "required": ["name"],
            "additionalProperties": False,
        }
    },
    "properties": {
        "owner": {"type": "string", "minLength": 1},
        "title": {"type": "string", "maxLength": 20},
        "body": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "state": {"enum": ["open", "closed"]},
        "labels": {"type": "array", "items": {"$ref": "#/definitions/label"}, "maxItems": 20},
        "assignee": {
            "oneOf": [
                {"type": "string", "pattern": "^@"},
                {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
            ]
        },
        "token": {"type": "string", "minLength": 8},
    },
    "required": ["owner", "title"],
    "additionalProperties": False,
}

BATCH: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "integer", "minimum": 1},
                    "email": {"type": "string", "format": "email"},
                    "tags": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["id"],
            },
        }
    },
}

FILTER: Final[dict[str, Any]] = {
    "$defs": {
        "filter": {
            "anyOf": [
                {
                    "type": "object",
                    "properties": {"and": {"type": "array", "items": {"$ref": "#/$defs/filter"}}},
                    "required": ["and"],
                    "additionalProperties": False,
                },
                {
                    "type": "object",
                    "properties": {"field": {"type": "string"}, "equals": {"type": "string"}},
                    "required": ["field", "equals"],
                    "additionalProperties": False,
                },
            ]
        }
    },
    "type": "object",
    "properties": {"filter": {"$ref": "#/$defs/filter"}, "limit": {"maximum": 100}},
    "required": ["filter"],
}


def blocks(count: int = 25) -> dict[str, Any]:
    """A page of blocks of many types, which hold blocks."""
    kinds = [
        {
            "type": "object",
            "properties": {
                "type": {"const": f"kind {number}"},
                "text": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/block"}},
            },
            "required": ["type"],
            "additionalProperties": False,
        }
        for number in range(count)
    ]
    return {
        "$defs": {"block": {"oneOf": kinds}},
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/block"}}},
    }


def page(depth: int, text: object) -> dict[str, Any]:
    """Blocks in each other, the innermost with a text."""
    block: dict[str, Any] = {"type": "kind 3", "text": text}
    for level in range(depth):
        block = {"type": f"kind {level % 25}", "children": [block]}
    return {"children": [block]}


def rows(wrong: dict[int, object], count: int = 60) -> dict[str, Any]:
    """Rows of a batch, some of them replaced."""
    good = {"id": 1, "email": "a@example.com", "tags": ["x"]}
    return {"rows": [wrong.get(number, good) for number in range(count)]}


CASES: Final[list[tuple[dict[str, Any], object]]] = [
    (ISSUE, {}),
    (ISSUE, {"owner": "", "title": "x" * 30, "labels": [{"name": "a"}, {"colour": "red"}]}),
    (ISSUE, {"owner": "o", "title": "t", "body": 3, "state": "done", "assigne": "x"}),
    (ISSUE, {"owner": "o", "title": "t", "assignee": "x"}),
    (ISSUE, {"owner": "o", "title": "t", "assignee": {"id": "1"}}),
    (ISSUE, {"owner": "o", "title": "t", "assignee": 5, "token": "short"}),
    (BATCH, rows({7: {"id": 0}})),
    (BATCH, rows({7: {"id": 0}, 59: {"email": "nobody"}})),
    (BATCH, rows({n: {"id": "1"} for n in range(15)})),
    (FILTER, {}),
    (FILTER, {"filter": {"field": "a", "equal": "b"}, "limit": 500}),
    (FILTER, {"filter": {"and": [{"field": "a", "equals": "b"}, {"field": "a"}]}}),
    (FILTER, {"filter": {"and": [{"and": [{"and": [{"field": 1}]}]}]}}),
    (blocks(), page(0, 5)),
    (blocks(4), page(1, 5)),
    (blocks(), {"children": [{"type": "kind 99"}]}),
    (blocks(), {"children": [{"type": "kind 1", "txt": "a"}]}),
    (blocks(), {"children": "text"}),
]
