"""Putting tables and setting values: what is new, what keeps its form, what stays as it is."""

import datetime as dt
import tomllib
from typing import Any, cast

import pytest

from mcpyard.domain.errors import EditRefused
from mcpyard.formats.editors.toml import Names, parse, put_table, remove_table, set_value

X = ("mcp_servers", "x")
SERVER = {"command": "npx", "env": {"KEY": "v"}, "args": ["-y", "pkg"], "enabled": True}
WRITTEN = """[mcp_servers.x]
command = "npx"
args = ["-y", "pkg"]
enabled = true

[mcp_servers.x.env]
KEY = "v"
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", WRITTEN),
        ("\n\n", WRITTEN + "\n\n"),
        ("\ufeff", "\ufeff" + WRITTEN),
        ("# only a comment", "# only a comment\n\n" + WRITTEN.rstrip("\n")),
        ('model = "o"\n', 'model = "o"\n\n' + WRITTEN),
        ('model = "o"\n\n\n', 'model = "o"\n\n' + WRITTEN + "\n\n"),
        ("[a]\nb = 1\n# tail\n", "[a]\nb = 1\n# tail\n\n" + WRITTEN),
        (
            "[mcp_servers.a]\nb = 1\n# tail\n\n# about c\n[c]\n",
            f"[mcp_servers.a]\nb = 1\n# tail\n\n{WRITTEN}\n# about c\n[c]\n",
        ),
        (
            "[mcp_servers.a.env]\n[c]\n[mcp_servers.a]\n[c.d]\n",
            f"[mcp_servers.a.env]\n[c]\n[mcp_servers.a]\n\n{WRITTEN}[c.d]\n",
        ),
        ("mcp_servers.a.b = 1\n\n[c]\n", f"mcp_servers.a.b = 1\n\n[c]\n\n{WRITTEN}"),
        (
            "[mcp_servers]\na = {b = 1}\n\n[c]\n",
            f"[mcp_servers]\na = {{b = 1}}\n\n{WRITTEN}\n[c]\n",
        ),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_new_table_follows_the_last_one_of_its_parent(
    before: str, after: str, newline: str
) -> None:
    if newline != "\n" and "\n" not in before:
        return
    before, after = before.replace("\n", newline), after.replace("\n", newline)
    assert put_table(before, X, SERVER) == after
    assert remove_table(after, X) == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("mcp_servers = {}", "mcp_servers = {x = {c = 1, e = {K = 2}}}"),
        ("mcp_servers = { }", "mcp_servers = { x = {c = 1, e = {K = 2}} }"),
        (
            "mcp_servers = { a.b = 1 } # c",
            "mcp_servers = { a.b = 1, x = {c = 1, e = {K = 2}} } # c",
        ),
    ],
)
def test_a_new_table_in_braces_is_written_in_braces(before: str, after: str) -> None:
    assert put_table(before, X, {"c": 1, "e": {"K": 2}}) == after
    assert remove_table(after, X) == before


def test_only_what_differs_in_a_table_is_touched() -> None:
    before = """# about x
[mcp_servers.x] # here
# the program
command =   'npx'   # as ever
args = [ "-y",  "pkg"]

timeout = 1_000 # ms
# tail

# secrets
[mcp_servers.x.env]
KEY = "v" # mine
OLD = "o"

[other]
"""
    after = """# about x
[mcp_servers.x] # here
# the program
command =   'npx'   # as ever
args = [ "-y",  "pkg@2"]

timeout = 1_000 # ms
enabled = false
# tail

# secrets
[mcp_servers.x.env]
KEY = "w" # mine
NEW = "n"

[mcp_servers.x.tools.find]
mode = "ask"

