"""What holds for every text: YAML of any style, with comments and blank lines anywhere."""

import copy
import re
from collections.abc import Iterator
from typing import Any, TypeAlias

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from mcpyard.domain.errors import DocumentBroken, EditRefused
from mcpyard.formats.editors.jsonc_scan import BOM, Path
from mcpyard.formats.editors.yaml import (
    YamlVersion,
    parse,
    remove_member,
    rename_member,
    set_member,
)
from mcpyard.formats.editors.yaml_values import Tagged, same
from tests.conftest import FULL
from tests.formats.yaml_texts import NAMES, SCALARS, VALUES, documents

Value: TypeAlias = Any

EXAMPLES = 20_000 if FULL else 150
NEW = "a new one"
DAMAGES = ("", '"', "#", ":", ",", "}", "[", "\t", "\n", "- ", "&a ", "*a")
REASONS = (
    "stands for a part of it",
    "is an alias of",
    "is tagged",
    "comes from a merge key",
    "cannot keep",
    "has no line end",
    "would become a part of the block scalar",
    "can only be left as it is",
)

pytestmark = pytest.mark.timeout(1800 if FULL else 60)
many = settings(max_examples=EXAMPLES)


def readable(text: str) -> bool:
    try:
        parse(text)
    except DocumentBroken:
        return False
    return True


DOCUMENTS = documents(readable)
VERSIONS = st.sampled_from(YamlVersion)


def paths(value: Value, path: Path = ()) -> Iterator[Path]:
    yield path
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from paths(inner, (*path, name))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from paths(inner, (*path, index))


def at(value: Value, path: Path) -> Value:
    for step in path:
        value = value[step]
    return value


def pick(data: st.DataObject, value: Value, kind: type = object, *, root: bool = False) -> Path:
    """A path to a value of a kind; the empty one where there is none."""
    choices = [p for p in paths(value) if (p or root) and isinstance(at(value, p), kind)]
    return data.draw(st.sampled_from(choices)) if choices else ()


def with_value(value: Value, path: Path, new: Value) -> Value:
    """A copy with a value at a path, in which nothing is shared."""
    if not path:
        return copy.deepcopy(new)
    if isinstance(value, dict):
        members = {name: with_value(each, (), each) for name, each in value.items()}
        return {**members, path[0]: with_value(value.get(path[0]), path[1:], new)}
    items: Value = [with_value(each, (), each) for each in value]
    items[path[0]] = with_value(items[path[0]], path[1:], new)
    return items


def without(value: Value, path: Path) -> Value:
    parent = copy.deepcopy(at(value, path[:-1]))
    del parent[path[-1]]
    return with_value(value, path[:-1], parent)


def expected(refused: EditRefused) -> None:
    """A refusal names its reason; that of the guard would be a mistake of the editor."""
    assert any(reason in refused.message for reason in REASONS), refused.message


def second_reading(text: str) -> list[Value]:
    """What PyYAML's own loader, in Python, gives."""

    class Loader(yaml.SafeLoader):
        pass

    def own(loader: yaml.SafeLoader, _: str, node: yaml.Node) -> Value:
        if isinstance(node, yaml.ScalarNode):
            return Tagged(node.tag, node.value)
        kind = (
            loader.construct_mapping
            if isinstance(node, yaml.MappingNode)
            else loader.construct_sequence
        )
        return Tagged(node.tag, kind(node, deep=True))  # type: ignore[operator]

    Loader.add_multi_constructor("!", own)
    return [*yaml.load_all(text.removeprefix(BOM), Loader)]


@many
@given(DOCUMENTS, VERSIONS, st.data())
def test_an_equal_value_changes_no_byte(
    text: str, version: YamlVersion, data: st.DataObject
) -> None:
    value = parse(text, version=version).value
    path = pick(data, value)
    if path:
        assert set_member(text, path, copy.deepcopy(at(value, path)), version) == text


