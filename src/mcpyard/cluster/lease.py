"""The lease of this node, and the leases of the others, each by this node's own clock.

The clock is CLOCK_BOOTTIME: it goes on while the machine or the process sleeps. Nothing here reads
it: every moment is handed in.
"""

from collections.abc import Iterable
from typing import Final

from mcpyard.domain.cluster import Member, NodeState

MARGIN: Final = 0.5
"""Seconds before its end at which a node stops to rely on its lease: singletons must be gone."""


class Lease:
    """Until when this node may run what must not run twice.

    Attributes:
        epoch: The epoch that the store gave to this node; 0 before it joined.
        until: The moment from which on nothing is covered by the lease.
        losses: How often it ended before it was renewed, or was taken over.
    """

    def __init__(self, ttl: float) -> None:
        self._ttl = ttl
        self.epoch = 0
        self.until = 0.0
        self.losses = 0

    def begin(self, epoch: int, asked_at: float) -> None:
        """The store took this node in; it was asked at that moment."""
        self.epoch, self.until = epoch, 0.0
        self.renew(asked_at)

    def renew(self, asked_at: float) -> None:
        """The store confirmed a beat that was sent at that moment."""
        self.losses += 0.0 < self.until < asked_at
        self.until = max(self.until, asked_at + self._ttl - MARGIN)

    def release(self) -> None:
        """This node ends: it begins nothing more, and keeps the epoch to leave the cluster with."""
        self.until = 0.0

    def end(self) -> None:
        """Another node took over."""
        self.losses += self.epoch > 0
        self.epoch, self.until = 0, 0.0

    def covers(self, now: float) -> bool:
        """Whether the lease holds at a moment."""
        return now < self.until


class MemberWatch:
    """Which nodes are dead: those that this node itself saw not beating for their time to live.

    A look that failed makes every count begin anew, and so does one that comes a whole time to live
    after the last: a node that lost the store, or slept, cannot tell whether others beat meanwhile.
    """

    def __init__(self) -> None:
        self._since: dict[str, tuple[int, int, float]] = {}
        self._read_at = 0.0

    def seen(self, members: Iterable[Member], read_at: float) -> None:
        """Take over a list of members; `read_at` is when it came, not when it was asked for."""
        earlier, self._since = self._since, {}
        for each in members:
            before = earlier.get(each.node.name)
            same = before is not None and before[:2] == (each.epoch, each.beat)
            watched = read_at - self._read_at < each.node.ttl
            since = before[2] if before and same and watched else read_at
            self._since[each.node.name] = each.epoch, each.beat, since
        self._read_at = read_at

    def lost(self) -> None:
        """The store could not be read."""
        self._since.clear()

    def age(self, member: Member, now: float) -> float:
        """Seconds since the beat of a member was seen to change; 0 where it was not seen yet."""
        before = self._since.get(member.node.name)
        return now - before[2] if before else 0.0

    def silent(self, member: Member, now: float) -> bool:
        """Whether a member was seen not to beat for its whole time to live."""
        before = self._since.get(member.node.name)
        if before is None or before[:2] != (member.epoch, member.beat):
            return False
        return now - before[2] >= member.node.ttl

    def dead(self, members: Iterable[Member], now: float) -> list[Member]:
        """The members whose servers are to be taken over."""
        return [
            each for each in members if each.state is not NodeState.LEFT and self.silent(each, now)
        ]
