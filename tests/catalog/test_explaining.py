import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import process_time
from timeit import repeat
from typing import Any, cast

import jsonschema_rs
import pytest
from hypothesis import given
from jsonschema_rs import ValidationError

from mcpyard.catalog.costs import MAX_ARGUMENT_DEPTH, TooCostly, costs_of
from mcpyard.catalog.explaining import MAX_CHECKS, MAX_STEPS, Explainer
from mcpyard.catalog.validators import compile_validator
from mcpyard.catalog.walks import more_values_than
from tests.catalog.hostile import deep_arguments, hostile_schemas
from tests.catalog.realistic import CASES, blocks, page

FULL = os.environ.get("MCPYARD_PROOF") == "full"

SENTENCES = json.loads(Path(__file__).with_name("realistic.json").read_text(encoding="utf-8"))


def problem_texts(schema: object, arguments: object) -> list[str]:
    validator = compile_validator(schema)
    assert validator.warning is None
    return [str(problem) for problem in validator.check(arguments)]


@pytest.mark.parametrize(
    ("schema", "arguments", "sentences"),
    [(*case, sentences) for case, sentences in zip(CASES, SENTENCES, strict=True)],
)
def test_realistic_mistakes_are_told_in_the_same_words(
    schema: object, arguments: object, sentences: list[str]
) -> None:
    assert problem_texts(schema, arguments) == sentences


@pytest.mark.spec("F2.1")
@pytest.mark.parametrize("depth", [1, 4, 10, 20])
def test_a_mistake_deep_inside_unions_is_told_at_its_place(depth: int) -> None:
    place = ".".join(["children[0]"] * (depth + 1))
    assert problem_texts(blocks(), page(depth, 5)) == [
        f"{place}.text: expected a string, found the number 5"
    ]


@pytest.mark.spec("F2.1")
def test_a_mistake_too_deep_for_the_budget_is_told_where_the_budget_ended() -> None:
    (sentence,) = problem_texts(blocks(), page(60, 5))
    assert sentence.startswith("children[0].children[0]")
    assert sentence.endswith(("does not match the schema", "matches no alternative"))


@pytest.mark.spec("F2.1")
def test_of_many_values_that_fit_no_alternative_the_rest_is_counted() -> None:
    schema = {"items": {"anyOf": [{"minimum": limit} for limit in range(1, 11)]}}
    *_, tenth, rest = problem_texts(schema, [0] * 50)
    assert tenth.startswith("[9]: 0 matches no alternative: 0 is below the minimum 1; or")
    assert rest == "and 40 more problems"


@pytest.mark.spec("F2.1")
def test_of_a_union_without_a_type_each_branch_is_told_one_level_deep() -> None:
    branches = [{"properties": {"a": {"$ref": "#"}}, "minProperties": n} for n in range(9)]
    schema = {"type": "object", "anyOf": branches}
    value: object = 1
    for _ in range(10):
        value = {"a": value}
    (sentence,) = problem_texts(schema, value)
    assert sentence == (
        "an object with 1 property matches no alternative: another combination of alternatives; "
        "or another combination of alternatives; or an object with 1 property has fewer than 2 "
        "properties; and 6 more"
    )


def test_of_many_wrong_rows_all_are_counted() -> None:
    schema = {"items": {"properties": {"id": {"type": "integer"}}, "required": ["id"]}}
    rows = [{"id": 1}, {"id": "1"}] * 300
    assert problem_texts(schema, rows)[:1] == ['[1].id: expected an integer, found the string "1"']
    assert problem_texts(schema, rows)[-1] == "and 290 more problems"


def test_pieces_are_found_through_references_and_lists_of_schemas() -> None:
    schema = {
        "$defs": {"row": {"allOf": [{"properties": {"id": {"type": "integer"}, "no": False}}]}},
        "items": {"$ref": "#/$defs/row"},
        "maxItems": 10,
    }
    rows = ({"id": 1}, {"id": "1", "no": 1}) * 400
    assert problem_texts(schema, rows)[:3] == [
        "an array of 800 items has more than 10 items",
        '[1].id: expected an integer, found the string "1"',
        "[1].no: no value is allowed here",
    ]


def test_a_value_that_must_not_fit_a_second_branch_is_told_so() -> None:
    branches = [{"properties": {"type": {"const": "a"}}}, {"properties": {"text": True}}]
    many = {"type": "a", "rest": [{}] * 100}
    schema = {"items": {"oneOf": branches, "properties": {"rest": {"items": {"minProperties": 0}}}}}
    assert problem_texts(schema, [{}, *[many] * 10])[1] == (
        "[1]: an object with 2 properties matches more than one of the alternatives, "
        "but must match exactly one"
    )


