"""What holds for every text: generated TOML with comments, blank lines and line ends anywhere."""

import copy
import datetime as dt
import re
from collections.abc import Iterator
from typing import Any, TypeAlias

import pytest
import tomli
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpyard.domain.errors import DocumentBroken
from mcpyard.formats.editors.jsonc_scan import BOM, Path
from mcpyard.formats.editors.toml import (
    Names,
    parse,
    put_table,
    remove_table,
    rename_table,
    set_value,
)
from mcpyard.formats.editors.toml_edit import _last_dotted, covering, remove, stands_empty
from mcpyard.formats.editors.toml_scan import Statement, scan
from mcpyard.formats.editors.toml_style import inline, key
from mcpyard.formats.editors.toml_values import same

Value: TypeAlias = Any

NEW = "a new one"
NAMES = ("a", "b", "c-1", "d e", "é", 'q"', "it's", "", "x.y", "#", "new\nline")
SPELT_NAMES = ("a", "b", "c-1", '"a"', "'b'", '"d e"', "'d e'", '"\\u00e9"', '"x.y"', '""', "''")
NEWER_NAMES = ('"\\x61"', '"\\e"')
SCALARS = (
    0,
    -1,
    1.0,
    -0.0,
    float("nan"),
    float("inf"),
    1e22,
    True,
    "",
    "x",
    "# [a]\n",
    'q"\\\t\x00\x7f\u2028é',
    dt.datetime(2020, 1, 2, 3, 4, 5, 6, dt.UTC),
    dt.datetime(2020, 1, 2, 3, 4, tzinfo=dt.timezone(dt.timedelta(hours=-3, minutes=-30))),
    dt.datetime(2020, 1, 2, 3, 4, 5),  # noqa: DTZ001 - a local moment is a TOML value of its own
    dt.date(2020, 1, 2),
    dt.time(3, 4, 5, 600),
)
SPELT = (
    "1",
    "0x1F",
    "1_000",
    "+1.5e3",
    "nan",
    "true",
    "1979-05-27 07:32:00Z",
    "1979-05-27",
    "07:32:00",
    '"x # \\" ] }"',
    "'[a] \"'",
    '"""\n[a]\n# x\n  k = 1 \\\n """',
    '""""q" \\""""""',
    "'''\n[a.b]\n''q'''''",
    "[]",
    "[ ]",
    '["-y", "p"]',
    "[1, [2, 3], {a = 1}]",
    '[\n  "-y", # yes ]\n  # own\n  "p"\n]',
    '[\n  "a",\n  """\n[b]""",\n]',
    "{}",
    "{ }",
    '{a = 1, "d e" = {b.c = 2, b.d = 3}}',
    '{ b = [\n1,\n2 ], a.a = "}" }',
)
NEWER = (
    '"\\e[0m \\x41"',
    '"""\n\\x5B\\e"""',
    "07:32",
    "1979-05-27 07:32",
    "1979-05-27T07:32Z",
    "{a = 1,}",
    "{ a = 1 , }",
    "{\n}",
    "{ # note\n}",
    "{\n  # note\n  }",
    "{\n  # note\n\n}",
    '{\n  a = 1, # one\n  # own\n  "d e" = {b.c = 2,},\n}',
    "{ a = 1\n, b = 2 # two\n}",
    "{\n  a = 1 , }",
    "{\n\ta = 1, b = 2\n}",
    "{\n  a = 1 # one\n  # own\n  , # comma\n}",
    "{a = [\n1 ], # one\n  b = '''\n# no'''\n}",
    "[\n  {\n    a = 1,\n    # own\n  },\n]",
)
"""What TOML 1.1 has and 1.0 has not."""
IDLE = ("", "", "", "  ", "# note", "  # [a]", "# k = 1", "#")

keys = st.lists(st.sampled_from(SPELT_NAMES + NEWER_NAMES), min_size=1, max_size=3).flatmap(
    lambda parts: st.sampled_from([".".join(parts), " . ".join(parts)])
)
tails = st.sampled_from(["", "", " ", " # [a]", "\t#"])
headers = st.builds(
    lambda indent, form, name, tail: indent + form.format(name) + tail,
    st.sampled_from(["", "", "  "]),
    st.sampled_from(["[{}]", "[{}]", "[ {} ]", "[[{}]]"]),
    keys,
    tails,
)
pairs = st.builds(
    lambda indent, name, equals, value, tail: indent + name + equals + value + tail,
    st.sampled_from(["", "", "", "\t"]),
    keys,
    st.sampled_from([" = ", "=", "  =\t"]),
    st.sampled_from(SPELT + NEWER),
    tails,
)
pieces = st.lists(st.one_of(pairs, headers, st.sampled_from(IDLE)), max_size=9)


