"""What holds for every text: generated JSON and JSONC with white space and comments anywhere."""

import copy
import json
from collections.abc import Iterator
from types import UnionType
from typing import Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpyard.domain.errors import DocumentBroken, EditRefused
from mcpyard.formats.editors.jsonc import (
    Path,
    add_members,
    parse,
    remove_member,
    remove_members,
    rename_member,
    set_member,
)
from mcpyard.formats.editors.jsonc_faults import find_fault
from mcpyard.formats.editors.jsonc_scan import read
from mcpyard.formats.editors.jsonc_values import same

NEW = "a new one"
LINE_ENDS = ("\n", "\r\n", "\r")
NAMES = ("a", "b", "é", 'q"', "", "\u2028", "//", "/*")
SCALARS = (0, 1, 1.0, -2.5e30, True, False, None, "", "x", "*/ // ,}", "\ud800", "\u2029\t", 10**25)

Value: TypeAlias = Any
Kind: TypeAlias = type | UnionType
Spelt: TypeAlias = tuple[Value, str]


def spaces(lines: tuple[str, ...], *, comments: bool) -> st.SearchStrategy[str]:
    pieces = ["", " ", "  ", "\t"]
    for line in lines:
        pieces += [line, f"{line}  ", f"{line}\t", f" {line}{line}    "]
        if comments:
            pieces += [f"// x{line}", f'//"{line}  ', f"/* x{line} */"]
    if comments:
        pieces += ["/**/", "/* , ] */", " /*/ **/ "]
    return st.lists(st.sampled_from(pieces), max_size=3).map("".join)


def scalars() -> st.SearchStrategy[Spelt]:
    return st.sampled_from(
        [
            (value, json.dumps(value, ensure_ascii=ascii_))
            for value in SCALARS
            for ascii_ in (False, True)
        ]
        + [(100.0, "1e2"), ("a/", '"\\u0061\\/"'), (0, "-0")]
    )


def nested(
    inner: st.SearchStrategy[Spelt], space: st.SearchStrategy[str], comments: bool
) -> st.SearchStrategy[Spelt]:
    return objects(inner, space, comments) | arrays(inner, space, comments)


def objects(
    inner: st.SearchStrategy[Spelt], space: st.SearchStrategy[str], comments: bool
) -> st.SearchStrategy[Spelt]:
    names = st.sampled_from(
        [(n, json.dumps(n, ensure_ascii=a)) for n in NAMES for a in (False, True)]
    )
    member = st.tuples(space, names, space, space, inner, space).map(
        lambda it: (it[1][0], it[4][0], f"{it[0]}{it[1][1]}{it[2]}:{it[3]}{it[4][1]}{it[5]}")
    )

    def spelt(it: tuple[list[Any], bool, str]) -> Spelt:
        return {m[0]: m[1] for m in it[0]}, "{" + listed([m[2] for m in it[0]], *it[1:]) + "}"

    return st.tuples(st.lists(member, max_size=3), trailing(comments), space).map(spelt)


def arrays(
    inner: st.SearchStrategy[Spelt], space: st.SearchStrategy[str], comments: bool
) -> st.SearchStrategy[Spelt]:
    element = st.tuples(space, inner, space).map(lambda it: (it[1][0], it[0] + it[1][1] + it[2]))

    def spelt(it: tuple[list[Any], bool, str]) -> Spelt:
        return [e[0] for e in it[0]], "[" + listed([e[1] for e in it[0]], *it[1:]) + "]"

    return st.tuples(st.lists(element, max_size=3), trailing(comments), space).map(spelt)


def trailing(comments: bool) -> st.SearchStrategy[bool]:
    return st.booleans() if comments else st.just(False)


def listed(parts: list[str], comma: bool, space: str) -> str:
    return ",".join(parts) + f",{space}" * comma if parts else space


def texts(lines: tuple[str, ...], *, comments: bool) -> st.SearchStrategy[str]:
    space = spaces(lines, comments=comments)
    inner = st.recursive(scalars(), lambda inner: nested(inner, space, comments), max_leaves=5)
    bom = st.sampled_from(["", "\ufeff"])
    parts = st.tuples(bom, space, objects(inner, space, comments), space)
    return parts.map(lambda it: it[0] + it[1] + it[2][1] + it[3])


DOCUMENTS = st.one_of(
    [
        texts(lines, comments=comments)
        for lines in (*((line,) for line in LINE_ENDS), LINE_ENDS)
        for comments in (True, False)
    ]
)
VALUES = st.recursive(
    st.sampled_from(SCALARS),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    ),
    max_leaves=6,
)


