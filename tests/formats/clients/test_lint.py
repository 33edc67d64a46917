from collections.abc import Mapping

import pytest

from mcpyard.domain.errors import Problem, SourceLocation
from mcpyard.formats.finding import RULES, SAYS
from mcpyard.formats.lint import Finding, lint
from mcpyard.formats.registry import CLIENTS, client_of
from mcpyard.formats.texts import Text
from tests.formats.clients.evaluations import HOME, PROJECT, host, texts

LITERAL = "hunter2"


def all_findings(client: str, files: Mapping[str, object]) -> list[Finding]:
    return list(lint(client_of(client), host(), texts(files)))


def only(client: str, entry: object, *, mode: int = 0o600, tracked: bool = False) -> list[Finding]:
    """What is found in the only server of a client's own file."""
    keys = client_of(client).shapes[0].keys
    path = {"codex": "~/.codex/config.toml", "claude": "~/.claude.json"}.get(client)
    path = path or {
        "gemini": "~/.gemini/settings.json",
        "opencode": "~/.config/opencode/opencode.json",
        "cursor": "~/.cursor/mcp.json",
        "zed": "~/.config/zed/settings.json",
        "yard": "./.mcp.json",
    }.get(client, "")
    content = f"[mcp_servers.x]\n{entry}" if client == "codex" else {keys[0]: {"x": entry}}
    files = texts({path: content}, mode, tracked=tracked)
    return list(lint(client_of(client), host(), files))


def codes(findings: list[Finding]) -> list[str]:
    return [f"{each.code} {each.level}" for each in findings]


def test_every_rule_says_something_and_nothing_is_said_of_no_rule() -> None:
    assert {key.partition("/")[0] for key in SAYS} == RULES.keys()


def test_nothing_is_found_where_nothing_is() -> None:
    for client in CLIENTS:
        assert lint(client, host(), {}) == ()


def test_a_comment_in_strict_json_is_an_error_told_once() -> None:
    text = '{\n  // mine\n  "mcpServers": {"x": {"command": "a"}}\n}'
    [finding] = all_findings("claude", {"~/.claude.json": text})
    assert (finding.code, finding.client) == ("not-strict-json", "claude-code")
    assert finding.place == SourceLocation(f"{HOME}/.claude.json", 2, 3)
    assert all_findings("gemini", {"~/.gemini/settings.json": text}) == []


def test_a_byte_order_mark_keeps_gemini_from_reading() -> None:
    text = '\ufeff{"mcpServers": {"x": {"command": "a"}}}'
    assert codes(all_findings("gemini", {"~/.gemini/settings.json": text})) == [
        "byte-order-mark error"
    ]
    assert all_findings("claude", {"~/.claude.json": text}) == []


def test_a_broken_file_is_told_with_its_place_whoever_it_belongs_to() -> None:
    [finding] = all_findings("cursor", {"./.cursor/mcp.json": '{"mcpServers": '})
    assert (finding.code, finding.scope) == ("file-broken", "project")
    assert finding.place == SourceLocation(f"{PROJECT}/.cursor/mcp.json", 1, 16)
    [finding] = all_findings("claude", {"~/.claude/settings.json": "{,}"})
    assert (finding.code, finding.scope) == ("file-broken", "")
    [finding] = all_findings("claude", {"~/.claude.json": {"mcpServers": []}})
    assert finding.message == "mcpServers: expected an object, found a list"
    path = f"{HOME}/.cursor/mcp.json"
    unreadable = {path: Text(path, fault=Problem("", "is a folder"))}
    assert codes(list(lint(client_of("cursor"), host(), unreadable))) == ["file-broken error"]


def test_an_address_without_a_type_is_told_with_what_to_add() -> None:
    [finding] = only("claude", {"url": "https://example.com"})
    assert (finding.code, finding.name) == ("url-without-type", "x")
    assert finding.hint == 'add "type", for example "http"'
    assert only("cursor", {"url": "https://example.com"}) == []


def test_what_else_is_wrong_with_an_entry_is_told() -> None:
    [finding] = only("claude", {"command": 5})
    assert finding.code == "entry-invalid"
    assert finding.message == "mcpServers.x.command: expected a string, found the number 5"
    assert finding.place == SourceLocation(f"{HOME}/.claude.json", 1, 23)
    assert codes(only("claude", 5)) == ["entry-invalid error"]
    assert codes(only("claude", {"type": "http"})) == ["entry-invalid error"]


def test_a_half_that_another_file_completes_is_not_wrong() -> None:
    user = f'[mcp_servers.x]\ncommand = "a"\n[projects."{PROJECT}"]\ntrust_level = "trusted"\n'
    half = "[mcp_servers.x]\nenabled = true\n"
    files = {"~/.codex/config.toml": user, "./.codex/config.toml": half}
    assert codes(all_findings("codex", files)) == ["shadowed info"]


