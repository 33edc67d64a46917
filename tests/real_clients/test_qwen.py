"""Qwen Code approves each project server as it is, and so do our verdicts."""

from pathlib import Path

import pytest

from tests.real_clients.programs import BIN, Machine

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not (BIN / "qwen").exists(), reason="qwen is not installed"),
]

REMOTE = "http://127.0.0.1:9/mcp"
SHARED: dict[str, dict[str, object]] = {
    "kept": {"command": "true", "env": {"A": "${FOO}", "ü": "\u2028"}, "timeout": 5e3},
    "edited": {"type": "http", "url": REMOTE, "headers": {"A": "$FOO"}},
    "described": {"type": "sse", "url": REMOTE, "description": "before"},
    "rejected": {"command": "true", "type": "stdio"},
    "both": {"command": "true"},
    "asked": {"command": "true", "trust": True},
}
SETTINGS = {"both": {"command": "true", "args": ["$FOO", "${FOO:-no}"]}}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    computer = Machine(tmp_path, {"FOO": "foo"})
    computer.put("project/.mcp.json", {"mcpServers": SHARED})
    computer.put("project/.qwen/settings.json", {"mcpServers": SETTINGS})
    own = {name: {"command": "false"} for name in ("asked", "own")}
    computer.put(".qwen/settings.json", {"mcpServers": own})
    return computer


def waiting(machine: Machine) -> set[str]:
    """The servers that the program does not connect to before it was asked."""
    lines = machine.run("qwen", "mcp", "list").splitlines()
    marks = ("Pending approval", "Rejected")
    return {line.split()[1].rstrip(":") for line in lines if line.endswith(marks)}


def not_enabled(machine: Machine) -> set[str]:
    return {name for name, state in machine.judged("qwen").items() if state != "enabled"}


def test_nothing_is_approved_at_first(machine: Machine) -> None:
    assert waiting(machine) == not_enabled(machine) == {*SHARED}
    states = machine.states("qwen")
    assert (states["user:asked"], states["user:own"]) == ("shadowed", "enabled")
    assert states["shared:both"] == "shadowed"


def test_an_approval_lasts_until_the_entry_changes(machine: Machine) -> None:
    machine.run("qwen", "mcp", "approve", "--all")
    machine.run("qwen", "mcp", "reject", "rejected")
    assert waiting(machine) == not_enabled(machine) == {"rejected"}
    changed = SHARED | {
        "edited": {**SHARED["edited"], "headers": {"A": "$BAR"}},
        "described": {**SHARED["described"], "description": "after"},
    }
    machine.put("project/.mcp.json", {"mcpServers": changed})
    assert waiting(machine) == not_enabled(machine) == {"rejected", "edited"}
    machine.variables["FOO"] = "bar"
    assert waiting(machine) == not_enabled(machine) == {"rejected", "edited", "both"}


def test_the_approvals_are_where_a_variable_says(machine: Machine) -> None:
    machine.variables["QWEN_CODE_MCP_APPROVALS_PATH"] = str(machine.home / "own.json")
    machine.run("qwen", "mcp", "approve", "kept")
    assert waiting(machine) == not_enabled(machine) == {*SHARED} - {"kept"}
    machine.variables = {"FOO": "foo", "QWEN_HOME": str(machine.home / "elsewhere")}
    machine.run("qwen", "mcp", "approve", "edited")
    assert waiting(machine) == not_enabled(machine) == {*SHARED} - {"edited"}
