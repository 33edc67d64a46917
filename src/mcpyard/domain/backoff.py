"""How often and how soon a server is tried again: the numbers, each with its reason."""

from typing import Final, Self

from msgspec import Struct
from msgspec.structs import replace

JITTER: Final = 0.2
"""Waits are spread by a fifth either way, so that servers lost together do not return together."""


_GROWTH: Final = 4.0
_LONGEST_DELAY: Final = 60.0
"""How delays go on where more restarts are wanted than there are delays."""


class RestartPolicy(Struct, frozen=True):
    """The supervision policy of one server.

    Attributes:
        delays: Seconds before each restart of one incident: the first nearly at once, so that one
            crash costs a blink; the last late enough to let a port or a file be freed. Their
            number is the number of restarts.
        settle: Seconds connected after which an incident counts as over.
        flap_limit: Restarts allowed within `flap_window` however stable each run looked.
        flap_window: Seconds.
        probe_first: Seconds before a failed remote server is probed; nothing of ours runs
            meanwhile, so looking again costs nobody anything.
        probe_most: The longest wait between probes, which double.
        probe_gap: Seconds after a loss in which no call is a probe: callers that try again and
            again cost the server at most one attempt each.
        remote: Whether the server is remote.
        approved: Whether it may be opened; one that may not waits as `needs_approval`.
    """

    delays: tuple[float, ...] = (0.25, 1.0, 4.0)
    settle: float = 60.0
    flap_limit: int = 10
    flap_window: float = 3600.0
    probe_first: float = 30.0
    probe_most: float = 300.0
    probe_gap: float = 1.0
    remote: bool = False
    approved: bool = True

    @property
    def max_restarts(self) -> int:
        """Restarts allowed within one incident."""
        return len(self.delays)

    def limited(self, attempts: int, limit: int, window: float) -> Self:
        """This policy with other limits; the delays before the further attempts grow on."""
        delays = [*self.delays[:attempts]]
        while len(delays) < attempts:
            delays.append(min(_LONGEST_DELAY, _GROWTH * delays[-1]))
        return replace(self, delays=tuple(delays), flap_limit=limit, flap_window=window)

    def probe_delay(self, probes: int) -> float:
        """Seconds before the next probe, after `probes` of them."""
        # The exponent is capped because a float cannot hold what years of probing would ask for.
        return min(self.probe_most, self.probe_first * 2.0 ** min(probes, 32))


def spread(delay: float, unit: float) -> float:
    """A delay with jitter; `unit` is a random number in 0..1."""
    return delay * (1 - JITTER + 2 * JITTER * unit)
