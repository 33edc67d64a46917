from pathlib import Path

import pytest


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder, which is the current one, with one server for Claude Code."""
    (tmp_path / ".claude.json").write_text('{"mcpServers": {"x": {"command": "run"}}}')
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("MCPYARD_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path
