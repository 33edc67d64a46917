import re
from dataclasses import replace

import pytest

from mcpyard.domain.errors import (
    DefinitionError,
    DocumentBroken,
    Problem,
    ServerUnknown,
    SourceLocation,
)
from mcpyard.formats.entries import Entry
from mcpyard.formats.entry_list import FileListing, read, read_scopes
from mcpyard.formats.facts import EntryTransport
from mcpyard.formats.registry import scope_ref_of


def read_one(client: str, entry: str) -> tuple[Entry | None, list[str]]:
    keys = {"opencode": "mcp", "codex": "mcp_servers"}.get(client, "mcpServers")
    listing = read(scope_ref_of(client), f'{{"{keys}": {{"x": {entry}}}}}', "f")
    [listed] = listing.servers
    return listed.entry, [f"{each.field}: {each.message}" for each in listed.problems]


def read_toml(body: str) -> FileListing:
    return read(scope_ref_of("codex"), f"[mcp_servers.x]\n{body}\n", "f")


def test_a_server_has_the_place_of_its_name() -> None:
    text = '{\n  "mcpServers": {\n    "x": {"command": "a"}\n  }\n}\n'
    [listed] = read(scope_ref_of("claude"), text, "f.json").servers
    assert listed.place == SourceLocation("f.json", 3, 5)
    [listed] = read(scope_ref_of("codex"), '\n[mcp_servers.x]\ncommand = "a"\n', "f.toml").servers
    assert listed.place == SourceLocation("f.toml", 2, 1)


@pytest.mark.parametrize("text", ["", "\ufeff", " \n", "{}", '{"mcpServers": {}}'])
def test_a_file_without_servers_lists_none(text: str) -> None:
    assert read(scope_ref_of("claude"), text).servers == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "f:1:2: "),
        ("[]", "f:1:1: expected an object, found a list"),
        ('{"mcpServers": []}', "f:1:16: mcpServers: expected an object, found a list"),
        ("null", "f:1:1: expected an object, found null"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(DocumentBroken, match=re.escape(message)):
        read(scope_ref_of("claude"), text, "f")


def test_one_bad_entry_costs_only_itself() -> None:
    text = '{"mcpServers": {"bad": 5, "worse": {"command": 5}, "good": {"command": "a"}}}'
    listing = read(scope_ref_of("claude"), text, "f")
    assert [(each.name, len(each.problems)) for each in listing.servers] == [
        ("bad", 1),
        ("worse", 1),
        ("good", 0),
    ]
    assert listing.entry("good") == Entry(command="a")
    problem = Problem(
        "mcpServers.worse.command",
        "expected a string, found the number 5",
        SourceLocation("f", 1, 37),
    )
    assert listing.server("worse").problems == (problem,)
    assert all(each.enabled for each in listing.servers)
    with pytest.raises(DefinitionError, match=r"f:1:17: mcpServers\.bad: expected an object"):
        listing.entry("bad")
    with pytest.raises(ServerUnknown, match='no server "none" in claude-code:user'):
        listing.server("none")


@pytest.mark.parametrize(
    ("client", "entry", "problem"),
    [
        ("claude", "{}", "command: is missing, and so is url; set one of them"),
        ("claude", '{"url": "u"}', "type: is missing; Claude Code ignores such an entry"),
        (
            "claude",
            '{"type": "tcp", "url": "u"}',
            'type: "tcp" is unknown; expected one of stdio, http',
        ),
        ("claude", '{"type": 5, "url": "u"}', "type: expected a string, found the number 5"),
        ("claude", '{"type": "http", "command": "a"}', 'type: "http" contradicts command'),
        ("claude", '{"type": "stdio", "url": "a"}', 'type: "stdio" contradicts url'),
        ("cursor", '{"command": "a", "url": "u"}', "url: conflicts with command"),
        ("claude", '{"command": "a", "args": "b"}', "args: expected a list of strings"),
        ("claude", '{"command": "a", "args": ["b", 1]}', "args[1]: expected a string"),
        ("claude", '{"command": "a", "env": []}', "env: expected an object of strings"),
        ("claude", '{"command": "a", "env": {"P": 1}}', "env.P: expected a string"),
        ("claude", '{"command": "a", "timeout": "5"}', "timeout: expected a number"),
        ("claude", '{"command": "a", "timeout": true}', "timeout: expected a number, found true"),
        ("claude", '{"command": "a", "timeout": 0}', "timeout: must be greater than 0"),
        ("opencode", '{"command": ["a"]}', "type: is missing; OpenCode ignores"),
        ("opencode", '{"type": "local", "command": "a"}', "command: expected a list of strings"),
        ("opencode", '{"type": "local", "command": ["a"], "enabled": 1}', "enabled: expected true"),
    ],
)
def test_an_entry_its_program_does_not_use_is_listed_with_the_reason(
    client: str, entry: str, problem: str
) -> None:
    _, [message] = read_one(client, entry)
    assert problem in message


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("enabled = false", "command: is missing, and so is url"),
        ('url = "u"\nargs = []', "args: conflicts with url; Codex rejects that"),
    ],
)
def test_codex_tells_what_would_keep_it_from_starting(body: str, problem: str) -> None:
    [listed] = read_toml(body).servers
    assert problem in str(listed.problems[0])


