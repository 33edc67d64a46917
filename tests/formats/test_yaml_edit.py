"""Edits of YAML texts that people have, and what is refused."""

import subprocess
import sys

import pytest
import yaml

from mcpyard.domain.errors import DocumentBroken, EditRefused
from mcpyard.formats.editors.jsonc_scan import BOM, Json, Path
from mcpyard.formats.editors.jsonc_values import value_at
from mcpyard.formats.editors.yaml import (
    YamlVersion,
    parse,
    remove_member,
    rename_member,
    set_member,
)
from mcpyard.formats.editors.yaml_faults import fault_of
from mcpyard.formats.editors.yaml_guard import YamlEdit
from mcpyard.formats.editors.yaml_style import text_of
from mcpyard.formats.editors.yaml_values import Tagged, is_text, plain, same, scalar

OLD = YamlVersion.V1_1
SERVER = {"command": "npx", "args": ["-y", "x"]}


@pytest.mark.parametrize(
    ("text", "path", "value", "expected"),
    [
        ("", ("a", "b"), 1, "a:\n  b: 1\n"),
        ("# only", ("a",), 1, "# only\na: 1\n"),
        ("---\n# only\n", ("a",), 1, "---\n# only\na: 1\n"),
        ("---\n---\nb: 1\n", ("a",), 1, "---\na: 1\n---\nb: 1\n"),
        ("{}", ("a",), SERVER, 'a:\n  command: npx\n  args:\n    - "-y"\n    - x'),
        (" {}\n", ("a",), 1, " {a: 1}\n"),
        ("{ }\n", ("a",), 1, "{a: 1 }\n"),
        ("a:\n", ("a", "b"), 1, "a:\n  b: 1\n"),
        ("a: ~ # none\n", ("a", "b"), [1], "a: # none\n  b:\n    - 1\n"),
        ("a:   {}\n", ("a", "b"), 1, "a:   {b: 1}\n"),
        ("a: []\n", ("a", 0), {"k": 1, "m": 2}, "a:\n  - k: 1\n    m: 2\n"),
        ("a: [] # c\n", ("a", 0), 1, "a: # c\n  - 1\n"),
        ("a:\n- [] # c\n", ("a", 0, 0), 1, "a:\n- [1] # c\n"),
        ("a: [1]\n", ("a", 1), "x", "a: [1, x]\n"),
        ("a: [1,]\n", ("a", 1), 2, "a: [1, 2,]\n"),
        ("a: [\n  1, # c\n]\n", ("a", 1), 2, "a: [\n  1, # c\n  2,\n]\n"),
        ("a: [\n  1 # c\n]\n", ("a", 1), 2, "a: [\n  1, # c\n  2\n]\n"),
        ("a: [1, 3]\n", ("a",), [1, 2, 3], "a: [1, 2, 3]\n"),
        ("a: [1, 2, 3]\n", ("a",), [3], "a: [3]\n"),
        ("a: [\n  1,\n  2\n]\n", ("a",), [0, 1, 2], "a: [\n  0,\n  1,\n  2\n]\n"),
        ("a:\n  - 1\n  - 2\n", ("a",), [0, 1, 2], "a:\n  - 0\n  - 1\n  - 2\n"),
        ("a:\n-   x: 1\n", ("a", 1), {"k": 2, "z": 3}, "a:\n-   x: 1\n-   k: 2\n    z: 3\n"),
        ("a:\n-\n", ("a", 1), 2, "a:\n-\n- 2\n"),
        ("a: {b: 1}\n", ("a", "b"), {"c": [1]}, "a: {b: {c: [1]}}\n"),
        ('{"a": "x"}\n', ("b",), {"c": "d"}, '{"a": "x", "b": {"c": "d"}}\n'),
        ("a: {b, c: , d: 1}\n", ("a", "b"), 1, "a: {b: 1, c: , d: 1}\n"),
        ("a: {b, c: , d: 1}\n", ("a", "c"), 1, "a: {b, c: 1 , d: 1}\n"),
        ("a: {b: 1, c: 2}\n", ("a",), {"c": 2, "d": 3}, "a: {d: 3, c: 2}\n"),
        ("a: {? b : 1, ? c : 2}\n", ("a",), {"b": 1}, "a: {? b : 1}\n"),
        ("a: {? b : 1, c: 2}\n", ("a",), {"c": 2}, "a: {c: 2}\n"),
        ("a: [b: 1, c]\n", ("a", 0, "b"), 2, "a: [b: 2, c]\n"),
        ("a: |\n  x\nb: 1\n", ("a",), "z", "a: z\nb: 1\n"),
        ("a: |\n  x\nb: 1\n", ("a",), {"c": 1}, "a:\n  c: 1\nb: 1\n"),
        ("a:\n  b: 1\n", ("a",), "x", "a: x\n"),
        ("a: # c\n  b: 1 # d\n", ("a",), [1], "a: # c\n  - 1\n"),
        ("a: &x # c\n  b: 1\n", ("a",), 2, "a: &x 2 # c\n"),
        ("a: !!map\n  b: 1\n", ("a",), 2, "a: 2\n"),
        ("a: # c\n  x\n", ("a",), 2, "a: # c\n  2\n"),
        ("a:\n  - b: 1\n    c: 2\n", ("a", 0), 3, "a:\n  - 3\n"),
        ("a:\n  - 1 # c\n", ("a", 0), {"b": 1, "c": 2}, "a:\n  - b: 1 # c\n    c: 2\n"),
        ("a:\n  - &x 1\n", ("a", 0), {"b": 1}, None),
        ("a: 'x'\n", ("a",), "it's", "a: 'it''s'\n"),
        ("a: 'x'\n", ("a",), "\n", 'a: "\\n"\n'),
        ("a: &x x\n", ("a",), "z", "a: &x z\n"),
        ("a: {b: &x y}\n", ("a", "b"), "z", "a: {b: &x z}\n"),
        ("a: !!str 5\n", ("a",), "6", 'a: "6"\n'),
        ("a: *x\n", ("a",), 1, None),
        ("b: &x {c: 1}\na: *x\n", ("a",), {"c": 2}, "b: &x {c: 1}\na:\n  c: 2\n"),
        (BOM + "a: 1\r\nz: 0\r\n", ("b",), {"c": 1}, BOM + "a: 1\r\nz: 0\r\nb:\r\n  c: 1\r\n"),
        ("a: 1\r", ("b",), 2, "a: 1\rb: 2\r"),
        ("a: |-\n  x", ("b",), 2, "a: |-\n  x\nb: 2"),
        ("a: |+\n  x\n\n", ("b",), 2, "a: |+\n  x\n\nb: 2\n"),
        ("a: |2\n    x\n", ("b",), 2, "a: |2\n    x\nb: 2\n"),
        ("a: |\nb: 1\n", ("b",), 2, "a: |\nb: 2\n"),
        ("a: 1\n\nb: 2\n", ("c",), 3, "a: 1\n\nb: 2\n\nc: 3\n"),
        ("a:\n    b: {c: 1}\n", ("a", "d"), {"e": 1}, "a:\n    b: {c: 1}\n    d:\n        e: 1\n"),
        ("? a\n: 1\nb: 2\n", ("b",), 3, "? a\n: 1\nb: 3\n"),
        ("? [a, b]\n: 1\nb: 2\n", ("c",), 3, "? [a, b]\n: 1\nb: 2\nc: 3\n"),
        ("a: 1\n...\n# end\n", ("b",), 2, "a: 1\nb: 2\n...\n# end\n"),
        ("a:\n\t- 1\n", ("a",), 1, None),
    ],
)
@pytest.mark.spec("F7.3")
def test_one_member_is_set(text: str, path: Path, value: object, expected: str | None) -> None:
    if expected is None:
        with pytest.raises((EditRefused, DocumentBroken)):
            set_member(text, path, value)
    else:
        assert set_member(text, path, value) == expected


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("# head\na: 1\nb: 2\n", ("a",), "# head\nb: 2\n"),
        ("a: 1\nb: 2\n", ("a",), "b: 2\n"),
        ("a: 1", ("a",), "{}"),
        ("x: 1\n# own\na: 1\n  # deeper\n# others\n", ("a",), "x: 1\n# others\n"),
        ("a:\n  b: 1 # c\nd: 2\n", ("a", "b"), "a: {}\nd: 2\n"),
        ("a: |-\n\nb: 1\n# below\n", ("b",), "a: |-\n# below\n"),
        ("a: {\n b: 1,\n # p\n c: 2, # c\n # q\n}\n", ("a", "c"), "a: {\n b: 1,\n # p\n # q\n}\n"),
        ("a: &x # c\n  b: 1\n", ("a", "b"), "a: &x {} # c\n"),
        ("a:\n- b: 1\n", ("a", 0, "b"), "a:\n- {}\n"),
        ("a:\n- b: 1 # c\n  c: 2\n", ("a", 0, "b"), "a:\n- c: 2\n"),
        ("a:\n- b: 1\n  # of c\n  c: 2\n", ("a", 0, "b"), "a:\n- # of c\n  c: 2\n"),
        ("a: {b: 1}\n", ("a", "b"), "a: {}\n"),
        ("a: {b: 1,}\n", ("a", "b"), "a: {}\n"),
        ("a: {b: 1, c: 2, d: 3}\n", ("a", "c"), "a: {b: 1, d: 3}\n"),
        ("a: {b: 1, c: 2,}\n", ("a", "c"), "a: {b: 1,}\n"),
        ("a: {\n b: 1, # b\n # of c\n c: 2 # c\n}\n", ("a", "b"), "a: {\n # of c\n c: 2 # c\n}\n"),
        ("a: {\n  b: 1, # b\n  c: 2 # c\n}\n", ("a", "c"), "a: {\n  b: 1 # b\n}\n"),
        ("a:\n  - 1\n\n  - 2\n", ("a", 0), "a:\n  - 2\n"),
        ("a: |\n  x\nb: 1", ("b",), "a: |\n  x\n"),
        ("a: |+\n  x\nb: 1\n\n\nc: 1\n", ("b",), "a: |+\n  x\nc: 1\n"),
        ("a: >\n  x\nb: 1\n   \nc: 1\n", ("b",), "a: >\n  x\nc: 1\n"),
        ("a: >\n  x\nb: 1\n    ", ("b",), "a: >\n  x\n"),
        ("a: 1\n---\na: 2\n", ("a",), "{}\n---\na: 2\n"),
    ],
)  # fmt: skip
def test_one_member_is_removed(text: str, path: Path, expected: str) -> None:
    assert remove_member(text, path) == expected


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb:\n\t- 1\n", ":3:1: a tab cannot be used for indentation"),
        ('a: 1\nb: "x\nc: 1\n', ":2:4: the quoted text that begins here does not end"),
        ("a: 1\nb: 2\na: 3\n", ':3:1: the key "a" already stands in line 1'),
        ("a:\n  b: 1\n c: 2\n", "check the indentation"),
        ("a: b: c\n", "a colon with a space cannot stand here"),
        ("a: [1\nb: 2\n", ":2:2"),
        ("a: @b\n", ":1:4: this character cannot begin a value"),
        ("a: \x07\n", ":1:4: the character U+0007 is not allowed"),
        ("a: *b\n", ':1:4: the alias "*b" refers to no anchor'),
        ("a: &b [*b]\n", ':1:8: the alias "*b" refers to what it is a part of'),
        ("a: " + "[" * 101 + "]" * 101, "nested too deeply: more than 100 levels"),
        (
            "a: &x " + "[" * 60 + "]" * 60 + "\nb: " + "[" * 60 + "*x" + "]" * 60,
            "nested too deeply",
        ),
        ("a: " + "1" * 5000 + "\n", ":1:4: 111"),
        ("%YAML 9.9\n---\na\n", ":1:1"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(text: str, problem: str) -> None:
    with pytest.raises(DocumentBroken) as caught:
        set_member(text, ("z",), 1)
    assert problem in str(caught.value)


def test_aliases_that_stand_for_billions_are_refused_at_once() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    with pytest.raises(DocumentBroken, match="aliases stand for more than 100,000 values"):
        parse("\n".join(lines))


@pytest.mark.parametrize(
    ("text", "path", "reason"),
    [
        ("- a\n", ("a",), ":1:1: a: the file holds no map of keys"),
        ("a: &x {b: 1}\nc: *x\n", ("a", "b"), ':2:4: a.b: the alias "*x" elsewhere'),
        ("a: &x {b: 1}\nc: *x\n", ("a", "d"), "the alias"),
        ("a: &x {b: 1}\nc: *x\n", ("c", "b"), ':2:4: c: is an alias of "x"'),
        ("a: !own {b: 1}\n", ("a", "b"), ":1:4: a: is tagged !own"),
        ("a: 1\n", ("a", "b"), ":1:4: a: is neither a map nor a list"),
        ("a: [1]\n", ("a", 3), ":1:4: a[3]: there is no such element in a list of 1"),
        ("a: 1\n", ("b", 0), "creates maps on its way, but no lists"),
        ("a:\n", ("a", 0), "creates maps on its way, but no lists"),
        ("", (0,), "the file holds no list"),
        ("a: 1\n", (), "an edit needs the path of a member"),
        ("a: 1\n", (1.5,), "a path is made of names and positions"),
        ("a: 1\n", ("a",) * 101, "the path is longer than 100 steps"),
        ("a: 1\n", ("\ud800",), "cannot be written as UTF-8"),
        ("a: 1\nb: 'x\u2028y'\n", ("a",), ":2:6: a: U+2028 ends a line in YAML 1.1 only"),
        ("? a\n: 1\n", ("a",), "has a key of its own lines"),
        ("a: |\n  x", ("b",), ":1:4: b: the block scalar at the end of the file has no line end"),
    ],
)  # fmt: skip
def test_what_cannot_be_kept_is_refused(text: str, path: Path, reason: str) -> None:
    with pytest.raises(EditRefused) as caught:
        set_member(text, path, {"new": "value"})
    assert reason in str(caught.value)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("\ud800", "the string cannot be written as UTF-8"),
        (object(), "is not a YAML value"),
        ({1: 2}, "the name 1 is not a string"),
        (Tagged("!own", "x"), "a value tagged !own can only be left as it is"),
    ],
)
def test_a_value_that_yaml_has_not_is_refused(value: object, reason: str) -> None:
    with pytest.raises(EditRefused, match=reason):
        set_member("a: 1\n", ("b",), value)


