"""Whether a server that runs also responds: judged by evidence, one piece after another.

Calls that ran into their time limits and a missed ping together open the breaker: the server is
degraded. While pings are answered, it is the tool that is slow and not the server, so such calls
are forgotten. Where few calls come, as a fallback answers them, further missed pings are as good as
time-outs. Pings at growing intervals, and one call at a time, find out whether it responds again.
Enough pings missed in a row mean that it is lost, but never while a call is within its time limit:
a server that does one thing at a time may be at work on it.
"""

from enum import Enum, auto

from mcpyard.domain.model import HealthCheck

_MOST_DOUBLINGS = 32


class HealthVerdict(Enum):
    """What the evidence says now."""

    DEGRADED = auto()
    RECOVERED = auto()
    LOST = auto()


class Health:
    """The evidence about one session.

    Attributes:
        check: What the user set.
        timeouts: Calls that ran into their time limits since the server was last heard of.
        misses: Pings in a row that were not answered.
        is_open: Whether the breaker is open.
        pinging: Whether a ping is asked for or on its way.
    """

    __slots__ = ("_probing", "_tries", "check", "is_open", "misses", "pinging", "timeouts")

    def __init__(self, check: HealthCheck) -> None:
        self.check = check
        self.timeouts = 0
        self.misses = 0
        self.is_open = False
        self.pinging = False
        self._tries = 0
        self._probing = False

    @property
    def pause(self) -> float:
        """Seconds of silence until the next ping."""
        seconds = self.check.interval / 1000
        if self.is_open or (self.timeouts and self.misses):
            soon = self.check.timeout / 1000 * 2.0 ** min(self._tries, _MOST_DOUBLINGS)
            return min(seconds, soon)
        return seconds

    def timed_out(self) -> None:
        """A call ran into its time limit."""
        self.timeouts += 1

    def answered(self) -> HealthVerdict | None:
        """A call was answered, or a ping."""
        self.timeouts = self.misses = self._tries = 0
        if not self.is_open:
            return None
        self.is_open = False
        return HealthVerdict.RECOVERED

    def missed(self, *, working: bool) -> HealthVerdict | None:
        """A ping was not answered; `working` while a call within its time limit waits."""
        self._tries += 1
        self.misses += not working
        if self._opens():
            self.is_open, self.misses, self._tries = True, 0, 0
            return HealthVerdict.DEGRADED
        if working or self.misses < self.check.failures:
            return None
        return HealthVerdict.LOST

    def _opens(self) -> bool:
        if self.is_open or not self.timeouts:
            return False
        # A server at work on one call may well let another wait: then only calls count.
        enough = self.check.failures
        return self.timeouts >= enough or self.timeouts + self.misses > enough

    def let_through(self) -> bool:
        """Whether a call may try a server whose breaker is open; `tried` must follow."""
        if self._probing or self.pinging:
            return False
        self._probing = True
        return True

    def tried(self) -> None:
        """The call that was let through is over."""
        self._probing = False