def paths(value: Value, path: Path = ()) -> Iterator[Path]:
    yield path
    pairs = value.items() if isinstance(value, dict) else ()
    for step, inner in enumerate(value) if isinstance(value, list) else pairs:
        yield from paths(inner, (*path, step))


def at(value: Value, path: Path) -> Value:
    for step in path:
        value = value[step]
    return value


def pick(
    data: st.DataObject, value: Value, *, kind: Kind = object, root: bool = False
) -> Path | None:
    choices = [p for p in paths(value) if (p or root) and isinstance(at(value, p), kind)]
    return data.draw(st.sampled_from(choices)) if choices else None


def emptied(text: str, path: Path) -> str:
    """The text, without the line ends in the object at a path if that holds nothing else."""
    node = [*read(text, path).root.trail()][-1]
    inside = text[node.start + 1 : node.end - 1]
    if node.value or inside.strip() or not any(end in inside for end in LINE_ENDS):
        return text
    return text[: node.start + 1] + text[node.end - 1 :]


@given(DOCUMENTS, st.data())
def test_an_equal_value_changes_no_byte(text: str, data: st.DataObject) -> None:
    value = parse(text).value
    path = pick(data, value)
    if path:
        assert set_member(text, path, copy.deepcopy(at(value, path))) == text


@given(DOCUMENTS, st.data(), VALUES, st.lists(st.sampled_from(NAMES), max_size=2))
def test_removing_what_was_added_gives_back_the_bytes(
    text: str, data: st.DataObject, value: Value, below: list[str]
) -> None:
    parent = pick(data, parse(text).value, kind=dict, root=True)
    assert parent is not None
    added = set_member(text, (*parent, NEW, *below), value)
    assert same(at(parse(added).value, (*parent, NEW, *below)), value)
    assert remove_member(added, (*parent, NEW)) == emptied(text, parent)


@given(DOCUMENTS, st.data(), st.lists(VALUES, max_size=4))
def test_removing_all_that_was_added_at_once_gives_back_the_bytes(
    text: str, data: st.DataObject, values: list[Value]
) -> None:
    parent = pick(data, parse(text).value, kind=dict, root=True)
    assert parent is not None
    members = {f"{NEW} {number}": value for number, value in enumerate(values)}
    added = add_members(text, parent, members)
    before: Value = parse(text).value
    intended: Value = copy.deepcopy(before)
    at(intended, parent).update(members)
    assert same(parse(added).value, intended)
    assert remove_members(added, parent, [*members]) == (emptied(text, parent) if members else text)


@given(DOCUMENTS, st.data())
def test_removing_many_at_once_leaves_all_others(text: str, data: st.DataObject) -> None:
    before = parse(text)
    parent = pick(data, before.value, kind=dict, root=True)
    assert parent is not None
    intended: Value = copy.deepcopy(before.value)
    inner = at(intended, parent)
    gone = data.draw(st.lists(st.sampled_from([*inner]), unique=True)) if inner else []
    for name in gone:
        del inner[name]
    after = remove_members(text, parent, gone)
    assert same(read(after, comments=not before.strict).root.value, intended)


@given(DOCUMENTS, st.data(), VALUES)
def test_setting_gives_the_value_and_touches_nothing_else(
    text: str, data: st.DataObject, value: Value
) -> None:
    before = parse(text)
    path = pick(data, before.value)
    if not path:
        return
    after = set_member(text, path, value)
    intended: Value = copy.deepcopy(before.value)
    at(intended, path[:-1])[path[-1]] = value
    assert same(read(after, comments=not before.strict).root.value, intended)
    *_, old = read(text, path).root.trail()
    *_, new = read(after, path).root.trail()
    assert after[: new.start] == text[: old.start]
    assert after[new.end :] == text[old.end :]


@given(DOCUMENTS, st.data(), st.sampled_from(SCALARS))
def test_setting_a_scalar_back_gives_back_the_bytes_but_for_its_own_spelling(
    text: str, data: st.DataObject, value: Value
) -> None:
    before = parse(text).value
    path = pick(data, before, kind=str | int | float | None)
    if not path:
        return
    old = at(before, path)
    *_, node = read(text, path).root.trail()
    back = set_member(set_member(text, path, value), path, old)
    spelt = json.dumps(old, ensure_ascii=old == "\ud800")
    if not same(old, value):
        assert back == text[: node.start] + spelt + text[node.end :]
    else:
        assert back == text


