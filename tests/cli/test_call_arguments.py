"""Arguments of a tool as KEY=VALUE words: typed by the schema, refused by name."""

import pytest

from mcpyard.cli.call_arguments import read_pairs, typed_arguments
from mcpyard.cli.cli_errors import CliError
from mcpyard.cli.commands.call import read_call

SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "share": {"type": "number"},
        "exact": {"type": "boolean"},
        "ids": {"type": "array"},
        "filter": {"type": "object"},
        "limit": {"type": ["integer", "null"]},
        "when": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "unit": {"$ref": "#/$defs/unit"},
        "level": {"enum": [1, 2]},
        "free": {},
        "loop": {"$ref": "#/properties/loop"},
        "mixed": {"anyOf": [{"type": "integer"}, {}]},
        "far": {"$ref": "https://example.invalid/schema"},
    },
    "$defs": {"unit": {"const": "metre"}},
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("city=Oslo", "Oslo"),
        ("city=5", "5"),
        ('city="5"', '"5"'),
        ("city=", ""),
        ("city=a=b", "a=b"),
        ("days=3", 3),
        ("days=3.0", 3.0),
        ("share=2", 2),
        ("share=0.5", 0.5),
        ("exact=true", True),
        ('ids=[1, "b"]', [1, "b"]),
        ('filter={"a": null}', {"a": None}),
        ("limit=null", None),
        ("when=now", "now"),
        ("when=5", 5),
        ('when="5"', "5"),
        ("unit=metre", "metre"),
        ("level=2", 2),
        ("free=5", 5),
        ("free=text", "text"),
        ("free=NaN", "NaN"),
        ("loop=5", 5),
        ("mixed=text", "text"),
        ("far=[1]", [1]),
    ],
)
def test_a_value_is_read_as_the_schema_wants_it(word: str, value: object) -> None:
    (argument,) = typed_arguments(read_pairs([word]), SCHEMA).values()
    assert argument == value
    assert type(argument) is type(value)


@pytest.mark.parametrize(
    ("word", "detail"),
    [
        ("days=soon", 'days: must be an integer, not "soon"'),
        ("days=1.5", 'days: must be an integer, not "1.5"'),
        ("days=true", 'days: must be an integer, not "true"'),
        ("exact=yes", 'exact: must be true or false, not "yes"'),
        ("ids=a,b", 'ids: must be a JSON array, not "a,b"'),
        ("limit=no", 'limit: must be an integer or null, not "no"'),
        ("town=Oslo", "town: the tool has no such argument"),
        ("free=" + "[" * 100_000, "free: is nested too deeply"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_by_its_key(word: str, detail: str) -> None:
    with pytest.raises(CliError) as refused:
        typed_arguments(read_pairs([word]), SCHEMA)
    assert str(refused.value) == detail
    assert refused.value.exit_code == 2
    assert refused.value.problem["hint"]


@pytest.mark.parametrize(
    ("words", "detail"),
    [
        (["city"], '"city" is not KEY=VALUE'),
        (["=5"], '"=5" is not KEY=VALUE'),
        (["a=1", "a=2"], "a: appears twice"),
    ],
)
def test_a_word_that_is_no_pair_is_refused(words: list[str], detail: str) -> None:
    with pytest.raises(CliError) as refused:
        read_pairs(words)
    assert str(refused.value) == detail


@pytest.mark.parametrize("schema", [None, True, {}, {"properties": []}])
def test_without_a_schema_a_value_is_json_or_text(schema: object) -> None:
    assert typed_arguments({"a": "1", "b": "x"}, schema) == {"a": 1, "b": "x"}


def test_a_tool_without_arguments_says_so() -> None:
    with pytest.raises(CliError) as refused:
        typed_arguments({"a": "1"}, {"additionalProperties": False})
    assert refused.value.problem["hint"] == "it takes no arguments"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["mcp_one_echo"], (None, "mcp_one_echo", {})),
        (["mcp_one_echo", "a=1"], (None, "mcp_one_echo", {"a": "1"})),
        (["one", "echo"], ("one", "echo", {})),
        (["one", "echo", "a=1", "b=2"], ("one", "echo", {"a": "1", "b": "2"})),
    ],
)
def test_a_call_names_a_server_and_its_tool_or_an_exposed_name(
    words: list[str], expected: object
) -> None:
    call = read_call(words, "{}", None)
    assert (call.server, call.tool, call.pairs) == expected


def test_pairs_take_precedence_over_the_json_object() -> None:
    call = read_call(["one", "echo", "a=1"], '{"a": 5, "b": 6}', None)
    assert call.arguments_for({}) == {"a": 1, "b": 6}
