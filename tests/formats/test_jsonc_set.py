"""Setting and adding members: only the member changes, and it takes its neighbours' style."""

import json

import pytest

from mcpyard.domain.errors import EditRefused
from mcpyard.formats.editors.jsonc import Path, remove_member, set_member

SERVER = {"command": "npx", "args": ["-y", "x"], "env": {"A": "b"}}


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ('{"a": 1, "b": 2}', 3, '{"a": 3, "b": 2}'),
        ('{"a" :\t1 , "b": 2}', "x", '{"a" :\t"x" , "b": 2}'),
        ('{"a": 1 /* one */, // b\n "b": 2}', None, '{"a": null /* one */, // b\n "b": 2}'),
        ('{"b": 1.50, "a": {"x": 1}}', True, '{"b": 1.50, "a": true}'),
        ('{"a": 1}', 1.0, '{"a": 1.0}'),
        ('{"a": 1}', True, '{"a": true}'),
        ('{"a": 1}', 10**30, '{"a": 1' + "0" * 30 + "}"),
    ],
)
def test_a_new_value_stands_where_the_old_one_stood(before: str, value: object, after: str) -> None:
    assert set_member(before, ("a",), value) == after


@pytest.mark.parametrize(
    ("value", "after"),
    [
        ({"x": [1, 2.0], "y": True}, '{"a": {"x": [1, 2.0], "y": true}}'),
        ({"x": [True, 2], "y": 1}, '{"a": {"x": [true, 2], "y": 1}}'),
        ({"x": [1, 2], "y": 1.0}, '{"a": {"x": [1, 2], "y": 1.0}}'),
    ],
)
def test_values_that_only_python_takes_for_equal_are_changes(value: object, after: str) -> None:
    assert set_member('{"a": {"x": [1, 2], "y": 1}}', ("a",), value) == after


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1e2}', 100.0),
        ('{"a": "\\u0061\\/"}', "a/"),
        ('{"a": {"x": 1, /* y */ "y": [1,2]}}', {"y": [1, 2], "x": 1}),
        ('{"a": [ ]}', ()),
    ],
)
def test_an_equal_value_changes_no_byte(text: str, value: object) -> None:
    assert set_member(text, ("a",), value) == text


def test_text_is_written_as_it_is_but_for_what_must_be_escaped() -> None:
    after = set_member("{}", ("ключ",), 'é\u2028\U0001f600"\\\n\x1f\x7f\ud800')
    assert after == '{\n  "ключ": "é\u2028\U0001f600\\"\\\\\\n\\u001f\x7f\\ud800"\n}'


def test_the_last_of_duplicate_members_is_the_one_set() -> None:
    assert set_member('{"a": 1, "a": 2}', ("a",), 3) == '{"a": 1, "a": 3}'
    assert set_member('{"a": {"x": 1}, "a": {}}', ("a", "x"), 3) == (
        '{"a": {"x": 1}, "a": {"x": 3}}'
    )


def test_an_object_is_edited_member_by_member() -> None:
    before = """{
  "s": {
    // how it starts
    "command": "npx", // from node
    // no longer needed
    "cwd": "/",
    "args": [
      "-y", // yes
      "old"
    ],
    "env": { "A": "1", "B": "2" } /* secret */
  }
}"""
    after = """{
  "s": {
    // how it starts
    "command": "npx", // from node
    "args": [
      "-y", // yes
      "new"
    ],
    "env": { "A": "1", "B": "3", "C": "4" }, /* secret */
    "timeout": 5
  }
}"""
    value = {
        "timeout": 5,
        "env": {"A": "1", "B": "3", "C": "4"},
        "args": ["-y", "new"],
        "command": "npx",
    }
    assert set_member(before, ("s",), value) == after


def test_comments_in_an_object_that_empties_or_fills_survive() -> None:
    assert set_member('{"a": {/* x */ "b": 1}}', ("a",), {}) == '{"a": {/* x */}}'
    assert set_member('{"a": {/* x */}}', ("a",), {"b": 1}) == '{"a": {/* x */ "b": 1}}'


