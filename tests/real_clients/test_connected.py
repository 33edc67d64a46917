"""What `mcpyard connect` writes is seen by the programs; those that try it reach the yard."""

import os
from pathlib import Path

import pytest

from tests.cli.commands import answer, echo, write_project, yard_up
from tests.real_clients.programs import Machine

pytestmark = pytest.mark.real


@pytest.fixture
def machine(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Machine:
    computer = Machine(tmp_path / "user")
    computer.project.mkdir(parents=True)
    computer.variables["XDG_CACHE_HOME"] = str(tmp_path_factory.getbasetemp() / "cache")
    project = str(computer.project)
    computer.put(".gemini/trustedFolders.json", {project: "TRUST_FOLDER"})
    computer.put(".claude.json", {"projects": {project: {"hasTrustDialogAccepted": True}}})
    # The yard itself must take this folder for the user's, or it would write into the real one.
    for name, value in computer.environment.items():
        monkeypatch.setenv(name, value)
    for name in [name for name in os.environ if name.startswith(("CODEX_", "CLAUDE_CONFIG"))]:
        monkeypatch.delenv(name)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return computer


@pytest.mark.parametrize("program", ["codex", "opencode", "gemini", "claude"])
@pytest.mark.parametrize("form", ["", "--http"])
def test_a_connected_program_sees_the_yard(
    machine: Machine, program: str, form: str, tmp_path: Path
) -> None:
    project = write_project(tmp_path / "served", echo=echo())
    with yard_up(tmp_path / "home", "--project", project) as up:
        up.event("status", status="connected")
        done = answer("connect", program, *filter(None, [form]), home=up.home)
        assert done["files"][0]["path"].startswith(str(machine.home))
        if done["token"]:
            machine.variables[done["token"]["variable"]] = done["token"]["value"]
        server = machine.listed(program)["mcpyard"]
        assert ("stdio" in server.line) if not form else (server.line == f"{up.url}/mcp")
        if program in {"gemini", "claude"}:
            assert "onnected" in server.state, server
            assert "Dis" not in server.state, server
