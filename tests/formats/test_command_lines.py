"""Commands that a server's documentation prints, pasted as they are."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcpyard.domain.errors import DocumentBroken
from mcpyard.domain.model import (
    Config,
    LocalConfig,
    OAuthClient,
    RemoteConfig,
    ToolPolicy,
    Transport,
)
from mcpyard.formats.pasting.snippets import Snippet, parse_snippet

SENTRY = RemoteConfig(
    url="https://mcp.sentry.dev/mcp",
    transport=Transport.HTTP,
    headers={"Authorization": "Bearer x"},
)
URL = "https://mcp.sentry.dev/mcp"
ENTRY = json.dumps(
    {"name": "sentry", "type": "http", "url": URL, "headers": {"Authorization": "Bearer x"}}
)
ESCAPED = ENTRY.replace('"', r"\"")
AUTH = '"Authorization: Bearer x"'


def remote(**fields: object) -> RemoteConfig:
    return RemoteConfig.model_validate({"url": "https://h", "transport": Transport.HTTP} | fields)


def only(text: str) -> tuple[str, Config, list[str]]:
    """The one server of a text that holds nothing else: its name, itself, what was left out."""
    snippet = parse_snippet(text)
    assert snippet.problems == ()
    (server,) = snippet.servers
    return server.name, server.config, [str(each) for each in server.left_out]


def refusal(text: str) -> str:
    with pytest.raises(DocumentBroken) as caught:
        parse_snippet(text)
    return str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        f"claude mcp add --transport http sentry {URL} --header {AUTH}",
        f"claude mcp add --transport http --header {AUTH} sentry {URL}",
        f"claude mcp add --transport http sentry --header {AUTH} {URL}",
        f"claude mcp add sentry {URL} -t http -H {AUTH} -s user",
        f"claude mcp add sentry {URL} --header={AUTH} --transport=http --scope=project",
        f"claude mcp add -thttp -H{AUTH} sentry {URL}",
        f"claude mcp add -s local sentry {URL} -H 'Authorization:Bearer x'",
        f"claude mcp add --transport http sentry -- {URL}".replace("--t", f"--header {AUTH} --t"),
        f"claude mcp add --transport http sentry \\\n  {URL} \\  \n  --header {AUTH}",
        f"$ claude mcp add --transport http sentry \\\n> {URL} \\\n> --header {AUTH}",
        f"% claude mcp add -t http sentry {URL} -H {AUTH} # the token is yours",
        f"# Sentry\r\nclaude mcp add -t http sentry {URL} -H {AUTH}\r\n",
        f"npx -y @anthropic-ai/claude-code mcp add -t http sentry {URL} -H {AUTH}",
        f"bunx @anthropic-ai/claude-code@latest mcp add sentry {URL} -H {AUTH}",
        f"pnpm dlx @google/gemini-cli mcp add sentry {URL} -t http -H {AUTH}",
        f"/usr/local/bin/claude mcp add sentry {URL} -H {AUTH}",
        f"gemini mcp add --transport http --header {AUTH} sentry {URL}",
        f"qwen mcp add sentry {URL} -H {AUTH}",
        f"copilot mcp add --transport http sentry {URL} --header {AUTH} --tools '*' --json",
        f"opencode mcp add sentry --url {URL} --header 'Authorization=Bearer x'",
        f"claude mcp add-json sentry --scope user '{ENTRY}'".replace('"name": "sentry", ', ""),
        f"code --add-mcp '{ENTRY}'",
        f'code-insiders --profile work --add-mcp="{ESCAPED}"',
        f"code --add-mcp '{ESCAPED}'",
    ],
)
def test_a_header_is_kept_wherever_it_stands(line: str) -> None:
    assert only(line) == ("sentry", SENTRY, [])


@pytest.mark.parametrize(
    "line",
    [
        "claude mcp add -e A=1 -e B='x y' fs -- npx -y pkg --port 1",
        "claude mcp add fs -e A=1 --env 'B=x y' -- npx -y pkg --port 1",
        "claude mcp add -e A=1 'B=x y' fs -- npx -y pkg --port 1",
        "claude mcp add fs --env A=1 'B=x y' -- npx -y pkg --port 1",
        "claude mcp add --env=A=1 -eB='x y' fs npx -y pkg --port 1",
        "claude mcp add -e A=1 -e 'B=x y' fs npx -- -y pkg --port 1",
        "codex mcp add fs --env A=1 --env 'B=x y' -- npx -y pkg --port 1",
        "codex mcp add --env A=1 --env 'B=x y' fs npx -y pkg --port 1",
        "gemini mcp add -e A=1 -e 'B=x y' fs npx -y pkg --port 1",
        "qwen mcp add --scope user -e A=1 -e 'B=x y' fs npx -- -y pkg --port 1",
        "copilot mcp add fs --type local --env A=1 --env 'B=x y' -- npx -y pkg --port 1",
        "opencode mcp add fs --env A=1 'B=x y' -- npx -y pkg --port 1",
        'npx opencode-ai mcp add fs --env A=1 "B=x\\ y" -- npx -y pkg --port 1'.replace("\\ ", " "),
    ],
)
def test_what_belongs_to_the_command_stays_with_the_command(line: str) -> None:
    command = ["npx", "-y", "pkg", "--port", "1"]
    config = LocalConfig(command=command, environment={"A": "1", "B": "x y"})
    assert only(line) == ("fs", config, [])


@pytest.mark.parametrize(
    ("line", "config"),
    [
        (
            "codex mcp add api --url https://h --bearer-token-env-var TOKEN",
            remote(headers={"Authorization": "Bearer ${TOKEN}"}),
        ),
        (
            "codex mcp add --url https://h api --oauth-client-id me",
            remote(oauth=OAuthClient(client_id="me")),
        ),
        (
            (
                "MCP_CLIENT_SECRET='s t' claude mcp add -t http --client-id me --client-secret"
                " api https://h"
            ),
            remote(oauth={"clientId": "me", "clientSecret": "s t"}),
        ),
        (
            (
                "gemini mcp add api https://h --timeout 5000 --description 'Our API'"
                " --exclude-tools 'a, b'"
            ),
            remote(
                timeout=5000,
                description="Our API",
                tools={"a": ToolPolicy(enabled=False), "b": ToolPolicy(enabled=False)},
            ),
        ),
        (
            "claude mcp add api https://h?a=1&b=2#c",
            remote(url="https://h?a=1&b=2#c"),
        ),
        ("claude mcp add -t http api '${URL}'", remote(url="${URL}")),
        (
            "codex mcp add api npm exec -- pkg",
            LocalConfig(command=["npm", "exec", "--", "pkg"]),
        ),
        (
            'claude mcp add api -- "C:\\my app\\x.exe" \'it\'"\'"\'s\' "" -',
            LocalConfig(command=["C:\\my app\\x.exe", "it's", "", "-"]),
        ),
        (
            'claude mcp add api -- run "a \\"b\\" \\\\ \\\nc" \\$d',
            LocalConfig(command=["run", 'a "b" \\ c', "$d"]),
        ),
        (
            "claude mcp add api -- run '$HOME' '`x`' '$(y)'",
            LocalConfig(command=["run", "$HOME", "`x`", "$(y)"]),
        ),
        (
            "claude mcp add api -- sh -c '|' \"&\" \\>",
            LocalConfig(command=["sh", "-c", "|", "&", ">"]),
        ),
    ],
)
def test_every_option_that_has_a_place_here_is_carried_over(line: str, config: Config) -> None:
    assert only(line) == ("api", config, [])


@pytest.mark.parametrize(
    ("line", "warning"),
    [
        ("claude mcp add api https://h -e A=1", "env: does not apply to a remote server"),
        ("claude mcp add -H 'A: b' api -- run", "headers: does not apply to a local server"),
        ("gemini mcp add api https://h --trust", "--trust: not supported by mcpyard"),
        ("gemini mcp add --include-tools a,b api run", "--include-tools: not supported"),
        ("copilot mcp add api https://h --tools a", "--tools: not supported"),
        ("claude mcp add api https://h --callback-port 8080", "--callback-port: not supported"),
        ("codex mcp add api --url https://h --oauth-resource x", "--oauth-resource: not"),
        ("claude mcp add api https://h --client-secret", "--client-secret: prompts for a secret"),
        (
            """claude mcp add-json api '{"type": "http", "url": "https://h"}' --client-secret""",
            "--client-secret: prompts for a secret",
        ),
        ("X=1 claude mcp add api https://h", "X: applies to claude only: dropped"),
        (
            """code --add-mcp '{"name": "api", "command": "x", "args": [], "gallery": true}'""",
            "gallery: is unknown",
        ),
        (
            "claude mcp add api npx pkg -e TOKEN=x",
            "-e: comes after the command and is passed to npx; if it is meant for claude",
        ),
    ],
)
def test_what_cannot_be_carried_over_is_a_warning(line: str, warning: str) -> None:
    _, _, (message,) = only(line)
    assert warning in message


def test_a_variable_of_the_shell_becomes_a_reference_with_a_warning() -> None:
    line = 'claude mcp add -t http api "$BASE/mcp" -H "Authorization: Bearer $TOKEN" -H "X: $TOKEN"'
    name, config, warnings = only(line)
    headers = {"Authorization": "Bearer ${TOKEN}", "X": "${TOKEN}"}
    assert (name, config) == ("api", remote(url="${BASE}/mcp", headers=headers))
    assert warnings == [
        "$BASE: is read from mcpyard's environment, as ${BASE}",
        "$TOKEN: is read from mcpyard's environment, as ${TOKEN}",
    ]


def test_a_url_that_is_left_open_is_told_from_a_command_by_the_transport() -> None:
    _, config, _ = only("claude mcp add api $URL --transport http -H 'X: y'")
    assert config == remote(url="${URL}", headers={"X": "y"})
    _, config, _ = only("claude mcp add api $BIN/server")
    assert config == LocalConfig(command=["${BIN}/server"])
    assert "url: " in refusal("claude mcp add api <URL> --transport http")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("claude mcp add api https://h --colour red", 'the option "--colour" is unknown'),
        ("claude mcp add --colour=red api https://h", 'the option "--colour" is unknown'),
        ("claude mcp add -x api -- run", 'the option "-x" is unknown'),
        ("claude mcp add-json api '{}' -e A=1", 'the option "-e" is unknown'),
        ("claude mcp add api https://h more", '"more" is an unexpected argument after the URL'),
        ("claude mcp add api https://h -- more", '"more" is an unexpected argument after the URL'),
        ("claude mcp add -t http api -- https://h more", '"more" is an unexpected argument'),
        ("claude mcp add api https://h -H Authorization: Bearer x", 'found "Authorization"'),
        ("claude mcp add api https://h -H X", '-H takes "NAME: VALUE" in quotes, found "X"'),
        ("claude mcp add api https://h " + "y" * 50, f'"{"y" * 40}..." is an unexpected argument'),
        ("claude mcp add api https://h --header", "--header needs a value"),
        ("claude mcp add api https://h --header=", "--header needs a value"),
        ("claude mcp add api https://h --header --scope user", "--header needs a value"),
        ("claude mcp add --env -- run", "--env needs a value"),
        ("claude mcp add -t '' api run", "-t needs a value"),
        ("claude mcp add --client-secret=x api https://h", "--client-secret takes no value"),
        ("claude mcp add -e =x api -- run", '-e takes NAME=VALUE, found ""'),
        ("claude mcp add -t ws api wss://h", '-t takes stdio, http or sse, found "ws"'),
        ("claude mcp add -server api -- run", '-s takes local, user or project, found "erver"'),
        ("claude mcp add -t stdio api https://h", "transport stdio cannot be used with a URL"),
        ("claude mcp add api ftp://h", "url: "),
        (
            "codex mcp add api --url https://h -- run",
            '"run" is an unexpected argument after the URL',
        ),
        ("codex mcp add api https://a --url https://b", "has more than one URL or command"),
        (
            "codex mcp add api --url https://h --bearer-token-env-var 'a b'",
            "the name of a variable",
        ),
        ("gemini mcp add --timeout 5s api run", '--timeout takes milliseconds, found "5s"'),
        ("claude mcp add api --", '"api" has neither a command nor a URL'),
        ("claude mcp add -- run", "has no server name"),
        ("claude mcp add 'a\tb' -- run", "the name "),
        ("claude mcp add api -- run | tee log", 'has a "|", which only a shell understands'),
        ('claude mcp add api -- run "$(pwd)"', "has a $(, which only a shell can run"),
        ("claude mcp add api -- run `pwd`", "has a `, which only a shell can run"),
        ("claude mcp add-json api '[]'", "the JSON text is not an object"),
        ("claude mcp add-json api '" + "[" * 100_000 + "'", "the JSON text is nested too deeply"),
        (r"""claude mcp add-json api '{\"a\": }'""", "the JSON text is broken"),
        ("code --add-mcp", "--add-mcp needs a value"),
        ("code --goto x", '`--add-mcp`; "--goto" is unknown'),
        ("code --profile x", "code adds a server with `--add-mcp`"),
        ("npx -y", '"npx" starts no server this way; expected npx with a package'),
    ],
)
def test_whatever_is_left_over_is_named_and_nothing_is_taken(line: str, message: str) -> None:
    refusal_text = refusal("\n# two servers\n" + line)
    assert refusal_text.startswith("the pasted text:3:1: ")
    assert message in refusal_text


def test_a_line_that_cannot_be_taken_costs_only_itself() -> None:
    snippet: Snippet = parse_snippet(
        "claude mcp add a -- x; claude mcp add b -- y && claude mcp add c https://h -q\n"
        "claude mcp add \\\n  a -- z\n"
        "Don't forget:\n"
        "claude mcp list\n"
        "claude mcp add d -- w"
    )
    assert [each.name for each in snippet.servers] == ["a", "b", "d"]
    assert [str(each) for each in snippet.problems] == [
        'line 1: the option "-q" is unknown',
        'line 2: the name "a" is already used on line 1',
        "line 4: has a ' that is never closed",
        "line 5: `claude mcp` adds a server with `add` or `add-json`",
    ]


def test_a_line_with_several_servers_is_taken_whole_or_not_at_all() -> None:
    one, bad = """--add-mcp '{"name": "one", "command": "x"}'""", "--add-mcp '['"
    assert [each.name for each in parse_snippet(f"code {one}").servers] == ["one"]
    assert "the JSON text is broken" in refusal(f"code {one} {bad}")


def test_a_server_without_a_name_gets_one_proposed() -> None:
    name, _, _ = only("""code --add-mcp '{"command": "uvx", "args": ["mcp-server-git"]}'""")
    assert name == "git"


@given(
    st.lists(
        st.sampled_from(
            ["add", "a", "--", "-e", "A=1", "-H", "'X: y'", "https://h", "run", "-q", "--url", "-s"]
        )
        | st.text(alphabet=" \"'\\$`#;|&\n=:x", max_size=6),
        max_size=8,
    ).map(lambda words: "claude mcp add " + " ".join(words))
)
def test_every_line_gives_servers_or_says_why_not(text: str) -> None:
    try:
        outcome: object = parse_snippet(text).servers
    except DocumentBroken as error:
        outcome = [each.place.line for each in error.problems if each.place]
    assert outcome


@pytest.mark.parametrize(
    ("line", "name", "command"),
    [
        ("mcpyard add time -- uvx mcp-server-time", "time", ["uvx", "mcp-server-time"]),
        (
            "mcpyard add --start --wait 5 --env A=b --cwd /srv x -- run --start",
            "x",
            ["run", "--start"],
        ),
        ("amp mcp add x -- npx -y pkg", "x", ["npx", "-y", "pkg"]),
        ("auggie mcp add x -e A=b -- run", "x", ["run"]),
        ('droid mcp add x "npx -y pkg"', "x", ["npx", "-y", "pkg"]),
        ("droid mcp add x npx -y pkg", "x", ["npx", "-y", "pkg"]),
    ],
)
def test_commands_of_more_programs_add_servers(line: str, name: str, command: list[str]) -> None:
    (server,) = parse_snippet(line).servers
    assert isinstance(server.config, LocalConfig)
    assert (server.name, server.config.command) == (name, command)
    assert server.config.environment == ({"A": "b"} if "A=b" in line else {})
    assert server.config.cwd == ("/srv" if "--cwd" in line else None)


def test_remote_servers_are_added_by_commands_of_more_programs() -> None:
    text = """mcpyard add docs https://h/mcp --header 'Authorization: Bearer ${TOKEN}' --no-start
