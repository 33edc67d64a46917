from types import MappingProxyType
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.catalog.costs import MAX_SCHEMA_DEPTH
from mcpyard.catalog.lowering import COMMON, GEMINI, Schema, SchemaDialect, as_object, lower

DIALECTS = pytest.mark.parametrize("dialect", [COMMON, GEMINI], ids=["common", "gemini"])
LABEL = {"type": "object", "properties": {"name": {"type": "string"}}}


def of_member(schema: object, dialect: SchemaDialect, **root: object) -> dict[str, Any]:
    """What becomes of the schema of one member."""
    lowered: Any = lower({"type": "object", "properties": {"it": schema}, **root}, dialect)
    return lowered["properties"]["it"]


@pytest.mark.parametrize("schema", [None, True, [], "object"])
def test_what_is_no_schema_is_that_of_any_object(schema: object) -> None:
    assert as_object(schema) == lower(schema, COMMON) == {"type": "object", "properties": {}}


def test_a_schema_for_those_who_take_any_is_as_it_came() -> None:
    schema = {"type": "object", "$defs": {"a": {}}, "x-odd": 1, "if": {}}
    assert as_object(MappingProxyType(schema)) == schema


def test_a_schema_without_a_type_is_that_of_an_object() -> None:
    assert as_object({"required": ["a"]}) == {"required": ["a"], "type": "object"}


@DIALECTS
def test_only_known_keywords_are_left(dialect: SchemaDialect) -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$defs": {"label": LABEL},
        "x-odd": True,
        "type": "object",
        "properties": {
            "label": {"$ref": "#/$defs/label"},
            "when": {"type": "string", "format": "date-time", "examples": ["now"]},
            "count": {"type": "integer", "minimum": 1, "not": {"const": 3}},
        },
        "if": {"required": ["label"]},
        "then": {"required": ["count"]},
        "dependentRequired": {"when": ["count"]},
        "additionalProperties": False,
        "required": ["when"],
    }
    assert lower(schema, dialect) == {
        "type": "object",
        "properties": {
            "label": LABEL,
            "when": {"type": "string", "format": "date-time"},
            "count": {"type": "integer", "minimum": 1},
        },
        "additionalProperties": False,
        "required": ["when"],
    }


def test_gemini_gets_what_it_lacks_in_other_words() -> None:
    schema = {
        "const": 3,
        "exclusiveMinimum": 1,
        "exclusiveMaximum": 9,
        "pattern": "^a",
        "format": "email",
        "default": 5,
    }
    assert of_member(schema, GEMINI) == {"enum": [3], "minimum": 1, "maximum": 9}
    assert of_member(schema, COMMON) == schema


@pytest.mark.parametrize("choices", [["a", None], [True], ["a", 1], [[]]])
def test_gemini_gets_no_choice_of_mixed_kinds(choices: list[object]) -> None:
    assert of_member({"enum": choices}, GEMINI) == {}
    assert of_member({"enum": choices}, COMMON) == {"enum": choices}


@pytest.mark.parametrize("choices", [["a", "b"], [1, 2.5]])
def test_gemini_gets_a_choice_of_texts_or_of_numbers(choices: list[object]) -> None:
    assert of_member({"enum": choices}, GEMINI) == {"enum": choices}


@DIALECTS
def test_the_boolean_bounds_of_draft_4_are_left_out(dialect: SchemaDialect) -> None:
    schema = {"minimum": 1, "exclusiveMinimum": True}
    assert of_member(schema, dialect) == {"minimum": 1}


def test_without_patterns_of_names_an_object_stays_open() -> None:
    schema = {"patternProperties": {"^x-": {"$ref": "#/d"}}, "additionalProperties": False}
    assert of_member(schema, GEMINI) == {}
    assert of_member(schema, COMMON, d={"type": "string"}) == {
        "patternProperties": {"^x-": {"type": "string"}},
        "additionalProperties": False,
    }


@DIALECTS
def test_a_list_always_says_what_its_items_are(dialect: SchemaDialect) -> None:
    assert of_member({"type": "array"}, dialect)["items"] == {}
    assert of_member({"type": ["array", "null"]}, dialect)["items"] == {}
    assert of_member({"type": "array", "items": {"type": "null"}}, dialect)["items"] == {
        "type": "null"
    }


@DIALECTS
def test_a_tuple_of_an_old_draft_becomes_one_of_today(dialect: SchemaDialect) -> None:
    schema = {"items": [{"type": "string"}], "additionalItems": {"type": "null"}}
    assert of_member(schema, dialect) == {
        "prefixItems": [{"type": "string"}],
        "items": {"type": "null"},
    }