@pytest.mark.parametrize("schema", [{"allOf": [True, False]}, {"allOf": [True, {"not": {}}]}])
def test_pieces_that_allow_nothing_are_told(schema: dict[str, Any]) -> None:
    part = {"properties": {"no": False, "rows": {"items": {"type": "integer"}}}}
    rows = {"rows": [1] * 1_500, "no": 1}
    assert len(problem_texts({**part, **schema}, rows)) == 2


def test_pieces_are_found_beside_a_reference_and_in_lists_of_schemas() -> None:
    texts = {"items": {"type": "string"}}
    schema = {
        "$defs": {"texts": texts},
        "$ref": "#/$defs/texts",
        "allOf": [{"items": {"minLength": 1}}],
    }
    assert problem_texts(schema, ["x"] * 1_500 + [1, ""]) == [
        "[1500]: expected a string, found the number 1",
        '[1501]: "" is shorter than 1 character',
    ]


def test_what_stands_beside_a_reference_is_ignored_where_the_draft_says_so() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"texts": {"items": {"type": "string"}}},
        "$ref": "#/definitions/texts",
        "maxItems": 1,
        "items": {"minLength": 5},
    }
    assert problem_texts(schema, ["x"] * 1_500 + [1]) == [
        "[1500]: expected a string, found the number 1"
    ]


def test_a_branch_is_selected_through_its_reference() -> None:
    kinds = {
        name: {"properties": {"type": {"enum": [name]}, "size": {"maximum": 5}}} for name in "ab"
    }
    schema = {
        "$defs": kinds,
        "items": {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in kinds]},
    }
    assert problem_texts(schema, [*[{"type": "a"}] * 400, {"type": "b", "size": 9}]) == [
        "[400].size: 9 is above the maximum 5"
    ]


def test_a_second_mistake_is_explained_like_the_first() -> None:
    validator = compile_validator(blocks())
    assert validator.check(page(5, 5)) == validator.check(page(5, 5))


def test_of_very_many_values_with_many_alternatives_the_first_mistake_is_told() -> None:
    branches = [
        {"properties": {"type": {"const": f"t{n}"}, "a": {"maximum": n}}} for n in range(300)
    ]
    rows = [{"type": f"t{n % 300}", "a": 500} for n in range(2_000)]
    assert problem_texts({"items": {"oneOf": branches}}, rows) == [
        "[0].a: 500 is above the maximum 0"
    ]


@pytest.mark.parametrize(
    "branch",
    [
        {"anyOf": [{"const": 1}], "unevaluatedProperties": False},
        {"not": {"$ref": "#/$defs/excluded"}},
    ],
)
def test_no_sentence_names_a_part_of_the_outline(branch: dict[str, Any]) -> None:
    schema = {"$defs": {"excluded": True, "branch": branch}}
    schema |= {"items": {"anyOf": [{"$ref": "#/$defs/branch"}] * 20}}
    problems = problem_texts(schema, [{"a": 1}] * 60)
    assert problems
    assert "does not match the schema" in problems[0]
    assert not [each for each in problems if "$defs" in each]


def test_errors_that_would_each_copy_a_large_value_are_not_made() -> None:
    schema = {"anyOf": [{"type": "string"}] * 45}
    rows = [[{"a": 1, "type": "x"}] * 10] * 10
    assert problem_texts(schema, [{"a": 1}]) == ["expected a string, found an array of 1 item"]
    assert problem_texts(schema, json.loads(json.dumps(rows))) == [
        "an array of 10 items matches no alternative"
    ]


@pytest.mark.parametrize(
    ("leaf", "reference"),
    [({"$anchor": "leaf", "type": "string"}, "#leaf"), (False, "#/$defs/leaf")],
)
def test_a_schema_that_cannot_be_cut_is_told_as_not_fitting(leaf: object, reference: str) -> None:
    schema = {"$defs": {"leaf": leaf}, "items": {"anyOf": [{"$ref": reference}] * 20}}
    assert problem_texts(schema, ["x"] * 500 + [1]) == ["does not match the schema"]


def test_what_leaves_properties_unevaluated_is_told_as_not_fitting() -> None:
    row = {"anyOf": [{"properties": {"a": True}}], "unevaluatedProperties": False}
    problems = problem_texts({"items": row}, [{"a": 1}] * 500 + [{"b": 1}])
    assert problems == ["[500]: does not match the schema"]
    assert problem_texts({"items": row}, [{"b": 1}]) == ['[0]: unknown property "b"']


def test_a_union_of_too_many_branches_is_told_without_them() -> None:
    branches = [{"minimum": limit, "enum": [*range(limit, limit + 20)]} for limit in range(1, 200)]
    assert problem_texts({"items": {"anyOf": branches}}, [1, 0]) == [
        "[1]: 0 matches no alternative"
    ]


