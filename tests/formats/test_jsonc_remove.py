"""Removing and renaming members, and the guard that every edit passes."""

import pytest
from msgspec.structs import replace

from mcpyard.domain.errors import DocumentBroken, EditRefused
from mcpyard.formats.editors.jsonc import Path, remove_member, rename_member
from mcpyard.formats.editors.jsonc_guard import JsoncEdit
from mcpyard.formats.editors.jsonc_scan import read


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"x": 1}', "{}"),
        ('{ "x": 1 }', "{ }"),
        ('{ "x": 1}', "{}"),
        ('{\n  "x": 1\n}', "{}"),
        ('{\n  // its own\n  "x": 1 // too\n}', "{}"),
        ('{\n  "x": 1,\n}', "{}"),
        ('{\n  "x": 1\n  ,\n}', "{}"),
        ('{\n  // not its own\n\n  "x": 1\n}', "{\n  // not its own\n}"),
        ('{\n  "x": 1\n  // end\n}', "{\n  // end\n}"),
        ('{"x": 1, "b": 2}', '{"b": 2}'),
        ('{"a": 0, "x": 1, "b": 2}', '{"a": 0, "b": 2}'),
        ('{"a": 0, "x": 1}', '{"a": 0}'),
        ('{"a": 0, "x": 1,}', '{"a": 0,}'),
        ('{"a": 0 /* a */, "x": 1 /* x */}', '{"a": 0 /* a */}'),
        ('{"a": 0, /* whose? */ "x": 1, "b": 2}', '{"a": 0, /* whose? */ "b": 2}'),
        ('{"x": 1, /* whose? */ "b": 2}', '{ /* whose? */ "b": 2}'),
        ('{\n  "x": 1,\n  "b": 2\n}', '{\n  "b": 2\n}'),
        ('{\n  "a": 0,\n  "x": 1\n}', '{\n  "a": 0\n}'),
        ('{\n  "a": 0, // a\n  "x": 1 // x\n}', '{\n  "a": 0 // a\n}'),
        ('{\n  "a": 0, // a\n  "x": 1, // x\n}', '{\n  "a": 0, // a\n}'),
        ('{\n  "a": 0\n  , "x": 1\n  , "b": 2\n}', '{\n  "a": 0\n  , "b": 2\n}'),
        ('{\n    "x": 1\n  , "b": 2\n}', '{\n   "b": 2\n}'),
        ('{\n    "a": 0\n  , "x": 1\n}', '{\n    "a": 0\n}'),
        ('{\n    "a": 0 // a\n  , "x": 1}', '{\n    "a": 0 // a\n  }'),
        ('{\n    "a": 0\n  , "x": 1,\n  "b": 2\n}', '{\n    "a": 0\n  ,\n  "b": 2\n}'),
        ('{\n  "a": 0\n  // c\n  , "x": 1\n}', '{\n  "a": 0\n  // c\n  \n}'),
        ('{\n  "a": 0, "x": 1,\n  "b": 2\n}', '{\n  "a": 0,\n  "b": 2\n}'),
        ('{\n  "x": 1, "b": 2\n}', '{\n  "b": 2\n}'),
        ('{\n  "x": 1, /* whose? */ "b": 2\n}', '{\n   /* whose? */ "b": 2\n}'),
        ('{\n  "a": 0, // a\n  "x": 1 }', '{\n  "a": 0 // a\n   }'),
        ('{\n  "a": 0,\n  "x": 1 }', '{\n  "a": 0 }'),
        ('{\r\n  "a": 0,\r\n  "x": 1\r\n}\r\n', '{\r\n  "a": 0\r\n}\r\n'),
    ],
)
def test_a_member_goes_with_its_comma_and_its_line(before: str, after: str) -> None:
    assert remove_member(before, ("x",)) == after


def test_a_comment_directly_above_a_member_goes_with_it() -> None:
    before = """{
  "a": 0, // about a
  // a section

  // about x
  /* more */ /* about x */
  "x": 1, /* x
  itself */
  // about b
  "b": 2
}"""
    after = """{
  "a": 0, // about a
  // a section

  // about b
  "b": 2
}"""
    assert remove_member(before, ("x",)) == after


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{\n  "a": 0,\n\n  "x": 1,\n  "b": 2\n}', '{\n  "a": 0,\n\n  "b": 2\n}'),
        ('{\n  "a": 0,\n\n  "x": 1,\n\n  "b": 2\n}', '{\n  "a": 0,\n\n  "b": 2\n}'),
        ('{\n  "a": 0,\n\n  "x": 1\n}', '{\n  "a": 0\n}'),
    ],
)
def test_a_blank_line_between_groups_stays_and_is_not_doubled(
    before: str, after: str, newline: str
) -> None:
    edited = remove_member(before.replace("\n", newline), ("x",))
    assert edited == after.replace("\n", newline)