@DIALECTS
@pytest.mark.parametrize(
    ("keyword", "value"),
    [
        ("type", "any"),
        ("type", []),
        ("type", {}),
        ("required", "name"),
        ("required", [1]),
        ("properties", []),
        ("description", 1),
        ("enum", []),
        ("enum", "a"),
        ("minimum", "1"),
        ("maximum", True),
        ("minItems", -1),
        ("anyOf", {}),
        ("items", True),
        ("prefixItems", {}),
    ],
)
def test_a_keyword_with_a_wrong_value_is_left_out(
    dialect: SchemaDialect, keyword: str, value: object
) -> None:
    assert of_member({keyword: value}, dialect) == {}


@DIALECTS
def test_a_reference_keeps_what_is_said_beside_it(dialect: SchemaDialect) -> None:
    schema = {"$ref": "#/$defs/a~1b/0", "description": "mine", "minimum": 3}
    root = {"a/b": [{"type": "integer", "description": "theirs"}]}
    lowered = of_member(schema, dialect, **{"$defs": root})
    assert lowered == {"type": "integer", "description": "mine"}


@DIALECTS
@pytest.mark.parametrize(
    "reference",
    [
        "https://example.com/schema",
        "other.json",
        "#/$defs/none",
        "#/$defs/list/7",
        f"#/$defs/list/{'9' * 5_000}",
        "#anchor",
    ],
    ids=lambda reference: reference[:30],
)
def test_a_reference_that_leads_nowhere_leaves_its_place_open(
    dialect: SchemaDialect, reference: str
) -> None:
    lowered = of_member({"$ref": reference}, dialect, **{"$defs": {"list": [{"type": "null"}]}})
    assert "$ref" not in str(lowered)
    assert lowered in ({}, {"type": "object", "properties": {"it": {}}})


@DIALECTS
def test_a_schema_that_refers_to_itself_is_open_from_there_on(dialect: SchemaDialect) -> None:
    tree = {"type": "object", "properties": {"left": {"$ref": "#/$defs/tree"}}}
    lowered = of_member({"$ref": "#/$defs/tree"}, dialect, **{"$defs": {"tree": tree}})
    assert lowered == {"type": "object", "properties": {"left": {}}}


@DIALECTS
def test_references_that_fan_out_end(dialect: SchemaDialect) -> None:
    parts: Schema = {
        f"d{n}": {"properties": {side: {"$ref": f"#/$defs/d{n + 1}"} for side in "ab"}}
        for n in range(40)
    }
    assert len(str(of_member({"$ref": "#/$defs/d0"}, dialect, **{"$defs": parts}))) < 200_000


@DIALECTS
def test_a_long_chain_of_references_ends(dialect: SchemaDialect) -> None:
    parts: Schema = {f"d{n}": {"items": {"$ref": f"#/$defs/d{n + 1}"}} for n in range(5_000)}
    lowered = of_member({"$ref": "#/$defs/d0"}, dialect, **{"$defs": parts})
    assert str(lowered).count("items") < MAX_SCHEMA_DEPTH


@DIALECTS
def test_a_schema_that_is_too_deep_is_open_from_there_on(dialect: SchemaDialect) -> None:
    deep: object = {}
    for _ in range(2_000):
        deep = {"items": deep}
    lowered = of_member(deep, dialect)
    for _ in range(MAX_SCHEMA_DEPTH - 2):
        lowered = lowered["items"]
    assert lowered == {"items": {}}


@DIALECTS
def test_what_holds_together_becomes_one(dialect: SchemaDialect) -> None:
    schema = {
        "allOf": [
            {"$ref": "#/$defs/named"},
            {"properties": {"age": {"type": "integer"}}, "required": ["age", "name"]},
            {"description": "a person", "items": {}, "prefixItems": [{}]},
        ],
        "items": {"type": "null"},
        "$defs": {"named": {"properties": {"name": {"type": "string"}}, "required": ["name"]}},
    }
    lowered = of_member(schema, dialect, **schema)
    assert lowered == {
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
        "required": ["name", "age"],
        "description": "a person",
        "items": {"type": "null"},
    }


@DIALECTS
def test_a_choice_stays_one_below_the_root(dialect: SchemaDialect) -> None:
    assert of_member({"oneOf": [{"type": "null"}, {"type": "string"}]}, dialect) == {
        "anyOf": [{"type": "null"}, {"type": "string"}]
    }


