from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.catalog.costs import MAX_ARGUMENT_DEPTH
from mcpyard.catalog.validators import MAX_PROBLEMS, compile_validator

UNUSABLE = "arguments are not validated, because the schema is unusable: "
LOOPS_BACK = r"^(?:(a+)\1?)+$"

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner),
    max_leaves=12,
)
keywords = st.sampled_from(
    [
        "$anchor",
        "$defs",
        "$dynamicAnchor",
        "$dynamicRef",
        "$id",
        "$recursiveRef",
        "$ref",
        "$schema",
        "additionalProperties",
        "allOf",
        "anyOf",
        "const",
        "contains",
        "contentEncoding",
        "dependencies",
        "dependentRequired",
        "dependentSchemas",
        "else",
        "enum",
        "exclusiveMaximum",
        "format",
        "id",
        "if",
        "items",
        "maxItems",
        "maxLength",
        "maximum",
        "minContains",
        "minProperties",
        "minimum",
        "multipleOf",
        "not",
        "oneOf",
        "pattern",
        "patternProperties",
        "prefixItems",
        "properties",
        "propertyNames",
        "required",
        "then",
        "type",
        "unevaluatedItems",
        "unevaluatedProperties",
        "uniqueItems",
    ]
)
keyword_values = (
    json_values
    | st.sampled_from(
        ["#", "#/$defs/a", "#a", "a", "http://a/b", "string", "object", "(?=a)b", "^a+$", "date"]
    )
    | st.sampled_from(
        [["a"], {"a": True}, {"a": {"$ref": "#"}}, [{"$ref": "#"}], [{"type": "null"}]]
    )
)
schemas = st.recursive(
    st.booleans() | st.dictionaries(keywords, keyword_values, max_size=4),
    lambda inner: st.dictionaries(
        keywords,
        inner | st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner),
        max_size=4,
    ),
    max_leaves=8,
)


def warning_of(schema: object) -> str:
    validator = compile_validator(schema)
    assert validator.check({"anything": [1, None]}) == ()
    assert validator.warning is not None
    assert validator.warning.startswith(UNUSABLE)
    return validator.warning.removeprefix(UNUSABLE)


def is_refused(schema: object, arguments: object) -> bool:
    validator = compile_validator(schema)
    assert validator.warning is None
    return validator.check(arguments) != ()


def array(depth: int) -> object:
    value: object = []
    for _ in range(depth - 1):
        value = [value]
    return value


def test_arguments_that_fit_have_no_problems() -> None:
    validator = compile_validator({"type": "object", "required": ["a"]})
    assert validator.warning is None
    assert validator.check({"a": 1}) == ()


def test_a_problem_reads_as_field_and_sentence() -> None:
    schema = {"properties": {"items": {"items": {"properties": {"id": {"minimum": 0}}}}}}
    (problem,) = compile_validator(schema).check({"items": [{"id": -1}]})
    assert str(problem) == "items[0].id: -1 is below the minimum 0"


@pytest.mark.parametrize(
    "reference",
    ["file:///etc/hostname", "http://127.0.0.1:9/x", "other.json#/x", "https://localhost/a#b"],
)
@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
def test_a_reference_that_leads_outside_is_refused_by_name(reference: str, keyword: str) -> None:
    reason = warning_of({"properties": {"a": {keyword: reference}}})
    assert reason == f'its reference "{reference}" is external and is not followed'


def test_a_file_that_is_there_is_not_read(tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text('{"type": "string"}')
    assert "is external" in warning_of({"$ref": schema.as_uri()})


@pytest.mark.real
def test_a_schema_that_a_server_offers_is_not_fetched() -> None:
    paths: list[str] = []

    class Offering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"type": "string"}')

    with HTTPServer(("127.0.0.1", 0), Offering) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/schema"
        reasons = [warning_of({keyword: url}) for keyword in ("$ref", "$dynamicRef")]
        meta = compile_validator({"$schema": url, "type": "string"})
        server.shutdown()
        thread.join()
    assert all("is external" in reason for reason in reasons)
    assert meta.warning is None
    assert paths == []


def test_a_reference_relative_to_a_file_is_refused() -> None:
    reason = warning_of({"$id": "file:///etc/", "$ref": "hostname"})
    assert reason == 'its reference "hostname" is external and is not followed'