def test_a_field_that_codex_knows_by_another_word_is_told() -> None:
    entry = 'url = "https://example.com"\ntype = "http"\nheaders = {A = "b"}\nrequired = true\n'
    kind, headers = only("codex", entry)
    assert codes([kind, headers]) == ["needless-type info", "ignored-field warning"]
    assert headers.hint == 'rename it to "http_headers"'
    assert headers.place == SourceLocation(f"{HOME}/.codex/config.toml", 4, 11)


def test_a_switch_in_an_entry_that_has_none_is_told_with_the_real_one() -> None:
    [finding] = only("gemini", {"command": "a", "enabled": False, "trust": True})
    assert (finding.code, finding.level) == ("unknown-field", "warning")
    assert finding.hint.endswith("disabled in ~/.gemini/mcp-server-enablement.json")
    [finding] = only("claude", {"command": "a", "disabled": True, "tools": [], "note": 1})
    assert (finding.code, finding.level) == ("ignored-field", "warning")
    [finding] = only("gemini", {"command": "a", "note": 1})
    assert (finding.code, finding.hint) == ("unknown-field", "remove it")


def test_a_field_in_a_form_of_its_own_client_is_left_alone() -> None:
    assert only("codex", 'command = "a"\nenv_vars = [{name = "A", source = "remote"}]\n') == []


def test_an_empty_command_is_told() -> None:
    assert codes(only("codex", 'command = ""\n')) == ["empty-command error"]


@pytest.mark.parametrize(
    ("client", "text", "hint"),
    [
        ("claude", "${env:TOKEN}", "write ${TOKEN}"),
        ("cursor", "{env:TOKEN}", "write ${env:TOKEN}"),
        ("gemini", "{env:TOKEN}", "write ${TOKEN}"),
        ("opencode", "a${TOKEN:-b}", "write {env:TOKEN}"),
        (
            "zed",
            "${TOKEN}",
            "Zed expands no references there; let the server read the variable",
        ),
    ],
)
def test_a_reference_in_another_programs_spelling_is_told(
    client: str, text: str, hint: str
) -> None:
    entry: dict[str, object] = {"command": "a", "args": [text], "cwd": "b"}
    if client == "opencode":
        entry = {"type": "local", "command": ["a", text]}
    findings = [each for each in only(client, entry) if each.code == "foreign-reference"]
    assert [each.hint for each in findings] == [hint]
    assert "TOKEN" in findings[0].message


def test_a_reference_that_codex_leaves_alone_is_told_with_its_own_fields() -> None:
    [finding] = only("codex", 'command = "a"\nenv = {A = "${TOKEN}"}\n')
    assert (
        finding.message == "env.A: Codex does not expand this reference to TOKEN; "
        "the server will get the text literally"
    )
    assert finding.hint.startswith("list the variable in one of env_vars, env_http_headers")
    assert finding.place == SourceLocation(f"{HOME}/.codex/config.toml", 3, 12)


GOOSE = """extensions:
  x:
    name: x
    enabled: true
    type: {type}
    {launch}
    {field}: {{API_TOKEN: "{value}"}}
    description: ""
"""


@pytest.mark.parametrize(
    ("launch", "field", "hint"),
    [
        ("cmd: a\n    args: []", "envs", "list the variable in one of env_keys"),
        (
            'uri: "https://example.com/mcp"',
            "headers",
            "Goose expands no references there; use the gateway there",
        ),
    ],
)
@pytest.mark.parametrize("value", ["{env:TOKEN}", LITERAL])
def test_advice_names_no_field_that_serves_another(
    launch: str, field: str, hint: str, value: str
) -> None:
    kind = "stdio" if field == "envs" else "streamable_http"
    text = GOOSE.format(type=kind, launch=launch, field=field, value=value)
    files = texts({"~/.config/goose/config.yaml": text}, 0o644)
    findings = lint(client_of("goose"), host(), files)
    assert findings
    assert [each.hint for each in findings if not each.hint.endswith(hint)] == []


def test_a_secret_in_a_header_of_codex_has_fields_for_headers() -> None:
    entry = 'url = "https://example.com"\nhttp_headers = {Authorization = "Bearer hunter2"}\n'
    [finding] = only("codex", entry, mode=0o644)
    fields = "env_http_headers, bearer_token_env_var"
    assert finding.hint == f"run chmod 600, or list the variable in one of {fields}"


def test_references_of_its_own_and_escaped_ones_are_left_alone() -> None:
    assert only("claude", {"command": "${A}", "args": ["${B:-c}", "$D"]}) == []
    assert only("yard", {"command": "a", "args": ["$${A}"]}) == []
    assert only("opencode", {"type": "local", "command": ["{file:a}", "{env:B}"]}) == []


LITERALS = {
    "type": "http",
    "url": f"https://ann:{LITERAL}@example.com/mcp",
    "headers": {"Authorization": f"Bearer {LITERAL}", "X-Note": "none", "X-Key": "${KEY}"},
}