def joined(candidates: list[str], newlines: tuple[str, ...], bom: str, last: bool) -> str:
    """One text of all candidates that leave it TOML."""
    pieces: list[str] = []
    for piece in candidates:
        try:
            tomli.loads("\n".join([*pieces, piece]))
        except tomli.TOMLDecodeError:
            continue
        pieces.append(piece)
    lines = ("\n".join(pieces) + "\n" * last).split("\n")
    text = lines[0]
    for number, line in enumerate(lines[1:]):
        text += newlines[number % len(newlines)] + line
    return bom + text


DOCUMENTS = st.builds(
    joined,
    pieces,
    st.sampled_from([("\n",), ("\n",), ("\r\n",), ("\n", "\r\n")]),
    st.sampled_from(["", "", BOM]),
    st.booleans(),
)
VALUES = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=6,
)
TABLES = st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4)


def paths(value: Value, path: Names = ()) -> Iterator[Names]:
    yield path
    for name, inner in value.items() if isinstance(value, dict) else ():
        yield from paths(inner, (*path, name))


def at(value: Value, path: Path) -> Value:
    for step in path:
        value = value[step]
    return value


def pick(data: st.DataObject, value: Value, kind: type = object, *, root: bool = False) -> Names:
    """A path to a value of a kind; the empty one where there is none."""
    choices = [p for p in paths(value) if (p or root) and isinstance(at(value, p), kind)]
    return data.draw(st.sampled_from(choices)) if choices else ()


def with_value(value: Value, path: Names, new: Value) -> Value:
    value = copy.deepcopy(value)
    at(value, path[:-1])[path[-1]] = new
    return value


def foreign(text: str, path: Names) -> list[str]:
    """The statements that have nothing to do with a path, as they are written."""

    def is_other(it: Statement) -> bool:
        shared = min(len(it.path), len(path)) if it.kind == "pair" else len(path)
        return it.path[:shared] != path[:shared]

    return [text[it.line : it.stop] for it in scan(text).statements if is_other(it)]


def graft(root: Value, path: Path, value: Value) -> None:
    """Put a value in at a path, unless there is one, with the tables above it."""
    for step in path[:-1]:
        root = root[step] if isinstance(step, int) else root.setdefault(step, {})
    root.setdefault(path[-1], value)


@given(DOCUMENTS)
def test_the_scanner_finds_what_the_parser_finds(text: str) -> None:
    rebuilt: Value = {}
    for it in scan(text).statements:
        value: Value = [] if it.kind == "array" else {}
        if it.kind == "pair":
            value = tomli.loads(f"v = {text[it.value : it.end]}")["v"]
        path = it.path[:-1] if it.kind == "array" else it.path
        graft(rebuilt, path, value)
        if it.kind == "array":
            at(rebuilt, path).append({})
            assert len(at(rebuilt, path)) - 1 == it.path[-1]
    assert same(rebuilt, parse(text).value)


@given(DOCUMENTS, st.data())
def test_an_equal_value_changes_no_byte(text: str, data: st.DataObject) -> None:
    value = parse(text).value
    path = pick(data, value)
    if path:
        assert set_value(text, path, copy.deepcopy(at(value, path))) == text
    table = pick(data, value, dict)
    if table:
        assert put_table(text, table, copy.deepcopy(at(value, table))) == text


@given(DOCUMENTS, st.data(), TABLES, st.lists(st.sampled_from(NAMES), max_size=2))
def test_removing_a_table_that_was_put_gives_back_the_bytes(
    text: str, data: st.DataObject, table: Value, below: list[str]
) -> None:
    before = parse(text).value
    parent = pick(data, before, dict, root=True)
    added = put_table(text, (*parent, NEW, *below), table)
    for name in reversed(below):
        table = {name: table}
    assert same(parse(added).value, with_value(before, (*parent, NEW), table))
    assert remove_table(added, (*parent, NEW)) == text


@given(DOCUMENTS, st.data(), VALUES)
def test_removing_a_value_that_was_set_gives_back_the_bytes(
    text: str, data: st.DataObject, value: Value
) -> None:
    before = parse(text).value
    parent = pick(data, before, dict, root=True)
    added = set_value(text, (*parent, NEW), value)
    assert same(parse(added).value, with_value(before, (*parent, NEW), value))
    removed = remove(scan(added), parent, [NEW])
    assert same(parse(removed).value, before)
    sheet = scan(text)
    implied = not stands_empty(sheet, parent) and _last_dotted(sheet, parent) is None
    # A table that had no header but those of its sub-tables needs one for a key, and keeps it.
    if isinstance(value, dict) or not implied:
        assert removed == text


