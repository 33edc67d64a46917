"""A locked install takes what the lock names, whatever was published since."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["scripts/setup", "scripts/servers", "Dockerfile"])
def test_a_locked_install_resolves_nothing(name: str) -> None:
    """Debian's pip meets `coverage[toml]` in a lock of `coverage` and asks for the newest one."""
    installs = [
        line for line in (ROOT / name).read_text().splitlines() if "--require-hashes" in line
    ]
    assert installs
    assert all("--no-deps" in line for line in installs)


def test_the_lock_names_everything_that_is_needed() -> None:
    command = [sys.executable, "-m", "pip", "check"]
    check = subprocess.run(command, capture_output=True, text=True, check=False)
    assert check.returncode == 0, check.stdout
