"""Each program reads back what we wrote, with the values we meant, and starts it as we meant."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from mcpyard.formats.copying.mapping import convert
from mcpyard.formats.editing import remove, write
from mcpyard.formats.entries import Entry
from mcpyard.formats.facts import EntryTransport
from mcpyard.formats.locations import candidates
from mcpyard.formats.registry import scope_ref_of
from mcpyard.formats.switches import set_enabled, switch_location
from tests.real_clients.programs import PROGRAMS, Machine

pytestmark = [pytest.mark.real, pytest.mark.parametrize("program", PROGRAMS)]

SOURCE = scope_ref_of("claude")
LOCAL = Entry(
    type=EntryTransport.STDIO,
    command="run-it",
    args=("--flag", "a b", "-"),
    env={"MODE": "fast"},
    call_timeout=2000,
)
REMOTE = Entry(type=EntryTransport.HTTP, url="http://127.0.0.1:9/mcp", headers={"X-Mode": "fast"})


@pytest.fixture
def machine(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Machine:
    computer = Machine(tmp_path)
    computer.project.mkdir()
    # One of the programs unpacks 235 MB of itself into its cache.
    computer.variables["XDG_CACHE_HOME"] = str(tmp_path_factory.getbasetemp() / "cache")
    project = str(computer.project)
    computer.put(".gemini/trustedFolders.json", {project: "TRUST_FOLDER"})
    computer.put(".copilot/config.json", {"trustedFolders": [project]})
    computer.put(".claude.json", {"projects": {project: {"hasTrustDialogAccepted": True}}})
    computer.put(".codex/config.toml", f'[projects."{project}"]\ntrust_level = "trusted"\n')
    return computer


def add(machine: Machine, program: str, name: str, entry: Entry) -> None:
    """Copy a server from Claude Code to the program's own file."""
    ref = machine.ref(program)
    path = machine.path(ref)
    before = path.read_text() if path.exists() else ""
    converted = convert(entry, SOURCE, ref)
    machine.put(path, write(ref, before, name, converted.entry).text)


def test_a_local_and_a_remote_server_are_read_as_they_were_meant(
    machine: Machine, program: str
) -> None:
    add(machine, program, "local", LOCAL)
    add(machine, program, "remote", REMOTE)
    servers = machine.listed(program)
    assert servers["local"].line == "run-it --flag a b -"
    assert servers["remote"].line == "http://127.0.0.1:9/mcp"


def test_what_is_needed_for_a_sign_in_costs_no_server(machine: Machine, program: str) -> None:
    oauth = replace(
        REMOTE,
        oauth_client_id="me",
        oauth_scopes=("a", "b"),
        oauth_callback_port=8080,
    )
    add(machine, program, "all", oauth)
    add(machine, program, "scopes", replace(REMOTE, oauth_scopes=("a", "b")))
    add(machine, program, "beside", LOCAL)
    assert set(machine.listed(program)) == {"all", "scopes", "beside"}
    assert machine.judged(program) == dict.fromkeys(("all", "scopes", "beside"), "enabled")


def test_what_was_added_and_removed_leaves_no_trace(machine: Machine, program: str) -> None:
    add(machine, program, "stays", LOCAL)
    ref = machine.ref(program)
    path = machine.path(ref)
    before = path.read_text()
    add(machine, program, "goes", REMOTE)
    added = path.read_text()
    assert set(machine.listed(program)) == {"stays", "goes"}
    # Some programs write into the file when they read it, so theirs is not the one to compare.
    removed = remove(ref, added, "goes").text
    assert removed == before
    machine.put(path, removed)
    assert set(machine.listed(program)) == {"stays"}


def test_a_server_is_switched_off_and_on_as_the_program_understands_it(
    machine: Machine, program: str
) -> None:
    add(machine, program, "x", LOCAL)
    add(machine, program, "y", LOCAL)
    ref = machine.ref(program)
    location = switch_location(ref)
    assert location is not None
    path = Path(candidates(location, machine.host)[0])
    before = path.read_text() if path.exists() else ""
    off = set_enabled(ref, before, "x", enabled=False).text
    machine.put(path, off)
    servers = machine.listed(program)
    assert servers["x"].state.lower().startswith("disabled")
    assert not servers["y"].state.lower().startswith("disabled")
    assert machine.judged(program) == {"x": "disabled", "y": "enabled"}
    machine.put(path, set_enabled(ref, off, "x", enabled=True).text)
    assert not machine.listed(program)["x"].state.lower().startswith("disabled")
    assert machine.judged(program) == {"x": "enabled", "y": "enabled"}


