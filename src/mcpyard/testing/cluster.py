"""A cluster that does what a test says."""

from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

from msgspec import structs

from mcpyard.cluster.move_plans import check_node
from mcpyard.domain.cluster import (
    ClusterStatus,
    Member,
    Node,
    NodeState,
    NodeStatus,
    Placement,
)
from mcpyard.domain.cluster_history import ClusterEvent, PlacementReason
from mcpyard.domain.cluster_insight import NodeFigures, PinnedServer
from mcpyard.domain.planned_moves import PlannedMove
from mcpyard.domain.stored import CallQuery, CallRecord


class FakeInsight:
    """What a test says of a cluster.

    Attributes:
        figures: How the membership of this node goes.
        reasons: Why servers are where they are.
        happened: What happened, the oldest first.
        drained: What a drain would do.
        journals: The calls of each node; None for one that does not answer.
        pinned: The pinned servers of other nodes.
        tell: Tells whoever follows of an event.
    """

    def __init__(self) -> None:
        self.figures = NodeFigures()
        self.reasons: dict[UUID, PlacementReason] = {}
        self.happened: list[ClusterEvent] = []
        self.drained: list[PlannedMove] = []
        self.journals: dict[str, list[CallRecord] | None] = {}
        self.pinned: list[PinnedServer] = []
        self.tell: Callable[[ClusterEvent], None] = lambda _: None

    def reason(self, server: UUID) -> PlacementReason | None:
        """What the test says."""
        return self.reasons.get(server)

    def events(self) -> Sequence[ClusterEvent]:
        """What the test says."""
        return self.happened

    def follow(self, listener: Callable[[ClusterEvent], None]) -> None:
        """Let the test tell of events."""
        self.tell = listener

    def plan_move(self, server: UUID, node: str) -> PlannedMove:
        """From a node without a name to the one that was named."""
        return PlannedMove(server, "", node)

    def plan_drain(self, node: str) -> Sequence[PlannedMove]:
        """What the test says."""
        return [each for each in self.drained if each.source == node]

    async def pinned_elsewhere(self) -> Sequence[PinnedServer]:
        """What the test says."""
        return self.pinned

    async def calls(
        self, queries: Mapping[str, CallQuery]
    ) -> Mapping[str, Sequence[CallRecord] | None]:
        """What is asked for of the calls that the test put there, newest first."""
        return {node: self._of(node, query) for node, query in queries.items()}

    def _of(self, node: str, query: CallQuery) -> list[CallRecord] | None:
        calls = self.journals.get(node, [])
        if calls is None:
            return None
        before = query.before
        earlier = [each for each in calls if before is None or each.id < before]
        return [each._replace(node=node) for each in earlier[: query.limit]]


class FakeCluster:
    """A cluster whose nodes do what a test says.

    Attributes:
        shown: What is known of it.
        placed: Where servers are placed.
        insight: What else is known of it.
        asked_by: Who asked for the last change.
        leaving: Whether the node that answers is about to end.
    """

    def __init__(self, *nodes: str) -> None:
        members = [Member(Node(name, UUID(int=1), "boot", "", 6.0), 1, 1) for name in nodes]
        statuses = [NodeStatus(each, 0.25, 0, reachable=True) for each in members]
        self.shown = ClusterStatus(nodes[0], statuses)
        self.placed: dict[UUID, Placement] = {}
        self.insight = FakeInsight()
        self.asked_by = ""
        self.leaving = False

    @property
    def node(self) -> str:
        """What the test says."""
        return self.shown.node

    @property
    def isolated(self) -> bool:
        """What the test says."""
        return self.shown.isolated

    def status(self) -> ClusterStatus:
        """What the test says."""
        return self.shown

    def placement(self, server: UUID) -> Placement | None:
        """Where the test placed a server."""
        return self.placed.get(server)

    async def move(self, server: UUID, node: str, *, by: str = "") -> Placement:
        """Name the next node of a server."""
        self._check(node, by)
        before = self.placed.get(server) or Placement(server, self.shown.node, 1)
        moved = self.placed[server] = structs.replace(before, next_node=node)
        return moved

    async def drain(self, node: str, *, by: str = "") -> None:
        """Let a node drain."""
        self._check(node, by)
        self.shown = structs.replace(
            self.shown, nodes=[_draining(each, node) for each in self.shown.nodes]
        )

    async def forget(self, node: str, *, by: str = "") -> None:
        """Take a node out."""
        self._check(node, by)
        others = [each for each in self.shown.nodes if each.member.node.name != node]
        self.shown = structs.replace(self.shown, nodes=others)

    async def rebalance(self, *, by: str = "") -> Sequence[Placement]:
        """Move nothing."""
        self.asked_by = by
        return []

    def _check(self, node: str, by: str) -> None:
        self.asked_by = by
        check_node(node, [each.member for each in self.shown.nodes])


def _draining(status: NodeStatus, node: str) -> NodeStatus:
    state = NodeState.DRAINING if status.member.node.name == node else status.member.state
    return structs.replace(status, member=structs.replace(status.member, state=state))
