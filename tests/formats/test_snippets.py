import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.domain.errors import DocumentBroken
from mcpyard.domain.model import Config, LocalConfig, RemoteConfig, Transport
from mcpyard.formats.pasting.snippets import parse_snippet, proposed_name

ECHO = LocalConfig(command=["npx", "-y", "x"])


def servers(text: str) -> dict[str, Config]:
    snippet = parse_snippet(text)
    assert snippet.problems == ()
    return {each.name: each.config for each in snippet.servers}


def broken(text: str) -> str:
    with pytest.raises(DocumentBroken) as caught:
        parse_snippet(text)
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        '{"mcpServers": {"fs": {"command": "npx", "args": ["-y", "x"]}}}',
        '{"servers": {"fs": {"type": "stdio", "command": "npx", "args": ["-y", "x"]}}}',
        '{"mcp": {"fs": {"type": "local", "command": ["npx", "-y", "x"]}}}',
        '{"fs": {"command": "npx", "args": ["-y", "x"]}}',
        '"fs": {"command": "npx", "args": ["-y", "x"]},',
        '\ufeff{"mcpServers": {"fs": {"command": "npx", "args": ["-y", "x"],},}}',
        '[mcp_servers.fs]\ncommand = "npx"\nargs = ["-y", "x"]\n',
        'mcp_servers.fs = {command = "npx", args = ["-y", "x"]}',
        "claude mcp add fs -- npx -y x",
        "$ claude mcp add -s user fs npx -y x",
        "claude mcp add \\\n  --transport stdio fs \\\n  -- npx -y x\n# done",
        """claude mcp add-json fs '{"command": "npx", "args": ["-y", "x"]}'""",
        """claude mcp add-json fs '{\n "command": "npx",\n "args": ["-y", "x"]\n}' -s project""",
        "codex mcp add fs -- npx -y x",
        "gemini mcp add fs npx -y x",
    ],
)
def test_every_way_to_write_a_server_is_understood(text: str) -> None:
    assert servers(text) == {"fs": ECHO}


@pytest.mark.parametrize(
    ("text", "config"),
    [
        (
            "claude mcp add -t http api https://h/mcp",
            RemoteConfig(url="https://h/mcp", transport=Transport.HTTP),
        ),
        (
            "claude mcp add --transport=sse api https://h/sse",
            RemoteConfig(url="https://h/sse", transport=Transport.SSE),
        ),
        (
            'claude mcp add -t http -H "X-Key: a:b" api https://h',
            RemoteConfig(url="https://h", transport=Transport.HTTP, headers={"X-Key": "a:b"}),
        ),
        (
            "claude mcp add api https://h/mcp",
            RemoteConfig(url="https://h/mcp", transport=Transport.HTTP),
        ),
        (
            "codex mcp add api --url https://h/mcp",
            RemoteConfig(url="https://h/mcp", transport=Transport.HTTP),
        ),
        (
            "claude mcp add -e A=1 -e B=x=y api -- run",
            LocalConfig(command=["run"], environment={"A": "1", "B": "x=y"}),
        ),
        (
            '{"mcpServers": {"api": {"httpUrl": "https://h"}}}',
            RemoteConfig(url="https://h", transport=Transport.HTTP),
        ),
        ('{"mcpServers": {"api": {"serverUrl": "https://h"}}}', RemoteConfig(url="https://h")),
        (
            '[mcp_servers.api]\nurl = "https://h"\nhttp_headers = {X = "y"}',
            RemoteConfig(url="https://h", headers={"X": "y"}),
        ),
        (
            (
                '[mcp_servers.api]\nurl = "https://h"\nhttp_headers = {X = "y"}\n'
                'bearer_token_env_var = "TOKEN"\nenv_http_headers = {Z = "OTHER"}'
            ),
            RemoteConfig(
                url="https://h",
                headers={"X": "y", "Authorization": "Bearer ${TOKEN}", "Z": "${OTHER}"},
            ),
        ),
    ],
)
def test_the_words_of_other_programs_are_understood(text: str, config: Config) -> None:
    assert servers(text) == {"api": config}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (
            '{"command": "npx", "args": ["-y", "@scope/server-filesystem@1.2", "/d"]}',
            "filesystem",
        ),
        ('{"command": "uvx", "args": ["mcp-server-git"]}', "git"),
        ('{"command": "python3", "args": ["srv/weather.py"]}', "weather"),
        ('{"command": "uv", "args": ["run", "my-mcp"]}', "my"),
        ('{"command": "npx"}', "npx"),
        ('{"command": "/opt/bin/server-"}', "server-"),
        ('{"url": "https://mcp.linear.app/sse"}', "linear"),
        ('{"url": "http://localhost:3000"}', "localhost"),
        ('{"url": "http://mcp"}', "server"),
    ],
)
def test_an_entry_without_a_name_gets_one_proposed(text: str, name: str) -> None:
    assert [*servers(text)] == [name]


