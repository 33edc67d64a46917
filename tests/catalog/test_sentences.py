import jsonschema_rs
import pytest

from mcpyard.catalog.error_messages import problems_of
from mcpyard.catalog.showing import MAX_SHOWN
from mcpyard.catalog.validators import compile_validator

DRAFT_7 = "http://json-schema.org/draft-07/schema#"
DRAFT_4 = "http://json-schema.org/draft-04/schema#"


def problem_texts(schema: object, arguments: object) -> list[str]:
    validator = compile_validator(schema)
    assert validator.warning is None
    return [str(problem) for problem in validator.check(arguments)]


@pytest.mark.parametrize(
    ("schema", "value", "sentence"),
    [
        ({"type": "string"}, 3, "expected a string, found the number 3"),
        ({"type": "string"}, None, "expected a string, found null"),
        ({"type": "string"}, True, "expected a string, found the boolean true"),
        ({"type": "object"}, "x", 'expected an object, found the string "x"'),
        ({"type": "array"}, {}, "expected an array, found an object with 0 properties"),
        ({"type": "integer"}, 1.5, "expected an integer, found the number 1.5"),
        ({"type": ["null", "string"]}, [1], "expected null or a string, found an array of 1 item"),
        ({"required": ["path"]}, {}, 'the required property "path" is missing'),
        ({"enum": ["a", "b"]}, "x", '"x" is not one of "a", "b"'),
        ({"enum": [*range(12)]}, 99, "99 is not one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"),
        ({"const": {"a": 1}}, "x", '"x" is not {"a": 1}, the only value allowed'),
        ({"minimum": 0}, -1, "-1 is below the minimum 0"),
        ({"maximum": 5.5}, 9, "9 is above the maximum 5.5"),
        ({"maximum": 10**40}, 10**41, f"{10**41} is above the maximum {10**40}"),
        ({"exclusiveMinimum": 0}, 0, "0 is not above 0"),
        ({"exclusiveMaximum": 0}, 0, "0 is not below 0"),
        ({"$schema": DRAFT_4, "minimum": 0, "exclusiveMinimum": True}, 0, "0 is not above 0"),
        ({"multipleOf": 3}, 4, "4 is not a multiple of 3"),
        ({"minLength": 3}, "a", '"a" is shorter than 3 characters'),
        ({"maxLength": 1}, "abc", '"abc" is longer than 1 character'),
        ({"pattern": "^a$"}, "b", '"b" does not match the pattern "^a$"'),
        ({"format": "email"}, "b", '"b" does not have the format "email"'),
        ({"minItems": 1}, [], "an array of 0 items has fewer than 1 item"),
        ({"maxItems": 1}, [1, 2], "an array of 2 items has more than 1 item"),
        ({"uniqueItems": True}, [1, 1], "an array of 2 items contains the same item twice"),
        ({"contains": {"const": 2}}, [1], "no item matches what the array must contain"),
        (
            {"contains": {"const": 1}, "minContains": 2},
            [1],
            "too few items match what the array must contain",
        ),
        (
            {"contains": {"const": 1}, "maxContains": 1},
            [1, 1],
            "too many items match what the array must contain",
        ),
        ({"minProperties": 1}, {}, "an object with 0 properties has fewer than 1 property"),
        ({"maxProperties": 0}, {"a": 1}, "an object with 1 property has more than 0 properties"),
        (
            {"propertyNames": {"pattern": "^a"}},
            {"b": 1},
            'the property name "b" does not match the pattern "^a"',
        ),
        ({"propertyNames": False}, {"b": 1}, "no property is allowed here"),
        (
            {"oneOf": [{"type": "number"}, {"minimum": 1}]},
            3,
            "3 matches more than one of the alternatives, but must match exactly one",
        ),
        ({"not": {"type": "number"}}, 3, '3 fits {"type": "number"}, which is excluded'),
        (
            {"dependentRequired": {"a": ["b"]}},
            {"a": 1},
            'the property "b" is missing, but another property requires it',
        ),
        (
            {"$schema": DRAFT_7, "dependencies": {"a": ["b"]}},
            {"a": 1},
            'the property "b" is missing, but another property requires it',
        ),
        (
            {"dependentSchemas": {"a": {"required": ["b"]}}},
            {"a": 1},
            'the required property "b" is missing',
        ),
        ({"unevaluatedProperties": False}, {"a": 1}, 'unknown property "a"'),
        ({"unevaluatedItems": False}, [1, 2], "2 items more than the schema describes"),
        (
            {"$schema": DRAFT_7, "items": [True], "additionalItems": False},
            [1, 2],
            "an array of 2 items has more than 1 item",
        ),
        (False, 1, "no value is allowed here"),
        ({"$schema": DRAFT_7, "contentEncoding": "base64"}, "%", '"%" is not encoded as "base64"'),
        (
            {"$schema": DRAFT_7, "contentMediaType": "application/json"},
            "{",
            '"{" is not of the media type "application/json"',
        ),
        (
            {
                "$schema": DRAFT_7,
                "contentEncoding": "base64",
                "contentMediaType": "application/json",
            },
            "gA==",
            '"gA==" is not UTF-8 when decoded',
        ),
        ({"if": True, "then": {"minimum": 5}}, 3, "3 is below the minimum 5"),
        ({"if": False, "else": {"minimum": 5}}, 3, "3 is below the minimum 5"),
    ],
)
def test_each_keyword_has_its_sentence(schema: object, value: object, sentence: str) -> None:
    assert problem_texts(schema, value) == [sentence]