@DIALECTS
def test_at_the_root_all_alternatives_are_offered_at_once(dialect: SchemaDialect) -> None:
    get = {
        "properties": {"action": {"enum": ["get"]}, "id": {"type": "string"}},
        "required": ["action", "id"],
    }
    put = {
        "properties": {"action": {"enum": ["put"]}, "body": {}, "id": {"type": "string"}},
        "required": ["action"],
    }
    schema = {"properties": {"verbose": {}}, "required": ["verbose"], "oneOf": [get, put]}
    assert lower(schema, dialect) == {
        "type": "object",
        "properties": {
            "action": {"anyOf": [{"enum": ["get"]}, {"enum": ["put"]}]},
            "id": {"type": "string"},
            "body": {},
            "verbose": {},
        },
        "required": ["verbose", "action"],
    }


@DIALECTS
def test_alternatives_with_nothing_in_common_require_nothing(dialect: SchemaDialect) -> None:
    schema = {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    assert lower(schema, dialect) == {"type": "object", "properties": {}}


@DIALECTS
def test_a_root_that_is_a_reference_is_put_in_place(dialect: SchemaDialect) -> None:
    assert lower({"$ref": "#/$defs/label", "$defs": {"label": LABEL}}, dialect) == LABEL


def test_a_root_has_no_keywords_of_other_types() -> None:
    schema = {"enum": [{}], "const": {}, "items": {}, "prefixItems": [{}]}
    assert lower(schema, COMMON) == {"type": "object", "properties": {}}


SIMPLE: list[Any] = [None, True, 0, 1, -2, 2.5, "", "a", "bb", [], {}]
LISTS = [[one, other] for one in SIMPLE for other in SIMPLE] + [[one] for one in SIMPLE]
OBJECTS = [{"a": one, "b": other} for one in SIMPLE for other in SIMPLE]
VALUES = [*SIMPLE, *LISTS, *OBJECTS, *({name: one} for one in SIMPLE for name in "abc")]
SCALARS = st.sampled_from(SIMPLE[:-2])
KINDS = st.sampled_from(["array", "boolean", "integer", "null", "number", "object", "string"])
PLAIN = {
    "type": KINDS | st.lists(KINDS, min_size=1, max_size=3, unique=True),
    "enum": st.lists(SCALARS, min_size=1, max_size=3, unique_by=repr),
    "const": SCALARS,
    "minimum": st.integers(-2, 2),
    "exclusiveMinimum": st.integers(-2, 2),
    "exclusiveMaximum": st.integers(-2, 2),
    "maxLength": st.integers(0, 2),
    "pattern": st.just("a"),
    "minItems": st.integers(0, 2),
    "uniqueItems": st.booleans(),
    "required": st.lists(st.sampled_from("abc"), max_size=2, unique=True),
    "$ref": st.sampled_from(["#", "#/$defs/a", "#/$defs/b", "#/properties/a"]),
}


def few(keywords: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[object]:
    """Schemas of up to three keywords: of those with many, nothing fits."""
    names = st.lists(st.sampled_from(sorted(keywords)), max_size=3, unique=True)
    return names.flatmap(
        lambda some: st.fixed_dictionaries({name: keywords[name] for name in some})
    )


def schemas(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    members = st.dictionaries(st.sampled_from("abc"), inner, max_size=2)
    some = st.lists(inner, min_size=1, max_size=2)
    nested = {
        "properties": members,
        "patternProperties": members,
        "additionalProperties": inner,
        "items": inner,
        "prefixItems": some,
        "anyOf": some,
        "oneOf": some,
        "allOf": some,
        "not": inner,
    }
    return few(nested) | few({**PLAIN, **nested})


SCHEMAS = st.recursive(st.booleans() | few(PLAIN), schemas, max_leaves=6)


@DIALECTS
@given(member=SCHEMAS, parts=st.fixed_dictionaries({"a": SCHEMAS, "b": SCHEMAS}))
def test_what_fits_a_schema_fits_the_lowered_one(
    dialect: SchemaDialect, member: object, parts: dict[str, object]
) -> None:
    schema = {"type": "object", "properties": {"a": member}, "$defs": parts}
    lowered = lower(schema, dialect)
    jsonschema_rs.meta.validate(lowered)
    as_it_came = jsonschema_rs.Draft202012Validator(schema)
    wider = jsonschema_rs.Draft202012Validator(lowered)
    fitting = [each for each in VALUES if as_it_came.is_valid({"a": each})]
    assert all(wider.is_valid({"a": each}) for each in fitting)
