"""Clients are known to the gateway only once they were there."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mcpyard.domain.stored import SeenClient
from mcpyard.formats.announced import announced_client
from mcpyard.formats.registry import CLIENTS
from mcpyard.store.sqlite.databases import Databases
from mcpyard.store.sqlite.seen_clients import MOST
from mcpyard.store.sqlite.store import Store
from mcpyard.yard.seen_clients import LONGEST, introduced
from tests.api.daemon import Daemon, daemon

pytestmark = pytest.mark.real
NOW = datetime(2026, 7, 28, tzinfo=UTC)


def initialize(yard: Daemon, name: str, path: str = "/mcp") -> str:
    """Begin a session as a client of that name; its id."""
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": name, "version": "1.2"},
        },
    }
    accept = {"Accept": "application/json, text/event-stream"}
    answer = yard.client.post(path, json=body, headers=accept)
    assert answer.status_code == 200
    return str(answer.headers["mcp-session-id"])


def test_a_client_is_seen_with_its_sessions_and_remembered_after_a_restart(tmp_path: Path) -> None:
    with daemon(tmp_path / "home") as yard:
        assert yard.get("/api/clients/seen") == []
        session = initialize(yard, "codex-mcp-client")
        (client,) = yard.get("/api/clients/seen")
        assert (client["client"], client["title"], client["sessions"]) == ("codex", "Codex", 1)
        yard.client.delete("/mcp", headers={"Mcp-Session-Id": session})
        initialize(yard, "my own agent")
        newest, codex = yard.get("/api/clients/seen")
        assert (newest["name"], newest["client"], newest["sessions"]) == ("my own agent", None, 1)
        assert codex["sessions"] == 0
        yard.up.end()
    with daemon(tmp_path / "home") as yard:
        remembered = {each["name"]: each["sessions"] for each in yard.get("/api/clients/seen")}
        assert remembered == {"my own agent": 0, "codex-mcp-client": 0}


def test_a_stateless_client_is_seen_by_its_requests(tmp_path: Path) -> None:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "Visual Studio Code", "version": "1.99"},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/list",
    }
    with daemon(tmp_path / "home") as yard:
        assert yard.client.post("/mcp", json=body, headers=headers).status_code == 200
        (client,) = yard.get("/api/clients/seen")
        assert (client["client"], client["version"]) == ("vscode", "1.99")


@pytest.mark.parametrize(
    ("name", "client"),
    [
        ("claude-code", "claude-code"),
        ("codex-mcp-client", "codex"),
        ("gemini-cli-mcp-client-mcpyard", "gemini"),
        ("cursor-vscode (via mcp-remote 0.1.30)", "cursor"),
        ("Visual Studio Code - Insiders", "vscode"),
        ("Kilo Code", "kilo"),
        ("mcp", None),
        ("", None),
    ],
)
def test_a_client_is_known_by_what_it_calls_itself(name: str, client: str | None) -> None:
    match = announced_client(name, CLIENTS)
    assert (match.id if match else None) == client


def test_what_a_client_says_of_itself_is_bounded_and_printable() -> None:
    assert introduced({"name": "a\x1b[31m\n" + "x" * 500, "version": 7}) == (
        "a[31m" + "x" * (LONGEST - 7),
        "",
    )
    assert introduced(["codex"]) == ("", "")


async def test_only_the_newest_names_are_stored(tmp_path: Path) -> None:
    store = await Store.over(await Databases.open(tmp_path))
    for number in range(MOST + 10):
        store.seen_clients.seen(SeenClient(f"c{number}", "1", NOW + timedelta(seconds=number)))
    await store.close()
    store = await Store.over(await Databases.open(tmp_path))
    names = {each.name for each in store.seen_clients.all()}
    await store.close()
    assert len(names) == MOST
    assert {"c9", f"c{MOST + 9}"} & names == {f"c{MOST + 9}"}