def test_a_reference_that_leads_nowhere_is_refused() -> None:
    reason = warning_of({"$ref": "#/nowhere"})
    assert reason == "its references cannot be followed: Pointer '/nowhere' does not exist"


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {"text": {"type": "string"}}, "$ref": "#/$defs/text"},
        {"$defs": {"x": {"$anchor": "text", "type": "string"}}, "$ref": "#text"},
        {
            "$id": "http://example.com/a",
            "$defs": {"x": {"$id": "text", "type": "string"}},
            "$ref": "text",
        },
        {"$defs": {"x": {"$dynamicAnchor": "t", "type": "string"}}, "$dynamicRef": "#t"},
    ],
)
def test_references_inside_the_schema_are_followed(schema: object) -> None:
    assert is_refused(schema, 3)
    assert not is_refused(schema, "x")


def test_a_schema_may_contain_itself() -> None:
    schema = {
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$ref": "#"}}},
        "additionalProperties": False,
    }
    leaf = {"children": []}
    assert not is_refused(schema, {"children": [{"children": [leaf]}, leaf]})
    (problem,) = compile_validator(schema).check({"children": [{"children": [{"child": 1}]}]})
    assert problem.field == "children[0].children[0]"


@pytest.mark.parametrize(
    ("draft", "is_refusing"),
    [
        ("http://json-schema.org/draft-04/schema#", False),
        ("http://json-schema.org/draft-06/schema#", False),
        ("http://json-schema.org/draft-07/schema", False),
        ("https://json-schema.org/draft-07/schema#", False),
        ("https://json-schema.org/draft/2019-09/schema", False),
        ("https://json-schema.org/draft/2020-12/schema", True),
        ("http://json-schema.org/draft-03/schema#", True),
        ("http://127.0.0.1:9/unknown", True),
        ("nonsense", True),
        (5, True),
        (None, True),
    ],
)
def test_the_draft_is_the_declared_one_or_the_newest(draft: object, *, is_refusing: bool) -> None:
    assert is_refused({"$schema": draft, "prefixItems": [False]}, [1]) is is_refusing


def test_formats_are_checked() -> None:
    assert is_refused({"format": "date"}, "yesterday")


@pytest.mark.parametrize("schema", [None, 5, 1.5, "string", [], [{}]])
def test_what_is_no_schema_at_all_is_refused(schema: object) -> None:
    assert warning_of(schema) == "it is neither an object nor a boolean"


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"required": "a"}, 'required: expected an array, found the string "a"'),
        ({"properties": {"a": {"minLength": -1}}}, "properties.a.minLength: -1 is below the min"),
        ({"anyOf": []}, "anyOf: an array of 0 items has fewer than 1 item"),
        (
            {"properties": {"a": {"type": "text"}}},
            'properties.a.type: "text" matches no alternative',
        ),
        ({"pattern": "("}, 'pattern: "(" does not have the format "regex"'),
        ({"pattern": "(a{1000}){1000}"}, 'pattern: "(a{1000}){1000}" does not have the format'),
        ({"enum": ["\ud800"]}, "it is not JSON: "),
        ({1: 2}, "it is not JSON: "),
        ({"a": {1}}, "it is not JSON: "),
        ({"$ref": "#"}, "it refers to itself endlessly"),
    ],
)
def test_a_broken_schema_accepts_everything_and_says_why(schema: object, reason: str) -> None:
    assert warning_of(schema).startswith(reason)


def test_a_schema_nested_beyond_reason_is_refused() -> None:
    schema: object = {}
    for _ in range(100_000):
        schema = {"not": schema}
    assert warning_of(schema) == "it is nested deeper than 64 levels"


def test_a_schema_that_is_too_large_is_refused() -> None:
    assert warning_of({"title": "x" * 2**20}) == "it is larger than 1048576 bytes"


@pytest.mark.parametrize("depth", [MAX_ARGUMENT_DEPTH + 1, 100_000])
@pytest.mark.parametrize("schema", [{"items": {"$ref": "#"}}, {"type": "string"}, True])
def test_arguments_nested_beyond_reason_are_refused(schema: object, depth: int) -> None:
    (problem,) = compile_validator(schema).check(array(depth))
    assert str(problem) == f"nested deeper than {MAX_ARGUMENT_DEPTH} levels"