def test_a_server_is_started_with_the_arguments_variables_and_folder_we_meant(
    machine: Machine, program: str
) -> None:
    log = machine.home / "log"
    os.mkfifo(log)
    ref = machine.ref(program)
    entry = machine.stub(
        log, "a b", "$NOT", env={"NOTES": "${NOTES}", "MODE": "fast", "PLAIN": "x y"}
    )
    gone = convert(entry, SOURCE, ref)
    written = replace(gone.entry, cwd=str(machine.home)) if program != "claude" else gone.entry
    path = machine.path(ref)
    machine.put(path, write(ref, path.read_text() if path.exists() else "", "x", written).text)
    machine.variables["NOTES"] = "s3"
    assert "s3" not in path.read_text()
    started = machine.started(program, log)
    assert started["argv"] == ["a b", "$NOT"]
    assert {key: started["env"].get(key) for key in ("NOTES", "MODE", "PLAIN")} == {
        "NOTES": "s3",
        "MODE": "fast",
        "PLAIN": "x y",
    }
    folder = machine.project if program == "claude" else machine.home
    assert started["cwd"] == str(folder)


PROJECT_FILES = {
    "claude": ".mcp.json",
    "codex": ".codex/config.toml",
    "copilot": ".github/mcp.json",
    "gemini": ".gemini/settings.json",
    "opencode": "opencode.json",
}


def test_of_two_scopes_the_one_wins_that_we_say_wins(machine: Machine, program: str) -> None:
    add(machine, program, "both", LOCAL)
    ref = machine.ref(f"{program}:project")
    path = machine.path(ref)
    assert path == machine.project / PROJECT_FILES[program]
    other = convert(replace(LOCAL, command="other"), SOURCE, ref).entry
    machine.put(path, write(ref, "", "both", other).text)
    machine.put("project/.claude/settings.json", {"enabledMcpjsonServers": ["both"]})
    assert machine.listed(program)["both"].line.startswith("other ")
    assert machine.judged(program) == {"both": "enabled"}


def test_without_trust_the_server_of_the_project_does_not_count(
    machine: Machine, program: str
) -> None:
    if program == "opencode":
        pytest.skip("it asks for no trust")
    add(machine, program, "mine", LOCAL)
    ref = machine.ref(f"{program}:project")
    machine.put(machine.path(ref), write(ref, "", "theirs", convert(LOCAL, SOURCE, ref).entry).text)
    machine.put(".gemini/trustedFolders.json", {})
    machine.put(".copilot/config.json", {})
    servers = machine.listed(program)
    judged = machine.judged(program)
    if program == "codex":
        own = machine.path(machine.ref(program))
        machine.put(own, own.read_text().replace('"trusted"', '"untrusted"'))
        servers, judged = machine.listed(program), machine.judged(program)
    assert judged["theirs"] == "untrusted"
    used = servers.get("theirs")
    assert used is None or used.state in {"Disabled", "Pending approval"}
    assert judged["mine"] == ("untrusted" if program == "gemini" else "enabled")
    assert (servers["mine"].state == "Disabled") is (program == "gemini")


def test_what_we_call_invalid_the_program_does_not_use(machine: Machine, program: str) -> None:
    ref = machine.ref(program)
    bad = {
        "claude": {"url": "http://127.0.0.1:9/mcp"},
        "copilot": {"command": 5},
        "gemini": {},
        "opencode": {"type": "local", "command": "run"},
    }
    path = machine.path(ref)
    if program == "codex":
        machine.put(
            path, path.read_text() + '[mcp_servers.bad]\nurl = "http://127.0.0.1:9"\ncwd = "/"\n'
        )
        assert "cwd is not supported" in machine.run(program, "mcp", "list")
    else:
        before = json.loads(path.read_text()) if path.exists() else {}
        machine.put(path, {**before, ref.shape.keys[0]: {"bad": bad[program]}})
        text = machine.run(
            program, *(("debug", "config") if program == "opencode" else ("mcp", "list"))
        )
        assert "bad: run" not in text
        assert "connected" not in text.lower().replace("disconnected", "")
    assert machine.judged(program) == {"bad": "invalid"}
