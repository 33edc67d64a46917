"""Arguments that could take long to check are left to the server."""

import pytest

from mcpyard.catalog.validators import compile_validator


def is_refused(schema: object, arguments: object) -> bool:
    validator = compile_validator(schema)
    assert validator.warning is None
    return validator.check(arguments) != ()


@pytest.mark.spec("F2.1")
def test_very_many_values_are_left_to_the_server_where_a_schema_multiplies() -> None:
    parts = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(10)}
    schema = {"$defs": {**parts, "d10": {"type": "string"}}, "items": {"$ref": "#/$defs/d0"}}
    assert is_refused(schema, ["x"] * 1_000 + [1])
    assert not is_refused(schema, ["x"] * 2_000 + [1])


@pytest.mark.spec("F2.1")
def test_very_many_values_are_left_to_the_server_where_each_takes_many_checks() -> None:
    choices = {"oneOf": [{"const": number} for number in range(300)]}
    schema = {"properties": {"a": {"items": choices}, "b": {"additionalProperties": choices}}}
    many = {str(number): 1 for number in range(10_000)}
    assert is_refused(schema, {"a": [1] * 2_000 + ["x"]})
    assert not is_refused(schema, {"a": [1] * 10_000 + ["x"]})
    assert not is_refused(schema, {"b": {**many, "last": "x"}})
    assert not is_refused({"additionalProperties": choices}, {**many, "last": "x"})


@pytest.mark.spec("F2.1")
@pytest.mark.parametrize("slow", [0.5, 10**30])
def test_values_are_left_to_the_server_where_very_many_numbers_would_be_compared(
    slow: float,
) -> None:
    named = {"items": {"enum": [slow + number for number in range(1_000)]}}
    assert is_refused(named, [slow, "x"])
    assert not is_refused(named, [slow] * 100 + ["x"])
    schema = {"items": {"anyOf": [{"enum": [*range(1_000)]}, {"type": "number"}]}}
    assert is_refused(schema, [1] * 1_000 + ["x"])
    assert is_refused(schema, [slow] * 100 + ["x"])
    assert not is_refused(schema, [slow] * 1_000 + ["x"])


@pytest.mark.parametrize("bound", ["minimum", "exclusiveMaximum", "multipleOf"])
def test_fractions_as_bounds_are_checked_of_thousands_of_values(bound: str) -> None:
    rows = {"items": {"properties": {"a": {bound: 2.5}, "b": {"const": {"c": [1, None]}}}}}
    assert is_refused(rows, [{}] * 10_000 + [{"a": 2.4 if bound != "exclusiveMaximum" else 2.6}])
    assert is_refused(rows, [{}] * 10_000 + [{"b": {"c": [2, None]}}])
