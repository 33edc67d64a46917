"""What is needed for a sign-in, carried between the programs that have words for it."""

from collections.abc import Mapping

import pytest

from mcpyard.formats.copying.mapping import convert
from mcpyard.formats.copying.matrix import Matrix
from mcpyard.formats.drift import drift, leaves_of
from mcpyard.formats.entries import Entry, spell, understand
from mcpyard.formats.registry import scope_ref_of
from tests.formats.clients.evaluations import host, judged

URL = "https://example.com/mcp"
ID = "my-client"
CLAUDE = {"clientId": ID, "scopes": "a b", "callbackPort": 8080}
GEMINI = {
    "enabled": True,
    "clientId": ID,
    "clientSecret": "${KEY}",
    "scopes": ["a", "b"],
    "redirectUri": "http://localhost:8080/x",
    "authorizationUrl": "https://example.com/authorize",
    "tokenUrl": "https://example.com/token",
    "audiences": ["me"],
}


def entry_of(words: str, raw: Mapping[str, object]) -> Entry:
    ref = scope_ref_of(words)
    understood = understand(raw, ref.client, ref.shape)
    assert understood.problems == ()
    return understood.entry


def copied(
    source: str, raw: Mapping[str, object], target: str, matrix: Matrix = Matrix.NATIVE
) -> tuple[dict[str, object], list[str]]:
    """What the copy says of OAuth in the target's words, and what is told of it."""
    there = scope_ref_of(target)
    converted = convert(entry_of(source, raw), scope_ref_of(source), there, matrix)
    spelled = spell(converted.entry, there.shape)
    assert understand(spelled, there.client, there.shape).problems == ()
    fields = {word: each for word, each in spelled.items() if _is_oauth(word)}
    warnings = [f"{each.kind} {each.field}" for each in converted.warnings if _is_oauth(each.field)]
    return fields, [each for each in warnings if not each.startswith("info ")]


def _is_oauth(word: str) -> bool:
    return word.partition(".")[0].startswith(("oauth", "scopes", "auth"))


@pytest.mark.parametrize(
    ("target", "expected", "warnings"),
    [
        (
            "codex",
            {"scopes": ["a", "b"], "oauth": {"client_id": ID, "callback_port": 8080}},
            [],
        ),
        (
            "gemini",
            {"oauth": {"enabled": True, "clientId": ID, "scopes": ["a", "b"]}},
            ["unsupported oauth.callbackPort"],
        ),
        (
            "qwen",
            {"oauth": {"enabled": True, "clientId": ID, "scopes": ["a", "b"]}},
            ["unsupported oauth.callbackPort"],
        ),
        ("opencode", {"oauth": {"clientId": ID, "scope": "a b", "callbackPort": 8080}}, []),
        ("kilo", {"oauth": {"clientId": ID, "scope": "a b", "callbackPort": 8080}}, []),
        (
            "copilot",
            {"oauthClientId": ID, "oauthScopes": ["a", "b"]},
            ["unsupported oauth.callbackPort"],
        ),
        (
            "vscode",
            {"oauth": {"clientId": ID}},
            ["unsupported oauth.scopes", "unsupported oauth.callbackPort"],
        ),
        (
            "cursor",
            {"auth": {"CLIENT_ID": ID, "scopes": ["a", "b"]}},
            ["unsupported oauth.callbackPort"],
        ),
        ("qoder", {"oauth": {"clientId": ID, "scopes": ["a", "b"], "callbackPort": 8080}}, []),
        (
            "zed",
            {},
            [
                "unsupported oauth.clientId",
                "unsupported oauth.scopes",
                "unsupported oauth.callbackPort",
            ],
        ),
        (
            "yard",
            {"oauth": {"clientId": ID}},
            ["unsupported oauth.scopes", "unsupported oauth.callbackPort"],
        ),
    ],
)
def test_what_claude_says_is_said_in_the_words_of_others(
    target: str, expected: dict[str, object], warnings: list[str]
) -> None:
    raw = {"type": "http", "url": URL, "oauth": CLAUDE}
    assert copied("claude", raw, target) == (expected, warnings)


def test_what_gemini_says_comes_back_from_qwen_and_is_told_where_it_is_lost() -> None:
    raw = {"url": URL, "type": "http", "oauth": GEMINI}
    there, warnings = copied("gemini", raw, "qwen")
    assert (there, warnings) == ({"oauth": GEMINI}, [])
    assert copied("qwen", {"httpUrl": URL, **there}, "gemini") == ({"oauth": GEMINI}, [])
    fields, warnings = copied("gemini", raw, "opencode")
    assert fields == {
        "oauth": {
            "clientId": ID,
            "clientSecret": "{env:KEY}",
            "scope": "a b",
            "redirectUri": "http://localhost:8080/x",
        }
    }
    assert warnings == [
        "unsupported oauth.authorizationUrl",
        "unsupported oauth.tokenUrl",
        "unsupported oauth.audiences",
        "translated oauth.clientSecret",
    ]