@given(DOCUMENTS, st.data(), VALUES)
def test_setting_gives_the_value_and_touches_no_other_statement(
    text: str, data: st.DataObject, value: Value
) -> None:
    before = parse(text).value
    path = pick(data, before)
    if not path:
        return
    after = set_value(text, path, value)
    assert same(parse(after).value, with_value(before, path, value))
    assert foreign(after, path[:-1]) == foreign(text, path[:-1])


@given(DOCUMENTS, st.data(), TABLES)
def test_putting_a_table_gives_it_and_keeps_what_others_wrote(
    text: str, data: st.DataObject, table: Value
) -> None:
    before = parse(text).value
    path = pick(data, before, dict)
    if not path:
        return
    old = at(before, path)
    after = put_table(text, path, table)
    assert same(parse(after).value, with_value(before, path, table))
    assert foreign(after, path) == foreign(text, path)
    assert same(parse(put_table(after, path, old)).value, before)


@given(DOCUMENTS, st.data(), TABLES)
def test_adding_to_a_table_keeps_every_line(text: str, data: st.DataObject, more: Value) -> None:
    before = parse(text).value
    path = pick(data, before, dict)
    if not path or covering(scan(text), (*path, NEW)):
        return
    old = at(before, path)
    after = put_table(text, path, {**more, **old})
    lines = iter(after.removeprefix(BOM).splitlines())
    assert all(line in lines for line in text.removeprefix(BOM).splitlines())


@given(DOCUMENTS, st.data(), st.sampled_from(SCALARS))
def test_setting_a_scalar_back_gives_back_the_bytes_but_for_its_own_spelling(
    text: str, data: st.DataObject, value: Value
) -> None:
    pairs = [it for it in scan(text).statements if it.kind == "pair" and text[it.value] not in "[{"]
    pairs = [it for it in pairs if all(isinstance(step, str) for step in it.path)]
    if not pairs:
        return
    it = data.draw(st.sampled_from(pairs))
    path = tuple(str(step) for step in it.path)
    old = at(parse(text).value, path)
    back = set_value(set_value(text, path, value), path, old)
    spelt = text[it.value : it.end] if same(old, value) else inline(old)
    assert back == text[: it.value] + spelt + text[it.end :]


@given(DOCUMENTS, st.data())
def test_removing_leaves_all_other_values_and_statements(text: str, data: st.DataObject) -> None:
    before = parse(text).value
    path = pick(data, before)
    if not path:
        return
    after = remove(scan(text), path[:-1], path[-1:])
    value = parse(after).value
    intended: Value = copy.deepcopy(before)
    del at(intended, path[:-1])[path[-1]]
    for end in range(len(path) - 1, 0, -1):
        if at(intended, path[:end]) or stands_empty(scan(text), path[:end]):
            break
        del at(intended, path[: end - 1])[path[end - 1]]
    assert same(value, intended)
    assert foreign(after, path) == foreign(text, path)


@given(DOCUMENTS, st.data(), st.sampled_from(["fresh", NEW]))
def test_renaming_back_gives_back_the_bytes(text: str, data: st.DataObject, name: str) -> None:
    value = parse(text).value
    path = pick(data, value, dict)
    if not path:
        return
    renamed = rename_table(text, path, name)
    intended: Value = copy.deepcopy(value)
    parent = at(intended, path[:-1])
    parent[name] = parent.pop(path[-1])
    assert same(parse(renamed).value, intended)
    back = rename_table(renamed, (*path[:-1], name), path[-1])
    assert same(parse(back).value, value)
    names = SPELT_NAMES + NEWER_NAMES
    spellings = {spelt for spelt in names if tomli.loads(f"{spelt}=1").keys() == {path[-1]}}
    if not any(re.search(re.escape(it), text) for it in spellings - {key(path[-1])}):
        assert back == text


@given(DOCUMENTS, st.integers(0), st.sampled_from(["", '"', "#", "=", ",", "}", "[", "\\", "\n"]))
def test_a_damaged_text_is_read_or_told_never_anything_else(
    text: str, where: int, damage: str
) -> None:
    where %= len(text) + 1
    text = text[:where] + damage + text[where + 1 :]
    try:
        value = tomli.loads(text.removeprefix(BOM))
    except tomli.TOMLDecodeError:
        with pytest.raises(DocumentBroken) as caught:
            put_table(text, ("a", NEW), {})
        (problem,) = caught.value.problems
        assert problem.place is not None
        assert problem.place.line <= text.count("\n") + 1
    else:
        assert same(parse(text).value, value)


@settings(max_examples=300)
@given(st.text("[]{}\"'=.,#a1 \n", max_size=14))
def test_any_text_that_the_parser_reads_can_be_edited(text: str) -> None:
    try:
        tomli.loads(text)
    except tomli.TOMLDecodeError:
        return
    added = put_table(text, (NEW,), {"k": 1, "t": {"u": [1]}})
    assert remove_table(added, (NEW,)) == text