def test_an_array_that_grows_or_shrinks_at_its_end_keeps_its_comments() -> None:
    text = '{\n  "a": [\n    1, // one\n    2\n  ]\n}'
    longer = '{\n  "a": [\n    1, // one\n    2,\n    3,\n    4\n  ]\n}'
    assert set_member(text, ("a",), [1, 2, 3, 4]) == longer
    assert set_member(longer, ("a",), [1, 2]) == text
    assert set_member('{"a": [1, 2]}', ("a",), []) == '{"a": []}'
    assert set_member('{\n  "a": []\n}', ("a",), [1, 2]) == '{\n  "a": [1, 2]\n}'


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("[ 1,2 ]", "[ 3,4,5 ]"),
        ("[\n    1,\n    2\n  ]", "[\n    3,\n    4,\n    5\n  ]"),
    ],
)
def test_any_other_array_is_written_anew_in_the_style_of_the_old(before: str, after: str) -> None:
    text = '{\n  "a":%s\n}'
    assert set_member(text % before, ("a",), [3, 4, 5]) == text % after


def test_elements_are_set_by_position() -> None:
    assert set_member('{"a": [1, {"b": 2}]}', ("a", 1, "b"), 3) == '{"a": [1, {"b": 3}]}'
    assert set_member("[1, [2]]", (1, 0), [3]) == "[1, [[3]]]"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"a": 1}', '{"a": 1, "n": 2}'),
        ('{"a":1}', '{"a":1,"n":2}'),
        ('{ "a" : 1,  "b" : 1 }', '{ "a" : 1,  "b" : 1,  "n" : 2 }'),
        ('{"a": 1,}', '{"a": 1, "n": 2,}'),
        ('{ "a": 1 /* x */ }', '{ "a": 1 /* x */, "n": 2 }'),
        ('{ "a": 1, /* x */ }', '{ "a": 1, /* x */ "n": 2, }'),
        ('{ "a": 1 // x\n}', '{ "a": 1, // x\n  "n": 2\n}'),
        ('{\n  "a": 1\n}', '{\n  "a": 1,\n  "n": 2\n}'),
        ('{\n\t"a": 1,\n}\n', '{\n\t"a": 1,\n\t"n": 2,\n}\n'),
        ('{\r\n    "a": 1\r\n}', '{\r\n    "a": 1,\r\n    "n": 2\r\n}'),
        ('{\r "a": 1\r}', '{\r "a": 1,\r "n": 2\r}'),
        ('{\n  "a": 1,\r\n  "b": 1\n}', '{\n  "a": 1,\r\n  "b": 1,\r\n  "n": 2\n}'),
        ('\ufeff{"a": 1}', '\ufeff{"a": 1, "n": 2}'),
        ('{\n  "a": 1 // x\n  // end\n}', '{\n  "a": 1, // x\n  "n": 2\n  // end\n}'),
        ('{\n  "a": 1\n  , // c\n}', '{\n  "a": 1\n  , // c\n  "n": 2,\n}'),
        ('{\n  "a":\n    1\n}', '{\n  "a":\n    1,\n  "n": 2\n}'),
        ('{\n"a": {}\n}', '{\n"a": {},\n"n": 2\n}'),
        ("{}", '{\n  "n": 2\n}'),
        ("  {}", '  {\n    "n": 2\n  }'),
        ("{ }", '{ "n": 2 }'),
        ("{// x\n}", '{// x\n  "n": 2\n}'),
        ("{\n  // only\n}", '{\n  "n": 2\n  // only\n}'),
        ("{/* x */}", '{/* x */ "n": 2}'),
        ('{"a": {}}\n', '{"a": {}, "n": 2}\n'),
    ],
)
def test_a_new_member_goes_to_the_end_and_out_again(before: str, after: str) -> None:
    assert set_member(before, ("n",), 2) == after
    assert remove_member(after, ("n",)) == before


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("{\n}", '{\n  "n": 2\n}'),
        ("{\n }", '{\n  "n": 2\n}'),
        ("{\n\n}", '{\n  "n": 2\n}'),
        ("{\r}", '{\r  "n": 2\r}'),
        ("{\n\r}", '{\r  "n": 2\r}'),
        ("\n{\r }", '\n{\r  "n": 2\r}'),
    ],
)
def test_empty_lines_between_brackets_make_room_for_a_new_member(before: str, after: str) -> None:
    assert set_member(before, ("n",), 2) == after
    assert remove_member(after, ("n",)) == before[: before.index("{")] + "{}"


