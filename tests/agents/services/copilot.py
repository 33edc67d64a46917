"""Starting the fake Copilot CLI, and reading what its model was told."""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.agents.services.script import Turn

PROGRAM = Path(__file__).with_name("copilot_cli.py")


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
