"""Commands that start a server, and install links of Cursor and VS Code, pasted as they are."""

import base64
import json
from urllib.parse import quote

import pytest

from mcpyard.domain.errors import DocumentBroken
from mcpyard.domain.model import LocalConfig, RemoteConfig
from mcpyard.formats.pasting.snippets import Pasted, parse_snippet

VSCODE = "vscode:mcp/install?"
CURSOR = "cursor://anysphere.cursor-deeplink/mcp/install"
NPX = {"command": "npx", "args": ["-y", "pkg"], "env": {"K": "v"}}


def only(text: str) -> Pasted:
    snippet = parse_snippet(text)
    assert snippet.problems == ()
    (server,) = snippet.servers
    return server


def local(text: str) -> tuple[str, list[str], dict[str, str]]:
    server = only(text)
    assert isinstance(server.config, LocalConfig)
    return server.name, server.config.command, server.config.environment


def refusal(text: str) -> str:
    with pytest.raises(DocumentBroken) as caught:
        parse_snippet(text)
    return str(caught.value)


def base64_of(value: object) -> str:
    return base64.b64encode(json.dumps(value).encode()).decode()


def json_of(value: object) -> str:
    return quote(json.dumps(value), safe="")


@pytest.mark.parametrize(
    ("line", "name", "environment"),
    [
        ("npx -y @modelcontextprotocol/server-filesystem /tmp", "filesystem", {}),
        ("$ npx other mcp add api", "other", {}),
        ("uvx mcp-server-git --repository .", "git", {}),
        ("uv --directory /srv/weather run server.py", "weather", {}),
        ("pipx run mcp-server-time", "time", {}),
        ("/usr/bin/python3 server.py", "server", {}),
        ("API_KEY=abc npx -y tavily-mcp@0.2", "tavily", {"API_KEY": "abc"}),
        ("docker mcp gateway run", "mcp", {}),
        ("podman run --rm -i quay.io/team/files@sha256:1 stdio", "files", {}),
        ("github-mcp-server stdio", "github", {}),
        ("API_KEY=abc mcp-grafana --debug", "grafana", {"API_KEY": "abc"}),
        ("/usr/local/bin/mcp-grafana", "grafana", {}),
    ],
)
def test_a_command_that_starts_a_server_is_that_server(
    line: str, name: str, environment: dict[str, str]
) -> None:
    words = line.removeprefix("$ ").removeprefix("API_KEY=abc ").split()
    assert local(line) == (name, words, environment)


def test_a_variable_that_docker_passes_on_is_read_from_mcpyards_environment() -> None:
    line = (
        "GITHUB_HOST=h docker run -i --rm -e TOKEN -eSHORT --env=LONG -e SET=1 -e GITHUB_HOST"
        " --name gh -v/a:/b --mount type=bind ghcr.io/github/github-mcp-server:1.2 stdio"
    )
    name, command, environment = local(line)
    assert name == "github-mcp-server"
    assert command[-2:] == ["ghcr.io/github/github-mcp-server:1.2", "stdio"]
    names = {each: f"${{{each}}}" for each in ("TOKEN", "SHORT", "LONG")}
    assert environment == {"GITHUB_HOST": "h", **names}
    assert "TOKEN: is read from mcpyard's environment, as ${TOKEN}" in map(str, only(line).left_out)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("npm install x", '"npm" starts no server this way; expected npm exec or npm x'),
        ("docker ps", '"docker" starts no server this way; expected docker run or docker mcp'),
        ("uvx --help", '"uvx" starts no server this way; expected uvx with a package'),
        ("docker run -i --name", "has no image to run"),
        ("npx -y @smithery/cli@latest install x", '"npx @smithery/cli" is not a command that adds'),
        ("npx add-mcp https://h/mcp", '"npx add-mcp" is not a command that adds a server'),
        ("npx @modelcontextprotocol/inspector npx -y x", "is not a command that adds a server"),
        (
            "npx -y pkg \u2014port 1",
            '"\u2014port" begins with \u2014, which no program reads',
        ),
        ("npx -y pkg && curl https://h", '"curl https://h" is not a command that adds a server'),
    ],
)
def test_what_starts_no_server_is_an_error_that_names_it(line: str, message: str) -> None:
    if "&&" in line:
        (problem,) = parse_snippet(line).problems
        assert message in str(problem)
    else:
        assert message in refusal(line)