@pytest.mark.parametrize(
    ("before", "path", "after"),
    [
        ('{"s": null}', ("s", "x"), '{"s": {"x": 1}}'),
        ('{\n  "s": null // off\n}', ("s", "x"), '{\n  "s": {\n    "x": 1\n  } // off\n}'),
        ('{"l": [null], "z": 0}', ("l", 0, "a", "b"), '{"l": [{"a": {"b": 1}}], "z": 0}'),
    ],
)
def test_an_object_takes_the_place_of_null(before: str, path: Path, after: str) -> None:
    assert set_member(before, path, 1) == after


@pytest.mark.parametrize(
    ("before", "new", "after"),
    [
        (
            '[\n    "a", // of a\n    "b", // of b\n    "c" // of c\n  ]',
            ["a", "c"],
            '[\n    "a", // of a\n    "c" // of c\n  ]',
        ),
        (
            '[\n    // above a\n    "a",\n    // above b\n    "b",\n    "c"\n  ]',
            ["b", "c"],
            '[\n    // above b\n    "b",\n    "c"\n  ]',
        ),
        ('["a", /* b */ "b", "c", "d"]', ["b", "d"], '[ /* b */ "b", "d"]'),
        ('["a", "b" /* b */, "c"]', ["a", "x", "y", "b", "c"], '["a", "x", "y", "b" /* b */, "c"]'),
        (
            '[\n    "a", // of a\n    // above b\n    "b"\n  ]',
            ["a", "x", "b"],
            '[\n    "a", // of a\n    "x",\n    // above b\n    "b"\n  ]',
        ),
        ('["a" /* a */, "b", "c" /* c */]', ["x", "c"], '["x" /* a */, "c" /* c */]'),
        ('["a" /* a */, "b"]', ["0", "a", "b"], '["0", "a" /* a */, "b"]'),
    ],
)
def test_comments_stay_beside_the_elements_that_stay(
    before: str, new: list[object], after: str
) -> None:
    text = '{\n  "l": %s\n}'
    assert set_member(text % before, ("l",), new) == text % after


def test_the_indentation_of_the_siblings_counts_more_than_that_of_the_file() -> None:
    before = '{\n  "a": {\n      "b": 1\n  }\n}'
    after = """{
  "a": {
      "b": 1,
      "n": {
          "m": 2
      }
  }
}"""
    assert set_member(before, ("a", "n", "m"), 2) == after


def test_a_new_object_goes_over_several_lines_when_its_siblings_do() -> None:
    siblings = {"servers": {"z": {"args": ["1"]}}}
    before = json.dumps(siblings, indent="\t")
    after = json.dumps({"servers": {**siblings["servers"], "n": SERVER}}, indent="\t")
    assert set_member(before, ("servers", "n"), SERVER) == after


def test_a_new_object_stays_on_one_line_when_its_siblings_do() -> None:
    before = """{
  "servers": {
    "z": { "args": [ "1" ] }, // zed
  }
}"""
    after = """{
  "servers": {
    "z": { "args": [ "1" ] }, // zed
    "n": { "command": "npx", "args": [ "-y", "x" ], "env": { "A": "b" } },
  }
}"""
    assert set_member(before, ("servers", "n"), SERVER) == after


def test_a_minified_text_stays_minified() -> None:
    before = '{"servers":{"z":{}}}'
    after = '{"servers":{"z":{},"n":{"command":"npx","args":["-y","x"],"env":{"A":"b"}}}}'
    assert set_member(before, ("servers", "n"), SERVER) == after


