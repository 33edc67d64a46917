"""Machines that lack what others have: `up` works there, or says in one sentence what is missing.

They are made of namespaces, so that nothing changes for the machine itself.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.cli.commands import MCPYARD, TIMEOUT, Up, echo, mcpyard, write_project, yard_up

LEGAL = [sys.executable, "-c", "from mcpyard.legal.main import run; run()"]
UNSHARE = ("unshare", "--user", "--map-root-user", "--mount")
UNKNOWN_USER = ("unshare", "--user", "--map-user=12345")
NO_WATCHES = 'echo 0 > "/proc/sys/user/$0"; exec "$@"'
NO_SHARED_MEMORY = 'mount -t tmpfs -o ro,mode=000 none /dev/shm; exec "$@"'
NO_HOME = 'unset HOME; exec "$@"'
READ_ONLY = 'mount --bind "$0" "$0"; mount -o remount,bind,ro "$0"; exec "$@"'

needs_namespaces = pytest.mark.skipif(
    shutil.which("unshare") is None
    or subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode != 0,
    reason="this machine lets nobody make user namespaces",
)
pytestmark = [pytest.mark.real, needs_namespaces]


def shell(
    script: str,
    word: object = "sh",
    *,
    within: Sequence[str] = UNSHARE,
    command: Sequence[str] = MCPYARD,
) -> list[str]:
    """The command `mcpyard`, begun by a script of the shell in namespaces of its own."""
    return [*within, "sh", "-euc", script, str(word), *command]


def starts_what_is_added(up: Up, project: Path) -> None:
    """A server that is written into the project's file is started, and can be called."""
    write_project(project, fs=echo())
    up.event("status", name="fs", status="connected")
    done = mcpyard("call", "mcp_fs_echo", "--args", '{"text": "hello"}', home=up.home)
    assert (done.returncode, done.stdout) == (0, "hello\n"), done.stderr


@pytest.mark.parametrize("limit", ["max_inotify_instances", "max_inotify_watches"])
def test_without_inotify_a_file_is_still_followed(tmp_path: Path, limit: str) -> None:
    project = write_project(tmp_path / "p")
    command = shell(NO_WATCHES, limit)
    with yard_up(tmp_path / "home", "--project", project, "--trust-folder", command=command) as up:
        starts_what_is_added(up, project)
        up.end()
        errors = up.errors()
    assert "checking it every second: the system has no inotify watches left" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    "script",
    [NO_SHARED_MEMORY, 'umask 077; exec "$@"', 'export LC_ALL=C LANG=C; exec "$@"'],
    ids=["no shared memory", "umask 077", "locale C"],
)
def test_up_works_where_little_is_given(tmp_path: Path, script: str) -> None:
    project = write_project(tmp_path / "p")
    with yard_up(
        tmp_path / "home", "--project", project, "--trust-folder", command=shell(script)
    ) as up:
        starts_what_is_added(up, project)


def refusal(
    command: Sequence[str],
    folder: Path,
    words: Sequence[str] = ("up",),
    *,
    code: int = 1,
    **env: str,
) -> list[str]:
    """What a command that is refused says, where nothing names a folder for its state."""
    usual = {k: v for k, v in os.environ.items() if not k.startswith(("MCPYARD_", "XDG_"))}
    done = subprocess.run(
        [*command, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT,
        cwd=folder,
        env=usual | env,
    )
    assert (done.returncode, done.stdout) == (code, "")
    return done.stderr.splitlines()


@pytest.mark.parametrize("word", ["up", "ls", "clients", "paths", "doctor", "import", "stdio"])
def test_a_user_without_a_home_directory_is_told_so(tmp_path: Path, word: str) -> None:
    assert refusal(shell(NO_HOME, within=UNKNOWN_USER), tmp_path, [word]) == [
        "error: HOME is not set, and this user has no home directory",
        "hint: set HOME, or choose a folder for the state with --home or MCPYARD_HOME",
    ]


def test_the_legal_server_tells_a_user_without_a_home_directory_so(tmp_path: Path) -> None:
    command = shell(NO_HOME, within=UNKNOWN_USER, command=LEGAL)
    message = "HOME is not set, and this user has no home directory; name a folder with --home"
    assert refusal(command, tmp_path, ["status"], code=4) == [f"mcpyard-legal: {message}"]


def test_a_user_without_a_home_directory_can_name_a_folder(tmp_path: Path) -> None:
    command = shell(NO_HOME, within=UNKNOWN_USER)
    project = write_project(tmp_path / "p")
    with yard_up(tmp_path / "home", "--project", project, "--trust-folder", command=command) as up:
        starts_what_is_added(up, project)
        listed = subprocess.run(
            [*command, "clients", "--json"],
            capture_output=True,
            check=True,
            timeout=TIMEOUT,
            env=os.environ | {"MCPYARD_HOME": str(up.home)},
        )
        assert json.loads(listed.stdout)


def test_a_home_that_is_read_only_is_named(tmp_path: Path) -> None:
    assert refusal(shell(READ_ONLY, tmp_path), tmp_path, HOME=str(tmp_path)) == [
        f"error: {tmp_path}/.local/share/mcpyard: Read-only file system",
        "hint: mcpyard stores its state there; use another folder with --home or MCPYARD_HOME",
    ]
