"""The words that a shell is told."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from mcpyard.cli.launcher import run
from tests.cli.commands import missing, write_project

pytestmark = pytest.mark.real

HOME = "home"


def completed(folder: Path, line: str) -> list[str]:
    """What bash offers for the last word of a line, by the script and the command themselves."""
    program = folder / "bin" / "mcpyard"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m mcpyard "$@"\n')
    program.chmod(0o755)
    script = f"""
source <(mcpyard completion bash)
COMP_WORDS=({line}"") COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
_mcpyard_completion mcpyard
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    path = f"{program.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        cwd=folder,
        env=os.environ | {"PATH": path, "MCPYARD_HOME": str(folder / HOME)},
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_commands_options_and_the_names_of_servers(tmp_path: Path) -> None:
    write_project(tmp_path, notes=missing(tmp_path), news=missing(tmp_path), time=missing(tmp_path))
    assert completed(tmp_path, "mcpyard sho") == ["show"]
    assert completed(tmp_path, "mcpyard up --log-l") == ["--log-level"]
    assert completed(tmp_path, "mcpyard token r") == ["revoke", "rotate"]
    assert completed(tmp_path, "mcpyard show n") == ["news", "notes"]


def test_a_broken_project_file_completes_nothing_and_says_nothing(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text("{")
    assert completed(tmp_path, "mcpyard show n") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell_asks_this_command(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["completion", shell])
    script = capsys.readouterr().out
    assert ended.value.code == 0
    assert f"_MCPYARD_COMPLETE=complete_{shell}" in script
    assert "mcpyard" in script
    if program := shutil.which(shell):
        subprocess.run([program, "-n"], input=script, text=True, check=True)


def test_another_shell_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["completion", "tcsh"])
    assert ended.value.code == 2
    assert "tcsh" in capsys.readouterr().err