def test_all_of_several_schemas_are_told_one_by_one() -> None:
    schema = {"allOf": [{"type": "string"}, {"minimum": 4}]}
    assert problem_texts(schema, 3) == [
        "expected a string, found the number 3",
        "3 is below the minimum 4",
    ]


def test_a_keyword_without_a_sentence_of_its_own_is_named() -> None:
    class Even:
        def __init__(self, parent_schema: object, value: object, schema_path: object) -> None: ...

        def validate(self, instance: object) -> None:
            raise ValueError(instance)

    schema = {"even": True}
    (error,) = jsonschema_rs.validator_for(schema, keywords={"even": Even}).iter_errors(3)
    assert [str(problem) for problem in problems_of(error, 3, schema)] == ['3 breaks "even"']


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_alternatives_that_want_other_types_are_told_as_one_list_of_types(keyword: str) -> None:
    schema = {keyword: [{"type": "string"}, {"type": "null"}]}
    assert problem_texts(schema, 3) == ["expected a string or null, found the number 3"]


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_alternatives_are_told_with_the_place_that_breaks_each(keyword: str) -> None:
    schema = {
        "properties": {
            "at": {
                keyword: [
                    {"type": "string"},
                    {"properties": {"x": {"minimum": 0}}},
                    {"additionalProperties": False},
                ]
            }
        }
    }
    (sentence,) = problem_texts(schema, {"at": {"x": -1}})
    assert sentence == (
        "at: an object with 1 property matches no alternative: expected a string, found an object "
        'with 1 property; or x: -1 is below the minimum 0; or unknown property "x"'
    )


def test_a_type_that_is_wrong_further_inside_is_told_with_its_place() -> None:
    schema = {"anyOf": [{"type": "null"}, {"items": {"type": "string"}}]}
    (sentence,) = problem_texts(schema, [1])
    assert sentence == (
        "an array of 1 item matches no alternative: expected null, found an array of 1 item; "
        "or [0]: expected a string, found the number 1"
    )


def test_only_the_first_alternatives_are_told() -> None:
    schema = {"anyOf": [{"minimum": limit} for limit in range(5, 10)]}
    assert problem_texts(schema, 0)[0].endswith("or 0 is below the minimum 7; and 2 more")


def test_alternatives_inside_alternatives_are_not_told() -> None:
    schema = {"anyOf": [{"minimum": 4}, {"anyOf": [{"minimum": 5}, {"minimum": 6}]}]}
    assert problem_texts(schema, 3) == [
        "3 matches no alternative: 3 is below the minimum 4; or another combination of alternatives"
    ]


def test_an_unknown_property_is_told_with_the_one_that_was_meant() -> None:
    schema = {"properties": {"path": True, "mode": True}, "additionalProperties": False}
    assert problem_texts(schema, {"pth": 1, "zz": 2}) == [
        'unknown property "pth"; did you mean "path"?',
        'unknown property "zz"',
    ]


def test_the_property_that_was_meant_is_found_through_references_and_lists() -> None:
    strict = {"properties": {"path": True}, "additionalProperties": False}
    schema = {
        "$defs": {"strict": {"allOf": [strict]}},
        "properties": {"a": {"$ref": "#/$defs/strict"}},
    }
    assert problem_texts(schema, {"a": {"pth": 1}}) == [
        'a: unknown property "pth"; did you mean "path"?'
    ]