@given(DOCUMENTS, st.data())
def test_removing_leaves_all_other_values_and_the_text_around(
    text: str, data: st.DataObject
) -> None:
    before = parse(text)
    path = pick(data, before.value)
    if not path:
        return
    after = remove_member(text, path)
    intended: Value = copy.deepcopy(before.value)
    del at(intended, path[:-1])[path[-1]]
    assert same(read(after, comments=not before.strict).root.value, intended)
    *_, parent, _child = read(text, path).root.trail()
    assert after.startswith(text[: parent.start + 1])
    assert after.endswith(text[parent.end - 1 :])


ELEMENTS = st.builds(
    lambda items, lead, tail: "[" + lead + "".join(items)[:-1] + tail + "]",
    st.lists(
        st.builds(
            lambda before, value, after: f"{before}{value}{after},",
            st.sampled_from(("", " ", "\n  ", "\n  // own\n  ", " /* x */ ")),
            st.sampled_from(("1", '"a"', "[ 2 ]", '{"a": 3}', "null")),
            st.sampled_from(("", " ", " /* y */", " // tail\n")),
        ),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from(("", " ", "\n  ", " // lead\n")),
    st.sampled_from(("", "\n", "\n  // end\n")),
)


@given(ELEMENTS, st.sampled_from(["\n", "\r\n"]), st.data())
def test_elements_that_go_take_no_comment_of_others_along(
    array: str, newline: str, data: st.DataObject
) -> None:
    text = f'{{"l": {array}}}'.replace("\n", newline)
    before: Value = parse(text).value
    elements = before["l"]
    gone = data.draw(st.integers(0, len(elements) - 1))
    rest = [each for index, each in enumerate(elements) if index != gone]
    after = set_member(text, ("l",), rest)
    assert same(parse(after).value, {"l": rest})
    comments = {each.place for each in parse(text).extras if each.what == "comment"}
    # One above it, one before and one behind it on its line are its own.
    assert len([each for each in parse(after).extras if each.what == "comment"]) >= (
        len(comments) - 3
    )
    assert after.count("// lead") == text.count("// lead")
    assert after.count("// end") == text.count("// end")
    put = data.draw(st.integers(0, len(rest)))
    more = set_member(after, ("l",), [*rest[:put], NEW, *rest[put:]])
    assert same(parse(more).value, {"l": [*rest[:put], NEW, *rest[put:]]})
    for comment in ("// own", "/* x */", "/* y */", "// tail", "// lead", "// end"):
        assert more.count(comment) == after.count(comment)


@given(DOCUMENTS, st.data())
def test_renaming_back_gives_back_the_bytes(text: str, data: st.DataObject) -> None:
    value = parse(text).value
    path = pick(data, value)
    if not path or not isinstance(path[-1], str):
        return
    renamed = rename_member(text, path, NEW)
    intended: Value = copy.deepcopy(value)
    parent = at(intended, path[:-1])
    parent[NEW] = parent.pop(path[-1])
    assert same(parse(renamed).value, intended)
    back = rename_member(renamed, (*path[:-1], NEW), path[-1])
    spelt = {json.dumps(name, ensure_ascii=False) for name in NAMES}
    *_, above, _child = read(text, path).root.trail()
    assert above.container is not None
    keys = {text[it.key_start : it.key_end] for it in above.container.items}
    assert same(parse(back).value, value)
    if keys <= spelt:
        assert back == text


@given(DOCUMENTS, st.integers(0), st.sampled_from(["", '"', "/", "*", ",", "}", "[", "\\", "1"]))
def test_a_damaged_text_is_read_or_told_never_anything_else(
    text: str, where: int, damage: str
) -> None:
    where %= len(text)
    text = text[:where] + damage + text[where + 1 :]
    for comments in (True, False):
        fault = find_fault(text, comments=comments)
        if fault is None:
            read(text, comments=comments)
        else:
            with pytest.raises(DocumentBroken) as caught:
                read(text, comments=comments)
            assert caught.value.problems[0].message == fault.sentence


@settings(max_examples=300)
@given(st.text('{}[]",:/*1 \n\\a', max_size=12))
def test_the_quick_and_the_slow_reading_agree(text: str) -> None:
    fault = find_fault(text)
    if fault is None:
        parse(text)
    else:
        with pytest.raises(DocumentBroken):
            parse(text)


@given(DOCUMENTS, st.data())
def test_a_refused_edit_names_its_path(text: str, data: st.DataObject) -> None:
    path = pick(data, parse(text).value, kind=str)
    if path:
        with pytest.raises(EditRefused, match="is neither an object nor an array"):
            set_member(text, (*path, "below"), 1)
