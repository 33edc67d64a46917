"""`mcpyard.toml`: what it says, and every fault with its line."""

import pytest

from mcpyard.domain.errors import ArgumentsRefused, DocumentBroken
from mcpyard.domain.model import LocalConfig, RemoteConfig, Scope
from mcpyard.yard.sync.source_file import read_source, target_of

GOOD = """
[servers.files]
command = "npx"
args = ["-y", "@acme/files"]
env = { API_KEY = "${FILES_KEY}", MODE = "fast" }

[servers.docs]
url = "https://docs.example/mcp"
headers = { Authorization = "Bearer ${DOCS_TOKEN}" }
enabled = false

[targets.claude]
except = ["docs"]

[targets.codex]
scope = "user"
only = ["f*"]

[targets."gemini:project"]
via = "gateway"
profile = "work"
"""


def faults(text: str, scope: Scope = Scope.PROJECT) -> list[str]:
    with pytest.raises(DocumentBroken) as broken:
        read_source(text, "mcpyard.toml", scope, "/p")
    return [str(each) for each in broken.value.problems]


def test_servers_and_targets_are_read() -> None:
    source = read_source(GOOD, "mcpyard.toml", Scope.PROJECT, "/p")
    files, docs = source.definitions["files"].config, source.definitions["docs"].config
    assert isinstance(files, LocalConfig)
    assert isinstance(docs, RemoteConfig)
    assert not docs.enabled
    claude, codex, gemini = source.targets
    assert (claude.words, claude.only, claude.excluded) == ("claude-code:project", None, ("docs",))
    assert (codex.words, codex.only) == ("codex:user", ("f*",))
    assert (gemini.gateway, gemini.profile) == (True, "work")


def test_the_user_has_targets_only_and_their_first_scope() -> None:
    source = read_source('[targets.claude]\nonly = ["x"]', "f", Scope.USER)
    assert source.targets[0].words == "claude-code:user"
    [fault] = faults('[servers.x]\ncommand = "x"', Scope.USER)
    assert fault.startswith("mcpyard.toml:1:1: servers: belong into the file of a repository")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("servers = 3", "mcpyard.toml:1:11: servers: expected a table, found the number 3"),
        ("[servers.a]\ncommand = 3", "mcpyard.toml:2:11: servers.a.command: "),
        ('[servers.a]\ncommand = "a"\ncolour = 1', "mcpyard.toml:3:10: servers.a.colour: is unk"),
        ("[servers]\na = 3", "mcpyard.toml:2:5: servers.a: expected a table"),
        ("[more]\na = 3", "mcpyard.toml:1:1: more: is unknown; expected servers or targets"),
        ("[targets.nobody]", 'mcpyard.toml:1:1: targets.nobody: "nobody" is unknown'),
        ("[targets.yard]", "mcpyard.toml:1:1: targets.yard: mcpyard itself is where servers come"),
        ('[targets.codex]\nscope = "moon"', "mcpyard.toml:2:9: targets.codex.scope: Codex has no"),
        ("[targets.codex]\nscope = 1", "mcpyard.toml:2:9: targets.codex.scope: expected a string"),
        ('[targets.codex]\nvia = "air"', 'mcpyard.toml:2:7: targets.codex.via: "air" is unknown'),
        ("[targets.codex]\nfor = 1", "mcpyard.toml:2:7: targets.codex.for: is unknown"),
        ('[targets.codex]\nonly = "a"', "mcpyard.toml:2:8: targets.codex.only: expected a list"),
        ('[targets.codex]\nonly = ["a"]', "mcpyard.toml:2:8: targets.codex.only: there is no ser"),
        ('[targets.codex]\n[targets."codex:project"]', "mcpyard.toml:2:1: targets.codex:project"),
        ("[servers.a", "mcpyard.toml:1:11: "),
    ],
)
def test_each_fault_has_its_line_and_field(text: str, expected: str) -> None:
    assert faults(text)[0].startswith(expected), faults(text)


@pytest.mark.parametrize(
    "line",
    [
        'env = { API_KEY = "plain" }',
        'env = { API_KEY = "sk-live-${X}-0123456789" }',
        'env = { API_KEY = "${KEY:-a-default-key}" }',
        'env = { ANY = "ghp_0123456789abcdef0123456789abcdef0123" }',
        'args = ["--api-key", "a1b2c3d4e5f6a1b2c3d4"]',
    ],
)
def test_a_literal_secret_is_refused_and_not_repeated(line: str) -> None:
    [fault] = faults(f'[servers.a]\ncommand = "a"\n{line}')
    assert fault.startswith("mcpyard.toml:3:")
    assert "servers.a." in fault
    assert not any(word in fault for word in ('plain"', "0123456789", "a1b2", "a-default-key"))


def test_a_secret_in_an_address_or_a_header_is_refused() -> None:
    text = '[servers.a]\nurl = "https://h/mcp?api_key=a1b2c3d4e5f6a1b2"\n'
    assert "servers.a.url: " in faults(text)[0]
    text = '[servers.a]\nurl = "https://h/mcp"\nheaders = { Authorization = "Bearer abcdefgh" }\n'
    assert "servers.a.headers.Authorization: a secret cannot" in faults(text)[0]
    text = '[servers.a]\nurl = "https://h/mcp"\noauth = { clientId = "a", clientSecret = "b" }\n'
    assert "servers.a.oauth.clientSecret: " in faults(text)[0]


def test_all_faults_are_told_at_once() -> None:
    assert len(faults("[servers.a]\ncommand = 1\n[servers.b]\nurl = 2\n[targets.x]\n")) == 3


def test_a_target_of_a_repository_is_that_of_the_project_where_there_is_one() -> None:
    assert target_of("codex", "/p", of_project=True).words == "codex:project"
    assert target_of("windsurf", "/p", of_project=True).words == "windsurf:user"
    with pytest.raises(ArgumentsRefused):
        target_of("yard")
