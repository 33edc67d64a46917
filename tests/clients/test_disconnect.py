"""The gateway is taken out of a client by a command and over REST, and put back by an undo."""

from pathlib import Path

import pytest

from tests.api.daemon import daemon
from tests.cli.commands import answer, mcpyard

pytestmark = pytest.mark.real

CODEX = 'model = "o5" # mine\n'


@pytest.fixture
def codex(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of Codex in a home of its own."""
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.delenv("CODEX_HOME", raising=False)
    path = tmp_path / "person" / ".codex" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(CODEX)
    return path


def test_a_command_disconnects_a_client_and_undo_connects_it_again(
    codex: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    assert mcpyard("connect", "codex", "--name", "all", home=home).returncode == 0
    connected = codex.read_text()
    assert "[mcp_servers.all]" in connected
    preview = mcpyard("disconnect", "codex", "--dry-run", home=home)
    assert (preview.returncode, codex.read_text()) == (0, connected)
    assert "-[mcp_servers.all]" in preview.stdout
    assert answer("disconnect", "codex", home=home)["edit"]
    assert codex.read_text() == CODEX
    assert mcpyard("undo", "--yes", home=home).returncode == 0
    assert codex.read_text() == connected
    assert mcpyard("disconnect", "codex", home=home).returncode == 0
    again = mcpyard("disconnect", "codex", home=home)
    assert (again.returncode, 'there is no server "mcpyard" in codex' in again.stderr) == (2, True)


def test_entries_by_address_are_removed_while_mcpyard_runs_and_others_stay(
    codex: Path, tmp_path: Path
) -> None:
    with daemon(tmp_path / "home") as yard:
        yard.post("/api/clients/connect", {"client": "codex", "http": True})
        codex.write_text(codex.read_text() + '\n[mcp_servers.mine]\ncommand = "cat"\n')
        done = yard.post("/api/clients/disconnect", {"client": "codex"})
        assert done["edit"]
        assert "mcp_servers.mine" in codex.read_text()
        assert yard.up.url not in codex.read_text()
        yard.post("/api/clients/disconnect", {"client": "codex"}, 404)
