"""Forms for JSON Schemas: every shape has a field, and none can hang or break the page."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.web.catalogues import words_in
from mcpyard.web.server_screens.schema_form import MOST_FIELDS, FormField, form_of
from mcpyard.web.templating import Preferences, environment

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "properties",
                    "items",
                    "enum",
                    "oneOf",
                    "anyOf",
                    "allOf",
                    "$ref",
                    "required",
                ]
            )
            | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)

SHOWN = environment().from_string('{% from "parts/fields.html" import field %}{{ field(form, t) }}')


def kinds(schema: object) -> dict[str, str]:
    return {each.key: each.kind for each in form_of(schema).children}


def size(node: FormField) -> int:
    return 1 + sum(map(size, node.children))


def test_every_type_has_its_own_kind_of_field() -> None:
    properties: dict[str, Any] = {
        "text": {"type": "string"},
        "long": {"type": "string", "maxLength": 4000},
        "number": {"type": "number"},
        "whole": {"type": "integer"},
        "truth": {"type": "boolean"},
        "one": {"enum": [1, "two"]},
        "fixed": {"const": 5},
        "list": {"type": "array", "items": {"type": "string"}},
        "tuple": {"type": "array"},
        "inner": {"type": "object", "properties": {"a": {"type": "string"}}},
        "free": {"type": "object"},
        "either": {"oneOf": [{"type": "string"}, {"type": "integer"}]},
        "maybe": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "null": {"type": ["string", "null"]},
        "all": {"allOf": [{"properties": {"a": {"type": "string"}}}]},
    }
    assert kinds({"type": "object", "properties": properties}) == {
        "text": "text",
        "long": "long",
        "number": "number",
        "whole": "integer",
        "truth": "boolean",
        "one": "enum",
        "fixed": "const",
        "list": "array",
        "tuple": "json",
        "inner": "object",
        "free": "json",
        "either": "choice",
        "maybe": "integer",
        "null": "text",
        "all": "object",
    }


def test_a_schema_that_leads_in_a_circle_ends_in_json() -> None:
    tree = {"type": "object", "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}}
    assert size(form_of(tree)) <= MOST_FIELDS * 2


def test_a_reference_to_itself_ends() -> None:
    schema = {"$defs": {"a": {"$ref": "#/$defs/a"}}, "properties": {"a": {"$ref": "#/$defs/a"}}}
    assert kinds(schema) == {"a": "json"}


@pytest.mark.parametrize("schema", [None, True, [], "x", {"type": "string"}, {"properties": 5}])
def test_what_is_no_schema_of_an_object_is_asked_for_as_json(schema: object) -> None:
    assert form_of(schema).kind == "json"


@given(ANYTHING)
def test_whatever_a_server_calls_a_schema_gives_a_form_that_can_be_shown(schema: object) -> None:
    made = form_of({"type": "object", "properties": {"it": schema}})
    assert SHOWN.render(form=made, t=words_in("en"), preferences=Preferences("en", "auto"))
