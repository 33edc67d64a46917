"""Reading JSON and JSONC: values, places, and sentences about what is wrong."""

import json

import pytest

from mcpyard.domain.errors import DocumentBroken, SourceLocation
from mcpyard.formats.editors.jsonc import Extra, parse
from mcpyard.formats.editors.jsonc_scan import read

SETTINGS = """{
  // the servers
  "mcpServers": {
    "files": { "command": "npx", "args": ["-y", "pkg"] }, /* mine */
  }
}
"""


def fault(text: str, *, comments: bool = True) -> tuple[int, int, str]:
    with pytest.raises(DocumentBroken) as caught:
        parse(text, file="a.json") if comments else read(text, file="a.json", comments=False)
    (problem,) = caught.value.problems
    assert problem.place is not None
    assert problem.place.file == "a.json"
    return problem.place.line, problem.place.column, problem.message


def test_the_value_of_strict_json_is_that_of_the_decoder() -> None:
    text = '\n {"a": [1, 1.0, -0, 1e2, true, null, "\\u00e9\\ud800"], "b": {}} \n'
    document = parse(text)
    assert document.value == json.loads(text)
    assert document.strict
    assert document.extras == ()
    assert document.text == text


def test_comments_and_trailing_commas_are_read_over_and_told() -> None:
    document = parse(SETTINGS, file="s.json")
    assert document.value == {"mcpServers": {"files": {"command": "npx", "args": ["-y", "pkg"]}}}
    assert not document.strict
    assert document.extras == (
        Extra("comment", SourceLocation("s.json", 2, 3)),
        Extra("trailing comma", SourceLocation("s.json", 4, 57)),
        Extra("comment", SourceLocation("s.json", 4, 59)),
    )


def test_what_looks_like_a_comment_in_a_string_is_data() -> None:
    document = parse('{"url": "https://x/*", "b": "*/ // \\" ,]"}')
    assert document.strict
    assert parse('[/**/"// \\\\", /* */ "/*"]').value == ["// \\", "/*"]


def test_a_place_is_where_the_value_or_its_name_starts() -> None:
    document = parse(SETTINGS, file="s.json")
    assert document.place(()) == SourceLocation("s.json", 1, 1)
    assert document.place(("mcpServers", "files")) == SourceLocation("s.json", 4, 14)
    assert document.key_place(("mcpServers", "files")) == SourceLocation("s.json", 4, 5)
    assert document.place(("mcpServers", "files", "args", 1)) == SourceLocation("s.json", 4, 49)
    assert document.key_place(("mcpServers",)) == SourceLocation("s.json", 3, 3)


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end_counts_as_one_line(newline: str) -> None:
    document = parse(newline.join(["{", '"a":', " 1", "}"]))
    assert document.place(("a",)) == SourceLocation("", 3, 2)


def test_a_bom_takes_no_column_and_other_line_separators_are_data() -> None:
    document = parse('\ufeff{"a": "\u2028\u2029", "b": 1}')
    assert document.value == {"a": "\u2028\u2029", "b": 1}
    assert document.key_place(("a",)) == SourceLocation("", 1, 2)
    assert document.key_place(("b",)) == SourceLocation("", 1, 13)


@pytest.mark.parametrize("path", [("x",), ("a", 2), ("a", -1), ("a", "b"), (0,), ("a", 0, 0)])
def test_a_path_that_leads_nowhere_is_told(path: tuple[str | int, ...]) -> None:
    document = parse('{"a": [1, 2]}')
    assert not document.has(path)
    with pytest.raises(LookupError):
        document.place(path)


def test_the_root_exists_and_has_no_name() -> None:
    document = parse("[1]")
    assert document.has(())
    assert document.has((0,))
    assert document.key_place((0,)) == document.place((0,))
    with pytest.raises(LookupError):
        document.key_place(())


def test_of_duplicate_names_the_last_one_counts() -> None:
    document = parse('{"a": 1, "b": 2, "a": 3}')
    assert document.value == {"a": 3, "b": 2}
    assert document.place(("a",)) == SourceLocation("", 1, 23)


def test_a_name_may_be_spelt_with_escapes() -> None:
    assert parse('{"\\u0061": {"b": 1}}').place(("a", "b")) == SourceLocation("", 1, 18)


def test_a_huge_number_is_read_and_an_endless_one_is_told() -> None:
    assert parse("9" * 4000).value == int("9" * 4000)
    assert fault("9" * 5000) == (1, 1, "the number has too many digits")
    assert parse("1." + "9" * 5000).value == 2.0


