"""The lock of whoever starts mcpyard for a home.

It lies beside the lock of the home, and ends with the process that holds it. A bridge holds it
until the substitute that it started listens, an `up` until it listens itself. So no substitute is
started beside an `up`, and an `up` finds every substitute.
"""

import fcntl
import os
from pathlib import Path
from typing import Final

from mcpyard.client.discovery import Deadline

_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
_TIMEOUT: Final = 60.0
"""Seconds that a bridge may take for a substitute."""


class StartLock:
    """Taken by one process at a time."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "start.lock"
        self._descriptor: int | None = None

    def take(self) -> bool:
        """Take the lock, unless another process holds it; whether this one does now."""
        if self._descriptor is None:
            self._descriptor = os.open(self._path, _FLAGS, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def wait(self) -> None:
        """Take the lock of a home that exists, as soon as whoever holds it is done."""
        waiting = Deadline(_TIMEOUT)
        try:
            while not self.take() and waiting.lasts():
                """The other process releases it, or ends."""
        except OSError:
            """Nobody starts anything in a folder that cannot be written."""

    def release(self) -> None:
        """Let others start what they need."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
