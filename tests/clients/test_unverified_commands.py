"""The option for clients that are known from documentation only, on the command line and REST."""

from pathlib import Path

import pytest

from tests.api.asgi import slug
from tests.clients import test_commands
from tests.clients.machine import machine
from tests.clients.syncing import five_servers
from tests.clients.test_commands import Terminal

alone, terminal = test_commands.alone, test_commands.terminal

CODEX = '[mcp_servers.x]\ncommand = "run"\n'
STUDIO = '{"mcpServers": {"s": {"command": "run"}}}'
DEVIN = '{"mcpServers": {"s": {"command": "run", "disabled": true}}}'


def lay(home: Path) -> dict[Path, str]:
    """The files of two such clients, of which one has a switch in its entries."""
    texts = {home / ".lmstudio/mcp.json": STUDIO, home / ".config/devin/mcp_config.json": DEVIN}
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return texts


def changed(texts: dict[Path, str]) -> list[str]:
    return [path.name for path, text in texts.items() if path.read_text() != text]


@pytest.mark.real
@pytest.mark.parametrize(
    "words",
    [
        ("copy", "--from", "claude", "--to", "lmstudio", "x"),
        ("copy", "--from", "claude", "--to", "codex,lmstudio", "x"),
        ("copy", "--from", "claude", "--to", "lmstudio", "--all"),
        ("copy", "--from", "lmstudio", "--to", "codex", "s", "--move"),
        ("clients", "edit", "lmstudio", "s", "--command", "walk"),
        ("clients", "enable", "devin", "s"),
        ("clients", "rename", "lmstudio", "s", "t"),
        ("clients", "rm", "lmstudio", "s"),
    ],
    ids=" ".join,
)
def test_a_command_needs_the_option_and_says_so(terminal: Terminal, words: tuple[str, ...]) -> None:
    texts = lay(terminal.user)
    before = terminal.read("claude"), terminal.read("codex")
    refused = terminal.run(*words, code=2)
    assert "known from documentation only" in refused
    assert "repeat with --unverified" in refused
    assert not changed(texts)
    assert (terminal.read("claude"), terminal.read("codex")) == before, "nothing is half done"
    assert "unverified: " in terminal.run(*words, "--dry-run")
    assert not changed(texts)
    terminal.run(*words, "--unverified")
    assert len(changed(texts)) == 1
    terminal.run("undo")
    assert not changed(texts)


@pytest.mark.real
def test_a_sync_needs_the_option_and_says_so(terminal: Terminal) -> None:
    texts = lay(terminal.user)
    terminal.json("sync", "adopt", "--to", "claude")
    apply = ("sync", "apply", "--to", "lmstudio,codex", "--yes")
    before = terminal.read("codex")
    assert "repeat with --unverified" in terminal.run(*apply, code=2)
    assert (changed(texts), terminal.read("codex")) == ([], before)
    terminal.run(*apply, "--dry-run")
    assert not changed(texts)
    terminal.run(*apply, "--unverified")
    assert changed(texts) == ["mcp.json"]
    assert "mcp_servers.x" in terminal.read("codex")
    assert "nothing to change" in terminal.run(*apply, "--unverified")


async def test_the_routes_of_entries_need_it_in_the_query(tmp_path: Path) -> None:
    async with machine(tmp_path, codex=CODEX) as it:
        texts = lay(it.home)
        for path, patch in (
            ("/api/clients/lmstudio/servers/s", {"command": "walk"}),
            ("/api/clients/devin/servers/s", {"enabled": True}),
            ("/api/clients/lmstudio/servers/s", {"name": "t"}),
        ):
            refused = await it.http.patch(path, json=patch)
            assert slug(refused) == (409, "client-unverified")
            assert '"unverified": true' in refused.json()["hint"]
            assert not changed(texts)
            done = await it.http.patch(f"{path}?unverified=1", json=patch)
            assert done.status_code == 200, done.text
            assert done.json()["warnings"][0]["kind"] == "unverified"
            assert len(changed(texts)) == 1
            await it.clients.undo()


@pytest.mark.parametrize("targets", [["lmstudio"], ["codex:project", "lmstudio"]])
async def test_the_route_of_several_copies_needs_it(tmp_path: Path, targets: list[str]) -> None:
    async with machine(tmp_path, codex=CODEX) as it:
        texts = lay(it.home)
        body = {"from": "codex", "to": targets, "names": ["x"]}
        refused = await it.http.post("/api/clients/copies", json=body)
        assert slug(refused) == (409, "client-unverified")
        assert not changed(texts)
        assert not (it.project / ".codex").exists(), "nothing is half done"
        preview = await it.http.post("/api/clients/copies", json={**body, "dryRun": True})
        warnings = {each["to"]: each["warnings"] for each in preview.json()["copies"]}
        assert [each["kind"] for each in warnings["lmstudio:user"]] == ["unverified"]
        assert all(each["kind"] != "unverified" for each in warnings.get("codex:project", []))
        done = await it.http.post("/api/clients/copies", json={**body, "unverified": True})
        assert done.status_code == 200, done.text
        assert changed(texts) == ["mcp.json"]


async def test_the_route_of_a_sync_needs_it(tmp_path: Path) -> None:
    async with five_servers(tmp_path) as it:
        texts = lay(it.home)
        body = {"targets": ["lmstudio"], "command": ["mcpyard", "stdio"]}
        assert (await it.http.post("/api/sync/plan", json=body)).status_code == 200
        refused = await it.http.post("/api/sync/apply", json=body)
        assert slug(refused) == (409, "client-unverified")
        assert not changed(texts)
        done = await it.http.post("/api/sync/apply", json={**body, "unverified": True})
        assert done.status_code == 200, done.text
        assert changed(texts) == ["mcp.json"]