@pytest.mark.parametrize("text", ["[" * 10_000, "[" * 10_000 + "]" * 10_000, '{"a":' * 10_000])
def test_a_bottomless_text_is_broken_and_no_crash(text: str) -> None:
    assert "nested too deeply" in fault(text)[2]


def test_a_hundred_levels_are_fine_and_one_more_is_not() -> None:
    assert parse("[" * 100 + "]" * 100).has((0,) * 99)
    assert fault("[" * 101 + "]" * 101) == (1, 101, "nested too deeply: more than 100 levels")


@pytest.mark.parametrize(
    ("text", "line", "column", "sentence"),
    [
        ("", 1, 1, "the file is empty"),
        ("\ufeff \n// nothing\n", 1, 1, "the file is empty"),
        ('{"a": 1', 1, 8, 'expected a comma or } after the member "a", but the file ends'),
        (
            '{\n  "args": [],\n  "b": 2\n  "c": 3\n}',
            4,
            3,
            'expected a comma or } after the member "b", but found "',
        ),
        ("[1, 2 3]", 1, 7, "expected a comma or ] after element 2, but found 3"),
        ("[1}", 1, 3, "expected a comma or ] after element 1, but found }"),
        ('{"a" 1}', 1, 6, 'expected a colon after the name "a", but found 1'),
        ('{"a', 1, 2, "the string never ends"),
        ('{"a": "b\n"}', 1, 7, "the string never ends"),
        ('["a\\', 1, 2, "the string never ends"),
        ('["a\\\n"]', 1, 2, "the string never ends"),
        ('["a\tb"]', 1, 4, "the control character U+0009 must be escaped in a string"),
        ('["a\\x"]', 1, 4, "\\x is not an escape that JSON knows"),
        ('["\\u12g4"]', 1, 3, "\\u is not an escape that JSON knows"),
        ("{a: 1}", 1, 2, "expected a name in double quotes after the opening bracket, but found a"),
        ("{,}", 1, 2, "expected a name in double quotes after the opening bracket, but found ,"),
        ('{"a": 1,, }', 1, 9, "expected a name in double quotes after the comma, but found ,"),
        ("[,]", 1, 2, "expected a value after the opening bracket, but found ,"),
        ("[/* */ ,]", 1, 8, "expected a value after the opening bracket, but found ,"),
        (",]", 1, 1, "expected a value at the start of the file, but found ,"),
        ("[1,,]", 1, 4, "expected a value after the comma, but found ,"),
        ("[1,", 1, 4, "expected a value after the comma, but the file ends"),
        ('{"a":}', 1, 6, 'expected a value for the member "a", but found }'),
        ('{"a":,}', 1, 6, 'expected a value for the member "a", but found ,'),
        ("['a']", 1, 2, "a string must stand in double quotes"),
        ("[NaN]", 1, 2, "NaN is not a number that JSON knows"),
        ("-Infinity", 1, 1, "-Infinity is not a number that JSON knows"),
        ("[01]", 1, 2, "01 is not a JSON value"),
        ("[True]", 1, 2, "True is not a JSON value"),
        ("[1\u00a0]", 1, 3, "expected a comma or ] after element 1, but found U+00A0"),
        ("[1] 2", 1, 5, "expected the end of the file, but found 2"),
        ("[1] /* x", 1, 5, "the comment never ends"),
        ("[1 / 2]", 1, 4, "expected a comma or ] after element 1, but found /"),
        ("x" * 50, 1, 1, "x" * 40 + "... is not a JSON value"),
        ("\r\n\r\n  }", 3, 3, "expected a value at the start of the file, but found }"),
    ],
)
def test_a_broken_text_is_told_in_a_sentence(
    text: str, line: int, column: int, sentence: str
) -> None:
    assert fault(text) == (line, column, sentence)


def test_where_comments_are_not_allowed_they_are_told() -> None:
    sentence = "comments are not allowed in this file"
    assert fault("[1] // x", comments=False) == (1, 5, sentence)
    assert fault("[1,\n /* x */ 2]", comments=False) == (2, 2, sentence)
    sentence = "a comma before ] is not allowed in this file"
    assert fault("[1\n,\n]", comments=False) == (2, 1, sentence)
    assert read("[1]", comments=False).root.value == [1]


def test_the_whole_error_reads_as_a_line_of_a_compiler() -> None:
    with pytest.raises(DocumentBroken, match=r"^a\.json:1:2: NaN is not a number that JSON knows$"):
        parse("[NaN]", file="a.json")