droid mcp add linear https://l/mcp --type http"""
    docs, linear = (each.config for each in parse_snippet(text).servers)
    assert isinstance(docs, RemoteConfig)
    assert isinstance(linear, RemoteConfig)
    assert (docs.url, docs.headers) == ("https://h/mcp", {"Authorization": "Bearer ${TOKEN}"})
    assert linear.url == "https://l/mcp"


@pytest.mark.parametrize(
    "text",
    [
        "```bash\nclaude mcp add x -- uvx y\n```",
        "```\n$ claude mcp add x -- uvx y\n```\n",
        "~~~sh\nclaude mcp add x -- uvx y\n~~~",
        "`claude mcp add x -- uvx y`",
        '```json\n{"mcpServers": {"x": {"command": "uvx", "args": ["y"]}}}\n```',
    ],
)
def test_the_marks_of_markdown_around_a_text_are_passed_over(text: str) -> None:
    (server,) = parse_snippet(text).servers
    assert isinstance(server.config, LocalConfig)
    assert (server.name, server.config.command) == ("x", ["uvx", "y"])


def test_a_fault_between_marks_of_markdown_is_told_with_its_line() -> None:
    assert "the pasted text:3:1: " in refusal("```\nclaude mcp add a\nclaude mcp add b\n```")


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("claude mcp add \u2014transport http x https://h/mcp", "\u2014transport"),
        ("claude mcp add x \u2013e A=b -- run", "\u2013e"),
        ("claude mcp add \u201cx y\u201d -- run", "\u201cx"),
    ],
)
def test_signs_that_a_word_processor_put_in_are_named(line: str, word: str) -> None:
    assert f'"{word}" begins with {word[0]}, which no program reads' in refusal(line)
