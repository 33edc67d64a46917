"""Schemas and arguments that make an explanation expensive: unions in unions, and themselves."""

from typing import Any

from hypothesis import strategies as st

NAMES = ("d0", "d1", "d2")
MEMBERS = ("a", "b", "type")

_references = st.sampled_from([{"$ref": f"#/$defs/{name}"} for name in NAMES])
_leaves = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer", "minimum": 3},
        {"const": "x"},
        {"enum": ["x", "y"]},
        {"pattern": "^x+$"},
        {"not": {"type": "string"}},
        True,
        False,
    ]
)


def _repeated(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    """Up to fifty branches, few of them different."""
    some = st.lists(inner, min_size=1, max_size=3)
    return st.tuples(some, st.integers(1, 50)).map(
        lambda drawn: [drawn[0][index % len(drawn[0])] for index in range(drawn[1])]
    )


def _members(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(MEMBERS), inner, min_size=1)


def _grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    unions = st.sampled_from(["anyOf", "oneOf", "allOf"])
    objects = st.fixed_dictionaries(
        {"properties": _members(inner)},
        optional={
            "required": st.just(["type"]),
            "additionalProperties": inner,
            "patternProperties": st.dictionaries(st.just("^[ab]$"), inner),
            "unevaluatedProperties": st.just(False),
        },
    )
    arrays = st.fixed_dictionaries(
        {"items": inner}, optional={"contains": inner, "prefixItems": _repeated(inner)}
    )
    conditions = st.fixed_dictionaries({"if": inner, "then": inner, "else": inner})
    return st.builds(lambda key, parts: {key: parts}, unions, _repeated(inner)) | (
        objects | arrays | conditions
    )


_parts = st.recursive(_references | _leaves, _grown, max_leaves=8)

hostile_schemas = st.builds(
    lambda parts, start: {"$defs": dict(zip(NAMES, parts, strict=True)), **start},
    st.lists(_parts, min_size=len(NAMES), max_size=len(NAMES)),
    _references,
)


def _nested(drawn: tuple[Any, list[str], int]) -> Any:  # noqa: ANN401  any JSON
    value, steps, width = drawn
    for step in steps:
        value = [value] * width if step == "[]" else {step: value, "type": "x"}
    return value


deep_arguments = st.tuples(
    st.sampled_from([1, 5, "x", "z", None, {}, []]),
    st.lists(st.sampled_from(["a", "b", "[]"]), max_size=10),
    st.integers(1, 3),
).map(_nested)
