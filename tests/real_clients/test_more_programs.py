"""Programs that start their servers to list them: what we wrote is started as we meant."""

import json
from pathlib import Path

import pytest

from mcpyard.formats.copying.mapping import convert
from mcpyard.formats.editing import remove, write
from mcpyard.formats.registry import scope_ref_of
from mcpyard.formats.switches import set_enabled
from tests.real_clients.programs import BIN, Machine

pytestmark = pytest.mark.real

PROGRAMS = {
    "droid": ("droid", "mcp", "list"),
    "grok": ("grok", "mcp", "doctor"),
    "kilo": ("kilo", "mcp", "list"),
    "qoder": ("qodercli", "mcp", "list"),
}
EXPANDED = {"grok": "foo", "kilo": "foo", "qoder": "foo", "droid": "${FOO}"}
"""What a reference in an argument becomes; Droid replaces those of the environment only."""


@pytest.fixture(params=PROGRAMS)
def client(request: pytest.FixtureRequest) -> str:
    program = PROGRAMS[request.param][0]
    if not (BIN / program).exists():
        pytest.skip(f"{program} is not installed")
    return request.param


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    computer = Machine(tmp_path)
    computer.project.mkdir()
    computer.variables["FOO"] = "foo"
    return computer


def lay(machine: Machine, client: str, log: Path) -> Path:
    """Write the stub as copied from Claude Code."""
    ref = machine.ref(client)
    entry = machine.stub(log, "a b", "${FOO}", env={"MODE": "${FOO}"})
    converted = convert(entry, scope_ref_of("claude"), ref).entry
    machine.put(machine.path(ref), write(ref, "", "x", converted).text)
    return machine.path(ref)


def test_a_server_that_was_copied_is_started_with_its_arguments(
    client: str, machine: Machine
) -> None:
    log = machine.home / "log"
    lay(machine, client, log)
    machine.run(*PROGRAMS[client])
    started = json.loads(log.read_text().splitlines()[0])
    assert started["argv"] == ["a b", EXPANDED[client]]
    assert started["env"]["MODE"] == "foo"
    assert machine.judged(client) == {"x": "enabled"}


def test_a_server_that_is_off_or_removed_is_not_started(client: str, machine: Machine) -> None:
    log = machine.home / "log"
    path = lay(machine, client, log)
    ref, text = machine.ref(client), path.read_text()
    off = set_enabled(ref, text, "x", enabled=False).text
    for changed in (off, remove(ref, text, "x").text):
        path.write_text(changed)
        machine.run(*PROGRAMS[client])
        assert not log.exists()
