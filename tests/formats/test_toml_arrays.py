"""Lists of tables: `[[servers]]`, or braces in an array; one table changes, no other byte."""

import copy
from typing import Any

import pytest
import tomli
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.domain.errors import DocumentBroken, EditRefused
from mcpyard.formats.editors.jsonc_scan import BOM
from mcpyard.formats.editors.toml_arrays import append_element, change_element, remove_element
from mcpyard.formats.editors.toml_values import same
from tests.formats.test_toml_properties import DOCUMENTS, TABLES

TEXT = """\
# mine
model = "x"

# the first
[[servers]]
name = "one" # kept
args = ["a"]

[servers.env]
A = "b"

[[servers]]
name = "two"

[other]
k = 1
"""
INLINE = 'servers = [{name = "one"}, # first\n  { name = "two" }]\nk = 1\n'
LIST = ("servers",)


def at(text: str) -> list[dict[str, Any]]:
    return tomli.loads(text.removeprefix(BOM))["servers"]


def test_a_table_is_added_behind_the_last_one_with_its_own_tables() -> None:
    added = append_element(TEXT, LIST, {"name": "three", "env": {"K": "v"}})
    block = '[[servers]]\nname = "three"\n\n[servers.env]\nK = "v"\n\n'
    assert added == TEXT.replace("[other]", f"{block}[other]")
    assert remove_element(added, LIST, 2) == TEXT


@pytest.mark.parametrize("text", ["", "k = 1\n", BOM + "k = 1", "[a]\r\nb = 1\r\n"])
def test_a_list_is_made_and_removed_with_its_only_table(text: str) -> None:
    added = append_element(text, LIST, {"name": "one"})
    assert at(added) == [{"name": "one"}]
    assert remove_element(added, LIST, 0) == text


def test_an_empty_list_in_brackets_is_filled_and_emptied() -> None:
    text = "servers = []\n"
    added = append_element(text, LIST, {"name": "one", "env": {"A": "b"}})
    assert added == 'servers = [{name = "one", env = {A = "b"}}]\n'
    assert remove_element(added, LIST, 0) == text


def test_a_list_below_braces_is_written_in_them() -> None:
    added = append_element("a = {k = 1}\n", ("a", "list"), {"name": "one"})
    assert added == 'a = {k = 1, list = [{name = "one"}]}\n'
    assert append_element(added, ("a", "list"), {"name": "two"}) == (
        'a = {k = 1, list = [{name = "one"}, {name = "two"}]}\n'
    )


def test_a_change_touches_only_the_keys_that_differ() -> None:
    changed = change_element(TEXT, LIST, 0, {"name": "one", "args": ["b"], "env": {"A": "c"}})
    assert changed == TEXT.replace('args = ["a"]', 'args = ["b"]').replace('A = "b"', 'A = "c"')
    assert change_element(TEXT, LIST, 0, at(TEXT)[0]) == TEXT


def test_a_table_in_a_table_of_a_list_comes_and_goes() -> None:
    more = {**at(TEXT)[1], "env": {"K": "v"}}
    changed = change_element(TEXT, LIST, 1, more)
    assert at(changed)[1] == more
    assert change_element(changed, LIST, 1, at(TEXT)[1]) == TEXT


def test_a_table_in_braces_is_changed_and_removed() -> None:
    assert change_element(INLINE, LIST, 1, {"name": "2", "k": 3}) == INLINE.replace(
        '{ name = "two" }', '{ name = "2", k = 3 }'
    )
    assert at(remove_element(INLINE, LIST, 0)) == [{"name": "two"}]
    assert at(remove_element(INLINE, LIST, 1)) == [{"name": "one"}]


def test_the_first_table_goes_with_its_comment_and_its_tables() -> None:
    rest = '# mine\nmodel = "x"\n\n[[servers]]\nname = "two"\n\n[other]\nk = 1\n'
    assert remove_element(TEXT, LIST, 0) == rest


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("servers = 1\n", "servers: is not a list of tables"),
        ("[servers]\na = 1\n", "servers: is not a list of tables"),
        ("", r"servers\[0\]: there is no such table"),
        ("servers = []\n", r"servers\[0\]: there is no such table"),
    ],
)
def test_what_is_not_there_is_refused(text: str, message: str) -> None:
    with pytest.raises(EditRefused, match=message):
        remove_element(text, LIST, 0)
    with pytest.raises(EditRefused, match=message):
        change_element(text, LIST, 0, {})


def test_what_is_no_list_is_not_appended_to() -> None:
    with pytest.raises(EditRefused, match="is not a list of tables"):
        append_element("servers = 1\n", LIST, {})
    with pytest.raises(EditRefused, match="TOML has no null"):
        append_element("", LIST, {"a": None})
    with pytest.raises(DocumentBroken):
        append_element("= 1", LIST, {})


NEW = ("a new one",)


@given(DOCUMENTS, TABLES, TABLES, TABLES)
def test_tables_that_were_added_go_again_without_a_trace(
    text: str, first: dict[str, Any], second: dict[str, Any], third: dict[str, Any]
) -> None:
    before = tomli.loads(text.removeprefix(BOM))
    texts = [text]
    for table in (first, second):
        texts.append(append_element(texts[-1], NEW, copy.deepcopy(table)))
    value = tomli.loads(texts[-1].removeprefix(BOM))
    assert same(value, {**before, NEW[0]: [first, second]})
    changed = change_element(texts[-1], NEW, 0, third)
    value = tomli.loads(changed.removeprefix(BOM))
    assert same(value, {**before, NEW[0]: [third, second]})
    assert remove_element(texts[2], NEW, 1) == texts[1]
    assert remove_element(texts[1], NEW, 0) == text


@given(DOCUMENTS, st.data(), TABLES)
def test_a_list_of_tables_that_stands_there_is_edited(
    text: str, data: st.DataObject, table: dict[str, Any]
) -> None:
    before: dict[str, Any] = tomli.loads(text.removeprefix(BOM))
    lists = [
        name
        for name, value in before.items()
        if isinstance(value, list) and value and all(isinstance(it, dict) for it in value)
    ]
    if not lists:
        return
    name = data.draw(st.sampled_from(lists))
    index = data.draw(st.integers(0, len(before[name]) - 1))
    intended = copy.deepcopy(before)
    intended[name][index] = table
    changed = change_element(text, (name,), index, copy.deepcopy(table))
    assert same(tomli.loads(changed.removeprefix(BOM)), intended)
    added = append_element(text, (name,), copy.deepcopy(table))
    assert same(tomli.loads(added.removeprefix(BOM))[name], [*before[name], table])
    assert remove_element(added, (name,), len(before[name])) == text
