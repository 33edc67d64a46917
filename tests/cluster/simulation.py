"""Daemons of a cluster as the model of leases has them: what each knows, and what it asked."""

from collections.abc import Callable, Sequence
from typing import NamedTuple
from uuid import UUID

from mcpyard.cluster.admission import Verdict
from mcpyard.cluster.node_view import NodeView
from mcpyard.cluster.placement import assign_nodes
from mcpyard.domain.cluster import Member, Placement

TTL = 6.0
NAMES = ("n1", "n2", "n3", "other n3")
"""Daemons, each with a home of its own; the last two have one name of a node."""
SINGLETONS = (UUID(int=1), UUID(int=2))
OTHERS = (UUID(int=11), UUID(int=12))
SERVERS: dict[UUID, dict[str, str]] = {server: {} for server in (*SINGLETONS, *OTHERS)}


class Question(NamedTuple):
    """What a node asked the store: when by its own clock, what is done there, what follows."""

    asked_at: float
    work: Callable[[], object]
    follow: Callable[[object], None]


class SimulatedNode:
    """One node: what it knows, what it asked, and whether it can do anything."""

    def __init__(self, name: str, now: Callable[[], float], number: int) -> None:
        self.name = name.rsplit(maxsplit=1)[-1]
        self.home = UUID(int=number + 1)
        self._now = now
        self._offset = 1000.0 * number
        self.view = NodeView(self.name, TTL, self.clock)
        self.frozen_at: float | None = None
        self.asked: Question | None = None
        self.answers: tuple[Question, object] | None = None
        self.seen: dict[UUID, int] = {}
        self.woke_at = -1.0
        self.listed_at = -1.0
        self.wanted = {*SERVERS}

    def clock(self) -> float:
        return self._now() + self._offset

    def verdict(self, server: UUID) -> Verdict:
        return self.view.admission.check(server, singleton=server in SINGLETONS)

    def learn(self, placements: Sequence[Placement]) -> None:
        for each in placements:
            self.seen[each.server] = max(each.fence, self.seen.get(each.server, 0))

    @property
    def may_ask(self) -> bool:
        return self.asked is None and self.answers is None

    def ask(self, work: Callable[[], object], follow: Callable[[object], None]) -> None:
        if self.may_ask:
            self.asked = Question(self.clock(), work, follow)

    def assign(self, members: Sequence[Member], placements: Sequence[Placement]) -> dict[UUID, str]:
        return assign_nodes(
            {server: SERVERS[server] for server in self.wanted}, members, placements
        )

    def placed_here(self) -> list[Placement]:
        placements = self.view.admission.placements.values()
        return [each for each in placements if each.node == self.name]

    def listed(self, asked_at: float, answer: tuple[list[Member], list[Placement]]) -> None:
        members, placements = answer
        self.learn(placements)
        self.listed_at = max(self.listed_at, asked_at)
        self.view.listed(members, placements, asked_at)

    def take_placements(self, placements: Sequence[Placement]) -> None:
        self.learn(placements)
        self.view.admission.learn(placements, from_store=True)
