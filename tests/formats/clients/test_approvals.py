"""Approvals of Qwen Code, which are bound to a hash of the entry; the hashes are its own."""

import pytest

from mcpyard.formats.approvals import entry_hash
from mcpyard.formats.effective import ServerStatus
from mcpyard.formats.registry import scope_ref_of
from tests.formats.clients.evaluations import PROJECT, host, judged, states

ADDRESS = "http://127.0.0.1:9/sse"
RUN: dict[str, object] = {"command": "sh", "args": ["-c", "true $TOK ${UNSET} ${UNSET:-dflt}"]}
HASH_OF_RUN = "567736aa73f3cb9411f0bcc942a0c81ab4478d0007f20574e01a467316bc8f72"
SSE = "9aad7bbf637cdbc76c728cf78f7660b6967bace44b5fe727847444f9016a6a7e"
APPROVALS = "~/.qwen/mcpApprovals.json"


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            {
                "command": "sh",
                "args": ["-c", "true $TOK"],
                "env": {"X": "${TOK}", "é": "ü\u2028\ud800\u0007\u007f"},
                "description": "d",
                "numbers": [1.0, 1e21, 1e-7, 1.5e-6, -0.0, 123456789012345678901, 10**400],
                "timeout": 5000.5,
                "l": [None, True, {"b": 1, "a": -2.5e25}],
                "__proto__": {"x": 1},
            },
            "9757598371bde8e2afdd2116e9504fe452daa213d6bd1a128d46743f914eb278",
        ),
        (
            {
                "type": "http",
                "url": "http://127.0.0.1:9/mcp",
                "headers": {"A": "$TOK"},
                "oauth": {"scopes": ["x"], "clientId": "k"},
            },
            "5d2398eaf96a9ccc68f5283925cbbb631c062b00f484a18da2f60b71d7d3a00f",
        ),
        ({"url": ADDRESS}, SSE),
        ({"type": "sse", "url": ADDRESS}, SSE),
        ({"type": "streamable-http", "url": ADDRESS}, SSE),
        (
            {"type": "stdio", "command": "true", "scope": "user", "extensionName": "zz"}
            | {"2": 1, "10": 2},
            "fd1d34a64f9088d4950b17eddd35e8a6554ad54c47a6441e311d80752ecdb080",
        ),
        (
            {"httpUrl": "http://127.0.0.1:9/m", "type": "http", "disabled": True, "enabled": False},
            "f572ab082dcfe56f3610cfbfd49bec7f848b92eb1955a68145b70b528636f2c0",
        ),
    ],
)
def test_an_entry_of_the_shared_file_is_hashed_as_the_program_does(
    entry: dict[str, object], expected: str
) -> None:
    assert entry_hash(entry, scope_ref_of("qwen:shared"), {"TOK": "secret"}) == expected


def test_an_entry_of_the_settings_is_hashed_with_the_values_of_variables() -> None:
    ref = scope_ref_of("qwen:project")
    assert entry_hash(RUN, ref, {"TOK": "secret"}) == HASH_OF_RUN
    assert entry_hash(RUN, ref, {"TOK": "other"}) != HASH_OF_RUN
    typed = {"type": "http", "url": "http://127.0.0.1:9/m"}
    expected = "c4c4b124326d7d9730635ee305d05dd0d18c034472949f3532c75a1f61187100"
    assert entry_hash(typed, ref, {}) == expected


@pytest.mark.parametrize("scope", ["qwen:shared", "qwen:project"])
def test_a_number_that_json_cannot_write_is_hashed_as_null(scope: str) -> None:
    ref = scope_ref_of(scope)
    expected = entry_hash({"command": "a", "timeout": None}, ref, {})
    assert entry_hash({"command": "a", "timeout": float("inf")}, ref, {}) == expected
    assert entry_hash({"command": "a", "timeout": 5}, ref, {}) != expected


def test_an_entry_of_the_settings_without_an_address_is_hashed_as_written() -> None:
    settings, shared = scope_ref_of("qwen:project"), scope_ref_of("qwen:shared")
    for entry in ({"type": "http", "url": 5}, {"type": "http"}, {"note": "a"}):
        assert entry_hash(entry, settings, {}) == entry_hash(entry, shared, {})