@pytest.mark.parametrize("before", ["{}", '{\n  "servers": {}\n}'])
def test_without_siblings_objects_go_over_several_lines_and_short_arrays_do_not(
    before: str,
) -> None:
    after = """{
  "servers": {
    "n": {
      "command": "npx",
      "args": ["-y", "x"],
      "env": {
        "A": "b"
      }
    }
  }
}"""
    assert set_member(before, ("servers", "n"), SERVER) == after


def test_an_empty_object_fills_in_the_way_of_its_siblings() -> None:
    before = '{\n  "other": {"a": 1},\n  "env": {}\n}'
    after = '{\n  "other": {"a": 1},\n  "env": {"A": "b"}\n}'
    assert set_member(before, ("env", "A"), "b") == after


def test_an_array_of_objects_and_one_too_long_for_a_line_go_over_several_lines() -> None:
    after = set_member("{}", ("n",), [{"a": 1}, [], {}])
    assert after == json.dumps({"n": [{"a": 1}, [], {}]}, indent=2)
    long = ["x" * 30, "y" * 30, "z" * 30]
    assert set_member("{}", ("n",), long) == json.dumps({"n": long}, indent=2)


def test_an_array_that_holds_nothing_teaches_nothing() -> None:
    after = set_member('{\n  "s": "[1",\n  "a": [] // [\n}', ("n",), [1, 2])
    assert after == '{\n  "s": "[1",\n  "a": [], // [\n  "n": [1, 2]\n}'


def test_absent_parents_are_created_and_removing_the_topmost_gives_back_the_text() -> None:
    before = '{\n  "a": 1 // one\n  // end\n}'
    after = set_member(before, ("b", "c", "d"), 2)
    assert after == (
        '{\n  "a": 1, // one\n  "b": {\n    "c": {\n      "d": 2\n    }\n  }\n  // end\n}'
    )
    assert remove_member(after, ("b",)) == before


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ((), "an edit needs the path of a member"),
        (("a", "b"), "a: is neither an object nor an array"),
        (("l", 1), r"l\[1\]: there is no such element in an array of 1"),
        (("l", -1), r"l\[-1\]: there is no such element in an array of 1"),
        (("l", "x"), r"l\.x: there is no such element in an array of 1"),
        ((0,), r"\[0\]: an edit creates objects on its way, but no arrays"),
        (("n", 0), r"n\[0\]: an edit creates objects on its way, but no arrays"),
        (("l", True), "a path is made of names and positions"),
        (("n",) * 101, "n: the path is longer than 100 steps"),
    ],
)
def test_a_path_that_cannot_be_is_refused(path: Path, message: str) -> None:
    with pytest.raises(EditRefused, match=f"^.*{message}$"):
        set_member('{"a": 1, "l": [1]}', path, 2)


def test_a_text_whose_root_is_no_object_is_refused() -> None:
    with pytest.raises(EditRefused, match=r"^is neither an object nor an array$"):
        set_member("1", ("a",), 1)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (float("nan"), "n: nan is not a JSON value"),
        ({"a": [float("-inf")]}, "n: -inf is not a JSON value"),
        ({1: 2}, "n: the name 1 is not a string"),
        ({1, 2}, "n: {1, 2} is not a JSON value"),
        ("\ud83d\ude00", "n: the edit would not give exactly what was asked"),
    ],
)
def test_a_value_that_json_cannot_hold_is_refused(value: object, message: str) -> None:
    with pytest.raises(EditRefused) as caught:
        set_member("{}", ("n",), value)
    assert caught.value.message == message


def test_a_value_nested_too_deeply_is_refused() -> None:
    value: list[object] = []
    value.append(value)
    with pytest.raises(EditRefused, match="more than 100 levels"):
        set_member("{}", ("n",), value)


def test_a_number_that_could_not_be_read_again_is_refused() -> None:
    with pytest.raises(EditRefused, match="n: the number has too many digits"):
        set_member("{}", ("n",), -(10**4300))
    assert set_member("{}", ("n",), 10**4299) == '{\n  "n": 1' + "0" * 4299 + "\n}"
