"""The clients whose files are YAML: what is theirs alone."""

import pytest

from mcpyard.domain.errors import DocumentBroken, EditRefused, NameTaken
from mcpyard.formats.editing import remove, rename, write
from mcpyard.formats.entries import Entry
from mcpyard.formats.entry_list import read
from mcpyard.formats.facts import EntryTransport
from mcpyard.formats.registry import scope_ref_of
from mcpyard.formats.switches import set_enabled
from tests.formats.clients.evaluations import states

GOOSE = """extensions:
  developer: {enabled: true, type: builtin, name: developer}
  todo: {enabled: true, type: platform, name: todo, description: ''}
  files:
    enabled: true
    type: stdio
    name: Files
    cmd: npx
    args: []
"""


@pytest.mark.spec("F7.3")
def test_the_built_in_extensions_of_goose_are_left_alone() -> None:
    ref = scope_ref_of("goose")
    assert [each.name for each in read(ref, GOOSE).servers] == ["files"]
    for edit in (lambda: remove(ref, GOOSE, "todo"), lambda: rename(ref, GOOSE, "todo", "x")):
        with pytest.raises(EditRefused, match="is not an MCP server"):
            edit()
    for taken in (
        lambda: write(ref, GOOSE, "developer", Entry(command="x")),
        lambda: rename(ref, GOOSE, "files", "todo"),
    ):
        with pytest.raises(NameTaken):
            taken()


def test_goose_skips_an_entry_that_lacks_what_it_needs() -> None:
    text = GOOSE + "  a: {type: stdio, cmd: x, args: [], name: a}\n"
    text += "  b: {enabled: true, type: streamable_http, uri: https://x, name: b}\n"
    text += "  c: {enabled: true, type: sse, uri: https://x, name: c}\n"
    assert states("goose", {"~/.config/goose/config.yaml": text}) == {
        "user files": "enabled",
        "user a": "invalid",
        "user b": "invalid",
        "user c": "invalid",
    }
    [problem] = read(scope_ref_of("goose"), text).server("a").problems
    assert str(problem).endswith("enabled: is missing; Goose ignores such an entry")


def test_an_entry_of_goose_gets_what_its_new_transport_needs() -> None:
    ref = scope_ref_of("goose")
    entry = Entry(url="https://x.org/mcp", type=EntryTransport.HTTP)
    changed = write(ref, GOOSE, "files", entry).text
    assert read(ref, changed).server("files").problems == ()
    assert 'description: ""' in changed
    assert "name: Files" in changed
    off = set_enabled(ref, changed, "files", enabled=False).text
    assert states("goose", {"~/.config/goose/config.yaml": off}) == {"user files": "disabled"}


def test_a_name_that_goose_repeats_is_renamed_with_its_key() -> None:
    ref = scope_ref_of("goose")
    added = write(ref, GOOSE, "notes", Entry(command="x")).text
    renamed = rename(ref, added, "notes", "memo").text
    assert "  memo:\n    name: memo\n" in renamed
    assert "name: Files" in rename(ref, GOOSE, "files", "archive").text


def test_hermes_reads_yes_and_off_as_switches_and_the_others_as_texts() -> None:
    text = "mcp_servers:\n  a: {command: x, enabled: off}\n  b: {command: x, enabled: yes}\n"
    assert states("hermes", {"~/.hermes/config.yaml": text}) == {
        "user a": "disabled",
        "user b": "enabled",
    }
    text = "mcpServers:\n  - {name: a, command: x, env: {A: on}}\n"
    assert states("continue", {"~/.continue/config.yaml": text}) == {"user a": "enabled"}


def test_a_block_that_continue_fetches_costs_no_server_of_the_file() -> None:
    text = "mcpServers:\n  - uses: acme/memory\n    with: {K: v}\n  - name: a\n    command: x\n"
    assert states("continue", {"~/.continue/config.yaml": text}) == {"user a": "enabled"}
    ref = scope_ref_of("continue")
    assert read(ref, text).problems == ()
    added = write(ref, text, "b", Entry(command="run")).text
    assert added == text + "  - name: b\n    command: run\n"
    assert remove(ref, added, "b").text == text


def test_a_list_that_is_not_there_is_begun() -> None:
    ref = scope_ref_of("continue")
    assert write(ref, "name: x\n", "a", Entry(command="y z")).text == (
        "name: x\nmcpServers:\n  - name: a\n    command: y z\n"
    )
    assert remove(ref, "mcpServers:\n  - name: a\n    command: x\n", "a").text == "mcpServers: []\n"


def test_a_second_document_is_told() -> None:
    text = "mcp_servers:\n  a: {command: x}\n---\nb: 1\n"
    [problem] = read(scope_ref_of("hermes"), text, "f").problems
    assert str(problem) == "f:4:1: a second document begins here; one is expected"


def test_a_file_that_holds_a_list_is_told() -> None:
    with pytest.raises(DocumentBroken, match="expected an object"):
        read(scope_ref_of("hermes"), "- a\n")
