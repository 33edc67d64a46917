"""Finds the running mcpyard of a home, or starts one that ends by itself when idle.

Several programs may start their bridges at the same moment. One of them starts mcpyard, the others
wait for it: a lock beside that of the home decides which one, and is released with its process.
"""

import asyncio
import fcntl
import os
import subprocess
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from mcpyard.cli.cli_errors import CliError
from mcpyard.domain.errors import EXIT_UNREACHABLE
from mcpyard.runtime.processes.table import MARK
from mcpyard.store.home import Home, Running

IDLE_EXIT: Final = "10m"

_TIMEOUT: Final = 60.0
_LOOK_AGAIN: Final = 0.02
"""Seconds; mcpyard may be any process, and announces itself in a file."""

_LOG: Final = "started.log"
_SHOWN: Final = 2_000


async def reach_yard(folder: Path) -> Running:
    """The mcpyard that holds a home, started if necessary.

    Raises:
        CliError: It did not start; says why.
    """
    home = Home(folder)
    if running := _listening(home):
        return running
    until = time.monotonic() + _TIMEOUT
    async with _starting(folder, home, until) as running:
        # The usual port first, since other programs may have stored it.
        for port in ((), ("--port", "0")):
            if running := running or await _await(home, until, _start(folder, *port)):
                return running
    raise CliError(
        f"mcpyard did not start (home: {folder}): {_last_lines(folder)}",
        slug="yard-silent",
        exit_code=EXIT_UNREACHABLE,
    )


@asynccontextmanager
async def _starting(folder: Path, home: Home, until: float) -> AsyncGenerator[Running | None]:
    """Be the only one who starts mcpyard for this home; what runs if another was faster."""
    descriptor = _open_lock(folder)
    try:
        while not _locked(descriptor):
            if _listening(home) or time.monotonic() > until:
                break
            await asyncio.sleep(_LOOK_AGAIN)
        yield _listening(home)
    finally:
        os.close(descriptor)


def _open_lock(folder: Path) -> int:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return os.open(folder / "start.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _start(folder: Path, *more: str) -> subprocess.Popen[bytes]:
    # -P: a file of the folder that we were started in must not pass for one of our modules.
    command = [sys.executable, "-P", "-m", "mcpyard", "up", "--json", "--home", str(folder)]
    # Not marked as a child, also where the bridge itself is the child of a yard.
    environment = {name: value for name, value in os.environ.items() if name != MARK}
    with open(folder / _LOG, "wb", opener=_private) as log:
        return subprocess.Popen(  # noqa: S603  our own command
            [*command, "--idle-exit", IDLE_EXIT, *more],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            env=environment,
            start_new_session=True,
        )


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


async def _await(home: Home, until: float, started: subprocess.Popen[bytes]) -> Running | None:
    """What runs as soon as it listens; None when the started process has ended."""
    while time.monotonic() < until:
        if running := _listening(home):
            return running
        if started.poll() is not None and home.running() is None:
            return None
        await asyncio.sleep(_LOOK_AGAIN)
    return None


def _listening(home: Home) -> Running | None:
    running = home.running()
    return running if running and running.url else None


def _last_lines(folder: Path) -> str:
    try:
        text = (folder / _LOG).read_bytes()[-_SHOWN:].decode(errors="replace").strip()
    except OSError:
        text = ""
    return text or "no output"
