from collections.abc import Callable
from typing import TypeAlias

import pytest

from mcpyard.catalog.costs import (
    MAX_ARGUMENT_DEPTH,
    MAX_SCHEMA_BYTES,
    MAX_SCHEMA_DEPTH,
    TooCostly,
    costs_of,
)
from mcpyard.domain.nesting import nested_deeper

Schema: TypeAlias = dict[str, object]
Link: TypeAlias = Callable[[Schema], Schema]


def excess(schema: object) -> str | None:
    try:
        costs_of(schema)
    except TooCostly as error:
        return str(error)
    return None


def nested(depth: int, name: str = "not") -> object:
    value: object = {}
    for _ in range(depth - 1):
        value = {name: value}
    return value


def linked(length: int, link: Link, pointer: str = "#/$defs/{}") -> object:
    """Definitions of which each refers to the next one, in the way that `link` says."""
    parts = {
        f"d{n}": {"$anchor": f"d{n}"} | link({"$ref": pointer.format(f"d{n + 1}")})
        for n in range(length)
    }
    return {"$defs": {**parts, f"d{length}": {"$anchor": f"d{length}"}}}


def doubled(ref: Schema) -> Schema:
    return {"allOf": [ref, dict(ref)]}


@pytest.mark.parametrize(("depth", "is_deeper"), [(3, False), (4, True), (100_000, True)])
def test_depth_counts_objects_and_arrays(depth: int, *, is_deeper: bool) -> None:
    value: object = ()
    for level in range(depth - 1):
        value = {"a": value} if level % 2 else [value]
    assert nested_deeper(value, 3) is is_deeper


def test_a_value_that_holds_itself_twice_is_too_deep() -> None:
    value: list[object] = []
    value.extend([value, value])
    assert nested_deeper(value, 100)


def test_parts_that_several_parents_share_do_not_multiply() -> None:
    left: object = []
    right: object = []
    for _ in range(60):
        left, right = [left, right], [left, right]
    assert not nested_deeper(left, 100)


@pytest.mark.parametrize("value", [None, 1, "x", True])
def test_a_plain_value_has_no_depth(value: object) -> None:
    assert not nested_deeper(value, 0)


def test_a_schema_is_refused_only_beyond_the_depth_limit() -> None:
    assert excess(nested(MAX_SCHEMA_DEPTH)) is None
    reason = f"it is nested deeper than {MAX_SCHEMA_DEPTH} levels"
    assert excess(nested(MAX_SCHEMA_DEPTH + 1)) == reason
    assert excess(nested(100_000)) == reason