def test_a_number_of_many_digits_is_refused() -> None:
    with pytest.raises(EditRefused, match="the number has too many digits"):
        set_member("a: 1\n", ("b",), 10**5000)


def test_a_fault_without_a_place_is_told_all_the_same() -> None:
    assert fault_of(yaml.YAMLError(), "") == (0, "cannot be read as YAML")


def test_a_comment_that_a_block_scalar_would_swallow_is_no_loss() -> None:
    with pytest.raises(EditRefused, match=":5:3: the comment below it would become a part"):
        remove_member("a: |\n  x\nb: 1\n\n  # note\nc: 1\n", ("b",))


def test_renames_and_removals_that_are_refused() -> None:
    for function in (
        lambda: remove_member("a: 1\n", ("b",)),
        lambda: rename_member("", ("b",), "c"),
    ):
        with pytest.raises(EditRefused, match="there is no such member"):
            function()
    with pytest.raises(EditRefused, match="an element of a list has no name"):
        rename_member("a: [1]\n", ("a", 0), "b")
    with pytest.raises(EditRefused, match=':2:1: a: "b" already exists'):
        rename_member("a: 1\nb: 2\n", ("a",), "b")
    with pytest.raises(EditRefused, match="cannot be rewritten"):
        rename_member("!!str a: 1\n", ("a",), "b")
    with pytest.raises(EditRefused, match="UTF-8"):
        rename_member("a: 1\n", ("a",), "\udfff")
    assert rename_member("a: 1\n", ("a",), "a") == "a: 1\n"
    assert rename_member("{'a': 1}\n", ("a",), "b: c") == "{'b: c': 1}\n"