[other]
"""
    value = {
        "command": "npx",
        "args": ["-y", "pkg@2"],
        "timeout": 1000,
        "enabled": False,
        "env": {"KEY": "w", "NEW": "n"},
        "tools": {"find": {"mode": "ask"}},
    }
    assert put_table(before, X, value) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            'mcp_servers . x.c = 1 # c\n  mcp_servers.x.env.K = "v"\nz = 1\n',
            (
                'mcp_servers . x.c = 2 # c\n  mcp_servers.x.env.K = "v"\n'
                '  mcp_servers.x.n = [1]\n  mcp_servers.x.t.u = "w"\nz = 1\n'
            ),
        ),
        (
            '[mcp_servers]\nx.c = 1\nx.env = { K = "v" }\n',
            '[mcp_servers]\nx.c = 2\nx.env = { K = "v" }\nx.n = [1]\nx.t.u = "w"\n',
        ),
        (
            '[mcp_servers]\nx = { c = 1, env.K = "v" }\n',
            '[mcp_servers]\nx = { c = 2, env.K = "v", n = [1], t = {u = "w"} }\n',
        ),
        (
            '[mcp_servers]\nx.c = 1\n[mcp_servers.x.env]\nK = "v"\n[z]\n',
            (
                '[mcp_servers]\nx.c = 2\nx.n = [1]\n[mcp_servers.x.env]\nK = "v"\n\n'
                '[mcp_servers.x.t]\nu = "w"\n[z]\n'
            ),
        ),
    ],
)
def test_a_table_keeps_its_form(before: str, after: str) -> None:
    value = {"c": 2, "env": {"K": "v"}, "n": [1], "t": {"u": "w"}}
    assert put_table(before, X, value) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[a.x.e]\nk = 1\n", "[a.x]\nn = 1\n\n[a.x.e]\nk = 1\n"),
        ("b = 1\n\n# e\n[a.x.e]\nk = 1\n", "b = 1\n\n[a.x]\nn = 1\n\n# e\n[a.x.e]\nk = 1\n"),
    ],
)
def test_a_table_that_only_its_sub_tables_imply_gets_a_header_for_a_key(
    before: str, after: str
) -> None:
    assert set_value(before, ("a", "x", "n"), 1) == after


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("[a.x]\nk = 1\n", {}, "[a.x]\n"),
        ("[a.x.e]\nk = 1\n", {}, "[a.x]\n"),
        ("a.x.k = 1\nb = 1\n", {}, "b = 1\n\n[a.x]\n"),
        ("a = {x.k = 1, b = 2}\n", {}, "a = {b = 2, x = {}}\n"),
        ("a = { x = { k = 1 } }\n", {}, "a = { x = { } }\n"),
        ("[a.x]\nk = 1\n# n\n\nl = 2\n", {"k": 1}, "[a.x]\nk = 1\n# n\n"),
        ("[a.x.k]\nl = 1\n", {"k": 1}, "[a.x]\nk = 1\n"),
        ("[[a.x.k]]\nl = 1\n[b]\n", {"k": [1]}, "[b]\n\n[a.x]\nk = [1]\n"),
        ("[a.x]\nk = 1\n", {"k": {"l": 1}}, "[a.x]\nk = {l = 1}\n"),
    ],
)
def test_a_table_may_lose_keys_and_change_their_kinds(
    before: str, value: dict[str, Any], after: str
) -> None:
    assert put_table(before, ("a", "x"), value) == after


ARRAY = """a = [
  "one", # first
  # about two
  "two",
  "three" # last
]
"""


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        (ARRAY, ["one", "2", "three"], ARRAY.replace('"two"', '"2"')),
        (ARRAY, ["one", "two"], ARRAY.replace(',\n  "three" # last\n', "\n")),
        (ARRAY, ["two", "three"], ARRAY.replace('  "one", # first\n', "")),
        (
            ARRAY,
            ["one", "two", "three", "four"],
            ARRAY.replace('"three" # last', '"three", # last\n  "four"'),
        ),
        (ARRAY, ["0", "one", "two", "three"], ARRAY.replace('"one"', '"0",\n  "one"')),
        (ARRAY, ["one", "1", "two", "three"], ARRAY.replace("first", 'first\n  "1",')),
        (ARRAY, [], "a = [\n  # about two\n]\n"),
        (ARRAY, "x", 'a = "x"\n'),
        ("a = []\n", ["x"], 'a = ["x"]\n'),
        ("a = [ 1,2, 3 ]\n", [1, 2], "a = [ 1,2 ]\n"),
        ("a = [ 1,2, 3 ]\n", [1, 3], "a = [ 1,3 ]\n"),
        ("a = [ 1,2, 3, ]\n", [1, 2, 3, 4], "a = [ 1,2, 3, 4, ]\n"),
        ("a = [1, 2, # two\n 3]\n", [1, 3], "a = [1,  # two\n 3]\n"),
        ("a = [1, 2]\n", [0, 1, 2], "a = [0, 1, 2]\n"),
        ("a = [1, 2]\n", [5], "a = [5]\n"),
        ("a = [\n 1 ]\n", [1, 2], "a = [\n 1,\n 2 ]\n"),
        ("a = [\n 1\n , 2 ]\n", [1, 3, 2], "a = [\n 1, 3\n , 2 ]\n"),
        ("a = [\r\n 1\r\n]\r\n", [1, 2], "a = [\r\n 1,\r\n 2\r\n]\r\n"),
        ("a = [[1, 2 ], {b=1}]\n", [[1, 3], {"b": 1}], "a = [[1, 3 ], {b=1}]\n"),
    ],
)
def test_an_array_keeps_the_elements_and_comments_that_stay(
    before: str, value: object, after: str
) -> None:
    assert set_value(before, ("a",), value) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "n = 1\n"),
        ("# note\n", "# note\n\nn = 1\n"),
        ("# note\n\n# a\n[a]\n", "# note\n\nn = 1\n\n# a\n[a]\n"),
        ("# a\n[a]\n", "n = 1\n\n# a\n[a]\n"),
        ("b = 2 # b\n# tail\n\n[a]\n", "b = 2 # b\nn = 1\n# tail\n\n[a]\n"),
    ],
)
def test_a_new_key_at_the_top_stands_before_the_first_header(before: str, after: str) -> None:
    assert set_value(before, ("n",), 1) == after


def test_a_key_of_no_table_brings_its_tables() -> None:
    assert set_value("a = 1\n", ("b", "c d", "e"), 1) == 'a = 1\n\n[b."c d"]\ne = 1\n'


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ('q"\\\b\t\n\f\r\x00\x7f é\u2028', '"q\\"\\\\\\b\\t\\n\\f\\r\\u0000\\u007F é\u2028"'),
        (True, "true"),
        (-5, "-5"),
        (1.0, "1.0"),
        (1e300, "1e+300"),
        (float("inf"), "inf"),
        (dt.datetime(2020, 1, 2, 3, 4, 5, tzinfo=dt.UTC), "2020-01-02T03:04:05Z"),
        (dt.date(2020, 1, 2), "2020-01-02"),
        (dt.time(3, 4, 5), "03:04:05"),
        (("a", [1], {"b c": {}}), '["a", [1], {"b c" = {}}]'),
    ],
)
def test_values_are_written_plainly(value: object, written: str) -> None:
    text = set_value("", ("k",), value)
    assert text == f"k = {written}\n"
    assert set_value(set_value(text, ("k",), 0), ("k",), value) == text


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "k: TOML has no null"),
        (2**63, "k: the number does not fit into 64 bits"),
        ("\ud800", "k: the string cannot be written as UTF-8"),
        (b"x", "k: b'x' is not a TOML value"),
        ({1: 2}, "k: the name 1 is not a string"),
        ({"\ud800": 2}, "k: the name '\\ud800' cannot be written as UTF-8"),
        (dt.time(1, tzinfo=dt.UTC), "k: TOML has no such time zone"),
        (
            dt.datetime(2020, 1, 1, tzinfo=dt.timezone(dt.timedelta(seconds=5))),
            "k: TOML has no such time zone",
        ),
    ],
)
def test_what_toml_has_not_is_refused(value: object, message: str) -> None:
    with pytest.raises(EditRefused) as caught:
        set_value("", ("k",), value)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ((), "an edit needs the path of a key"),
        (("a", cast("str", 1)), "a path is made of names, but the name 1 is not a string"),
        (("a",) * 101, "a: the path is longer than 100 steps"),
    ],
)
def test_a_path_that_is_none_is_refused(path: Names, message: str) -> None:
    with pytest.raises(EditRefused) as caught:
        put_table("", path, {})
    assert str(caught.value) == message


def test_a_value_nested_too_deeply_is_refused() -> None:
    value: list[Any] = []
    for _ in range(100):
        value = [value]
    with pytest.raises(EditRefused, match="nested more than 100 levels"):
        set_value("", ("k",), value)


def test_a_value_is_not_overwritten_by_a_table() -> None:
    with pytest.raises(EditRefused, match=":1:5: a: is not a table"):
        put_table("a = 1", ("a",), {})


def test_moments_of_different_offsets_are_different_values() -> None:
    text = "k = 2020-01-02T03:00:00Z\n"
    moment = dt.datetime(2020, 1, 2, 4, tzinfo=dt.timezone(dt.timedelta(hours=1)))
    assert parse(text).value == {"k": moment}
    assert set_value(text, ("k",), moment) == "k = 2020-01-02T04:00:00+01:00\n"


@pytest.mark.parametrize(("old", "new"), [("1", 1.0), ("1", True), ("0.0", -0.0)])
def test_a_change_of_type_or_sign_is_a_change(old: str, new: object) -> None:
    after = set_value(f"k = {old}", ("k",), new)
    assert repr(tomllib.loads(after)["k"]) == repr(new)


@pytest.mark.parametrize("text", [WRITTEN, WRITTEN.replace("\n", "\r\n"), "\ufeff" + WRITTEN])
def test_what_is_equal_changes_nothing(text: str) -> None:
    assert put_table(text, X, dict(reversed(SERVER.items()))) == text
    assert set_value(text, (*X, "enabled"), True) == text


def test_an_element_between_changed_ones_keeps_its_spelling() -> None:
    assert set_value("a = [1, 0x2, 3]", ("a",), [0, 2, 4]) == "a = [0, 0x2, 4]"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("t = {\n}", "t = {\n  x = {c = 1}\n}"),
        ("t = {a = 1,}", "t = {a = 1, x = {c = 1},}"),
        ("t = {\n  # note\n  }", "t = {\n  # note\n    x = {c = 1}\n  }"),
        ("t = {\n  a = 1 # one\n}", "t = {\n  a = 1, # one\n  x = {c = 1}\n}"),
        ("t = {\n  a = 1, # one\n}", "t = {\n  a = 1, # one\n  x = {c = 1},\n}"),
        ("t = {\n  a = 1 , }", "t = {\n  a = 1, x = {c = 1} , }"),
        ("t = {a = 1\n , b = 2}", "t = {a = 1\n , b = 2, x = {c = 1}}"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_braces_of_many_lines_get_one_more(before: str, after: str, newline: str) -> None:
    before, after = before.replace("\n", newline), after.replace("\n", newline)
    assert put_table(before, ("t", "x"), {"c": 1}) == after
    assert remove_table(after, ("t", "x")) == before


def test_a_new_value_never_needs_toml_1_1() -> None:
    written = set_value("", ("k",), {"e": "\x1b", "t": dt.time(7, 32), "a": [{"b": 1}]})
    assert tomllib.loads(written)["k"] == {"e": "\x1b", "t": dt.time(7, 32), "a": [{"b": 1}]}


@pytest.mark.parametrize(
    ("written", "new", "after"),
    [
        ('[\n  # about\n  "a", # tail\n]', [], "[\n  # about\n]"),
        ('[ "a" ]', [], "[]"),
        ("[\n  # none yet\n]", ["a", "b"], '[\n  # none yet\n  "a",\n  "b"\n]'),
        ("[1 # one\n, 2]", [1], "[1 # one\n ]"),
        ("[1, # one\n 2]", [1], "[1 # one\n ]"),
        ("[1, # one\n 2]", [2], "[ # one\n 2]"),
        ("[\n  1 # one\n  # own\n  , # comma\n  2\n]", [2], "[\n  # own\n   # comma\n  2\n]"),
        ("[\n  1,\n  2\n]", [1], "[\n  1\n]"),
        (
            "[{ a = 1, # one\n  b = 2 }]",
            [{"a": 3, "c": 4}],
            "[{ a = 3, # one\n  c = 4 }]",
        ),
        ("[{ a.b = 1 }]", [{"a": {"b": 2}}], "[{a = {b = 2}}]"),
        ("[{ a = 1 }]", [{}], "[{ }]"),
    ],
)
def test_comments_in_a_value_stay_when_parts_of_it_go(
    written: str, new: list[object], after: str
) -> None:
    assert set_value(f"k = {written}\n", ("k",), new) == f"k = {after}\n"
