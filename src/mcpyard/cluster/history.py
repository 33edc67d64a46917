"""What follows from the events of a cluster: why each server is where it is."""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final
from uuid import UUID

from msgspec.structs import replace

from mcpyard.domain.cluster_history import ClusterEvent, EventKind, PlacementReason, Why

SHOWN: Final = 200
"""Events that are kept for whoever asks what happened."""


class ClusterHistory:
    """The events of a cluster as one node read them.

    Attributes:
        newest: The number of the last event.
        reasons: Why each server is where it is.
    """

    def __init__(self) -> None:
        self.newest = 0
        self.reasons: dict[UUID, PlacementReason] = {}
        self._planned: dict[UUID, ClusterEvent] = {}
        self._drained_by: dict[str, str] = {}
        self._events: deque[ClusterEvent] = deque(maxlen=SHOWN)

    @property
    def events(self) -> Sequence[ClusterEvent]:
        """The last events, the oldest first."""
        return [*self._events]

    def take(self, events: Iterable[ClusterEvent]) -> list[ClusterEvent]:
        """Take over events that were read; a move is told with what it was planned for."""
        fresh = [self._follow(each) for each in events if each.id > self.newest]
        self._events += fresh
        return fresh

    def _follow(self, event: ClusterEvent) -> ClusterEvent:
        self.newest = event.id
        server = event.server
        if server is None:
            self._follow_node(event)
            return event
        if event.why is Why.DRAINED and not event.by:
            # A node that is drained plans moves as well, and does not know who asked for it.
            event = replace(event, by=self._drained_by.get(event.source, ""))
        planned = self._planned.pop(server, None)
        if event.kind is EventKind.MOVING:
            self._planned[server] = event
        if event.kind is not EventKind.PLACED:
            return event
        if event.why is Why.MOVED and planned is not None and planned.node == event.node:
            event = replace(event, why=planned.why, by=planned.by)
        self._place(server, event)
        return event

    def _follow_node(self, event: ClusterEvent) -> None:
        if event.kind is EventKind.DRAINING:
            self._drained_by[event.node] = event.by
        if event.kind is EventKind.JOINED:
            self._drained_by.pop(event.node, None)
            self._keep(event.node)

    def _place(self, server: UUID, event: ClusterEvent) -> None:
        if not event.node or event.why is None:
            self.reasons.pop(server, None)
            return
        self.reasons[server] = PlacementReason(
            event.node, event.why, event.source, event.by, event.at
        )

    def _keep(self, node: str) -> None:
        """A node is back with the servers that it had."""
        for server, reason in self.reasons.items():
            if reason.node == node:
                self.reasons[server] = replace(reason, kept=True)