def test_members_that_a_merge_key_brings_are_overridden_and_never_taken_away() -> None:
    text = "base: &b {command: npx, args: [x]}\nfiles:\n  <<: *b\n  env: {A: b}\n"
    value = parse(text, version=OLD).value
    merged = {"command": "npx", "args": ["x"], "env": {"A": "b"}}
    assert isinstance(value, dict)
    assert value["files"] == merged
    assert parse(text, version=OLD).place(("files", "command")).line == 3
    assert set_member(text, ("files",), merged, OLD) == text
    changed = set_member(text, ("files",), {**merged, "command": "uvx"}, OLD)
    assert changed == text + "  command: uvx\n"
    with pytest.raises(EditRefused, match="comes from a merge key"):
        set_member(text, ("files",), {"env": {"A": "b"}}, OLD)
    with pytest.raises(DocumentBroken, match="only maps can be merged"):
        parse("a:\n  <<: 1\n", version=OLD)
    assert parse("a:\n  <<: 1\n").value == {"a": {"<<": 1}}
    several = "a: &a {x: 1, y: 1}\nb: &b {x: 2}\nc:\n  <<: [*a, *b]\n  y: 3\n"
    assert value_at(parse(several, version=OLD).value, ("c",)) == {"x": 1, "y": 3}