@many
@given(DOCUMENTS, VERSIONS, st.data(), VALUES, st.lists(st.sampled_from(NAMES), max_size=2))
def test_removing_what_was_added_gives_back_the_bytes(
    text: str, version: YamlVersion, data: st.DataObject, value: Value, below: list[str]
) -> None:
    before = parse(text, version=version).value
    parent = pick(data, before, dict, root=True)
    path = (*parent, NEW, *below)
    try:
        added = set_member(text, path, value, version)
    except EditRefused as refused:
        expected(refused)
        return
    for name in reversed(below):
        value = {name: value}
    after = parse(added, version=version).value
    assert same(after, with_value(before, (*parent, NEW), value))
    assert remove_member(added, (*parent, NEW), version) == text


@many
@given(DOCUMENTS, VERSIONS, st.data(), VALUES)
def test_removing_an_element_that_was_appended_gives_back_the_bytes(
    text: str, version: YamlVersion, data: st.DataObject, value: Value
) -> None:
    before = parse(text, version=version).value
    parent = pick(data, before, list)
    if not parent:
        return
    items = at(before, parent)
    path = (*parent, len(items))
    try:
        added = set_member(text, path, value, version)
    except EditRefused as refused:
        expected(refused)
        return
    assert same(parse(added, version=version).value, with_value(before, parent, [*items, value]))
    assert remove_member(added, path, version) == text


@many
@given(DOCUMENTS, VERSIONS, st.data(), VALUES)
def test_setting_gives_the_value_and_leaves_all_others(
    text: str, version: YamlVersion, data: st.DataObject, value: Value
) -> None:
    before = parse(text, version=version).value
    path = pick(data, before)
    if not path:
        return
    try:
        after = set_member(text, path, value, version)
    except EditRefused as refused:
        expected(refused)
        return
    assert same(parse(after, version=version).value, with_value(before, path, value))


@many
@given(DOCUMENTS, VERSIONS, st.data(), st.sampled_from(SCALARS))
def test_setting_a_text_back_gives_back_the_bytes_but_for_its_own_spelling(
    text: str, version: YamlVersion, data: st.DataObject, value: Value
) -> None:
    before = parse(text, version=version).value
    path = pick(data, before, str)
    if not path:
        return
    try:
        other = set_member(text, path, value, version)
        back = set_member(other, path, at(before, path), version)
    except EditRefused as refused:
        expected(refused)
        return
    assert same(parse(back, version=version).value, before)
    try:
        assert remove_member(back, path, version) == remove_member(text, path, version)
    except EditRefused as refused:
        expected(refused)


@many
@given(DOCUMENTS, VERSIONS, st.data())
def test_removing_leaves_all_other_values(
    text: str, version: YamlVersion, data: st.DataObject
) -> None:
    before = parse(text, version=version).value
    path = pick(data, before)
    if not path:
        return
    try:
        after = remove_member(text, path, version)
    except EditRefused as refused:
        expected(refused)
        return
    assert same(parse(after, version=version).value, without(before, path))
    # What is left was there before, in the same order; only an emptied block is written anew, and
    # the comma of an item that becomes the last goes.
    comma = re.compile(r",(?= *(?:#|$))")
    lines = iter([comma.sub("", line) for line in text.removeprefix(BOM).splitlines()])
    left = [
        comma.sub("", line)
        for line in after.removeprefix(BOM).splitlines()
        if line.strip() and not re.search(r"[\[\]{}]|- ", line)
    ]
    # A comment may have stood behind what was taken out.
    assert all(any(line.strip() in each for each in lines) for line in left), (text, after)


@pytest.mark.parametrize(
    ("text", "path", "after"),
    [
        ("a: [b,  # c\n  d]\n", ("a", 1), "a: [b  # c\n  ]\n"),
        ("a: {b: 1,  # c\n  d: 2, }\n", ("a", "d"), "a: {b: 1,  # c\n   }\n"),
    ],
)
def test_a_bracket_never_comes_behind_a_comment(text: str, path: Path, after: str) -> None:
    assert remove_member(text, path) == after


