"""What `up` finds where its home is to be: a yard that is just ending, or no place to write to.

A yard that was told to end stops listening first, then ends its servers, and only then lets its
home go. Whoever starts the next one meanwhile means that it should follow.
"""

import os
import socket
import sys
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from mcpyard.cli.cli_errors import Complaint
from mcpyard.cli.timeouts import Patience
from mcpyard.domain.limits import SHUTDOWN
from mcpyard.store.home import Home, Running

_GRACE: Final = 2.0
"""Seconds more than the servers get, in which the yard itself puts its things away."""

_KNOCK: Final = 1.0


def await_predecessor(folder: Path) -> None:
    """Wait for a yard that is ending to let its home go, as long as that may take."""
    home = Home(folder)
    found = home.running()
    if found is None or not _is_ending(found):
        return
    print(f"waiting for the yard that is ending (pid {found.pid})", file=sys.stderr, flush=True)
    waiting = Patience(SHUTDOWN + _GRACE)
    while home.running() == found and waiting.lasts():
        """It takes the note away that it holds the home."""


def make_home(folder: Path) -> None:
    """Make the folder of a home, if it is not there.

    Raises:
        Complaint: The yard could keep nothing there; says what to do.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise _unfit(folder, error.strerror or str(error)) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise _unfit(folder, "cannot be written to")


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


def _unfit(folder: Path, why: str) -> Complaint:
    return Complaint(
        f"{folder}: {why}",
        hint="mcpyard keeps its state there; name another folder with --home or MCPYARD_HOME",
    )