def test_the_versions_read_plain_words_as_their_programs_do() -> None:
    words = ["yes", "on", "010", "0o10", "1_000", "1:30", "1e3", "~", "True", "0x1F", "-.inf", "+1"]
    both = {word: (scalar(word, OLD), scalar(word, YamlVersion.V1_2)) for word in words}
    assert both == {
        "yes": (True, "yes"),
        "on": (True, "on"),
        "010": (8, 10),
        "0o10": ("0o10", 8),
        "1_000": (1000, "1_000"),
        "1:30": (90, "1:30"),
        "1e3": ("1e3", 1000.0),
        "~": (None, None),
        "True": (True, True),
        "0x1F": (31, 31),
        "-.inf": (float("-inf"), float("-inf")),
        "+1": (1, 1),
    }
    assert str(scalar(".nan", YamlVersion.V1_2)) == "nan"
    for word in (
        *both,
        "2020-01-02",
        "2020-13-45",
        "y",
        "N",
        "no",
        "Off",
        "null",
        "=",
        "<<",
        "",
        "!",
    ):
        written = text_of(word)
        assert written[0] == '"' or is_text(word), word
        assert parse(f"a: {written}\n", version=OLD).value == {"a": word}
        assert parse(f"a: {written}\n").value == {"a": word}
    with pytest.raises(DocumentBroken, match="2020-13-45 is no value"):
        parse("a: 2020-13-45\n", version=OLD)


