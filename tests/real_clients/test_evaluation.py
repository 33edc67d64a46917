"""What we say becomes of a server is what becomes of it."""

import os
import sys
from pathlib import Path

import pytest

from tests.real_clients.programs import STUB, Machine

pytestmark = pytest.mark.real

RUN = {"command": "run-it"}


@pytest.fixture
def machine(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    computer = Machine(tmp_path)
    computer.project.mkdir()
    computer.variables["XDG_CACHE_HOME"] = str(tmp_path_factory.getbasetemp() / "cache")
    return computer


def test_claude_takes_the_project_for_the_user_once_it_is_approved(machine: Machine) -> None:
    names = ("approved", "rejected", "asked", "own", "off")
    project = str(machine.project)
    own = {
        "hasTrustDialogAccepted": True,
        "disabledMcpServers": ["off"],
        "mcpServers": {"own": {"command": "local"}},
    }
    user = {name: {"command": "user"} for name in names}
    machine.put(".claude.json", {"mcpServers": user, "projects": {project: own}})
    shared = {name: {"command": "project"} for name in names}
    machine.put("project/.mcp.json", {"mcpServers": shared})
    settings = {
        "enabledMcpjsonServers": ["approved", "own", "off"],
        "disabledMcpjsonServers": ["rejected"],
    }
    machine.put("project/.claude/settings.local.json", settings)
    servers = machine.listed("claude")
    assert {name: seen.line for name, seen in servers.items()} == {
        "approved": "project",
        "rejected": "user",
        "asked": "user",
        "own": "local",
        "off": "project",
    }
    assert servers["off"].state.startswith("Disabled")
    states = machine.states("claude")
    assert [name for name in states if states[name] == "enabled"] == [
        "user:rejected",
        "user:asked",
        "local:own",
        "project:approved",
    ]
    assert states["project:off"] == "disabled"
    assert states["project:asked"] == "untrusted"


def test_claude_approves_nothing_in_a_folder_without_trust(machine: Machine) -> None:
    machine.put("project/.mcp.json", {"mcpServers": {"x": RUN}})
    machine.put("project/.claude/settings.json", {"enableAllProjectMcpServers": True})
    assert machine.listed("claude")["x"].state == "Pending approval"
    assert machine.judged("claude") == {"x": "untrusted"}


def test_codex_puts_the_halves_of_an_entry_together(machine: Machine) -> None:
    trust = f'[projects."{machine.project}"]\ntrust_level = "trusted"\n'
    machine.put(".codex/config.toml", f'{trust}[mcp_servers.x]\ncommand = "run-it"\nargs = ["1"]\n')
    machine.put("project/.codex/config.toml", '[mcp_servers.x]\nargs = ["2"]\nenabled = false\n')
    assert machine.listed("codex") == {"x": ("run-it 2", "disabled")}
    assert machine.judged("codex") == {"x": "disabled"}


def test_gemini_blocks_by_lists_in_any_case(machine: Machine) -> None:
    machine.put(".gemini/trustedFolders.json", {str(machine.home): "TRUST_FOLDER"})
    servers = {"Excluded": RUN, "Allowed": RUN, "other": RUN}
    lists = {"excluded": ["EXCLUDED"], "allowed": ["allowed", "excluded"]}
    machine.put(".gemini/settings.json", {"mcpServers": servers, "mcp": lists})
    listing = machine.listed("gemini")
    assert {name: seen.state for name, seen in listing.items()} == {
        "Excluded": "Blocked",
        "Allowed": "Disconnected",
        "other": "Blocked",
    }
    assert machine.judged("gemini") == {
        "Excluded": "blocked",
        "Allowed": "enabled",
        "other": "blocked",
    }


def test_opencode_puts_all_its_files_together(machine: Machine) -> None:
    local = {"type": "local", "command": ["first"]}
    folder = ".config/opencode/opencode"
    machine.put(f"{folder}.json", {"mcp": {"x": local, "y": local, "z": local}})
    machine.put(f"{folder}.jsonc", {"mcp": {"y": {**local, "command": ["second"]}}})
    machine.put("project/opencode.json", {"mcp": {"x": {"enabled": False}}})
    machine.put("project/.opencode/opencode.json", {"mcp": {"z": {"enabled": False}}})
    assert machine.listed("opencode") == {
        "x": ("first", "disabled"),
        "y": ("second", "enabled"),
        "z": ("first", "disabled"),
    }
    assert machine.judged("opencode") == {"x": "disabled", "y": "enabled", "z": "disabled"}


def test_opencode_reads_both_shapes_and_drops_a_time_in_the_old_form(machine: Machine) -> None:
    local = {"type": "local", "command": ["run-it"]}
    servers = {"x": {**local, "disabled": True}, "y": {**local, "timeout": 5}}
    machine.put("project/opencode.json", {"mcp": {"servers": servers}})
    assert machine.listed("opencode") == {"x": ("run-it", "disabled")}
    assert machine.judged("opencode") == {"x": "disabled", "y": "invalid"}


def test_copilot_reads_one_of_the_files_of_a_trusted_folder(machine: Machine) -> None:
    machine.put(".copilot/config.json", {"trusted_folders": [str(machine.home)]})
    user = {"x": {"command": "user"}, "y": {"command": "user"}}
    machine.put(".copilot/mcp-config.json", {"mcpServers": user})
    first = {"y": {"command": "first"}, "z": {"command": "first"}}
    machine.put("project/.github/mcp.json", {"mcpServers": first})
    assert machine.listed("copilot")["y"].line == "first"
    machine.put("project/.mcp.json", {"mcpServers": {"x": {"command": "second"}}})
    assert machine.listed("copilot") == {"x": ("second", "enabled"), "y": ("user", "enabled")}
    assert machine.judged("copilot") == {"x": "enabled", "y": "enabled"}


@pytest.mark.parametrize(
    ("program", "file", "arguments"),
    [
        ("claude", ".claude.json", ["$FOO", "foo", "d", "${NO}", "${env:FOO}"]),
        ("gemini", ".gemini/settings.json", ["foo", "foo", "d", "${NO}", "${env:FOO}"]),
        ("copilot", ".copilot/mcp-config.json", ["foo", "foo", "d", "${NO}", "${env:FOO}"]),
    ],
)
def test_references_are_replaced_as_the_dialect_says(
    machine: Machine, program: str, file: str, arguments: list[str]
) -> None:
    log = machine.home / "log"
    os.mkfifo(log)
    written = ["$FOO", "${FOO}", "${NO:-d}", "${NO}", "${env:FOO}"]
    entry = {"command": sys.executable, "args": [str(STUB), str(log), *written]}
    machine.put(".gemini/trustedFolders.json", {str(machine.home): "TRUST_FOLDER"})
    machine.put(file, {"mcpServers": {"x": entry}})
    machine.variables["FOO"] = "foo"
    assert machine.started(program, log)["argv"] == arguments
