"""Starting the fake Copilot CLI, and reading what its model was told."""

import gc
import json
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.agents.services.script import Turn

LEAKS = "ignore:Exception ignored in:pytest.PytestUnraisableExceptionWarning"
"""The SDK leaves the pipes of the process that it started to the garbage collector."""

PROGRAM = Path(__file__).with_name("copilot_cli.py")


@pytest.fixture(scope="module")
def closed_pipes() -> Generator[None]:
    """Close what the SDK left open, before the collector finds it in a test of something else."""
    yield
    for each in gc.get_objects():
        if isinstance(each, subprocess.Popen) and each.poll() is not None:
            for pipe in (each.stdout, each.stderr):
                if pipe:
                    pipe.close()


@dataclass(frozen=True, slots=True)
class CopilotCli:
    """A program to run as the CLI, with the environment that makes the SDK do so."""

    environment: dict[str, str]
    log: Path

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    @property
    def tools(self) -> list[str]:
        return self.lines[0]

    @property
    def heard(self) -> str:
        return json.dumps(self.lines[1:])


def copilot_cli(folder: Path, turns: list[Turn]) -> CopilotCli:
    """A CLI whose model makes these calls."""
    program, log = folder / "copilot", folder / "copilot.log"
    log.unlink(missing_ok=True)
    program.write_text(f"#!{sys.executable} -IS\n{PROGRAM.read_text()}")
    program.chmod(0o755)
    script = [[{"name": each.name, "arguments": each.parsed} for each in turn] for turn in turns]
    environment = {
        "COPILOT_CLI_PATH": str(program),
        "FAKE_COPILOT_SCRIPT": json.dumps(script),
        "FAKE_COPILOT_LOG": str(log),
    }
    return CopilotCli(environment, log)
