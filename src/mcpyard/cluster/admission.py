"""The test before each call: may this node still run this server?

A singleton is admitted while the lease of this node covers the moment and its fence is the newest.
Any other server is admitted unless a newer fence was seen, this node was taken over and did not
join again yet, or it has just woken and cannot know what happened meanwhile. Whoever asks reads the
clock: a process that was frozen finds out in the first call that it looks at, whatever else its
event loop has to do.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from typing import Final
from uuid import UUID

from mcpyard.cluster.lease import Lease
from mcpyard.domain.cluster import Placement

LATE: Final = 1.0
"""Seconds between two looks at the clock after which this node counts as just woken.

The clock is looked at four times a second and at every call.
"""


class Verdict(Enum):
    """What is to happen to a call."""

    HERE = "here"
    ELSEWHERE = "elsewhere"
    WAIT = "wait"
    EXPIRED = "expired"


class CallAdmission:
    """What this node knows of placements, and what it may still do itself.

    Attributes:
        given_up: The servers that this node asked the store to take from it. They must not run here
            until the store has said whether it did so: another node may have them by then.
    """

    def __init__(self, node: str, lease: Lease, clock: Callable[[], float]) -> None:
        self._node = node
        self._lease = lease
        self._clock = clock
        self._placements: dict[UUID, Placement] = {}
        self.given_up: set[UUID] = set()
        self._looked = clock()
        self._woken: float | None = None

    @property
    def placements(self) -> Mapping[UUID, Placement]:
        """The newest placement of each server that was seen."""
        return self._placements

    def learn(self, placements: Iterable[Placement], *, from_store: bool) -> list[Placement]:
        """Take over placements, those that are news; another node may only tell of newer fences.

        An older fence is never news, whoever repeats it.
        """
        news: list[Placement] = []
        for each in placements:
            before = self._placements.get(each.server)
            if before is None or self._is_newer(each, before, from_store=from_store):
                self._placements[each.server] = each
                news.append(each)
        return news

    @staticmethod
    def _is_newer(placement: Placement, before: Placement, *, from_store: bool) -> bool:
        if placement.fence == before.fence:
            return from_store and placement != before
        return placement.fence > before.fence

    def look(self) -> float:
        """Read the clock, and notice a time in which nobody did."""
        now = self._clock()
        if now - self._looked > LATE:
            self._woken = now
        self._looked = now
        return now

    @property
    def woken(self) -> bool:
        """Whether this node slept, and has not learned since what happened meanwhile."""
        self.look()
        return self._woken is not None

    def confirm(self, asked_at: float) -> None:
        """The store, or a node that reaches it, told the newest fences; asked at that moment."""
        if self._woken is not None and asked_at >= self._woken:
            self._woken = None

    def check(self, server: UUID, *, singleton: bool) -> Verdict:
        """What is to happen to a call of a shared server."""
        now = self.look()
        placement = self._placements.get(server)
        if placement is None or not placement.node:
            return Verdict.WAIT
        if placement.node != self._node:
            return Verdict.ELSEWHERE
        if server in self.given_up:
            return Verdict.WAIT
        if singleton:
            return self._check_singleton(placement, now)
        # Without an epoch another daemon may have the name of this node, and all its servers.
        is_known = self._lease.epoch > 0 and self._woken is None
        return Verdict.HERE if is_known else Verdict.WAIT

    def _check_singleton(self, placement: Placement, now: float) -> Verdict:
        if placement.next_node:
            return Verdict.WAIT
        # While the lease covers it nobody took over, however long this node slept.
        return Verdict.HERE if self._lease.covers(now) else Verdict.EXPIRED