def test_a_secret_in_a_file_that_git_keeps_is_an_error() -> None:
    findings = only("claude", LITERALS, mode=0o600, tracked=True)
    assert codes(findings) == ["secret-tracked error"] * 2
    assert (
        findings[0].message
        == "headers.Authorization contains a plain-text secret, and the file is tracked by git"
    )
    assert all(LITERAL not in each.message + each.hint for each in findings)


def test_a_secret_in_a_file_that_every_user_can_read_is_a_warning() -> None:
    entry = {"command": "a", "env": {"API_KEY": LITERAL, "MODE": "fast", "TOKEN": "", "PWD_A": "b"}}
    findings = only("claude", entry, mode=0o644)
    assert codes(findings) == ["secret-readable warning"] * 2
    assert findings[0].hint == "run chmod 600, or write ${A_VARIABLE}"
    assert only("claude", entry, mode=0o640) == []


def test_the_secret_of_an_oauth_client_is_told_with_its_field() -> None:
    entry = {"url": "https://example.com/mcp", "auth": {"CLIENT_ID": "a", "CLIENT_SECRET": LITERAL}}
    [finding] = only("cursor", entry, mode=0o600, tracked=True)
    assert (finding.code, finding.facts["field"]) == ("secret-tracked", "auth.CLIENT_SECRET")
    assert LITERAL not in finding.message + finding.hint
    reference = {"CLIENT_ID": "a", "CLIENT_SECRET": "${env:SECRET}"}
    assert only("cursor", {**entry, "auth": reference}, tracked=True) == []


@pytest.mark.spec("F3.3")
def test_a_secret_that_process_lists_and_logs_show_is_a_warning_wherever_its_file_is() -> None:
    [finding] = only("claude", LITERALS, mode=0o600)
    assert (finding.code, finding.level, finding.facts["field"]) == (
        "secret-visible",
        "warning",
        "url",
    )
    assert finding.hint == "write ${A_VARIABLE}"
    entry = {"command": "a", "args": ["--token", LITERAL], "env": {"API_KEY": LITERAL}}
    [finding] = only("yard", entry)
    assert finding.message.startswith("args contains a plain-text secret")
    assert finding.hint == "use ${keyring:NAME} or a variable"
    assert LITERAL not in finding.message
    assert codes(only("yard", entry, tracked=True)) == ["secret-tracked error"] * 2
    assert only("yard", {"command": "a", "args": ["--token", "${TOKEN}"]}) == []


def test_a_secret_under_another_word_for_the_same_is_told_at_its_server() -> None:
    [finding] = only("yard", {"command": "a", "environment": {"TOKEN": LITERAL}}, tracked=True)
    assert finding.place == SourceLocation(f"{PROJECT}/.mcp.json", 1, 17)


def test_an_address_whose_secret_is_a_reference_is_left_alone() -> None:
    entry = {"type": "http", "url": "https://example.com/?token=a${B}"}
    assert only("claude", entry, tracked=True) == []


def test_a_name_that_stands_twice_is_told_at_the_one_that_does_not_count() -> None:
    text = '{"mcpServers": {"x": {"command": "a"}, "y": {"command": "a"}, "x": {"command": "b"}}}'
    [finding] = all_findings("claude", {"~/.claude.json": text})
    assert (finding.code, finding.name) == ("duplicate-name", "x")
    assert finding.place == SourceLocation(f"{HOME}/.claude.json", 1, 17)
    twice = '{"mcpServers": {}, "a": 1, "a": 2, "mcpServers": {"x": {"command": "b"}}}'
    [finding] = all_findings("claude", {"~/.claude.json": twice})
    assert (finding.code, finding.name) == ("duplicate-name", "")


def test_names_that_differ_only_in_case_are_told_where_they_are_one() -> None:
    servers = {"mcpServers": {"X": {"command": "a"}, "x": {"command": "a"}}}
    [finding] = all_findings("gemini", {"~/.gemini/settings.json": servers})
    assert (finding.code, finding.name) == ("duplicate-name", "x")
    assert all_findings("claude", {"~/.claude.json": servers}) == []


def test_a_name_that_the_program_itself_would_refuse_is_told_with_another() -> None:
    servers = {"mcpServers": {"bad name": {"command": "a"}, "workspace": {"command": "a"}}}
    bad, reserved = all_findings("claude", {"~/.claude.json": servers})
    assert (bad.code, reserved.code) == ("name-refused", "name-refused")
    assert bad.hint == 'rename it, for example to "bad-name"'


def test_entries_in_two_shapes_are_told() -> None:
    entry = {"type": "local", "command": ["a"]}
    mixed = {"mcp": {"servers": {"x": entry}, "y": entry, "note": 1}}
    [finding] = all_findings("opencode", {"./opencode.json": mixed})
    assert (finding.code, finding.name) == ("mixed-shapes", "y")
    assert finding.place is not None
    assert finding.hint == "move it into mcp.servers"
