"""How long a call waits for a server that is not there yet."""

from mcpyard.domain import limits
from mcpyard.domain.backoff import RestartPolicy
from mcpyard.domain.lifecycle import AWAY, Phase, State


class CallWait:
    """The waits of one call.

    A call that meets a server which was lost just now waits for it; where the server is remote,
    the call probes it meanwhile. A call of a remote server that was given up is one probe: it fails
    with it, or at once when the last probe was just made.
    """

    def __init__(self, policy: RestartPolicy, deadline: float) -> None:
        self._policy = policy
        self._deadline = deadline
        self._away_deadline = 0.0

    def seconds(self, state: State, now: float) -> float | None:
        """How long to wait for the next change at most; None where waiting does not help."""
        left = self._deadline - now
        if state.phase is Phase.STOPPING:
            return left if state.restart else None
        if state.phase is Phase.BACKOFF and not self._away_deadline:
            self._away_deadline = now + limits.WAIT_IN_BACKOFF
        if not state.takes_calls or (state.phase is Phase.FAILED and now >= self._away_deadline):
            return None
        if state.phase in AWAY:
            remote = self._policy.remote
            return min(left, self._policy.probe_gap if remote else limits.WAIT_IN_BACKOFF)
        return min(left, limits.WAIT_IN_BACKOFF) if state.probing else left

    def goes_on(self, state: State, now: float) -> bool:
        """Whether the call waits on after a wait without a change: it probes the server again."""
        return (
            self._policy.remote
            and state.phase in AWAY
            and now < min(self._deadline, self._away_deadline)
        )