def qwen(shared: object, approvals: object) -> dict[str, ServerStatus]:
    """The servers of the shared file, by name."""
    files = {"./.mcp.json": {"mcpServers": shared}, APPROVALS: {PROJECT: approvals}}
    return {each.listed.name: each for each in judged("qwen", files, host()).statuses}


def record(status: str, name: str = SSE) -> dict[str, str]:
    return {"hash": name, "status": status}


def test_a_server_of_the_shared_file_waits_for_its_approval() -> None:
    approvals = {
        "yes": record("approved"),
        "no": record("rejected"),
        "old": record("approved", "0" * 64),
        "odd": "approved",
    }
    names = ("yes", "no", "old", "odd", "new")
    servers = qwen({name: {"url": ADDRESS} for name in names}, approvals)
    assert {name: (str(each.state), each.reason) for name, each in servers.items()} == {
        "yes": ("enabled", ""),
        "no": ("blocked", "is rejected in Qwen Code"),
        "old": (
            "untrusted",
            "changed since Qwen Code asked; it asks again at its next start in the folder",
        ),
        "odd": ("untrusted", "not approved yet; Qwen Code asks at its next start in the folder"),
        "new": ("untrusted", "not approved yet; Qwen Code asks at its next start in the folder"),
    }
    where = servers["no"].where
    assert where
    assert where.file.endswith("/mcpApprovals.json")


def test_nothing_waits_where_the_settings_ask_for_no_approval() -> None:
    shared = {"x": {"url": ADDRESS}}
    rejected = {"x": record("rejected")}
    files = {
        "./.mcp.json": {"mcpServers": shared},
        APPROVALS: {PROJECT: rejected},
        "~/.qwen/settings.json": {"tools": {"approvalMode": "yolo"}},
    }
    assert states("qwen", files) == {"shared x": "enabled"}


def test_a_server_that_waits_hides_those_of_weaker_files() -> None:
    files = {
        "~/.qwen/settings.json": {"mcpServers": {"x": RUN, "y": RUN, "X": RUN}},
        "./.mcp.json": {"mcpServers": {"x": RUN, "y": RUN}},
        "./.qwen/settings.json": {"mcpServers": {"y": RUN}},
    }
    assert states("qwen", files) == {
        "user x": "shadowed",
        "user y": "shadowed",
        "user X": "enabled",
        "project y": "untrusted",
        "shared x": "untrusted",
        "shared y": "shadowed",
    }


def test_names_are_excluded_and_allowed_by_patterns() -> None:
    servers = dict.fromkeys(("docs", "docs-old", "files", "[a]"), RUN)
    for lists, off in (
        ({"excluded": ["docs*"]}, {"docs", "docs-old"}),
        ({"excluded": ["do?s", "[a]"]}, {"docs", "[a]"}),
        ({"allowed": ["f*"]}, {"docs", "docs-old", "[a]"}),
        ({"allowed": []}, {*servers}),
        ({"excluded": [5, None, "docs"]}, {"docs"}),
    ):
        settings = {"mcpServers": servers, "mcp": lists}
        verdicts = states("qwen", {"~/.qwen/settings.json": settings})
        assert {name[5:] for name in verdicts if verdicts[name] != "enabled"} == off


def test_a_folder_without_trust_uses_no_server_where_trust_is_asked_for() -> None:
    settings = {"mcpServers": {"x": RUN}, "security": {"folderTrust": {"enabled": True}}}
    files: dict[str, object] = {"~/.qwen/settings.json": settings}
    assert states("qwen", files) == {"user x": "untrusted"}
    files["~/.qwen/trustedFolders.json"] = {PROJECT: "TRUST_FOLDER"}
    assert states("qwen", files) == {"user x": "enabled"}


def test_a_text_of_references_that_never_end_takes_no_longer_than_others() -> None:
    ref, text = scope_ref_of("qwen:project"), "${" * 100_000
    assert entry_hash({"command": text}, ref, {}) == entry_hash({"command": text}, ref, {"A": "b"})
    closed = {"command": "$A ${B} ${C}" + text}
    expected = entry_hash({"command": "a b ${C}" + text}, ref, {})
    assert entry_hash(closed, ref, {"A": "a", "B": "b"}) == expected
