"""The scenarios of the specification about copies, under both matrices."""

import json
import tomllib

import pytest

from mcpyard.domain.errors import DefinitionError
from mcpyard.formats.copying.mapping import Converted, convert
from mcpyard.formats.copying.matrix import ABSENT, SPEC_CLIENTS, SPEC_TABLE, Matrix
from mcpyard.formats.documents import editor_of
from mcpyard.formats.editing import write
from mcpyard.formats.entries import Entry
from mcpyard.formats.entry_list import read
from mcpyard.formats.facts import EntryTransport, Field
from mcpyard.formats.registry import scope_ref_of
from mcpyard.formats.warnings import WarningKind

BOTH = pytest.mark.parametrize("matrix", Matrix)

CLAUDE = """{
  "mcpServers": {
    "x": {
      "command": "npx",
      "args": ["-y", "@acme/files"],
      "env": { "API_KEY": "k", "MODE": "fast" }
    }
  }
}
"""
CODEX = """[mcp_servers.x]
command = "npx"
args = ["-y", "@acme/files"]

[mcp_servers.x.env]
API_KEY = "k"
"""
REMOTE_CODEX = """[mcp_servers.x]
url = "https://docs.example.com/mcp"
bearer_token_env_var = "DOCS_TOKEN"
"""


def copy(text: str, source: str, target: str, matrix: Matrix) -> tuple[str, Converted]:
    listing = read(scope_ref_of(source), text)
    converted = convert(listing.entry("x"), listing.ref, scope_ref_of(target), matrix)
    return write(scope_ref_of(target), "", "x", converted.entry).text, converted


@BOTH
def test_claude_to_codex_turns_the_object_into_tables(matrix: Matrix) -> None:
    text, converted = copy(CLAUDE, "claude", "codex", matrix)
    assert text == (
        "[mcp_servers.x]\n"
        'command = "npx"\n'
        'args = ["-y", "@acme/files"]\n'
        "\n"
        "[mcp_servers.x.env]\n"
        'API_KEY = "k"\n'
        'MODE = "fast"\n'
    )
    assert converted.warnings == ()


@BOTH
def test_codex_to_opencode_joins_command_and_args(matrix: Matrix) -> None:
    text, converted = copy(CODEX, "codex", "opencode", matrix)
    assert json.loads(text)["mcp"]["x"] == {
        "type": "local",
        "command": ["npx", "-y", "@acme/files"],
        "environment": {"API_KEY": "k"},
    }
    assert converted.warnings == ()


def test_a_field_the_destination_cannot_hold_is_told_and_the_copy_completes() -> None:
    text, converted = copy(REMOTE_CODEX, "codex", "opencode", Matrix.SPEC)
    url = "https://docs.example.com/mcp"
    assert json.loads(text)["mcp"]["x"] == {"type": "remote", "url": url}
    [warning] = converted.warnings
    assert (warning.kind, warning.field) == (WarningKind.UNSUPPORTED, "bearer_token_env_var")
    assert converted.left == {"bearer_token_env_var": "DOCS_TOKEN"}


def test_natively_a_token_in_a_variable_becomes_a_header_that_refers_to_it() -> None:
    text, converted = copy(REMOTE_CODEX, "codex", "opencode", Matrix.NATIVE)
    assert json.loads(text)["mcp"]["x"]["headers"] == {"Authorization": "Bearer {env:DOCS_TOKEN}"}
    [warning] = converted.warnings
    assert (warning.kind, warning.field) == (WarningKind.TRANSLATED, "bearer_token_env_var")


SAID = {
    Field.COMMAND: Entry(command="npx"),
    Field.ARGS: Entry(command="npx", args=("-y",)),
    Field.ENV: Entry(command="npx", env={"A": "b"}),
    Field.URL: Entry(url="https://example.com"),
    Field.ENABLED: Entry(command="npx", enabled=False),
    Field.TYPE: Entry(command="npx", type=EntryTransport.STDIO),
    Field.HEADERS: Entry(url="https://example.com", headers={"A": "b"}),
}


