"""Servers in a list, each with its name in it."""

from dataclasses import replace

import pytest

from mcpyard.domain.errors import DocumentBroken, EditRefused
from mcpyard.formats.editing import remove, rename, write
from mcpyard.formats.entries import Entry
from mcpyard.formats.entry_list import read
from mcpyard.formats.facts import Client, FileFormat
from mcpyard.formats.lint import lint
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.formats.registry import client_of, scope_ref_of
from mcpyard.formats.switches import set_enabled
from tests.formats.clients.evaluations import host, texts

VIBE = scope_ref_of("vibe")
RUN = Entry(command="run")


def in_json() -> ClientScopeRef:
    """A client that keeps a list in JSON."""
    client: Client = replace(client_of("kiro"), format=FileFormat.JSONC)
    shape = replace(client.shapes[0], name_key="name")
    return ClientScopeRef(replace(client, shapes=(shape,)), client.scopes[0])


def test_a_list_in_json_is_edited_as_one_in_toml() -> None:
    ref, text = in_json(), '{\n  // mine\n  "mcpServers": []\n}\n'
    one = write(ref, text, "one", RUN).text
    both = write(ref, one, "two", replace(RUN, args=("a",))).text
    assert [each.name for each in read(ref, both).servers] == ["one", "two"]
    assert read(ref, both).entry("two").args == ("a",)
    changed = write(ref, both, "two", RUN).text
    assert read(ref, changed).entry("two") == RUN
    renamed = rename(ref, both, "one", "first").text
    assert [each.name for each in read(ref, renamed).servers] == ["first", "two"]
    assert "// mine" in renamed
    assert read(ref, remove(ref, both, "one").text).entry("two").args == ("a",)


def test_a_new_list_in_json_is_made() -> None:
    written = write(in_json(), "", "one", RUN).text
    assert read(in_json(), written).entry("one") == RUN


def test_a_server_of_a_list_is_switched() -> None:
    text = '[[mcp_servers]]\nname = "x"\ntransport = "stdio"\ncommand = "run"\n'
    off = set_enabled(VIBE, text, "x", enabled=False).text
    assert off == text + "disabled = true\n"
    assert set_enabled(VIBE, off, "x", enabled=True).text == text + "disabled = false\n"


def test_what_has_no_name_or_that_of_another_is_told_with_its_place() -> None:
    text = (
        'mcp_servers = [\n  {command = "a"},\n  {name = "x", transport = "stdio", command = "b"},\n'
        '  {name = "x"},\n  3,\n  {name = ""},\n]\n'
    )
    listing = read(VIBE, text, "f")
    assert [each.name for each in listing.servers] == ["x"]
    assert [str(each) for each in listing.problems] == [
        "f:2:3: mcp_servers[0].name: is missing; expected a string",
        'f:4:3: mcp_servers[2].name: "x" is used twice',
        "f:5:3: mcp_servers[3].name: is missing; expected a string",
        "f:6:3: mcp_servers[4].name: is missing; expected a string",
    ]


def test_an_entry_of_a_list_is_told_by_name_with_its_place() -> None:
    text = '[[mcp_servers]]\nname = "x"\ntransport = "stdio"\ncommand = 5\n'
    [server] = read(VIBE, text, "f").servers
    assert [str(each) for each in server.problems] == [
        "f:4:11: mcp_servers.x.command: expected a list of strings, found the number 5"
    ]
    findings = lint(client_of("vibe"), host(), texts({"~/.vibe/config.toml": text}))
    assert [each.place and each.place.line for each in findings] == [4]


def test_what_is_no_list_breaks_the_document() -> None:
    with pytest.raises(DocumentBroken, match="mcp_servers: expected a list, found an object"):
        read(VIBE, "[mcp_servers.x]\na = 1\n")


def test_a_server_that_is_not_in_the_list_is_not_removed() -> None:
    with pytest.raises(EditRefused):
        remove(VIBE, "", "x")
    with pytest.raises(EditRefused):
        rename(VIBE, "", "x", "y")
