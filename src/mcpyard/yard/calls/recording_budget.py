"""How many calls are recorded: no server too many, those that failed first, and in little time."""

from typing import Final
from uuid import UUID

RATE: Final = 200
"""Calls a second and server."""

RESERVED: Final = 50
"""Of these, only calls that failed may take the last ones."""

SHARE: Final = 0.1
"""Of a processor: what recording may use of it, on the average of `BURST` seconds of that."""

BURST: Final = 1.0

_WINDOW: Final = 1.0


class RecordingWindow:
    """How many calls of each server are recorded in the present second.

    It is asked for every call: one that finds no room must cost next to nothing.
    """

    __slots__ = ("_counts", "_end")

    def __init__(self) -> None:
        self._counts: dict[UUID, int] = {}
        self._end = 0.0

    def take(self, server: UUID, now: float, *, failed: bool) -> bool:
        """Whether one more call of a server is recorded."""
        if now >= self._end:
            self._counts.clear()
            self._end = now + _WINDOW
        count = self._counts.get(server, 0)
        if count >= (RATE if failed else RATE - RESERVED):
            return False
        self._counts[server] = count + 1
        return True


class ProcessorShare:
    """How much time recording may still take. Used by one thread."""

    def __init__(self) -> None:
        self._seconds = BURST
        self._at = 0.0

    def has_time(self, now: float) -> bool:
        """Whether one more call may be recorded."""
        self._seconds = min(BURST, self._seconds + max(0.0, now - self._at) * SHARE)
        self._at = now
        return self._seconds > 0.0

    def spend(self, seconds: float) -> None:
        """Note the processor time that was used."""
        self._seconds -= seconds
