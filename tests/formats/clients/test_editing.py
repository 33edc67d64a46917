import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.domain.errors import DefinitionError, EditRefused, NameRefused, NameTaken
from mcpyard.formats.editing import remove, rename, respell, write
from mcpyard.formats.entries import Entry, spell, understand
from mcpyard.formats.entry_list import read
from mcpyard.formats.facts import EntryTransport, Field
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.registry import scope_ref_of
from tests.conftest import FULL
from tests.formats.clients.making import REFS, entries, reread

CLAUDE, CODEX, GEMINI, OPENCODE, YARD = (
    scope_ref_of(each) for each in ("claude", "codex", "gemini", "opencode", "yard:project")
)

_START = {"2": '{"mcp": {"servers": {}}}'}
"""A new file of OpenCode is in its first shape, so that one in the second must be there."""


def test_a_new_file_gets_what_it_needs() -> None:
    text = write(scope_ref_of("claude:local", "/srv/it"), "", "x", Entry(command="a")).text
    assert json.loads(text) == {"projects": {"/srv/it": {"mcpServers": {"x": {"command": "a"}}}}}
    assert text.endswith("}\n")
    assert write(CODEX, "", "x", Entry(command="a")).text == '[mcp_servers.x]\ncommand = "a"\n'


def test_a_byte_order_mark_stays_in_front() -> None:
    assert write(CLAUDE, "\ufeff", "x", Entry(command="a")).text.startswith("\ufeff{")


def test_an_unknown_field_and_a_comment_survive_a_change() -> None:
    text = '[mcp_servers.x]\ncommand = "a" # why\nrequired = true\n'
    entry = read(CODEX, text).entry("x")
    changed = write(CODEX, text, "x", Entry(command="b", unknown=entry.unknown)).text
    assert changed == '[mcp_servers.x]\ncommand = "b" # why\nrequired = true\n'


def test_an_unknown_field_that_is_no_longer_said_goes() -> None:
    raw = {"command": "a", "alwaysLoad": True, "role": "r"}
    new = Entry(command="a", unknown={"role": "s"})
    assert respell(raw, new, CLAUDE.client, CLAUDE.shape) == {"command": "a", "role": "s"}


def test_the_word_that_stands_there_is_kept() -> None:
    raw = {"httpUrl": "u", "timeout": 5}
    new = Entry(url="v", type=EntryTransport.HTTP, call_timeout=5)
    assert respell(raw, new, GEMINI.client, GEMINI.shape) == {"httpUrl": "v", "timeout": 5}
    raw = {"command": "a", "environment": {"A": "b"}}
    new = Entry(command="a", env={"A": "c"})
    expected = {"command": "a", "environment": {"A": "c"}}
    assert respell(raw, new, YARD.client, YARD.shape) == expected


def test_a_word_that_would_mean_something_else_is_not_kept() -> None:
    raw = {"httpUrl": "u"}
    new = Entry(url="u", type=EntryTransport.SSE)
    assert respell(raw, new, GEMINI.client, GEMINI.shape) == {"url": "u", "type": "sse"}
    raw = {"command": "a", "startup_timeout_ms": 5000}
    new = Entry(command="a", start_timeout=6000)
    expected = {"command": "a", "startup_timeout_sec": 6}
    assert respell(raw, new, CODEX.client, CODEX.shape) == expected


def test_a_command_that_is_a_list_becomes_a_text_when_it_changes() -> None:
    raw = {"command": ["a", "b"], "cwd": "c"}
    unchanged = Entry(command="a", args=("b",), cwd="d")
    expected = {"command": ["a", "b"], "cwd": "d"}
    assert respell(raw, unchanged, YARD.client, YARD.shape) == expected
    changed = Entry(command="a", args=("e",), cwd="c")
    expected = {"command": "a", "cwd": "c", "args": ["e"]}
    assert respell(raw, changed, YARD.client, YARD.shape) == expected


def test_a_type_that_is_needed_comes_with_the_address() -> None:
    new = Entry(url="u")
    assert respell({"command": "a"}, new, CLAUDE.client, CLAUDE.shape) == {
        "type": "http",
        "url": "u",
    }


def test_something_that_is_no_entry_is_replaced_by_one() -> None:
    text = '{"mcpServers": {"x": 5}}'
    assert write(CLAUDE, text, "x", Entry(command="a")).text == (
        '{"mcpServers": {"x": {"command": "a"}}}'
    )