def test_all_duplicates_go_so_that_none_comes_into_force() -> None:
    assert remove_member('{"x": 1, "a": 2, "x": 3}', ("x",)) == '{"a": 2}'
    assert remove_member('{"x": 1, "\\u0078": 3}', ("x",)) == "{}"
    assert remove_member('{"a": 1, "x": 1,\n "x": 3}', ("x",)) == '{"a": 1}'


def test_an_element_goes_by_its_position() -> None:
    text = '{"l": [1, /* two */ 2, 3]}'
    assert remove_member(text, ("l", 0)) == '{"l": [ /* two */ 2, 3]}'
    assert remove_member(text, ("l", 1)) == '{"l": [1, /* two */ 3]}'
    assert remove_member(text, ("l", 2)) == '{"l": [1, /* two */ 2]}'


@pytest.mark.parametrize("path", [("n",), ("a", "n"), ("l", 1), ("l", -1), ("l", "x"), ("l", 0, 0)])
def test_what_is_not_there_cannot_be_removed_or_renamed(path: Path) -> None:
    text = '{"a": {}, "l": [1]}'
    with pytest.raises(EditRefused, match="there is no such member"):
        remove_member(text, path)
    with pytest.raises(EditRefused, match="there is no such member"):
        rename_member(text, path, "z")


def test_the_document_itself_cannot_be_removed() -> None:
    with pytest.raises(EditRefused, match="an edit needs the path of a member"):
        remove_member("{}", ())


def test_a_renamed_member_keeps_its_position_and_all_around_it() -> None:
    before = '{ // c\n  "a": 1, /* b */ "b" : [ 2 ], "c": 3,\n}'
    after = rename_member(before, ("b",), 'b"2')
    assert after == '{ // c\n  "a": 1, /* b */ "b\\"2" : [ 2 ], "c": 3,\n}'
    assert rename_member(after, ('b"2',), "b") == before
    assert rename_member(before, ("b",), "b") == before


def test_all_duplicates_are_renamed() -> None:
    text = '{"a": 1, "b": 2, "a": 3}'
    assert rename_member(text, ("a",), "c") == '{"c": 1, "b": 2, "c": 3}'


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(EditRefused, match=r'^a: a member "b" already exists$'):
        rename_member('{"a": 1, "b": 2}', ("a",), "b")


def test_an_element_cannot_be_renamed() -> None:
    with pytest.raises(EditRefused, match=r"^\[0\]: an element of an array has no name$"):
        rename_member("[1]", (0,), "b")


def test_a_broken_text_is_not_edited() -> None:
    with pytest.raises(DocumentBroken, match="expected a value"):
        remove_member('{"a": }', ("a",))


@pytest.mark.parametrize("levels", [200, 10_000])
def test_a_bottomless_text_is_not_edited(levels: int) -> None:
    text = '{"a": 1, "b": ' + "[" * levels + "]" * levels + "}"
    with pytest.raises(DocumentBroken, match="nested too deeply"):
        remove_member(text, ("a",))


TEXT = '{"a": 1, "b": 2}'
GOOD = JsoncEdit(
    read(TEXT), TEXT, ("b",), (14, 15), '{"a": 1, "b": 3}', {"a": 1, "b": 3}, (("b",),)
)


def test_the_guard_lets_a_right_edit_pass() -> None:
    assert GOOD.guarded() == '{"a": 1, "b": 3}'


@pytest.mark.parametrize(
    "edited",
    [
        '{"a": 1, "b": 4}',
        '{"a": 1, "b": 3.0}',
        '{"a":  1, "b": 3}',
        '{"a": 1.0, "b": 3}',
        '{"b": 3, "a": 1}',
        '{"a": 1, "b": }',
        '{"a": 1, "b": 3 /* */}',
        '{"a": 1, "b": 3,}',
    ],
)
def test_the_guard_refuses_all_that_was_not_asked_for(edited: str) -> None:
    with pytest.raises(EditRefused, match=r"^b: the edit would"):
        replace(GOOD, edited=edited).guarded()


def test_the_guard_does_not_count_a_byte_twice() -> None:
    text = '{"a": 1111}'
    edit = JsoncEdit(read(text), text, ("a",), (9, 9), '{"a": 111}', {"a": 111}, (("a",),))
    with pytest.raises(EditRefused, match="exactly what was asked"):
        edit.guarded()
