"""The command itself: quick, and importing nothing heavy."""

import json
import os
import subprocess
import sys

import pytest

import mcpyard

HEAVY = {"mcp", "fastapi", "pydantic", "httpx2", "uvicorn", "jsonschema_rs", "psutil"}


def mcpyard_command(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mcpyard", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | env
    )


@pytest.mark.real
def test_the_version_is_shown() -> None:
    shown = mcpyard_command("--version")
    assert (shown.returncode, shown.stdout) == (0, f"mcpyard {mcpyard.__version__}\n")


@pytest.mark.real
def test_help_lists_the_commands() -> None:
    shown = mcpyard_command("--help")
    assert shown.returncode == 0
    assert "paths" in shown.stdout


@pytest.mark.real
def test_an_unknown_command_is_a_usage_error() -> None:
    assert mcpyard_command("fly").returncode == 2


@pytest.mark.real
def test_the_home_folder_can_be_moved(tmp_path: object) -> None:
    shown = mcpyard_command("paths", "--json", MCPYARD_HOME=str(tmp_path))
    assert json.loads(shown.stdout)["home"] == str(tmp_path)
    assert f"home     {tmp_path}" in mcpyard_command("paths", "--home", str(tmp_path)).stdout


@pytest.mark.real
def test_help_imports_nothing_heavy() -> None:
    code = "import sys, mcpyard.cli.main; print(*{name.split('.')[0] for name in sys.modules})"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert HEAVY.isdisjoint(loaded)
