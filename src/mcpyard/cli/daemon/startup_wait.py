"""The home of `up` before it starts: still held by a process that is ending, or not writable.

An ending process stops listening first, then stops its servers, and releases its home last. An `up`
that is started meanwhile waits for that.
"""

import os
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


def await_predecessor(folder: Path) -> None:
    """Wait until a process that is ending releases the home, as long as that may take."""
    home = Home(folder)
    running = home.running()
    if running is None or not _is_ending(running):
        return
    print(f"waiting for mcpyard (pid {running.pid}) to stop", file=sys.stderr, flush=True)
    waiting = Deadline(SHUTDOWN + _GRACE)
    while home.running() == running and waiting.lasts():
        """It announces that it holds the home until it ends."""


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


def _is_ending(running: Running) -> bool:
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
