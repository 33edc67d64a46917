"""A text that is read again after a change gives what a reading of the whole gives."""

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.domain.errors import DocumentBroken
from mcpyard.formats.editors.jsonc import parse
from mcpyard.formats.editors.jsonc_rescan import rescan
from mcpyard.formats.editors.jsonc_scan import JsonScan, Path, read
from mcpyard.formats.editors.jsonc_values import value_at

PATHS: list[Path] = [("a", ""), ("a", "b"), ("b",), ("",), (), ("a", "a", "a")]
PARTS = ['"a"', '"b"', ":", ",", "{", "}", "[", "]", "1", '"', " ", "\n", "null", "//", "é"]

names = st.sampled_from(["a", "b", "c", "", "d e"])
leaves = st.none() | st.integers(-3, 30) | st.sampled_from(["", "x", '"'])
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner), max_leaves=12
)
texts = st.builds(json.dumps, st.dictionaries(names, values), indent=st.sampled_from([None, 2]))


def outcome(work: Callable[[], JsonScan]) -> JsonScan | str:
    try:
        return work()
    except DocumentBroken as error:
        return error.message


@given(texts, st.data())
def test_any_change_gives_what_a_reading_of_the_whole_gives(text: str, data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(PATHS))
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 12)))
    new = data.draw(st.lists(st.sampled_from(PARTS), max_size=6).map("".join) | texts)
    changed = text[:start] + new + text[end:]
    before = read(text, path)
    assert outcome(lambda: rescan(changed, path, before).scan) == outcome(
        lambda: read(changed, path)
    )


@given(texts, texts)
def test_members_that_are_called_unchanged_are_so(text: str, changed: str) -> None:
    before = parse(text, along=("a", ""))
    after = parse(changed, along=("a", ""), before=before)
    whole = parse(changed, along=("a", ""))
    same = after.unchanged(("a",))
    assert (after.value, after.strict) == (whole.value, whole.strict)
    container = value_at(before.value, ("a",)) if same else []
    steps = [*container] if isinstance(container, dict) else [*range(same)]
    for step in steps[:same]:
        path = ("a", step)
        assert after.member(path) == before.member(path) == whole.member(path)


def entries(count: int, more: str = "") -> str:
    return '{"a": {' + ", ".join(f'"s{i}": {{"x": {i}}}' for i in range(count)) + more + "}}"


@pytest.mark.parametrize(
    ("changed", "same"),
    [
        (entries(3, ', "new": {}'), 3),
        (entries(3) + "\n", 3),
        (entries(4), 3),
        (entries(3).replace('"x": 1', '"x": 10'), 1),
        (entries(3).replace('"s0"', '"s9"'), 0),
        ("  " + entries(3), 0),
    ],
)
def test_only_what_a_change_touches_is_read(changed: str, same: int) -> None:
    before = parse(entries(3), along=("a", ""))
    assert parse(changed, along=("a", ""), before=before).unchanged(("a",)) == same


def test_of_a_long_text_only_the_end_is_read() -> None:
    long = entries(5_000)
    assert len(long) > 100_000
    before = parse(long, along=("a", ""))
    changed = long.replace('"x": 4990', '"x": -1')
    assert parse(changed, along=("a", ""), before=before).unchanged(("a",)) == 4_990


def test_a_member_that_becomes_too_deep_is_refused_as_in_a_reading_of_the_whole() -> None:
    before = parse('{"a": {"b": 1}}', along=("a", ""))
    with pytest.raises(DocumentBroken):
        parse('{"a": {"b": ' + "[" * 200 + "]" * 200 + "}}", along=("a", ""), before=before)


def test_lines_are_counted_from_the_unchanged_front() -> None:
    before = parse('{"a": {\n"x": 1,\n"y": 2\n}}', along=("a", ""))
    before.key_place(("a", "y"))
    after = parse('{"a": {\n"x": 1,\n\n\n"y": 2\n}}', along=("a", ""), before=before)
    assert after.key_place(("a", "y")).line == 5


@pytest.mark.parametrize(
    ("path", "text", "changed"),
    [
        (("a", ""), '{"a": {"b": 1, "c": 2}}', '{"a": {"b": 1, "b": 2}}'),
        (("b",), '{"a": [1], "c": 1, "b": {}}', '{"a": [1], "c": 11, "b": {}}'),
        (("a",), '{"a": 1, "b": [2, "c"]}', '{"a": 1, "b": 2, "c"]}'),
    ],
    ids=["a name twice", "the way along the path moves", "a list that is none any more"],
)
def test_what_cannot_be_told_is_read_as_a_whole(path: Path, text: str, changed: str) -> None:
    before = read(text, path)
    whole = outcome(lambda: read(changed, path))
    assert outcome(lambda: rescan(changed, path, before).scan) == whole