def test_a_schema_is_refused_only_beyond_the_size_limit() -> None:
    overhead = len('{"title": ""}')
    assert excess({"title": "x" * (MAX_SCHEMA_BYTES - overhead)}) is None
    reason = f"it is larger than {MAX_SCHEMA_BYTES} bytes"
    assert excess({"title": "x" * (MAX_SCHEMA_BYTES - overhead + 1)}) == reason
    assert excess({"title": "é" * (MAX_SCHEMA_BYTES // 2)}) == reason


@pytest.mark.parametrize(
    "link",
    [
        doubled,
        lambda ref: {"anyOf": [ref, ref]},
        lambda ref: {"oneOf": [ref, ref]},
        lambda ref: {"if": ref, "then": ref},
        lambda ref: {"else": ref, "not": ref},
        lambda ref: {"dependentSchemas": {"a": ref, "b": ref}},
        lambda ref: {"dependencies": {"a": ref, "b": ref}},
        lambda ref: {**ref, "not": ref},
        lambda ref: {"$recursiveRef": ref["$ref"], "not": ref},
    ],
)
def test_references_that_multiply_are_refused(link: Link) -> None:
    assert excess(linked(5, link)) is None
    assert excess(linked(40, link)) == "its references multiply to more than 10000 checks"


def test_references_to_parts_of_the_value_may_multiply() -> None:
    assert excess(linked(40, lambda ref: {"properties": {"a": ref, "b": ref}})) is None


@pytest.mark.spec("F2.1")
@pytest.mark.parametrize(
    "link",
    [
        lambda ref: {"patternProperties": {"a": ref, "b": ref}},
        lambda ref: {"properties": {"a": ref}, "patternProperties": {"a": ref}},
        lambda ref: {"properties": {"a": ref}, "allOf": [{"properties": {"a": ref}}]},
        lambda ref: {"anyOf": [{"additionalProperties": ref}, {"additionalProperties": ref}]},
        lambda ref: {"items": ref, "contains": ref},
        lambda ref: {"oneOf": [{"items": ref}, {"prefixItems": [ref]}]},
    ],
)
def test_references_to_one_part_of_the_value_that_multiply_are_refused(link: Link) -> None:
    assert excess(linked(5, link)) is None
    assert excess(linked(40, link)) == "its parts multiply to more than 100000 checks"


def test_a_schema_that_holds_itself_does_not_multiply() -> None:
    branches = [{"properties": {"a": {"$ref": "#"}}} for _ in range(25)]
    assert costs_of({"anyOf": branches}).whole.total < 100


def test_parts_that_lead_to_each_other_too_long_are_refused() -> None:
    reason = "its parts lead to each other more than 400 times"
    assert excess(linked(100, lambda ref: {"properties": {"a": ref}})) is None
    assert excess(linked(5_000, lambda ref: {"properties": {"a": ref}})) == reason


def test_what_is_unevaluated_costs_another_look_at_everything() -> None:
    def link(ref: Schema) -> Schema:
        return {"allOf": [ref], "unevaluatedProperties": False}

    assert excess(linked(5, link)) is None
    assert excess(linked(30, link)) == "its references multiply to more than 10000 checks"


def test_a_long_chain_leaves_less_depth_to_arguments() -> None:
    assert costs_of({"items": {"$ref": "#"}}).whole.max_depth == MAX_ARGUMENT_DEPTH
    assert costs_of(linked(30, lambda ref: {"allOf": [ref]})).whole.max_depth < MAX_ARGUMENT_DEPTH


def test_references_that_follow_each_other_too_long_are_refused() -> None:
    def link(ref: Schema) -> Schema:
        return {"allOf": [ref]}

    reason = "its references follow each other more than 128 times"
    assert excess(linked(30, link)) is None
    assert excess(linked(5_000, link)) == reason


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"not": {"$ref": "#/$defs/a"}}}},
        {"oneOf": [{"$ref": "#/oneOf/0"}]},
        {"$defs": {"a/b~%": {"$ref": "#/$defs/a~1b~0%25"}}},
    ],
)
def test_a_schema_that_refers_to_itself_in_place_is_refused(schema: object) -> None:
    assert excess(schema) == "it refers to itself endlessly"


@pytest.mark.parametrize("pointer", ["#/oneOf/9", "#/oneOf/x", "#/oneOf/0/9/9", "#/nowhere"])
def test_a_pointer_that_leads_nowhere_weighs_nothing(pointer: str) -> None:
    assert excess({"oneOf": [{"$ref": pointer}]}) is None


def test_only_a_few_references_by_name_are_taken() -> None:
    assert excess(linked(6, doubled, pointer="#{}")) is None
    reason = "it has more than 12 references by name"
    assert excess(linked(7, doubled, pointer="#{}")) == reason


@pytest.mark.parametrize(
    ("schema", "is_named"),
    [
        ({"$id": "inner"}, True),
        ({"id": "inner"}, False),
        ({"properties": {"$id": {}}}, False),
    ],
)
def test_pointers_count_as_names_below_an_embedded_id(schema: object, *, is_named: bool) -> None:
    refs = [{"$ref": "#/$defs/a"}] * 13
    whole = {"$id": "outer", "$defs": {"a": schema}, "items": [dict(ref) for ref in refs]}
    assert (excess(whole) is not None) is is_named


def test_draft_4_embeds_by_its_own_id_keyword() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "definitions": {"a": {"id": "inner"}},
        "items": [{"$ref": "#/definitions/a"} for _ in range(13)],
    }
    assert excess(schema) == "it has more than 12 references by name"


@pytest.mark.parametrize("schema", [{"a": {1}}, {"a": 10**5000}])
def test_what_is_not_json_is_refused(schema: object) -> None:
    reason = excess(schema)
    assert reason is not None
    assert reason.startswith("it is not JSON: ")