def test_what_the_entry_itself_says_of_being_on_is_read() -> None:
    assert not read_toml('command = "a"\nenabled = false').server("x").enabled
    assert read_one("opencode", '{"enabled": false}') == (Entry(enabled=False), [])
    entry, _ = read_one("kiro", '{"command": "a", "disabled": true}')
    assert entry == Entry(command="a", enabled=False)
    entry, _ = read_one("yard", '{"command": "a", "disabled": true}')
    assert entry == Entry(command="a", enabled=False)


def test_a_field_that_is_null_is_not_there() -> None:
    assert read_one("cursor", '{"command": "a", "env": null}') == (Entry(command="a"), [])


def test_the_yard_reads_a_command_that_is_a_list() -> None:
    entry, problems = read_one("yard", '{"command": ["a", "b"], "environment": {"C": "d"}}')
    assert entry == Entry(command="a", args=("b",), env={"C": "d"})
    assert problems == []


def test_variables_that_only_codex_understands_stay_as_they_are() -> None:
    [listed] = read_toml('command = "a"\nenv_vars = ["A", {name = "B", source = "remote"}]').servers
    assert listed.entry is not None
    assert listed.entry.env_vars is None
    assert listed.entry.unknown == {"env_vars": ["A", {"name": "B", "source": "remote"}]}
    assert listed.problems == ()


def test_times_are_read_in_their_unit() -> None:
    entry = read_toml('command = "a"\nstartup_timeout_sec = 0.1\ntool_timeout_sec = 5').entry("x")
    assert (entry.start_timeout, entry.call_timeout) == (100, 5000)
    assert read_toml('command = "a"\nstartup_timeout_ms = 7').entry("x").start_timeout == 7


def test_an_address_says_by_its_word_how_it_is_reached() -> None:
    assert read_one("gemini", '{"httpUrl": "u"}')[0] == Entry(url="u", type=EntryTransport.HTTP)
    assert read_one("gemini", '{"httpUrl": "u", "type": "sse"}')[0] == Entry(
        url="u", type=EntryTransport.SSE
    )
    assert read_one("qwen", '{"url": "u"}')[0] == Entry(url="u", type=EntryTransport.SSE)


def test_both_shapes_of_opencode_are_told_apart() -> None:
    old = '{"mcp": {"servers": {"type": "local", "command": ["a"]}}}'
    [listed] = read(scope_ref_of("opencode"), old).servers
    assert listed.name == "servers"
    entry = '{"type": "local", "command": ["a"], "timeout": {"request": 5}}'
    new = f'{{"mcp": {{"servers": {{"x": {entry}}}}}}}'
    listing = read(scope_ref_of("opencode"), new)
    assert listing.ref.shape.versions == "2"
    assert listing.entry("x").call_timeout == 5