def test_a_schema_of_too_many_parts_is_told_as_not_fitting() -> None:
    schema = {"anyOf": [{"properties": {"a": {"minimum": n}}} for n in range(2_000)]}
    assert problem_texts(schema, {"a": -1}) == ["does not match the schema"]


class Counted:
    """The real validator, and how much it was asked for."""

    def __init__(self, validator: jsonschema_rs.Validator) -> None:
        self.validator = validator
        self.errors = 0
        self.calls = 0

    def is_valid(self, value: object) -> bool:
        self.calls += 1
        return self.validator.is_valid(value)

    def iter_errors(self, value: object) -> Iterator[ValidationError]:
        for error in self.validator.iter_errors(value):
            self.errors += amount(error)
            yield error

    def validate(self, value: object) -> None:
        self.calls += 1
        self.validator.validate(value)


def amount(error: ValidationError) -> int:
    branches: list[list[ValidationError]] = getattr(error.kind, "context", [])
    return 1 + sum(amount(inner) for branch in branches for inner in branch)


@pytest.mark.spec("F2.1")
@given(hostile_schemas, deep_arguments)
def test_explaining_takes_a_bounded_amount_of_work(schema: dict[str, Any], value: object) -> None:
    try:
        costs = costs_of(schema)
        compiled = Counted(jsonschema_rs.Draft202012Validator(schema))
    except (TooCostly, ValidationError):
        return
    outlined: list[Counted] = []

    def build(document: dict[str, Any]) -> Counted:
        outlined.append(Counted(jsonschema_rs.Draft202012Validator(document)))
        return outlined[-1]

    if compiled.validator.is_valid(value):
        return
    explainer = Explainer(cast("Any", compiled), schema, cast("Any", build), costs)
    assert explainer.explain(value)
    used = [compiled, *outlined]
    # A union that is merely checked is two errors, itself and its negation.
    assert sum(each.errors for each in used) <= 2 * MAX_CHECKS
    assert sum(each.calls for each in used) <= MAX_STEPS


@pytest.mark.spec("F2.1")
@pytest.mark.skipif(not FULL, reason="times are asserted in a proof only")
@given(hostile_schemas, deep_arguments)
def test_explaining_takes_at_most_fifty_times_as_long_as_checking_and_10_ms(
    schema: dict[str, Any], value: object
) -> None:
    # As a server sends it: no part of it is another one, too.
    schema, value = json.loads(json.dumps([schema, value]))
    validator = compile_validator(schema)
    # To copy a value of more into one error takes longer than that by itself.
    if validator.warning or more_values_than(value, 5_000) or not validator.check(value):
        return
    plain = jsonschema_rs.Draft202012Validator(schema)
    # The time of this process only: what else runs on the machine is no cost of an explanation.
    check = min(repeat(lambda: plain.is_valid(value), number=1, repeat=5, timer=process_time))
    explain = min(repeat(lambda: validator.check(value), number=1, repeat=5, timer=process_time))
    assert explain <= 50 * check + 0.010


DEEPEST = f"""
from mcpyard.catalog.validators import compile_validator
import sys
keyword, length = sys.argv[1], int(sys.argv[2])
wrap = {{
    "allOf": lambda ref: {{"allOf": [ref]}},
    "anyOf": lambda ref: {{"anyOf": [ref, False]}},
    "oneOf": lambda ref: {{"oneOf": [ref, False]}},
    "not": lambda ref: {{"not": {{"not": ref}}}},
    "then": lambda ref: {{"if": True, "then": ref}},
    "unevaluated": lambda ref: {{"allOf": [ref], "unevaluatedItems": False}},
}}[keyword]
parts = {{f"d{{n}}": wrap({{"$ref": f"#/$defs/d{{n + 1}}"}}) for n in range(length)}}
parts[f"d{{length}}"] = {{"type": "array", "items": {{"$ref": "#/$defs/d0"}}}}
validator = compile_validator({{"$defs": parts, "$ref": "#/$defs/d0"}})
for depth in (5, 20, 60, {MAX_ARGUMENT_DEPTH}, 100_000):
    value = 1
    for _ in range(depth):
        value = [value]
    print(validator.warning or validator.check(value)[0])
"""


@pytest.mark.real
@pytest.mark.spec("F2.1")
@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf", "not", "then", "unevaluated"])
@pytest.mark.parametrize("length", [1, 8, 40])
def test_no_depth_of_arguments_overflows_the_stack(keyword: str, length: int) -> None:
    command = [sys.executable, "-c", DEEPEST, keyword, str(length)]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    assert len(finished.stdout.splitlines()) == 5