def test_both_versions_of_opencode_have_their_own_words() -> None:
    ref = scope_ref_of("opencode")
    old, new = ref.client.shapes
    entry = entry_of("claude", {"type": "http", "url": URL, "oauth": CLAUDE})
    assert spell(entry, old)["oauth"] == {"clientId": ID, "scope": "a b", "callbackPort": 8080}
    assert spell(entry, new)["oauth"] == {"client_id": ID, "scope": "a b", "callback_port": 8080}


def test_what_a_program_refuses_without_another_field_is_left_out() -> None:
    scopes = {"type": "http", "url": URL, "oauth": {"scopes": "a"}}
    assert copied("claude", scopes, "copilot") == ({}, ["unsupported oauth.scopes"])
    secret = {"url": URL, "type": "http", "oauth": {"enabled": True, "clientSecret": "s"}}
    assert copied("gemini", secret, "codex") == ({}, ["unsupported oauth.clientSecret"])


def test_an_object_that_says_only_that_it_counts_is_told() -> None:
    raw = {"url": URL, "type": "http", "oauth": {"enabled": True}}
    assert copied("gemini", raw, "claude") == ({}, ["unsupported oauth.enabled"])
    assert copied("opencode", {"type": "remote", "url": URL, "oauth": False}, "claude") == (
        {},
        ["unsupported oauth"],
    )


def test_the_basic_mapping_has_none_of_it() -> None:
    raw = {"type": "http", "url": URL, "oauth": CLAUDE}
    fields, warnings = copied("claude", raw, "codex", Matrix.SPEC)
    assert fields == {}
    assert warnings == [
        f"unsupported oauth.{each}" for each in ("clientId", "scopes", "callbackPort")
    ]


def test_a_local_server_takes_nothing_of_it_along() -> None:
    raw = {"command": "run", "oauth": {"clientId": ID, "scopes": ""}}
    ref, there = scope_ref_of("claude"), scope_ref_of("opencode")
    converted = convert(entry_of("claude", raw), ref, there)
    assert "oauth" not in spell(converted.entry, there.shape)
    lost = [(str(each.kind), each.field) for each in converted.warnings]
    assert [each for each in lost if "oauth" in each[1]] == [
        ("info", "oauth.clientId"),
        ("info", "oauth.scopes"),
    ]


def test_odd_values_stay_with_their_own_program() -> None:
    raw = {"url": URL, "oauth": {"clientId": 5, "other": 1}}
    entry = entry_of("vscode", raw)
    assert entry.oauth_client_id is None
    assert spell(entry, scope_ref_of("vscode").shape)["oauth"] == raw["oauth"]


def test_a_difference_in_it_is_a_drift_that_shows_no_secret() -> None:
    def files(client_id: str, secret: str) -> dict[str, object]:
        own = {"clientId": ID, "scopes": "b a"}
        other = {"clientId": client_id, "clientSecret": secret, "scope": "a b"}
        return {
            "~/.claude.json": {"mcpServers": {"x": {"type": "http", "url": URL, "oauth": own}}},
            "~/.config/opencode/opencode.json": {
                "mcp": {"x": {"type": "remote", "url": URL, "oauth": other}}
            },
            "~/.qoder/settings.json": {
                "mcpServers": {
                    "x": {"type": "http", "url": URL, "oauth": {"clientSecret": "hidden"}}
                }
            },
        }

    def drifts(content: dict[str, object]) -> list[Mapping[str, str]]:
        clients = ("claude", "opencode", "qoder")
        statuses = [each for name in clients for each in judged(name, content, host()).statuses]
        return [variant.values for each in drift(statuses) for variant in each.variants]

    [first, second, *_] = drifts(files("another", "s3cret"))
    assert {first["oauth_client_id"], second["oauth_client_id"]} >= {ID, "another"}
    assert "s3cret" not in repr(drifts(files(ID, "s3cret")))
    assert "hidden" not in repr(drifts(files(ID, "s3cret")))


def test_it_counts_for_what_an_entry_means() -> None:
    ref = scope_ref_of("claude")
    entry = entry_of("claude", {"type": "http", "url": URL, "oauth": CLAUDE})
    leaves = leaves_of(entry, ref)
    assert leaves["oauth_scopes"][0] == frozenset({"a", "b"})
    assert leaves["oauth_callback_port"][0] == 8080