def test_a_time_that_opencode_cannot_read_is_told() -> None:
    old = '{"mcp": {"x": {"type": "local", "command": ["a"], "timeout": 1.5}}}'
    [listed] = read(scope_ref_of("opencode"), old, "f").servers
    assert str(listed.problems[0]) == "f:1:51: mcp.x.timeout: expected a whole number"
    new = '{"mcp": {"servers": {"x": {"type": "local", "command": ["a"], "timeout": 5}}}}'
    [listed] = read(scope_ref_of("opencode"), new).servers
    assert "expected an object, found the number 5" in listed.problems[0].message


def test_a_comment_that_the_program_cannot_read_is_told() -> None:
    text = '{\n  // mine\n  "mcpServers": {"x": {"command": "a"}}\n}'
    listing = read(scope_ref_of("claude"), text, "f")
    [problem] = listing.problems
    assert str(problem) == "f:2:3: comment: Claude Code cannot read a file with one"
    assert len(listing.servers) == 1
    assert read(scope_ref_of("gemini"), text).problems == ()


def test_a_byte_order_mark_that_the_program_cannot_read_is_told() -> None:
    [problem] = read(scope_ref_of("gemini"), "\ufeff{}", "f").problems
    assert "byte order mark (BOM), which Gemini CLI cannot read" in str(problem)
    assert read(scope_ref_of("claude"), "\ufeff{}").problems == ()


def test_scopes_that_share_a_file_are_listed_from_one_reading() -> None:
    text = """{
      "mcpServers": {"x": {"command": "a"}},
      "projects": {"/srv/it": {"mcpServers": {"y": {"command": "b"}}}}
    }"""
    refs = (scope_ref_of("claude", "/srv/it"), scope_ref_of("claude:local", "/srv/it"))
    user, local = read_scopes(refs, text, "f")
    assert (user, local) == tuple(read(ref, text, "f") for ref in refs)
    assert (user.entry("x"), local.entry("y")) == (Entry(command="a"), Entry(command="b"))


def test_toml_1_1_is_an_error_only_of_a_program_that_reads_toml_1_0_alone() -> None:
    ref = scope_ref_of("codex")
    text = '[mcp_servers]\nx = { command = "a", }\n'
    listing = read(ref, text, "f")
    assert (listing.problems, [each.name for each in listing.servers]) == ((), ["x"])
    older = replace(ref, client=replace(ref.client, toml_1_0=True))
    listing = read(older, text, "f")
    [problem] = listing.problems
    assert str(problem) == (
        "f:2:22: TOML 1.1: Codex reads only TOML 1.0 (invalid initial character for a key part)"
    )
    assert [each.name for each in listing.servers] == ["x"]
    assert read(older, '[mcp_servers.x]\ncommand = "a"\n').problems == ()
    strict = replace(scope_ref_of("claude"), client=replace(ref.client, toml_1_0=True))
    assert read(strict, "").problems == ()


def test_an_entry_that_is_no_object_costs_what_its_program_makes_of_it() -> None:
    text = '{"mcpServers": {"x": 5}}'
    [listed] = read(scope_ref_of("cursor"), text).servers
    assert (listed.entry, listed.alone) == (None, True)
    [listed] = read(scope_ref_of("codex"), "[mcp_servers]\nx = 5\n").servers
    assert (listed.entry, listed.alone) == (None, False)


@pytest.mark.parametrize(
    ("client", "text", "why"),
    [
        ("claude", '{"mcpServers": {"x": {"command": 5}}}', ""),
        ("codex", '[mcp_servers.half]\nargs = ["a"]\n', ""),
        ("codex", '[mcp_servers.x]\ncommand = "a"\n', ""),
        (
            "gemini",
            '\ufeff{"mcpServers": {}}',
            (
                "not loaded until f:1:1 is corrected: "
                "starts with a byte order mark (BOM), which Gemini CLI cannot read"
            ),
        ),
        (
            "codex",
            "mcp_servers = {x = 5}",
            (
                'Codex loads no servers while "x" is invalid: '
                "mcp_servers.x: expected an object, found the number 5"
            ),
        ),
    ],
)
def test_a_listing_tells_why_its_program_loads_nothing(client: str, text: str, why: str) -> None:
    assert read(scope_ref_of(client), text, "f").unread == why