@many
@given(DOCUMENTS, VERSIONS, st.data(), st.sampled_from(["fresh", NEW, "no", "k: v"]))
def test_renaming_back_gives_back_the_bytes(
    text: str, version: YamlVersion, data: st.DataObject, name: str
) -> None:
    before = parse(text, version=version).value
    path = pick(data, before)
    if not path or not isinstance(path[-1], str):
        return
    try:
        renamed = rename_member(text, path, name, version)
    except EditRefused as refused:
        expected(refused)
        return
    parent = {name if key == path[-1] else key: each for key, each in at(before, path[:-1]).items()}
    assert same(parse(renamed, version=version).value, with_value(before, path[:-1], parent))
    back = rename_member(renamed, (*path[:-1], name), path[-1], version)
    assert same(parse(back, version=version).value, before)
    if name in {"fresh", NEW} and path[-1] not in {"yes", "1"}:
        assert back == text


@many
@given(DOCUMENTS, st.data(), VALUES)
def test_the_loader_of_another_program_reads_what_was_meant(
    text: str, data: st.DataObject, value: Value
) -> None:
    before = parse(text, version=YamlVersion.V1_1).value
    path = pick(data, before)
    if not path:
        return
    try:
        after = set_member(text, path, value, YamlVersion.V1_1)
        old = second_reading(text)
    except EditRefused as refused:
        expected(refused)
        return
    except (yaml.YAMLError, TypeError):
        return
    new = second_reading(after)
    assert new[1:] == old[1:]
    # Its loader takes the keys 1 and true for one.
    if not ("yes:" in text and "1:" in text):
        assert loose(new[0]) == loose(with_value(before, path, value))


@many
@given(DOCUMENTS, st.data())
def test_line_ends_make_no_difference_to_an_edit(text: str, data: st.DataObject) -> None:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    value = parse(text).value
    home, path = pick(data, value, dict, root=True), pick(data, value)
    new, added = data.draw(VALUES), (*home, NEW)
    edits = [lambda text: set_member(text, added, new)] if isinstance(at(value, home), dict) else []
    if path:
        edits += [lambda text: set_member(text, path, new), lambda text: remove_member(text, path)]
    for edit in edits if "\n" in text else ():
        try:
            edited = edit(text)
        except EditRefused as refused:
            with pytest.raises(EditRefused, match=re.escape(refused.problems[0].message)):
                edit(text.replace("\n", "\r\n"))
        else:
            assert edit(text.replace("\n", "\r\n")) == edited.replace("\n", "\r\n")


def loose(value: Value) -> Value:
    """A value in which keys are texts, and values can be compared."""
    if isinstance(value, Tagged):
        return value.tag, loose(value.value)
    if isinstance(value, dict):
        return {key_text(key): loose(each) for key, each in value.items()}
    if isinstance(value, list):
        return [loose(each) for each in value]
    return repr(value)


def key_text(key: Value) -> str:
    return "yes" if key is True else str(key)


@many
@given(DOCUMENTS, st.integers(0), st.sampled_from(DAMAGES))
def test_a_damaged_text_is_read_or_told_never_anything_else(
    text: str, where: int, damage: str
) -> None:
    where %= len(text) + 1
    text = text[:where] + damage + text[where + 1 :]
    try:
        value = parse(text).value
    except DocumentBroken as broken:
        (problem,) = broken.problems
        assert problem.place is not None
        assert 1 <= problem.place.line <= len(text.splitlines()) + 1
        return
    if isinstance(value, dict):
        try:
            added = set_member(text, (NEW,), {"k": 1, "t": {"u": [1]}})
        except EditRefused:
            # Of such a text even the guard may refuse an edit: nothing is lost.
            return
        assert same(parse(remove_member(added, (NEW,))).value, value)
