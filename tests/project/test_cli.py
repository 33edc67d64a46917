"""The command itself: quick, and importing nothing heavy."""

import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_group

import mcpyard
from mcpyard.cli.launcher import run
from mcpyard.cli.main import app
from mcpyard.domain.edges import EDGES

HEAVY = {"mcp", "fastapi", "pydantic", "httpx2", "uvicorn", "jsonschema_rs", "psutil", "starlette"}

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()


def mcpyard_command(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mcpyard", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | env
    )


@pytest.mark.real
def test_the_version_is_shown() -> None:
    finished = mcpyard_command("--version")
    assert (finished.returncode, finished.stdout) == (0, f"mcpyard {mcpyard.__version__}\n")


@pytest.mark.real
def test_help_lists_the_commands() -> None:
    finished = mcpyard_command("--help")
    assert finished.returncode == 0
    assert "paths" in finished.stdout


@pytest.mark.real
def test_help_lists_the_commands_by_group() -> None:
    help_text = mcpyard_command("-h").stdout
    titles = [line.rstrip(":") for line in help_text.splitlines() if line.endswith(":")]
    assert titles == [
        "Run",
        "Servers",
        "Tools",
        "Clients",
        "Access",
        "Cluster",
        "System",
        "Options",
    ]
    assert "login-link" not in help_text


@pytest.mark.parametrize("name", sorted(get_group(app).commands))
def test_the_help_of_a_command_has_examples_and_no_types(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        run([name, "-h"])
    help_text = capsys.readouterr().out
    assert "\nExamples:\n  " in help_text
    assert f"mcpyard {name}" in help_text.partition("Examples:")[2]
    assert "<" not in re.sub(r"\d<=x<=\d", "", help_text.partition("Examples:")[0])


@pytest.mark.real
def test_an_unknown_command_is_a_usage_error() -> None:
    assert mcpyard_command("fly").returncode == 2


@pytest.mark.real
def test_the_home_folder_can_be_moved(tmp_path: object) -> None:
    finished = mcpyard_command("paths", "--json", MCPYARD_HOME=str(tmp_path))
    assert json.loads(finished.stdout)["home"] == str(tmp_path)
    assert f"home     {tmp_path}" in mcpyard_command("paths", "--home", str(tmp_path)).stdout


@pytest.mark.real
def test_help_imports_nothing_heavy() -> None:
    code = "import sys, mcpyard.cli.main; print(*{name.split('.')[0] for name in sys.modules})"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert HEAVY.isdisjoint(loaded)


@pytest.mark.real
def test_help_takes_less_than_half_a_second_of_work() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert mcpyard_command("--help").returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert used < 0.5


def sections() -> dict[str, str]:
    parts = PAGE.split("\n## mcpyard ")[1:]
    return {part.split("\n", 1)[0]: part for part in parts}


def commands() -> dict[str, Any]:
    return {**get_group(app).commands}


def test_every_command_has_its_section_and_no_other_has_one() -> None:
    assert sections().keys() == commands().keys()


def test_every_option_and_argument_is_documented_with_its_command() -> None:
    for name, command in commands().items():
        section = sections()[name]
        for parameter in command.params:
            argument = str(parameter.metavar).strip("[]")
            for spelling in (*parameter.opts, *parameter.secondary_opts):
                label = spelling if spelling.startswith("-") else argument
                assert label in section, f"{name}: {label}"


def test_no_option_is_documented_that_is_not_there() -> None:
    everything = {
        spelling
        for each in commands().values()
        for p in each.params
        for spelling in (*p.opts, *p.secondary_opts)
    }
    options = everything | {"--version", "--help"}
    assert set(re.findall(r"(?<!-)--[a-z][a-z-]*", PAGE)) <= options


def test_every_exit_code_is_documented() -> None:
    codes = {each.exit_code for each in EDGES.values()} | {0, 130}
    for code in codes:
        assert f"\n| {code} | " in PAGE