@pytest.mark.parametrize("target", SPEC_CLIENTS)
@pytest.mark.parametrize("name", SPEC_TABLE)
def test_each_cell_of_the_matrix_holds(name: Field, target: str) -> None:
    ref = scope_ref_of(target)
    converted = convert(SAID[name], scope_ref_of("yard"), ref, Matrix.SPEC)
    dropped = [each.kind for each in converted.warnings if each.field == name.value]
    if SPEC_TABLE[name][target] == ABSENT:
        assert dropped == [WarningKind.UNSUPPORTED]
        assert name not in converted.entry.set_fields()
        return
    assert dropped == []
    written = editor_of(ref.client).parse(write(ref, "", "x", converted.entry).text).value
    for step in (*ref.shape.keys, "x"):
        assert isinstance(written, dict)
        written = written[step]
    assert isinstance(written, dict)
    word, part, _ = SPEC_TABLE[name][target].partition("[")
    assert word == ref.shape.field_names[name]
    assert word in written
    assert bool(part) == (ref.shape.joined and name in {Field.COMMAND, Field.ARGS})


@pytest.mark.parametrize("target", ["claude", "gemini"])
def test_an_entry_left_with_nothing_is_written_and_told_to_be_unusable(target: str) -> None:
    text, converted = copy(REMOTE_CODEX, "codex", target, Matrix.SPEC)
    assert json.loads(text) == {"mcpServers": {"x": {}}}
    kinds = [each.kind for each in converted.warnings]
    assert kinds.count(WarningKind.UNUSABLE) == 1
    assert {each.field for each in converted.warnings} == {"url", "bearer_token_env_var", ""}


@BOTH
def test_from_opencode_the_first_of_the_list_is_the_command(matrix: Matrix) -> None:
    text = '{"mcp": {"x": {"type": "local", "command": ["npx", "-y", "a"]}}}'
    _, converted = copy(text, "opencode", "codex", matrix)
    assert (converted.entry.command, converted.entry.args) == ("npx", ("-y", "a"))
    text, _ = copy(text, "opencode", "gemini", matrix)
    written = json.loads(text)["mcpServers"]["x"]
    assert (written["command"], written["args"]) == ("npx", ["-y", "a"])


@pytest.mark.parametrize("command", ["[]", '[""]', '[" ", "a"]'])
def test_from_opencode_an_empty_list_is_refused(command: str) -> None:
    text = f'{{"mcp": {{"x": {{"type": "local", "command": {command}}}}}}}'
    listing = read(scope_ref_of("opencode"), text, "opencode.json")
    with pytest.raises(DefinitionError, match=r"mcp\.x\.command: must not be empty"):
        listing.entry("x")


@BOTH
@pytest.mark.parametrize("command", ["", " "])
def test_to_opencode_an_empty_command_is_refused(matrix: Matrix, command: str) -> None:
    with pytest.raises(DefinitionError, match="command: must not be empty"):
        convert(Entry(command=command), scope_ref_of("codex"), scope_ref_of("opencode"), matrix)


@BOTH
@pytest.mark.parametrize("source", ["claude", "gemini", "opencode"])
def test_json_becomes_valid_toml_with_arrays_and_tables(source: str, matrix: Matrix) -> None:
    entry = Entry(command="a b", args=('quo"te', "item2"), env={"KEY": "new\nline"})
    converted = convert(entry, scope_ref_of(source), scope_ref_of("codex"), matrix)
    text = write(scope_ref_of("codex"), 'model = "m"\n', "my.server", converted.entry).text
    assert tomllib.loads(text) == {
        "model": "m",
        "mcp_servers": {
            "my.server": {
                "command": "a b",
                "args": ['quo"te', "item2"],
                "env": {"KEY": "new\nline"},
            }
        },
    }
    assert 'args = ["quo\\"te", "item2"]' in text
    assert '[mcp_servers."my.server".env]' in text


@BOTH
@pytest.mark.parametrize(
    ("target", "keys", "env"),
    [
        ("claude", ("mcpServers",), "env"),
        ("gemini", ("mcpServers",), "env"),
        ("opencode", ("mcp",), "environment"),
    ],
)
def test_toml_becomes_valid_json_with_the_mapped_names(
    target: str, keys: tuple[str, ...], env: str, matrix: Matrix
) -> None:
    text, _ = copy(CODEX, "codex", target, matrix)
    written = json.loads(text)
    for key in keys:
        written = written[key]
    assert written["x"][env] == {"API_KEY": "k"}
    assert written["x"]["command"] in ("npx", ["npx", "-y", "@acme/files"])
