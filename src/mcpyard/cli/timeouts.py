"""Waiting for what another process will do: a bounded number of looks, a moment apart."""

import threading
import time
from typing import Final

_LOOK_AGAIN: Final = 0.02
"""Seconds; the other process announces itself in a file only."""


class Patience:
    """How long to go on looking."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._never = threading.Event()

    def lasts(self) -> bool:
        """Let a moment pass; whether there is time for another look."""
        self._never.wait(_LOOK_AGAIN)
        return time.monotonic() < self._until
