from collections.abc import Mapping

from mcpyard.formats.drift import ABSENT, Drift, drift
from mcpyard.formats.effective import judge
from mcpyard.formats.registry import CLIENTS
from tests.formats.clients.evaluations import host, texts

LITERAL = "hunter2"


def drifts(files: Mapping[str, object]) -> tuple[Drift, ...]:
    contents = texts(files)
    return drift(each for client in CLIENTS for each in judge(client, host(), contents).statuses)


def claude(**entry: object) -> dict[str, object]:
    return {"~/.claude.json": {"mcpServers": {"x": entry}}}


def cursor(**entry: object) -> dict[str, object]:
    return {"~/.cursor/mcp.json": {"mcpServers": {"x": entry}}}


def codex(text: str) -> dict[str, object]:
    return {"~/.codex/config.toml": f"[mcp_servers.x]\n{text}\n"}


def opencode(**entry: object) -> dict[str, object]:
    return {"~/.config/opencode/opencode.json": {"mcp": {"x": entry}}}


def refs(difference: Drift) -> list[list[str]]:
    return [[str(each.ref) for each in variant.statuses] for variant in difference.variants]


def test_one_definition_in_many_spellings_is_no_drift() -> None:
    env = {"TOKEN": "${TOKEN}", "MODE": "fast"}
    same = claude(command="run", args=["${HOME}/x"], env=env, timeout=1500)
    same |= cursor(
        type="stdio",
        command="run",
        args=["${env:HOME}/x"],
        env={"TOKEN": "${env:TOKEN}", "MODE": "fast"},
    )
    same |= opencode(
        type="local",
        command=["run", "{env:HOME}/x"],
        environment={"TOKEN": "{env:TOKEN}", "MODE": "fast"},
        timeout=1600,
    )
    assert drifts(same) == ()
    plain = claude(command="run", env=env) | codex(
        'command = "run"\nenv = {MODE = "fast"}\nenv_vars = ["TOKEN"]\ncwd = "b"'
    )
    assert drifts(plain) == ()


def test_headers_by_reference_equal_those_of_codex() -> None:
    headers = {"authorization": "Bearer ${TOKEN}", "X-Key": "${KEY}"}
    entry = 'url = "https://example.com"\nbearer_token_env_var = "TOKEN"\n'
    entry += 'env_http_headers = {X-Key = "KEY"}'
    files = claude(type="http", url="https://example.com", headers=headers) | codex(entry)
    assert drifts(files) == ()


def test_what_differs_is_told_with_the_most_usual_first() -> None:
    files = claude(command="run", args=["2"]) | cursor(command="run", args=["1"])
    files |= codex('command = "run"\nargs = ["1"]')
    [difference] = drifts(files)
    assert difference.name == "x"
    assert refs(difference) == [["codex:user", "cursor:user"], ["claude-code:user"]]
    assert [each.values for each in difference.variants] == [{"args": "1"}, {"args": "2"}]


def test_secrets_are_compared_and_never_shown() -> None:
    url = f"https://ann:{LITERAL}@example.com"
    files = claude(type="http", url=url, headers={"Authorization": f"Bearer {LITERAL}1", "A": ""})
    files |= cursor(url="https://example.com", headers={"Authorization": "Bearer ${env:TOKEN}"})
    [difference] = drifts(files)
    one, other = difference.variants
    assert one.values == {
        "url": "https://ann:***@example.com",
        "headers.a": "a literal text",
        "headers.authorization": "a literal text",
    }
    assert other.values == {
        "url": "https://example.com",
        "headers.a": ABSENT,
        "headers.authorization": "${TOKEN}",
    }
    assert LITERAL not in str([each.values for each in difference.variants])


def test_a_way_is_a_difference_only_where_both_can_say_it() -> None:
    sse = claude(type="sse", url="https://example.com")
    assert drifts(sse | opencode(type="remote", url="https://example.com")) == ()
    assert drifts(sse | codex('url = "https://example.com"')) == ()
    [difference] = drifts(sse | cursor(type="http", url="https://example.com"))
    assert [each.values for each in difference.variants] == [{"type": "sse"}, {"type": "http"}]
    qwen = {"~/.qwen/settings.json": {"mcpServers": {"x": {"httpUrl": "https://example.com"}}}}
    [difference] = drifts(sse | qwen)
    assert difference.variants[1].values == {"type": "http"}


def test_limits_are_compared_where_both_have_them() -> None:
    gemini = {"command": "run", "timeout": 5000, "includeTools": ["b", "a"]}
    files = {"~/.gemini/settings.json": {"mcpServers": {"x": gemini}}}
    entry = 'command = "run"\ntool_timeout_sec = 7\nenabled_tools = ["a"]\ndisabled_tools = ["c"]'
    [difference] = drifts(files | codex(entry))
    assert difference.variants[0].values == {
        "call_timeout": "7 s",
        "only_tools": "a",
        "except_tools": "c",
    }
    assert difference.variants[1].values == {
        "call_timeout": "5 s",
        "only_tools": "a, b",
        "except_tools": ABSENT,
    }


def test_an_entry_that_cannot_be_used_is_not_compared() -> None:
    assert drifts(claude(command=5) | cursor(command="run")) == ()
    assert drifts({"~/.claude.json": {"mcpServers": {"x": 5}}} | cursor(command="run")) == ()
    assert drifts(opencode(enabled=False) | cursor(command="run")) == ()
    assert drifts(claude(url="https://a.example.com") | cursor(url="https://example.com")) == ()


def test_a_default_that_makes_the_difference_is_seen_but_not_read() -> None:
    with_default = claude(command="run", env={"K": f"${{K:-{LITERAL}}}"})
    (difference,) = drifts(with_default | cursor(command="run", env={"K": "${env:K}"}))
    values = {each.values["env.K"] for each in difference.variants}
    assert values == {"${K:-...}", "${K}"}


def test_an_entry_of_a_file_that_several_programs_read_is_no_difference() -> None:
    entry = {"command": "run", "args": ["${HOME}"]}
    assert drifts({"./.mcp.json": {"mcpServers": {"x": entry}}}) == ()
