"""The Dockerfile against what the command and the routes really are; no container is run."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_group

from mcpyard.cli.main import app
from tests.cli.commands import TIMEOUT, yard_up

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "Dockerfile").read_text().replace("\\\n", "")


def instructions(name: str) -> list[str]:
    """What follows that word, in the last stage; of several the last counts."""
    stage = TEXT[TEXT.rindex("\nFROM ") :]
    return re.findall(rf"^{name} +(.*)$", stage, re.MULTILINE)


def words(name: str) -> list[str]:
    return json.loads(instructions(name)[-1])


def health_check() -> list[str]:
    return json.loads(instructions("HEALTHCHECK")[-1].partition("CMD ")[2])


def test_the_command_is_one_that_mcpyard_takes() -> None:
    assert words("ENTRYPOINT") == ["mcpyard"]
    command, *arguments = words("CMD")
    params = get_group(app).commands[command].make_context(command, arguments).params
    assert (params["insecure"], params["allow_host"]) == (True, ["localhost"])
    assert instructions("EXPOSE") == [str(params["port"])]


def test_it_does_not_run_as_root_and_its_user_owns_the_volume() -> None:
    (user,) = instructions("USER")
    assert user not in {"root", "0"}
    (volume,) = instructions("VOLUME")
    assert f"MCPYARD_HOME={volume}" in instructions("ENV")[-1].split()
    assert f"-o {user} -g {user} {volume}" in instructions("RUN")[0]


def test_every_file_it_copies_is_there_and_not_ignored() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    for name in ("src", "pyproject.toml", "hatch_build.py", "requirements-image.txt", "README.md"):
        assert (ROOT / name).exists()
        assert f"!{name}" in lines


@pytest.mark.real
def test_the_health_check_holds_for_a_yard_that_is_up_and_not_for_one_that_is_gone(
    tmp_path: Path,
) -> None:
    _, *arguments = words("CMD")
    port = arguments.index("--port")
    del arguments[port : port + 2]
    with yard_up(tmp_path / "home", *arguments) as up:
        number = up.url.rsplit(":", 1)[1]
        _, option, code = health_check()
        check = [sys.executable, option, code.replace(":8712/", f":{number}/")]
        healthy = subprocess.run(check, capture_output=True, timeout=TIMEOUT, check=False)
        assert healthy.returncode == 0, healthy.stderr
        assert up.end() == 0
    assert subprocess.run(check, capture_output=True, check=False).returncode != 0
