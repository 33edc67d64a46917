from collections.abc import Callable
from typing import Any

import pytest

from mcpyard.catalog.lowering import COMMON, Schema, lower
from mcpyard.catalog.strict import drop_nulls, tighten


def tight_member(schema: object, *, required: bool = True) -> dict[str, Any]:
    """What becomes of the schema of one member."""
    names = ["it"] if required else []
    whole = {"type": "object", "properties": {"it": schema}, "required": names}
    tight: Any = tighten(lower(whole, COMMON)) or {"properties": {"it": {}}}
    return tight["properties"]["it"]


def test_objects_are_closed_and_all_their_members_required() -> None:
    inner = {"type": "object", "properties": {"b": {"type": "null"}}}
    schema: Schema = {"type": "object", "properties": {"a": inner}, "required": ["a"]}
    assert tighten(schema) == {
        "type": "object",
        "properties": {
            "a": {
                "type": "object",
                "properties": {"b": {"type": "null"}},
                "required": ["b"],
                "additionalProperties": False,
            }
        },
        "required": ["a"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("schema", "optional"),
    [
        ({"type": "string"}, {"type": ["string", "null"]}),
        ({"type": ["string", "null"]}, {"type": ["string", "null"]}),
        (
            {"type": ["string", "integer"]},
            {"anyOf": [{"type": ["string", "integer"]}, {"type": "null"}]},
        ),
        (
            {"type": "string", "enum": ["a"], "description": "d"},
            {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}], "description": "d"},
        ),
        ({"type": ["string", "null"], "enum": ["a", None]}, None),
        ({"const": 3}, {"anyOf": [{"const": 3}, {"type": "null"}]}),
        (
            {"anyOf": [{"type": "string"}, {"type": "integer"}], "description": "d"},
            {
                "anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}],
                "description": "d",
            },
        ),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, None),
    ],
)
def test_what_is_optional_may_be_null(schema: object, optional: object) -> None:
    assert tight_member(schema) == schema
    assert tight_member(schema, required=False) == (optional or schema)


def test_keywords_that_a_strict_schema_cannot_have_are_left_out() -> None:
    schema = {"type": "string", "default": "x", "maxLength": 3, "format": "phone", "pattern": "a"}
    assert tight_member(schema) == {"type": "string", "pattern": "a"}
    assert tight_member({"type": "string", "format": "email"})["format"] == "email"


def test_items_are_strict_too() -> None:
    schema = {"type": "array", "items": {"type": "object", "properties": {}}}
    assert tight_member(schema)["items"]["additionalProperties"] is False


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": "object", "properties": {}, "additionalProperties": True},
        {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}},
        {"type": "object", "properties": {}, "patternProperties": {"a": {}}},
        {"type": "array"},
        {"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "string"}},
        {"type": "object", "properties": {}, "anyOf": [{"type": "string"}]},
        {"type": "array", "items": {"type": "string"}, "anyOf": [{"type": "string"}]},
        {"anyOf": [{}]},
    ],
)
def test_a_schema_that_leaves_something_open_is_not_made_strict(schema: object) -> None:
    assert tight_member(schema) == {}


@pytest.mark.parametrize(
    "around",
    [
        lambda inner: {"type": "array", "items": inner},
        lambda inner: {"type": "object", "properties": {"a": inner}, "required": ["a"]},
        lambda inner: {"anyOf": [inner]},
    ],
    ids=["array", "object", "choice"],
)
def test_a_schema_of_more_than_ten_levels_is_not_made_strict(
    around: Callable[[object], object],
) -> None:
    deep: object = {"type": "string"}
    for _ in range(8):
        deep = around(deep)
    assert tight_member(deep) != {}
    assert tight_member(around(deep)) == {}


def test_a_null_that_the_tool_does_not_know_counts_as_not_given() -> None:
    schema = {
        "type": "object",
        "properties": {
            "must": {"type": "string"},
            "may": {"type": "string"},
            "chosen": {"type": "string", "enum": ["a"]},
            "nullable": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "list": {
                "type": "array",
                "items": {"type": "object", "properties": {"may": {"type": "string"}}},
            },
        },
        "required": ["must"],
    }
    arguments = {
        "must": None,
        "may": None,
        "chosen": None,
        "nullable": None,
        "list": [{"may": None}, {"may": "x"}],
        "unknown": 3,
    }
    assert drop_nulls(arguments, schema) == {
        "must": None,
        "nullable": None,
        "list": [{}, {"may": "x"}],
        "unknown": 3,
    }


def test_what_is_no_object_is_left_alone() -> None:
    assert drop_nulls("text", {"type": "object"}) == "text"
