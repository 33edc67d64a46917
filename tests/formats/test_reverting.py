"""Taking an edit back out of a text that others changed since."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.formats import line_merge
from mcpyard.formats.documents import JsonEditor, TextEditor, TomlEditor
from mcpyard.formats.line_merge import merged_back
from mcpyard.formats.registry import BUILT_IN
from mcpyard.formats.reverting import EditedText, Reverted, gone_since, reverted

JSON, TOML = JsonEditor(), TomlEditor()
MAPS = {("s",), ("p", "{project}", "s"), ("s", "inner")}


def revert(before: str, after: str, now: str, editor: TextEditor = JSON) -> Reverted:
    return reverted(EditedText(editor, MAPS, before, after), now)


def test_lines_of_an_edit_come_back_among_those_of_others() -> None:
    assert merged_back("a\nb\nc\n", "a\nX\nc\n", "0\na\nX\nc\nd\n") == "0\na\nb\nc\nd\n"
    assert merged_back("a\nb\n", "a\nX\nb\n", "a\nX\nb\nc") == "a\nb\nc"
    assert merged_back("a\nb\nc\n", "a\nc\n", "a\nc\nd\n") == "a\nb\nc\nd\n"
    assert merged_back("a\n1\nb\n2\nc\n", "a\nb\nc\n", "b\na\nb\nc\n") == "b\na\n1\nb\n2\nc\n"
    assert merged_back("a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n") is None


def test_texts_that_have_little_in_common_are_not_put_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(line_merge, "_MOST", 3)
    assert merged_back("a\nb\n", "c\nd\n", "c\nd\n") is None
    assert merged_back("a\n", "b\n", "b\n1\n2\n3\n4\n") == "a\n1\n2\n3\n4\n"


@pytest.mark.parametrize(
    ("before", "after", "now", "expected"),
    [
        # Nobody touched the lines.
        (
            '{\n  "s": {\n    "a": 1 // note\n  }\n}',
            '{\n  "s": {\n    "b": 1 // note\n  }\n}',
            '{\n  "t": 0,\n  "s": {\n    "b": 1 // note\n  }\n}',
            '{\n  "t": 0,\n  "s": {\n    "a": 1 // note\n  }\n}',
        ),
        # One line, which others changed too.
        ('{"s": {}}', '{"s": {"x": 1}}', '{"s": {"x": 1, "y": 2}}', '{"s": {"y": 2}}'),
        ('{"s": {"x": 1}}', '{"s": {}}', '{"s": {"y": 2}}', '{"s": {"y": 2, "x": 1}}'),
        (
            '{"s": {"x": 1}}',
            '{"s": {"x": 3}}',
            '{"t": 0, "s": {"x": 3}}',
            '{"t": 0, "s": {"x": 1}}',
        ),
        (
            '{"s": {"a": 1}}',
            '{"s": {"b": 1}}',
            '{"t": 0, "s": {"b": 1}}',
            '{"t": 0, "s": {"a": 1}}',
        ),
        # What the edit had to make goes with it, unless others use it.
        ("{}", '{"s": {"x": 1}}', '{"t": 0, "s": {"x": 1}}', '{"t": 0}'),
        (
            "{}",
            '{"p": {"/": {"s": {"x": 1}}}}',
            '{"t": 0, "p": {"/": {"s": {"x": 1}}}}',
            '{"t": 0}',
        ),
        ("{}", '{"s": {"x": 1}}', '{"s": {"y": 0, "x": 1}}', '{"s": {"y": 0}}'),
        ('{"s": null}', '{"s": {"x": 1}}', '{"t": 0, "s": {"x": 1}}', '{"t": 0, "s": null}'),
        ('{"s": {}}', '{"s": {"x": 1}}', '{"t": 0, "s": {"x": 1}}', '{"t": 0, "s": {}}'),
        # It is as it was already.
        ('{"s": {}}', '{"s": {"x": 1}}', '{"s": {}, "t": 0}', '{"s": {}, "t": 0}'),
        # What moved from one object to another goes back there.
        (
            '{"s": {"x": 1}}',
            '{"p": {"/": {"s": {"x": 1}}}}',
            '{"t": 0, "p": {"/": {"s": {"x": 1}}}}',
            '{"t": 0, "s": {"x": 1}}',
        ),
        # The lines alone would leave a comma too many.
        (
            '{\n"s": {\n"x": 1,\n"y": 2\n}\n}',
            '{\n"s": {\n"y": 2\n}\n}',
            '{\n"s": {\n}\n}',
            '{\n"s": {\n  "x": 1\n}\n}',
        ),
        (
            '{\n"s": {\n"x": 1\n}\n}',
            '{\n"s": {\n}\n}',
            '{\n"s": {\n"y": 2\n}\n}',
            '{\n"s": {\n"y": 2,\n"x": 1\n}\n}',
        ),
        # Lists of names.
        ('{"l": ["a"]}', '{"l": ["a", "x"]}', '{"l": ["x", "b", "a"]}', '{"l": ["b", "a"]}'),
        ('{"l": ["a", "x"]}', '{"l": ["a"]}', '{"l": ["b"]}', '{"l": ["b", "x"]}'),
        ("{}", '{"l": ["x"]}', '{"l": ["x"], "t": 0}', '{"t": 0}'),
        ("{}", '{"l": ["x"]}', '{"l": ["x", "b"]}', '{"l": ["b"]}'),
        ("{}", '{"l": ["x", "y"]}', '{"l": ["x"], "t": 0}', '{"t": 0}'),
        ('{"l": null}', '{"l": ["x", "y"]}', '{"l": ["y"], "t": 0}', '{"l": null, "t": 0}'),
        ('{"l": ["x"]}', '{"l": []}', '{"l": null, "t": 0}', '{"l": ["x"], "t": 0}'),
        # Maps in maps.
        (
            '{"s": {}}',
            '{"s": {"inner": {"x": 1}}}',
            '{"s": {"inner": {"x": 1}, "y": 2}}',
            '{"s": {"y": 2}}',
        ),
        (
            '{"s": {"inner": {}}}',
            '{"s": {"inner": {"x": 1}}}',
            '{"s": {"inner": {"x": 1, "y": 2}}}',
            '{"s": {"inner": {"y": 2}}}',
        ),
    ],
)
def test_an_edit_goes_and_what_others_wrote_stays(
    before: str, after: str, now: str, expected: str
) -> None:
    assert revert(before, after, now) == Reverted(expected)


@pytest.mark.parametrize(
    ("before", "after", "now", "names"),
    [
        ('{"s": {}}', '{"s": {"x": {"a": 1}}}', '{"s": {"x": {"a": 1, "b": 2}}}', ("s.x",)),
        ('{"s": {"x": {"a": 1}}}', '{"s": {"x": {"a": 2}}}', '{"s": {}}', ("s.x",)),
        ('{"s": {"x": {"a": 1}}}', '{"s": {}}', '{"s": {"x": {"a": 2}}}', ("s.x",)),
        ('{"s": {"x": 1, "y": 2}}', '{"s": {}}', '{"s": {"x": 2, "y": 1}}', ("s.x", "s.y")),
        ('{"m": {"x": {"on": true}}}', '{"m": {"x": {"on": false}}}', '{"m": []}', ("m.x.on",)),
        ('{"l": []}', '{"l": ["x"]}', '{"l": "x"}', ("l",)),
        (
            '{"s": {"x": {"a": 1}}}',
            '{"s": {"x": {"a": 1.0}}}',
            '{"s": {"x": {"a": true}}}',
            ("s.x",),
        ),
    ],
)
def test_what_others_changed_of_an_edit_is_named(
    before: str, after: str, now: str, names: tuple[str, ...]
) -> None:
    assert revert(before, after, now) == Reverted(changed=names)


def test_toml_is_taken_back_by_lines_and_by_entries() -> None:
    before = "# top\n[s.a] # mine\nk = 1\n"
    after = "# top\n[s.a] # mine\nk = 1\n\n[s.x]\nk = nan\n"
    assert revert(before, after, after + "\n[t]\n", TOML).text == before + "\n[t]\n"
    # By others' hand the two are in one table, and so on no lines of their own.
    now = "s = {a = {k = 1}, x = {k = nan}}\n"
    assert revert(before, after, now, TOML).text == "s = {a = {k = 1}}\n"
    assert revert("", "[s.x]\nk = 1\n", "# theirs\n\n[s . x]\nk = 1\n[t]\n", TOML).text == (
        "# theirs\n\n[t]\n"
    )


def test_the_entries_of_a_file_are_found_by_its_name() -> None:
    assert BUILT_IN.entry_maps("/home/me/.codex/config.toml") == {("mcp_servers",)}
    assert BUILT_IN.entry_maps("/moved/config.toml") == {("mcp_servers",)}
    assert ("projects", "{project}", "mcpServers") in BUILT_IN.entry_maps("/home/me/.claude.json")
    assert ("mcpServers",) in BUILT_IN.entry_maps("/anywhere/.mcp.json")
    assert BUILT_IN.entry_maps("/etc/hosts") == frozenset()


NAMES = st.sampled_from(["a", "b", "c", "d"])
ENTRIES = st.fixed_dictionaries(
    {"command": st.sampled_from(["x", "y"])},
    optional={
        "args": st.lists(st.sampled_from(["1", "2"]), max_size=2),
        "env": st.just({"K": "v"}),
    },
)
SERVERS = st.dictionaries(NAMES, ENTRIES, max_size=4)
WAYS = st.sampled_from(["put", "remove", "rename"])
LAYOUTS = st.sampled_from([None, 2, 4])


def changed(editor: TextEditor, text: str, step: tuple[str, str, Any], new: str) -> str:
    """The text after one edit; the same where there is nothing to edit."""
    way, name, entry = step
    present: Any = editor.parse(text).value
    servers = present.get("s", {})
    if way == "put":
        return editor.put(text, ("s", name), entry)
    if name not in servers:
        return text
    if way == "remove":
        return editor.remove(text, ("s", name))
    return text if new in servers else editor.rename(text, ("s", name), new)


@given(SERVERS, LAYOUTS, st.data(), st.booleans())
def test_whatever_others_do_to_other_entries_stays_when_an_edit_goes(
    servers: dict[str, Any], indent: int | None, data: st.DataObject, toml: bool
) -> None:
    editor: TextEditor = TOML if toml else JSON
    before = json.dumps({"t": 0, "s": servers}, indent=indent)
    if toml:
        before = "t = 0\n"
        for name, entry in servers.items():
            before = editor.put(before, ("s", name), entry)
    ours = data.draw(st.sampled_from(["a", "b"]))
    after = changed(editor, before, (data.draw(WAYS), ours, data.draw(ENTRIES)), "our new one")
    now, alone = after, before
    for _ in range(data.draw(st.integers(0, 3))):
        step = data.draw(WAYS), data.draw(st.sampled_from(["c", "d"])), data.draw(ENTRIES)
        now = changed(editor, now, step, "their new one")
        alone = changed(editor, alone, step, "their new one")
    if data.draw(st.booleans()) and not toml:
        now = json.dumps(json.loads(now), indent=3)
    result = reverted(EditedText(editor, MAPS, before, after), now)
    assert result.changed == ()
    expected: Any = copy.deepcopy(editor.parse(alone).value)
    given_back: Any = editor.parse(result.text).value
    assert (given_back.get("s") or {}) == (expected.get("s") or {})
    assert given_back["t"] == 0


@given(SERVERS, LAYOUTS, st.data())
def test_comments_of_others_around_an_edit_stay_to_the_byte(
    servers: dict[str, Any], indent: int | None, data: st.DataObject
) -> None:
    before = json.dumps({"t": 0, "s": servers}, indent=indent)
    after = changed(JSON, before, (data.draw(WAYS), "a", data.draw(ENTRIES)), "new")
    head, tail = "// theirs\n", "\n// theirs too\n"
    assert revert(before, after, head + after + tail).text == head + before + tail


@pytest.mark.parametrize(
    ("before", "after", "now", "gone"),
    [
        ({"a": {"x": 1}}, {"a": {"x": 2}}, {"a": {"x": 2}, "b": 1}, ()),
        ({"a": {"x": 1}}, {"a": {"x": 2}}, {"a": {"x": 1}}, ("a.x",)),
        ({}, {"a": {"x": 2}}, {}, ("a.x",)),
        ({"off": ["p"]}, {"off": ["p", "q"]}, {"off": ["q", "r"]}, ()),
        ({"off": ["p"]}, {"off": ["p", "q"]}, {"off": ["p", "r"]}, ("off",)),
        ({"off": ["p", "q"]}, {"off": ["p"]}, {"off": ["r"]}, ()),
        ({"off": ["p", "q"]}, {"off": ["p"]}, {"off": ["q"]}, ("off",)),
        ({"off": ["p"]}, {"off": ["p", "q"]}, {"off": "all"}, ("off",)),
    ],
)
def test_what_an_edit_left_is_looked_for_in_what_a_text_says_now(
    before: object, after: object, now: object, gone: tuple[str, ...]
) -> None:
    edit = EditedText(JSON, (), json.dumps(before), json.dumps(after))
    assert gone_since(edit, json.dumps(now)) == gone