def test_a_name_is_never_empty() -> None:
    assert proposed_name(LocalConfig(command=["/"])) == "server"


def test_a_bad_entry_costs_only_itself() -> None:
    snippet = parse_snippet(
        '{"mcpServers": {"a": {"command": 3}, "b": {"command": "x"},'
        ' "": {"url": 1}, " ": {"command": "x"}, "c": "?"}}'
    )
    assert [each.name for each in snippet.servers] == ["b"]
    assert [each.field for each in snippet.problems] == [
        "mcpServers.a.command",
        "mcpServers.url",
        "mcpServers. ",
        "mcpServers.c",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("  ", "nothing was pasted"),
        ("hello", "the pasted text:1:1: "),
        ("[]", "expected an object with servers"),
        ('{"a": 1}', "contains no server"),
        ("{}", "contains no server"),
        ('{"mcpServers": {\n"a": }}', "the pasted text:2:1: "),
        ("[mcp_servers.fs\n", "is neither JSON nor TOML"),
        ("foo bar baz", '"foo" is neither JSON, TOML, an install link nor a known command'),
        ("curl https://h/i.sh | sh", '"curl" is neither JSON'),
        ("/opt/server --port 1", '"/opt/server" is neither JSON'),
        ("https://h/mcp and more", '"https://h/mcp" is neither JSON'),
        ("https://github.com/a/b", '"https://github.com/a/b" is neither JSON'),
        ("ftp://h/mcp", '"ftp://h/mcp" is neither JSON'),
        ("a: 1", "expected a name in double quotes"),
        ("claude mcp list", "adds a server with `add` or `add-json`"),
        ("claude doctor", '"claude doctor" is not a command that adds a server'),
        ("claude mcp add", "has no server name"),
        ("claude mcp add fs", '"fs" has neither a command nor a URL'),
        ("claude mcp add -e A fs x", "-e takes NAME=VALUE"),
        ("claude mcp add -e", "-e needs a value"),
        ("claude mcp add-json fs", "takes a name and a JSON text"),
        ("claude mcp add-json -s user fs '{'", "the JSON text is broken"),
        ("claude mcp add fs 'x", "has a ' that is never closed"),
        ("claude mcp add a\nclaude mcp add b", "the pasted text:2:1: "),
        ("claude mcp add \\", "has no server name"),
    ],
)
def test_what_cannot_be_understood_is_told_with_its_line(text: str, message: str) -> None:
    assert message in broken(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("https://mcp.sentry.dev/mcp", "sentry"),
        (" http://127.0.0.1:9000/sse?x=1\n", "127"),
        ("`https://api.example.com/mcp`", "example"),
    ],
)
def test_the_address_of_a_server_is_a_server(text: str, name: str) -> None:
    (server,) = parse_snippet(text).servers
    assert isinstance(server.config, RemoteConfig)
    assert (server.name, server.config.url) == (name, text.strip(" \n`"))


@given(st.text(max_size=60) | st.text(max_size=60).map(lambda text: "claude mcp add " + text))
def test_any_text_is_understood_or_refused(text: str) -> None:
    try:
        snippet = parse_snippet(text)
        contents: object = snippet.servers or snippet.problems
    except DocumentBroken as error:
        contents = error.problems
    assert contents


@pytest.mark.parametrize(
    "line",
    ['bearer_token_env_var = "a b"', "bearer_token_env_var = 5", "env_http_headers = {X = 'a b'}"],
)
def test_what_names_no_variable_is_left_out_with_a_warning(line: str) -> None:
    (server,) = parse_snippet(f'[mcp_servers.api]\nurl = "https://h"\n{line}').servers
    assert server.config == RemoteConfig(url="https://h")
    assert [each.field for each in server.left_out] == [line.split(" ", maxsplit=1)[0]]
    assert {*server.left_out} < {*server.warnings}


def test_a_text_that_is_nested_too_deep_is_told_so() -> None:
    with pytest.raises(DocumentBroken, match="nested too deep"):
        parse_snippet("a=" + "[" * 100_000)