def test_arguments_at_the_depth_limit_are_checked() -> None:
    assert not is_refused({"items": {"$ref": "#"}}, array(MAX_ARGUMENT_DEPTH))
    assert is_refused({"items": {"$ref": "#"}, "minItems": 1}, array(MAX_ARGUMENT_DEPTH))


@pytest.mark.parametrize(
    "arguments", [{"a": {1}}, {1: 2}, {"a": "\ud800"}, {"a": b"x"}, {"a": object()}]
)
def test_arguments_that_are_not_json_are_refused(arguments: object) -> None:
    schema = {"additionalProperties": {"enum": [1]}}
    (problem,) = compile_validator(schema).check(arguments)
    assert problem.field == ""
    assert problem.message.startswith("not JSON: ")


@pytest.mark.parametrize(
    "number", [10**30, pytest.param(10**5000, id="huge"), float("nan"), float("inf")]
)
def test_extreme_numbers_are_told_without_a_crash(number: float) -> None:
    assert len(compile_validator({"type": "string"}).check(number)) == 1


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "(?=a)^(a+)+$"])
def test_a_pattern_that_explodes_elsewhere_is_quick(pattern: str) -> None:
    assert is_refused({"pattern": pattern}, "a" * 60 + "!")


def test_patterns_that_look_around_are_checked() -> None:
    schema = {"pattern": "^(?!.*[.][.]).+$"}
    assert is_refused(schema, "../etc")
    assert not is_refused(schema, "etc")


def test_a_pattern_that_takes_too_many_steps_is_left_to_the_server() -> None:
    schema = {"properties": {"a": {"pattern": LOOPS_BACK}, "b": {"type": "string"}}}
    (problem,) = compile_validator(schema).check({"a": "a" * 60 + "!", "b": 1})
    assert problem.field == "b"
    assert not is_refused(schema, {"a": "a" * 60 + "!"})


@pytest.mark.parametrize("wrap", [lambda text: text, lambda text: [text], lambda text: {"a": text}])
def test_a_long_text_is_not_given_to_a_pattern_that_looks_around(
    wrap: Callable[[str], object],
) -> None:
    part = {"pattern": "(?=a)a*b"}
    schema = {**part, "items": part, "additionalProperties": part}
    assert is_refused(schema, wrap("a" * 100))
    assert not is_refused(schema, wrap("a" * 1_000_000))


def test_a_long_text_is_given_to_a_pattern_that_does_not_look_around() -> None:
    assert is_refused({"pattern": "a*b"}, "a" * 1_000_000)


def test_a_long_name_is_not_given_to_a_pattern_that_looks_around() -> None:
    assert not is_refused({"patternProperties": {"(?=a)a*b": False}}, {"a" * 1_000_000: 1})


@pytest.mark.parametrize(
    ("count", "last"),
    [
        (MAX_PROBLEMS, f"[{MAX_PROBLEMS - 1}]: expected a string, found the number 1"),
        (MAX_PROBLEMS + 1, "and 1 more problem"),
        (MAX_PROBLEMS + 32, "and 32 more problems"),
    ],
)
def test_only_the_first_problems_are_told(count: int, last: str) -> None:
    problems = compile_validator({"items": {"type": "string"}}).check([1] * count)
    assert len(problems) == min(count, MAX_PROBLEMS + 1)
    assert str(problems[-1]) == last


def test_each_unknown_property_counts_as_a_problem() -> None:
    schema = {"properties": {"x": True}, "additionalProperties": False, "required": ["x"]}
    problems = compile_validator(schema).check({str(n): n for n in range(MAX_PROBLEMS + 4)})
    assert str(problems[-1]) == "and 5 more problems"


def test_of_very_many_wrong_values_only_the_first_is_told() -> None:
    problems = compile_validator({"items": {"type": "string"}}).check([1] * 300_000)
    assert [str(problem) for problem in problems] == ["[0]: expected a string, found the number 1"]


@given(json_values)
def test_any_json_value_can_be_given_as_a_schema(schema: object) -> None:
    validator = compile_validator(schema)
    assert validator.warning is None or validator.warning.startswith(UNUSABLE)
    assert isinstance(validator.check({}), tuple)


@given(schemas, json_values)
def test_any_schema_takes_any_arguments(schema: object, arguments: object) -> None:
    validator = compile_validator(schema)
    problems = validator.check(arguments)
    assert len(problems) <= MAX_PROBLEMS + 1
    assert not (validator.warning and problems)
    assert all(problem.message for problem in problems)