def test_places_follow_aliases_and_positions() -> None:
    document = parse("a: &x\n  - b: 1\nc: *x\n---\nd\n", file="f")
    assert str(document.place(("a", 0, "b"))) == "f:2:8"
    assert str(document.key_place(("a", 0, "b"))) == "f:2:5"
    assert document.place(("c", 0, "b")).line == 2
    assert document.place(()).line == 1
    assert document.second is not None
    assert document.second.line == 5
    assert document.has(("c", 0))
    assert parse("").place(()).line == 1
    for path in (("z",), ("a", 1), ("a", "b"), ("a", 0, "z"), ("a", 0, "b", "c")):
        with pytest.raises(LookupError):
            document.place(path)
    with pytest.raises(LookupError):
        parse("").place(("a",))


def test_keys_that_are_no_texts_have_names_too() -> None:
    text = "1: a\ntrue: b\n? [x]\n: c\n&k z: d\n*k : e\n"
    with pytest.raises(DocumentBroken, match='the key "z" already stands'):
        parse(text)
    value = parse(text.replace("*k : e\n", "")).value
    assert value == {"1": "a", "true": "b", "[x]": "c", "z": "d"}
    assert parse("a: &k z\nb: {*k : 1}\n").value == {"a": "z", "b": {"z": 1}}