@pytest.mark.parametrize(
    "link",
    [
        f"{CURSOR}?name=x&config={quote(base64_of(NPX))}",
        f"{CURSOR}?name=x&config={base64_of(NPX).rstrip('=')}",
        f"https://cursor.com/install-mcp?name=x&config={base64_of(NPX)}",
        f"[![Add](https://h/dark.svg)](https://cursor.com/en/install-mcp?name=x&config={base64_of(NPX)})",
        f"vscode:mcp/install?{json_of({'name': 'x', **NPX})}",
        f"vscode-insiders:mcp/install?{json_of({'name': 'x', **NPX, 'inputs': []})}",
        f"https://insiders.vscode.dev/redirect/mcp/install?name=x&config={json_of(NPX)}&quality=insiders",
        f"https://vscode.dev/redirect?url={quote(VSCODE + json_of({'name': 'x', **NPX}), safe='')}",
        f"{CURSOR}?name=x&config={base64_of({'command': 'npx -y pkg', 'env': {'K': 'v'}})}",
    ],
)
def test_an_install_link_is_the_server_that_it_installs(link: str) -> None:
    assert local(link) == ("x", ["npx", "-y", "pkg"], {"K": "v"})
    assert local(f"Click:\n{link}\n\nor again {link}") == local(link)


def test_an_install_link_of_a_remote_server_keeps_its_headers() -> None:
    config = {"type": "http", "url": "https://h/mcp", "headers": {"Authorization": "Bearer x"}}
    server = only(f"https://cursor.com/install-mcp?name=far&config={base64_of(config)}")
    assert isinstance(server.config, RemoteConfig)
    assert server.config.headers == {"Authorization": "Bearer x"}


def test_what_vs_code_would_ask_for_becomes_a_variable() -> None:
    config = {
        "name": "gh",
        "command": "npx",
        "args": ["pkg", "--key=${input:2nd key}"],
        "env": {"T": "${input:github token}"},
    }
    assert "env.N: expected a string" in refusal(
        f"vscode:mcp/install?{json_of({**config, 'env': {'N': 1}})}"
    )
    server = only(f"vscode:mcp/install?{json_of(config)}")
    assert isinstance(server.config, LocalConfig)
    assert server.config.args == ["pkg", "--key=${INPUT_2ND_KEY}"]
    assert server.config.environment == {"T": "${GITHUB_TOKEN}"}
    assert [each.field for each in server.left_out] == ["args", "env.T"]


@pytest.mark.parametrize(
    ("link", "message"),
    [
        (f"{CURSOR}?name=x", "the install link has no config"),
        (f"{CURSOR}?name=x&mode=y", 'the install link has an unknown parameter "mode"'),
        (f"{CURSOR}?name=x&config=%%%", "is not base64 of a JSON text"),
        (f"{CURSOR}?name=x&config={base64_of(1)[:-1]}", "the config of the install link is not"),
        (f"{CURSOR}?name=x&config={base64_of([])}", "the config of the install link is not an"),
        ("vscode:mcp/install?%7Bx", "the config of the install link is not JSON"),
        ("https://vscode.dev/redirect?url=https%3A%2F%2Fh", "that is no install link"),
        (f"{CURSOR}?name=x&config={base64_of({'command': ' '})}", "command"),
    ],
)
def test_a_link_that_cannot_be_taken_says_why(link: str, message: str) -> None:
    assert message in refusal(link)


def test_a_link_inside_too_many_links_is_refused() -> None:
    link = "vscode:mcp/install?" + json_of({"name": "x", **NPX})
    for _ in range(4):
        link = f"https://vscode.dev/redirect?url={quote(link, safe='')}"
    assert "that is no install link" in refusal(link)


def test_json_that_mentions_a_link_is_read_as_json() -> None:
    text = json.dumps({"mcpServers": {"x": {**NPX, "description": f"{CURSOR}?config=1"}}})
    assert local(text)[0] == "x"
