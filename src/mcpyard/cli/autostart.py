"""Finds the running mcpyard of a home, or starts a substitute, which ends by itself when idle.

Where the home has a service, systemd is asked first, and a restart that is under way is waited for.
A substitute has the options of the last `mcpyard up`, and hands over to the next one.

Several programs may start their bridges at the same moment. One of them starts mcpyard, the others
wait for it: a lock beside that of the home decides which one, and is released with its process.
"""

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from mcpyard.cli.cli_errors import CliError
from mcpyard.cli.daemon.last_options import LastOptions, last_options
from mcpyard.cli.daemon.service_unit import serves
from mcpyard.cli.daemon.start_lock import StartLock
from mcpyard.cli.daemon.startup_wait import is_ending
from mcpyard.cli.daemon.systemctl import start_service
from mcpyard.domain.edges import EXIT_UNREACHABLE
from mcpyard.runtime.processes.table import MARK
from mcpyard.store.home import Home, Running

IDLE_EXIT: Final = "10m"

_TIMEOUT: Final = 60.0
_SERVICE_TIMEOUT: Final = 30.0
"""Seconds that a service has to come back; it is restarted after two."""

_ASK_AGAIN: Final = 0.1
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
    if running := await _present(home) or await _from_service(home):
        return running
    until = time.monotonic() + _TIMEOUT
    async with _starting(home, until) as running:
        for options in _attempts(folder):
            if running := running or await _await(home, until, _start(folder, options)):
                return running
    raise CliError(
        f"mcpyard did not start (home: {folder}): {_last_lines(folder)}",
        slug="yard-silent",
        exit_code=EXIT_UNREACHABLE,
    )


async def _present(home: Home) -> Running | None:
    """The mcpyard that holds a home; the end of one that no longer listens is waited for."""
    until = time.monotonic() + _TIMEOUT
    while (running := _listening(home)) and time.monotonic() < until:
        if not await asyncio.to_thread(is_ending, running):
            return running
        await asyncio.sleep(_LOOK_AGAIN)
    return None


async def _from_service(home: Home) -> Running | None:
    """The mcpyard that the service manager runs, where it has a service for this home."""
    if not serves(home.folder):
        return None
    until = time.monotonic() + _SERVICE_TIMEOUT
    while (seconds := until - time.monotonic()) > 0 and await start_service(seconds):
        if running := await _present(home):
            return running
        # systemd may not have noticed the end of the process yet.
        await asyncio.sleep(_ASK_AGAIN)
    return await _present(home)


@asynccontextmanager
async def _starting(home: Home, until: float) -> AsyncGenerator[Running | None]:
    """Be the only one who starts mcpyard for this home; what runs if another was faster."""
    home.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = StartLock(home.folder)
    try:
        while not lock.take():
            if await _present(home) or time.monotonic() > until:
                break
            await asyncio.sleep(_LOOK_AGAIN)
        yield await _present(home)
    finally:
        lock.release()


def _attempts(folder: Path) -> Iterator[LastOptions]:
    """Options to try, in this order: those of the last daemon, then the usual ones.

    Each with its port first, since other programs may have stored it.
    """
    last = last_options(folder)
    for options in (last, LastOptions()) if last else (LastOptions(),):
        yield options
        yield replace(options, arguments=(*options.arguments, "--port", "0"))


def _start(folder: Path, options: LastOptions) -> subprocess.Popen[bytes]:
    # -P: a file of the folder that we were started in must not pass for one of our modules.
    command = [sys.executable, "-P", "-m", "mcpyard", "up", "--json", "--substitute"]
    command += ["--home", str(folder.absolute()), "--idle-exit", IDLE_EXIT, *options.arguments]
    # Not marked as a child, also where the bridge itself is the child of a yard.
    environment = {name: value for name, value in os.environ.items() if name != MARK}
    with open(folder / _LOG, "wb", opener=_private) as log:
        started = subprocess.Popen(  # noqa: S603  our own command
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            env=environment,
            cwd=options.folder,
            start_new_session=True,
        )
    # It may end before the bridge does, and should then leave no zombie.
    threading.Thread(target=started.wait, name="substitute", daemon=True).start()
    return started


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
