import datetime as dt
from dataclasses import replace

import pytest

from mcpyard.domain.errors import DefinitionError
from mcpyard.formats.editing import write
from mcpyard.formats.effective import Text, judge
from mcpyard.formats.entries import understand
from mcpyard.formats.entry_list import read
from mcpyard.formats.included import included_files
from mcpyard.formats.registry import client_of, scope_ref_of
from mcpyard.formats.value_facts import Harm, Kind, ValueFacts, Values, kind_of, kinds, refused
from tests.formats.clients.evaluations import HOME, host, states
from tests.real_clients.plans import SAMPLES
from tests.real_clients.verdicts import verdict

CODEX = scope_ref_of("codex")
REMOTE = '[mcp_servers.x]\nurl = "u"\nenabled = true\n[mcp_servers.x.oauth]\nclient_id = "a"\n'


@pytest.mark.parametrize("kind", SAMPLES)
def test_every_sample_is_of_its_kind(kind: Kind) -> None:
    assert {kind_of(value) for value in SAMPLES[kind]} == {kind}


def test_a_moment_is_of_no_kind_that_json_has() -> None:
    assert kind_of(dt.date(2026, 1, 1)) is Kind.OTHER
    assert kind_of(float("nan")) is Kind.ENDLESS


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ('url = "u"\nbearer_token = "a"', "bearer_token: is refused here"),
        ('command = "a"\nenv_vars = "A"', "env_vars: expected a list of strings"),
        ('command = "a"\nrequired = "y"', "required: expected true or false, found a string"),
        (
            'command = "a"\ndefault_tools_approval_mode = "x"',
            '"x" is unknown; expected one of approve, auto, prompt, writes',
        ),
        ('command = "a"\noauth = {client_id = "a"}', "oauth: is refused here"),
        ('command = "a"\nenv_vars = [{source = "local"}]', "env_vars"),
        ('url = "u"\noauth = {client_secret = "a"}', "is refused without oauth.client_id"),
        (
            'url = "u"\noauth = {client_id = "a", authorization_server_issuer = "a"}',
            'is refused without auth = "ema_auth"',
        ),
        ('command = "a"\ntools = {b = {output_token_limit = 0}}', "tools.b.output_token_limit"),
        ('command = "a"\ntools = {b = 5}', "tools.b: expected an object"),
    ],
)
def test_what_makes_codex_refuse_its_file_condemns_every_server(body: str, problem: str) -> None:
    text = f'[mcp_servers.ok]\ncommand = "a"\n[mcp_servers.x]\n{body}\n'
    assert states("codex", {"~/.codex/config.toml": text}) == {
        "user ok": "invalid",
        "user x": "invalid",
    }
    messages = [str(each) for each in read(CODEX, text).server("x").problems]
    assert any(problem in each for each in messages), messages


def test_codex_waits_for_no_time_at_all_and_lists_what_needs_an_identity_as_off() -> None:
    text = '[mcp_servers.x]\ncommand = "a"\nstartup_timeout_sec = 0\n'
    assert states("codex", {"~/.codex/config.toml": text}) == {"user x": "enabled"}
    text = '[mcp_servers.x]\nurl = "u"\nauth = "ema_auth"\n'
    assert states("codex", {"~/.codex/config.toml": text}) == {"user x": "disabled"}


def test_a_local_server_that_was_a_remote_one_keeps_nothing_of_that() -> None:
    entry = read(CODEX, REMOTE).entry("x")
    local = replace(entry, command="a", url=None)
    edited = write(CODEX, REMOTE, "x", local)
    assert edited.text == '[mcp_servers.x]\nenabled = true\ncommand = "a"\n'
    [warning] = edited.warnings
    assert (warning.kind, warning.field) == ("unsupported", "oauth.client_id")
    assert warning.message == "belongs to the remote server that the entry was: removed"


def test_a_local_server_keeps_no_field_of_a_remote_one_that_mcpyard_does_not_know() -> None:
    text = '[mcp_servers.x]\nurl = "u"\noauth_resource = "r"\nenabled = true\n'
    entry = read(CODEX, text).entry("x")
    edited = write(CODEX, text, "x", replace(entry, command="a", url=None))
    assert edited.text == '[mcp_servers.x]\nenabled = true\ncommand = "a"\n'
    assert [each.field for each in edited.warnings] == ["oauth_resource"]
    assert states("codex", {"~/.codex/config.toml": edited.text}) == {"user x": "enabled"}


def test_a_remote_server_that_was_a_local_one_loses_its_arguments_in_every_client() -> None:
    for words in ("claude", "cursor", "gemini"):
        ref = scope_ref_of(words)
        text = '{"mcpServers": {"x": {"command": "a", "args": ["b"], "note": 1}}}'
        entry = read(ref, text).entry("x")
        remote = type(entry)(url="http://u", args=entry.args, unknown=entry.unknown)
        edited = write(ref, text, "x", remote)
        assert '"args"' not in edited.text
        assert [each.field for each in edited.warnings] == ["args"]


