"""The headers of the modern era, with the official SDK's own functions as the oracle."""

import base64
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.shared import inbound

from mcpyard.wire.remote.request_headers import header_value, headers_for, mirrored, routing_headers

NAMES = st.sampled_from(["a", "b", "properties", "items"])
LEAVES = st.fixed_dictionaries(
    {"type": st.sampled_from(["string", "integer", "boolean", "number", ["string"], None])},
    optional={"x-mcp-header": st.sampled_from(["A", "a", "B-2", "", "bad name", 5, None])},
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.builds(
        lambda leaf, properties, other: {**leaf, "properties": properties, **other},
        LEAVES,
        st.dictionaries(NAMES, inner, max_size=3),
        st.dictionaries(st.sampled_from(["items", "not", "default", "const"]), inner, max_size=1),
    ),
    max_leaves=8,
)
VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.text(), st.lists(st.none()))
ARGUMENTS = st.recursive(
    st.dictionaries(NAMES, VALUES),
    lambda inner: st.dictionaries(NAMES, st.one_of(VALUES, inner)),
    max_leaves=6,
)


@pytest.mark.real
@given(st.one_of(st.text(), st.sampled_from(["", " a", "a ", "=?base64?eA==?=", "a\tb", "a b"])))
def test_values_are_written_as_the_sdk_writes_them(text: str) -> None:
    assert header_value(text) == inbound.encode_header_value(text)
    assert inbound.decode_header_value(header_value(text)) == text


@pytest.mark.real
@given(SCHEMAS, ARGUMENTS)
def test_schemas_are_judged_and_followed_as_by_the_sdk(
    schema: dict[str, Any], arguments: dict[str, Any]
) -> None:
    if inbound.find_invalid_x_mcp_header(schema) is not None:
        with pytest.raises(ValueError, match="header"):
            mirrored(schema)
        return
    expected = inbound.mcp_param_headers(inbound.x_mcp_header_map(schema), arguments)
    assert headers_for(mirrored(schema), arguments) == expected


def test_the_name_is_there_only_for_methods_that_have_one() -> None:
    assert dict(routing_headers("2026-07-28", "tools/list", None)) == {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/list",
    }
    wrapped = base64.b64encode("名".encode()).decode()
    assert routing_headers("v", "tools/call", "名")["Mcp-Name"] == f"=?base64?{wrapped}?="


def test_a_schema_nested_without_end_is_walked() -> None:
    schema: dict[str, Any] = {"type": "string", "x-mcp-header": "Deep"}
    for _ in range(5000):
        schema = {"type": "object", "properties": {"x": schema}}
    assert list(mirrored(schema).values()) == ["Mcp-Param-Deep"]


MARKED = {"type": "string", "x-mcp-header": "Region"}


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (MARKED, "not an argument"),
        ({"properties": {"a": {"items": MARKED}}}, "not an argument"),
        (
            {"properties": {"a": {"type": "string", "x-mcp-header": "a b"}}},
            "a: .* not a valid header name",
        ),
        ({"properties": {"a": {"type": "number", "x-mcp-header": "A"}}}, "only a string"),
        ({"properties": {"a": MARKED, "b": {**MARKED, "x-mcp-header": "region"}}}, "used twice"),
    ],
)
def test_a_mark_that_is_forbidden_is_told(schema: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mirrored(schema)


def test_only_plain_values_that_are_there_are_repeated() -> None:
    nested = {"properties": {"deep": {"type": "boolean", "x-mcp-header": "Deep"}}}
    schema = {"properties": {"where": MARKED, "in": nested}}
    assert headers_for(mirrored(schema), {"where": ["x"], "in": {"deep": False}}) == {
        "Mcp-Param-Deep": "false"
    }
    assert headers_for(mirrored(schema), {"in": 5}) == {}
