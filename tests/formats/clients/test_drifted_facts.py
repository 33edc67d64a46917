"""Facts in which today's programs differ from earlier ones."""

import json

import pytest

from mcpyard.domain.errors import DefinitionError
from mcpyard.formats.copying.mapping import convert
from mcpyard.formats.editing import write
from mcpyard.formats.effective import Text, files_of, judge
from mcpyard.formats.entries import Entry
from mcpyard.formats.entry_list import read
from mcpyard.formats.facts import EntryTransport
from mcpyard.formats.locations import candidates
from mcpyard.formats.registry import client_of, scope_ref_of
from mcpyard.formats.switches import switch_location
from tests.formats.clients.evaluations import HOME, host, states

CLINE = scope_ref_of("cline")
NESTED = """{"mcpServers": {"x": {
  "transport": {"type": "stdio", "command": "a", "args": ["b"]},
  "disabled": true
}}}"""


def test_cline_reads_a_launch_that_stands_under_transport() -> None:
    entry = read(CLINE, NESTED).entry("x")
    assert (entry.type, entry.command, entry.args) == (EntryTransport.STDIO, "a", ("b",))
    assert entry.enabled is False
    text = NESTED.replace('"stdio", "command": "a", "args": ["b"]', '"sse", "url": "u"')
    assert read(CLINE, text).entry("x").url == "u"


def test_an_edit_of_a_launch_under_transport_stays_there() -> None:
    entry = read(CLINE, NESTED).entry("x")
    changed = Entry(type=entry.type, command="c", args=entry.args, cwd="/d", enabled=False)
    text = write(CLINE, NESTED, "x", changed).text
    assert read(CLINE, text).entry("x") == changed
    assert '"command": "c"' in text.partition('"disabled"')[0]
    assert '"cwd"' in text.partition('"disabled"')[0]


def test_an_address_without_a_type_is_sse_in_cline() -> None:
    entry = read(CLINE, '{"mcpServers": {"x": {"url": "http://u"}}}').entry("x")
    assert entry.type is EntryTransport.SSE


@pytest.mark.parametrize(("client", "folder"), [("gemini", "~/.gemini"), ("qwen", "~/.qwen")])
def test_a_trailing_comma_is_fatal_and_a_comment_is_not(client: str, folder: str) -> None:
    trust: dict[str, object] = {"~/.gemini/trustedFolders.json": {host().project: "TRUST_FOLDER"}}
    for extra, state in (("// a\n", "enabled"), (",", "invalid")):
        text = f'{{"mcpServers": {{"x": {{"command": "a"}}{extra}}}}}'
        files = {f"{folder}/settings.json": text, **trust}
        assert states(client, files) == {"user x": state}


def test_a_variable_moves_the_home_of_gemini() -> None:
    ref = scope_ref_of("gemini")
    moved = host(GEMINI_CLI_HOME="/other")
    switch = switch_location(ref)
    assert ref.scope.location is not None
    assert switch is not None
    assert candidates(ref.scope.location, moved) == ("/other/.gemini/settings.json",)
    assert candidates(switch, moved) == ("/other/.gemini/mcp-server-enablement.json",)


def test_variables_add_files_of_opencode_that_win() -> None:
    more = host(OPENCODE_CONFIG="/a/own.json", OPENCODE_CONFIG_DIR="/b")
    local = {"type": "local", "command": ["run"]}
    files: dict[str, object] = {
        "~/.config/opencode/opencode.json": {"mcp": {"x": local, "y": local}},
        "/a/own.json": {"mcp": {"x": {"enabled": False}}},
        "/b/opencode.json": {"mcp": {"y": {"enabled": False}}},
    }
    by_path = {path: Text(path, json.dumps(each)) for path, each in files.items()}
    home = f"{HOME}/.config/opencode/opencode.json"
    by_path[home] = Text(home, json.dumps(files["~/.config/opencode/opencode.json"]))
    statuses = judge(client_of("opencode"), more, by_path).statuses
    assert {each.listed.name: str(each.state) for each in statuses} == {
        "x": "disabled",
        "y": "disabled",
    }
    assert all(path in files_of(client_of("opencode"), more) for path in ("/a/own.json",))


def test_a_server_that_is_off_is_copied_to_claudes_user_scope_with_a_warning() -> None:
    copied = convert(
        Entry(command="a", enabled=False), scope_ref_of("codex"), scope_ref_of("claude")
    )
    [warning] = [each for each in copied.warnings if each.field == "enabled"]
    assert warning.kind == "unsupported"
    assert warning.message.endswith("per project, and none is given: written enabled")
    assert copied.entry.enabled is None
    there = scope_ref_of("claude", "/p")
    copied = convert(Entry(command="a", enabled=False), scope_ref_of("codex"), there)
    assert copied.entry.enabled is False


def test_an_empty_command_of_opencode_is_no_server() -> None:
    ref = scope_ref_of("opencode")
    with pytest.raises(DefinitionError, match="must not be empty"):
        read(ref, '{"mcp": {"x": {"type": "local", "command": [""]}}}').entry("x")
