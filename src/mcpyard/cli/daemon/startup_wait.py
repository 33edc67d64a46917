"""The home of `up` before it starts: still held by a process that is ending, or not writable.

An ending process stops listening first, then stops its servers, and releases its home last. An `up`
that is started meanwhile waits for that.
"""

import contextlib
import os
import signal
import socket
import sys
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from mcpyard.cli.cli_errors import CliError
from mcpyard.client.discovery import Deadline
from mcpyard.domain.limits import SHUTDOWN
from mcpyard.store.home import Home, Running

_GRACE: Final = 2.0
"""Seconds after the end of the servers, in which the process releases the rest."""

_KNOCK: Final = 1.0


def await_predecessor(folder: Path, *, substitute: bool = False) -> None:
    """Wait until a process that is ending releases the home, as long as that may take.

    A substitute, which `mcpyard stdio` started, is made to end, but not by another substitute.
    """
    home = Home(folder)
    running = home.running()
    if running is None:
        return
    if running.substitute and not substitute:
        print(f"taking over from {_name(running)}", file=sys.stderr, flush=True)
        with contextlib.suppress(ProcessLookupError):
            os.kill(running.pid, signal.SIGTERM)
    elif is_ending(running):
        print(f"waiting for {_name(running)} to stop", file=sys.stderr, flush=True)
    else:
        return
    waiting = Deadline(SHUTDOWN + _GRACE)
    while home.running() == running and waiting.lasts():
        """It announces that it holds the home until it ends."""


def _name(running: Running) -> str:
    return f"mcpyard (pid {running.pid})"


def make_home(folder: Path) -> None:
    """Create the home folder if it does not exist.

    Raises:
        CliError: It cannot be created or written.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _unfit(folder, error.strerror or str(error)) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _unfit(folder, "not writable")


def is_ending(running: Running) -> bool:
    """Whether a process holds its home, but listens no more."""
    if not running.url:
        return False
    address = urlsplit(running.url)
    try:
        socket.create_connection((address.hostname or "", address.port or 0), _KNOCK).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        return False
    return False


def _unfit(folder: Path, why: str) -> CliError:
    return CliError(
        f"{folder}: {why}",
        hint="mcpyard stores its state there; use another folder with --home or MCPYARD_HOME",
    )