def test_nothing_is_suggested_out_of_another_schema_with_the_same_path() -> None:
    inner = {"$id": "inner", "properties": {"mode": True}, "additionalProperties": False}
    schema = {
        "$id": "http://example.com/outer",
        "$defs": {"inner": inner},
        "properties": {"pathway": {"$ref": "inner"}},
    }
    assert problem_texts(schema, {"pathway": {"pathwa": 1}}) == [
        'pathway: unknown property "pathwa"'
    ]


def test_a_tool_without_arguments_names_each_property_it_does_not_know() -> None:
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    assert problem_texts(schema, {"a": 1, "b": 2}) == [
        'unknown property "a"',
        'unknown property "b"',
    ]


@pytest.mark.parametrize(
    ("path", "field"),
    [
        (["items", 0, "id"], "items[0].id"),
        (["odd key", "x"], '["odd key"].x'),
        (["a", "odd-key"], 'a["odd-key"]'),
        (["0", "1"], '["0"]["1"]'),
        ([0, 1], "[0][1]"),
        ([], ""),
    ],
)
def test_a_field_is_written_as_it_would_be_reached(path: list[str | int], field: str) -> None:
    schema: object = {"maximum": 1}
    value: object = 2
    for step in reversed(path):
        if isinstance(step, int):
            schema, value = {"items": schema}, [0] * step + [value]
        else:
            schema, value = {"properties": {step: schema}}, {step: value}
    (problem,) = compile_validator(schema).check(value)
    assert problem.field == field


def test_a_field_of_a_tuple_is_written_like_one_of_an_array() -> None:
    assert problem_texts({"items": {"properties": {"0": False}}}, ({"0": 1},)) == [
        '[0]["0"]: no value is allowed here'
    ]


def test_a_missing_property_stands_at_its_parent() -> None:
    (problem,) = compile_validator({"items": {"required": ["id"]}}).check([{}])
    assert (problem.field, problem.message) == ("[0]", 'the required property "id" is missing')


def test_a_long_value_is_shortened() -> None:
    (sentence,) = problem_texts({"maxLength": 1}, "x" * 1000)
    assert sentence == '"' + "x" * (MAX_SHOWN - 4) + "... is longer than 1 character"


def test_a_long_name_is_shortened() -> None:
    (unknown,) = problem_texts({"additionalProperties": False}, {"x" * 1000: 1})
    (inside,) = problem_texts({"additionalProperties": {"minimum": 1}}, {"x" * 1000: 0})
    assert len(unknown) < 120
    assert len(inside) < 120


SECRET_NAMES = ["token", "Password", "client_secret", "apiKey", "API_KEY", "key", "Authorization"]


@pytest.mark.parametrize("name", SECRET_NAMES)
@pytest.mark.parametrize(
    ("schema", "sentence"),
    [
        ({"maxLength": 1}, "... is longer than 1 character"),
        ({"type": "number"}, "expected a number, found a string"),
        ({"enum": ["a"]}, '... is not one of "a"'),
        (
            {"anyOf": [{"pattern": "x"}, {"enum": [1]}]},
            (
                "... matches no alternative: "
                '... does not match the pattern "x"; or ... is not one of 1'
            ),
        ),
    ],
)
def test_a_value_under_a_secret_name_is_hidden(name: str, schema: object, sentence: str) -> None:
    (problem,) = compile_validator({"properties": {name: schema}}).check({name: "hunter2"})
    assert problem.message == sentence


def test_everything_below_a_secret_name_is_hidden() -> None:
    schema = {"properties": {"secrets": {"items": {"maxLength": 1}}}}
    assert problem_texts(schema, {"secrets": ["hunter2"]}) == [
        "secrets[0]: ... is longer than 1 character"
    ]


@pytest.mark.parametrize("schema", [{"type": "null"}, {"enum": [1]}, {"not": {}}, {"const": 1}])
@pytest.mark.parametrize("value", [{"token": "hunter2"}, [{"token": "hunter2"}]])
def test_a_secret_inside_a_value_is_never_shown(schema: object, value: object) -> None:
    assert "hunter2" not in problem_texts(schema, value)[0]


@pytest.mark.parametrize("name", ["keyword", "keyboard", "path"])
def test_a_value_under_a_harmless_name_is_shown(name: str) -> None:
    assert problem_texts({"properties": {name: {"maxLength": 1}}}, {name: "abc"}) == [
        f'{name}: "abc" is longer than 1 character'
    ]