def test_an_entry_that_would_keep_the_program_from_starting_is_refused() -> None:
    with pytest.raises(DefinitionError, match="command: is missing"):
        write(CODEX, "", "x", Entry(enabled=False))
    text = '[mcp_servers.x]\ncommand = "a"\n'
    with pytest.raises(DefinitionError, match="conflicts with command"):
        write(CODEX, text, "x", Entry(command="a", url="u"))
    assert write(CLAUDE, "", "x", Entry()).text == '{\n  "mcpServers": {\n    "x": {}\n  }\n}\n'


def test_half_an_entry_whose_other_half_is_elsewhere_can_be_changed() -> None:
    text = '[mcp_servers.x]\nargs = ["a"]\n'
    assert write(CODEX, text, "x", Entry(args=("b",))).text == '[mcp_servers.x]\nargs = ["b"]\n'


def test_a_name_is_checked_when_it_is_new() -> None:
    with pytest.raises(NameRefused, match='use for example "my-server"'):
        write(CLAUDE, "", "my server", Entry(command="a"))
    text = '{"mcpServers": {"my server": {"command": "a"}, "y": {"command": "b"}}}'
    assert '"c"' in write(CLAUDE, text, "my server", Entry(command="c")).text
    with pytest.raises(NameRefused, match="is not a valid name in Claude Code"):
        rename(CLAUDE, text, "y", "a b")
    with pytest.raises(NameTaken, match='a server "y" already exists'):
        rename(CLAUDE, text, "my server", "y")
    assert rename(CLAUDE, text, "my server", "my server").text == text


def test_case_alone_can_be_changed_where_it_does_not_count() -> None:
    text = '{"mcpServers": {"x": {"command": "a"}}}'
    assert '"X"' in rename(GEMINI, text, "x", "X").text


def test_what_is_not_there_cannot_be_removed() -> None:
    with pytest.raises(EditRefused):
        remove(CLAUDE, '{"mcpServers": {}}', "x")


def test_a_new_file_of_opencode_is_in_the_first_shape() -> None:
    text = write(OPENCODE, "", "x", Entry(command="a", args=("b",), enabled=False)).text
    assert json.loads(text) == {
        "mcp": {"x": {"type": "local", "command": ["a", "b"], "enabled": False}}
    }


@pytest.mark.timeout(300 if FULL else 60)
@given(st.sampled_from(REFS), st.data())
def test_an_entry_that_is_changed_says_what_it_was_changed_to(
    ref: ClientScopeRef, data: st.DataObject
) -> None:
    old, new = data.draw(entries(ref)), data.draw(entries(ref))
    raw = respell(spell(old, ref.shape), new, ref.client, ref.shape)
    understood = understand(raw, ref.client, ref.shape)
    assert understood.problems == ()
    expected, fields = new.set_fields(), understood.entry.set_fields()
    assert understood.entry.way is new.way or Field.TYPE not in expected
    assert {name: fields[name] for name in fields if name is not Field.TYPE} == {
        name: expected[name] for name in expected if name is not Field.TYPE
    }
    assert understood.entry.unknown == new.unknown


@pytest.mark.timeout(300 if FULL else 60)
@given(st.sampled_from(REFS), st.data())
def test_what_is_added_is_read_as_it_was_meant_and_removed_without_a_trace(
    ref: ClientScopeRef, data: st.DataObject
) -> None:
    first, second, added = (data.draw(entries(ref)) for _ in range(3))
    text = _START.get(ref.shape.versions, "")
    text = write(ref, text, "first", first).text
    text = write(ref, text, "second", second).text
    with_added = write(ref, text, "added", added).text
    listing = read(ref, with_added)
    entry = listing.entry("added")
    assert entry == reread(added, ref.client, listing.ref.shape)
    assert (entry.command, entry.url, entry.env) == (added.command, added.url, added.env)
    assert remove(ref, with_added, "added").text == text
    changed = write(ref, with_added, "added", first).text
    assert read(ref, changed).entry("first") == listing.entry("first")
    assert read(ref, changed).entry("second") == listing.entry("second")


@pytest.mark.parametrize(
    ("words", "text", "after"),
    [
        ("claude", '{"mcpServers": null}', '{"mcpServers": {"x": {"command": "a"}}}'),
        ("claude", '{"mcpServers": {"x": null}}', '{"mcpServers": {"x": {"command": "a"}}}'),
        (
            "claude:local",
            '{"projects": null}',
            '{"projects": {"/p": {"mcpServers": {"x": {"command": "a"}}}}}',
        ),
        ("codex", "mcp_servers = {}\n", 'mcp_servers = {x = {command = "a"}}\n'),
    ],
)
def test_null_or_nothing_in_the_place_of_the_servers_can_be_written_to(
    words: str, text: str, after: str
) -> None:
    assert write(scope_ref_of(words, "/p"), text, "x", Entry(command="a")).text == after
