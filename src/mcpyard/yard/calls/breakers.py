"""Tools that ran into their time limits, while their servers respond.

Such a tool is left to its fallbacks for a while, which grows. Where there is nobody else to ask,
one call at a time tries it, and the others fail at once.
"""

from typing import Final
from uuid import UUID

from mcpyard.catalog.routes import Route
from mcpyard.domain.errors import Disconnected
from mcpyard.domain.ports import Clock

REST: Final = 30.0
"""Seconds that a tool is left alone at first."""

LONGEST_REST: Final = 300.0

_MOST_DOUBLINGS: Final = 32


class ToolBreaker:
    """What is known of one tool that ran into its time limit.

    Attributes:
        timeouts: Calls in a row that did.
        trying: Whether a call tries it just now.
        until: When it may be asked before its fallbacks again; None while the breaker is closed.
        rests: How often it was left alone in a row.
    """

    __slots__ = ("rests", "timeouts", "trying", "until")

    def __init__(self) -> None:
        self.timeouts = 0
        self.trying = False
        self.until: float | None = None
        self.rests = 0


class ToolBreakers:
    """All such tools.

    Attributes:
        known: By server and tool; empty when all is well, which is all that a call looks at then.
    """

    def __init__(self, clock: Clock) -> None:
        self.known: dict[tuple[UUID, str], ToolBreaker] = {}
        self._clock = clock

    def rests(self, route: Route) -> bool:
        """Whether a tool had better not be asked just now."""
        breaker = self._open(route)
        if breaker is None or breaker.until is None:
            return False
        return breaker.trying or self._clock.monotonic() < breaker.until

    def is_open(self, route: Route) -> bool:
        """Whether a tool has not answered since its breaker opened."""
        return bool(self.known) and self._open(route) is not None

    def enter(self, route: Route) -> ToolBreaker | None:
        """Let a call through: with the breaker that it tries, if that is open.

        Raises:
            Disconnected: Another call tries the tool already.
        """
        breaker = self._open(route)
        if breaker is None:
            return None
        if breaker.trying:
            times = "a call" if breaker.timeouts == 1 else f"{breaker.timeouts} calls"
            failed = f'the tool "{route.tool.name}" did not answer {times} in time'
            refused = Disconnected(f"{failed}; the next call tests it again")
            refused.untaken = True
            raise refused
        breaker.trying = True
        return breaker

    def timed_out(self, route: Route, enough: int) -> bool:
        """Count a call that ran into its time limit; whether that opens the breaker.

        Args:
            route: The tool.
            enough: How many in a row open it.
        """
        breaker = self.known.setdefault((route.server, route.tool.name), ToolBreaker())
        breaker.timeouts += 1
        if breaker.timeouts < enough:
            return False
        now, was_open = self._clock.monotonic(), breaker.until is not None
        # Calls that were in flight together are one piece of evidence.
        if breaker.until is None or now >= breaker.until:
            breaker.rests += 1
        rest = REST * 2.0 ** min(breaker.rests - 1, _MOST_DOUBLINGS)
        breaker.until = now + min(LONGEST_REST, rest)
        return not was_open

    def answered(self, route: Route) -> bool:
        """A tool answered; whether its breaker was open."""
        breaker = self.known.pop((route.server, route.tool.name), None)
        return breaker is not None and breaker.until is not None

    def forget(self, server: UUID) -> None:
        """What is known of the tools of a server holds no more: it is the server that is away."""
        for key in [each for each in self.known if each[0] == server]:
            del self.known[key]

    def _open(self, route: Route) -> ToolBreaker | None:
        breaker = self.known.get((route.server, route.tool.name))
        return breaker if breaker and breaker.until is not None else None
