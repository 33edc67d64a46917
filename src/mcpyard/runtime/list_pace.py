"""How often the lists of a server are fetched again.

A list costs the event loop as much as it has items: fetching, reading and comparing them. So items
are what a server has a budget of, not fetches: one with a few tools may change them all day.
"""

from typing import Final

from mcpyard.domain import limits
from mcpyard.domain.errors import Problem
from mcpyard.domain.ports import Clock

CHANGES_TOO_OFTEN: Final = Problem(
    "", "its lists change too often; mcpyard refreshes them at a lower rate"
)


class ListPace:
    """The budget of one session."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._left = float(limits.LISTED_BURST)
        self._at = clock.monotonic()

    def pause(self) -> float:
        """Seconds until a list may be fetched again; 0 for now."""
        now = self._clock.monotonic()
        earned = (now - self._at) * limits.LISTED_PER_SECOND
        self._left, self._at = min(limits.LISTED_BURST, self._left + earned), now
        return max(0.0, -self._left / limits.LISTED_PER_SECOND)

    def spend(self, items: int) -> None:
        """So many items were fetched."""
        self._left -= max(items, limits.LEAST_LISTED)