def test_opencode_reads_nothing_else_of_an_entry_that_is_switched_off() -> None:
    bad = {"type": "remote", "url": [True], "env": ["A", 1]}
    for entry, expected in (
        (bad, "invalid"),
        ({**bad, "enabled": True}, "invalid"),
        ({**bad, "enabled": False}, "disabled"),
        ({"enabled": False}, "disabled"),
    ):
        files = {"~/.config/opencode/opencode.json": {"mcp": {"x": entry}}}
        assert states("opencode", files) == {"user x": expected}


def test_an_entry_of_version_1_among_those_of_version_2_has_one_timeout_only() -> None:
    entry = {"type": "remote", "url": "http://127.0.0.1:9/mcp", "enabled": True}
    for timeout, expected in ((5, "enabled"), (5.0, "enabled"), ({}, "invalid")):
        servers = {"x": {**entry, "timeout": timeout}}
        files = {"~/.config/opencode/opencode.json": {"mcp": {"servers": servers}}}
        assert states("opencode", files) == {"user x": expected}
        files = {"~/.config/opencode/opencode.json": {"mcp": servers}}
        assert states("opencode", files) == {"user x": "enabled"}


def test_an_entry_that_would_cost_the_file_is_not_written() -> None:
    entry = read(CODEX, '[mcp_servers.x]\ncommand = "a"\nrequired = true\n').entry("x")
    bad = type(entry)(command="a", unknown={"required": "y"})
    with pytest.raises(DefinitionError, match="expected true or false"):
        write(CODEX, "", "x", bad)


def test_a_reference_to_a_missing_file_keeps_opencode_from_reading_its_own() -> None:
    path = f"{HOME}/.config/opencode/opencode.json"
    body = (
        '{"mcp": {\n  // "{file:./note}"\n'
        '  "x": {"type": "local", "command": ["{file:~/a}", "{file:/b}", "{file:./c}"]}}}'
    )
    client = client_of("opencode")
    texts = {path: Text(path, body)}
    paths = (f"{HOME}/a", "/b", f"{HOME}/.config/opencode/c")
    assert included_files(client, host(""), texts) == paths
    assert included_files(client_of("claude"), host(""), texts) == ()
    there = {each: Text(each, "a") for each in paths}
    [status] = judge(client, host(""), {**texts, **there}).statuses
    assert status.state == "enabled"
    [status] = judge(client, host(""), {**texts, **there, "/b": Text("/b")}).statuses
    assert status.state == "invalid"
    assert "refers to /b, which does not exist" in status.reason
    assert status.where is not None
    assert (status.where.line, status.where.column) == (3, 53)


def test_a_program_that_asks_for_an_address_first_takes_it_beside_a_command() -> None:
    client = client_of("gemini")
    shape = client.shapes[0]
    assert understand({"command": "a", "url": "x"}, client, shape).problems
    assert not understand({"command": "a", "url": ""}, client, shape).problems


def test_a_client_that_was_not_asked_is_judged_by_our_own_rules() -> None:
    ref = scope_ref_of("yard")
    [listed] = read(ref, '{"mcpServers": {"x": {"command": "a", "inherit": 5}}}').servers
    assert listed.entry is not None
    assert listed.entry.unknown == {"inherit": 5}
    [listed] = read(scope_ref_of("cursor"), '{"mcpServers": {"x": 5}}').servers
    assert listed.alone


def test_what_is_no_entry_costs_what_the_table_says() -> None:
    facts = ValueFacts("1", Values(kinds("pairs"), worse=kinds("null")), {}, {})
    assert [each.harm for each in refused(5, facts)] == [Harm.ENTRY]
    assert [each.harm for each in refused(None, facts)] == [Harm.FILE]
    odd = ValueFacts("1", facts.entry, {"a": Values(kinds("other"))}, {})
    [wrong] = refused({"a": 1}, odd)
    assert wrong.message == "expected another value, found the number 1"


@pytest.mark.parametrize(
    ("field_values", "expected"),
    [
        ({}, "enabled"),
        ({"oauth": {"redirectUri": {"B": "y"}}}, "enabled"),
        ({"oauth": {"clientId": 5}}, "enabled"),
        ({"oauth": {"callbackPort": -1}}, "enabled"),
        ({"oauth": {"scope": 5}}, "file"),
        ({"oauth": True}, "file"),
        ({"headers": {"A": 1}}, "file"),
    ],
)
def test_an_object_of_times_makes_an_entry_of_opencode_one_of_version_2(
    field_values: dict[str, object], expected: str
) -> None:
    # As OpenCode 1.18.33 answered.
    entry = {"type": "remote", "url": "http://127.0.0.1:9/mcp", "timeout": {}, **field_values}
    assert verdict("opencode", entry) == expected
