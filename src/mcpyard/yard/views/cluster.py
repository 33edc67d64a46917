"""A cluster as the faces show it."""

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from mcpyard.domain.cluster import ClusterStatus, NodeState, NodeStatus, Placement
from mcpyard.domain.cluster_history import ClusterEvent, EventKind, PlacementReason, Why
from mcpyard.domain.cluster_insight import PinnedServer
from mcpyard.domain.planned_moves import Obstacle, PlannedMove
from mcpyard.yard.views.base import Count, Moment, Uuid, View, moment


class ClusterNodeView(View, frozen=True, kw_only=True):
    """A node of the cluster."""

    name: str
    state: Annotated[NodeState, Meta(description="Whether it takes servers; `left` if it is gone.")]
    beat_age_ms: Annotated[Count, Meta(description="Time since its last sign of life.")]
    servers: Annotated[Count, Meta(description="How many servers are placed on it.")]
    capacity: Annotated[Count, Meta(description="How many servers it takes.")]
    labels: Mapping[str, str]
    version: str
    reachable: Annotated[bool, Meta(description="Whether this node can make calls to it.")]
    problem: Annotated[str | None, Meta(description="Why it cannot, as far as that is known.")]


class NodeReasonView(View, frozen=True, kw_only=True):
    """Why a server is on its node."""

    why: Annotated[
        Why | None, Meta(description="Why it was placed there; null where that is not known.")
    ]
    source: Annotated[str | None, Meta(description="The node that it was on before.")]
    by: Annotated[str | None, Meta(description="Who asked for it.")]
    since: Moment | None
    kept: Annotated[bool, Meta(description="Whether the node has restarted since, and kept it.")]
    labels: Annotated[Mapping[str, str], Meta(description="What the server requires of a node.")]


class PlacedServerView(View, frozen=True, kw_only=True):
    """A server of the cluster, and where it runs."""

    server: Uuid
    name: str
    node: Annotated[str | None, Meta(description="The node that runs it.")]
    next_node: Annotated[str | None, Meta(description="The node that gets it next.")]
    pinned: Annotated[bool, Meta(description="Whether it belongs to its machine.")]
    singleton: bool
    node_reason: NodeReasonView | None


class ClusterEventView(View, frozen=True, kw_only=True):
    """Something that happened in the cluster, as every node tells it."""

    id: Annotated[int, Meta(description="Its number, the same on every node.")]
    at: Moment | None
    kind: EventKind
    node: Annotated[
        str | None,
        Meta(description="The node that it happened to, or that has the server, or gets it."),
    ]
    server: Uuid | None
    name: Annotated[str | None, Meta(description="What the server is called.")]
    source: Annotated[str | None, Meta(description="The node that had the server before.")]
    why: Why | None
    by: Annotated[str | None, Meta(description="Who asked for it, or took over.")]


class PlannedMoveView(View, frozen=True, kw_only=True):
    """Where a server would go."""

    server: Uuid
    name: str
    source: Annotated[str, Meta(description="The node that runs it.")]
    target: Annotated[
        str | None, Meta(description="The node that would get it; null where it would stay.")
    ]
    singleton: Annotated[
        bool, Meta(description="Whether it ends before it starts elsewhere; others start first.")
    ]
    obstacle: Annotated[
        Obstacle | None,
        Meta(description="Why no node can take it, or why the named one does not fit."),
    ]


class MovePlanView(View, frozen=True, kw_only=True):
    """What a drain or a move would do."""

    node: Annotated[str, Meta(description="The node that would be drained, or get the server.")]
    moves: list[PlannedMoveView]


class ClusterView(View, frozen=True, kw_only=True):
    """The cluster, as the node that answers sees it."""

    node: Annotated[str, Meta(description="The node that answers.")]
    nodes: list[ClusterNodeView]
    database: Literal["ok", "away"]
    isolated: Annotated[
        bool, Meta(description="Whether neither the database nor another node is reachable.")
    ]
    placements: list[PlacedServerView] | UnsetType = UNSET
    events: (
        Annotated[list[ClusterEventView], Meta(description="What happened last, newest first.")]
        | UnsetType
    ) = UNSET


class PlacementView(View, frozen=True, kw_only=True):
    """Where a server runs."""

    server: Uuid
    node: str
    fence: Annotated[Count, Meta(description="Grows whenever another node gets the server.")]
    next_node: Annotated[str | None, Meta(description="The node that gets it next.")]


def cluster_view(status: ClusterStatus) -> ClusterView:
    """The view of a cluster."""
    return ClusterView(
        node=status.node,
        nodes=[_node_view(each) for each in status.nodes],
        database="away" if status.database_away else "ok",
        isolated=status.isolated,
    )


def _node_view(status: NodeStatus) -> ClusterNodeView:
    member = status.member
    return ClusterNodeView(
        name=member.node.name,
        state=member.state,
        beat_age_ms=round(status.beat_age * 1000),
        servers=status.servers,
        capacity=member.node.capacity,
        labels=member.node.labels,
        version=member.node.version,
        reachable=status.reachable,
        problem=status.problem or None,
    )


def placement_view(placement: Placement) -> PlacementView:
    """The view of a placement."""
    return PlacementView(
        server=str(placement.server),
        node=placement.node,
        fence=placement.fence,
        next_node=placement.next_node or None,
    )


def reason_view(reason: PlacementReason | None, labels: Mapping[str, str]) -> NodeReasonView:
    """The view of why a server is on its node."""
    return NodeReasonView(
        why=reason.why if reason else None,
        source=(reason.source or None) if reason else None,
        by=(reason.by or None) if reason else None,
        since=moment(reason.at) if reason else None,
        kept=reason is not None and reason.kept,
        labels=labels,
    )


def pinned_view(server: PinnedServer) -> PlacedServerView:
    """The view of a server that belongs to the machine of another node."""
    return PlacedServerView(
        server=str(server.server),
        name=server.name,
        node=server.node,
        next_node=None,
        pinned=True,
        singleton=False,
        node_reason=None,
    )


def event_view(event: ClusterEvent, name: str | None) -> ClusterEventView:
    """The view of an event about the server of a name."""
    return ClusterEventView(
        id=event.id,
        at=moment(event.at),
        kind=event.kind,
        node=event.node or None,
        server=str(event.server) if event.server else None,
        name=name,
        source=event.source or None,
        why=event.why,
        by=event.by or None,
    )


def planned_view(move: PlannedMove, name: str) -> PlannedMoveView:
    """The view of a planned move of the server of a name."""
    return PlannedMoveView(
        server=str(move.server),
        name=name,
        source=move.source,
        target=move.target or None,
        singleton=move.singleton,
        obstacle=move.obstacle,
    )