def test_the_guard_refuses_what_the_editor_would_get_wrong() -> None:
    before = parse("a: 1\nb: 'x'\n")
    wrong: tuple[tuple[str, Json, str], ...] = (
        ("a: 2\nb: x\n", {"a": 2, "b": "x"}, "exactly"),
        ("a: 2\nb: 'x' \n", {"a": 2, "b": "x"}, "exactly"),
        ("a: 3\nb: 'x'\n", {"a": 2, "b": "x"}, "exactly"),
        ("a: [\nb: 'x'\n", {"a": 2, "b": "x"}, "would break the file"),
    )
    for edited, intended, reason in wrong:
        with pytest.raises(EditRefused, match=reason):
            YamlEdit(before, edited, intended, ("a",), (3, 4)).guarded()
    assert YamlEdit(before, "a: 2\nb: 'x'\n", {"a": 2, "b": "x"}, ("a",), (3, 4)).guarded()


def test_a_long_file_is_read_by_one_parser_only() -> None:
    text = "a: 1\n" + "# note\n" * 10_000
    assert set_member(text, ("a",), 2) == text.replace("1", "2", 1)


def test_a_text_that_the_parsers_read_differently_is_still_edited() -> None:
    # One of them takes the tab for a separator here, the other for a fault.
    text = "a: 1\nb:\t{c: 1}\n"
    assert set_member(text, ("a",), 2) == text.replace("1", "2", 1)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, "null"),
        (True, "true"),
        (False, "false"),
        (1e22, "1.0e+22"),
        (0.5, "0.5"),
        (float("-inf"), "-.inf"),
        (float("nan"), ".nan"),
        ("\U0001f600\U000e0001", '"\U0001f600\\U000E0001"'),
        ([[1, 2], {}], "\n  - - 1\n    - 2\n  - {}"),
    ],
)
def test_values_are_written_so_that_every_version_reads_them(value: object, written: str) -> None:
    text = set_member("b: 1\n", ("a",), value)
    assert text == "b: 1\na:" + ("" if written[0] == "\n" else " ") + written + "\n"
    assert same(value_at(parse(text, version=OLD).value, ("a",)), value)


def test_values_are_compared_with_their_types() -> None:
    assert same(float("nan"), float("nan"))
    assert not same(1, True)
    assert not same([1], [1.0])
    assert not same({"a": 1}, {"b": 1})
    assert plain((1, 2), ()) == [1, 2]


def test_the_parser_is_loaded_with_the_first_file_that_needs_it() -> None:
    program = (
        "import sys, mcpyard, mcpyard.formats.registry; assert 'yaml' not in sys.modules\n"
        "from mcpyard.formats.documents import editor_for\n"
        "editor_for('x.yaml').parse('a: 1'); assert 'yaml' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        ("{a: }\n", '{a: , "n": 1}\n'),
        ("{\n  a:\n}\n", '{\n  a: ,\n  "n": 1\n}\n'),
    ],
)
def test_a_member_goes_behind_one_without_a_value(text: str, edited: str) -> None:
    assert set_member(text, ("n",), 1) == edited
    assert parse(remove_member(edited, ("n",))).value == {"a": None}
