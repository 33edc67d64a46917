"""What people see and do of the cluster that a yard is a node of."""

import contextlib
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from msgspec.structs import replace

from mcpyard.domain.cluster import Cluster
from mcpyard.domain.cluster_history import ClusterEvent
from mcpyard.domain.cluster_insight import NodeFigures, PinnedServer
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import NodeUnknown, ServerUnknown
from mcpyard.domain.model import Scope, Wanted
from mcpyard.domain.planned_moves import PlannedMove
from mcpyard.yard.views.cluster import (
    ClusterEventView,
    ClusterView,
    MovePlanView,
    NodeReasonView,
    PlacedServerView,
    PlacementView,
    cluster_view,
    event_view,
    pinned_view,
    placement_view,
    planned_view,
    reason_view,
)
from mcpyard.yard.views.servers import ServerView

_NO_CLUSTER: Final = "this mcpyard is not part of a cluster"

Publish = Callable[[str, Mapping[str, object]], None]


class ClusterOperations:
    """The cluster of one yard; without one, everything but `place` is refused."""

    def __init__(
        self,
        cluster: Cluster | None,
        servers: Callable[[], Mapping[UUID, DesiredServer]],
        find: Callable[[str], DesiredServer],
        publish: Publish,
    ) -> None:
        self._cluster = cluster
        self._servers = servers
        self._find = find
        if cluster is not None:
            cluster.insight.follow(lambda event: publish("cluster", self._event(event).to_dict()))

    @property
    def exists(self) -> bool:
        """Whether the yard is a node of a cluster."""
        return self._cluster is not None

    @property
    def node(self) -> str:
        """The name of this node; empty without a cluster."""
        return self._cluster.node if self._cluster else ""

    @property
    def isolated(self) -> bool:
        """Whether neither the database nor any other node can be reached."""
        return self._cluster is not None and self._cluster.isolated

    @property
    def leaving(self) -> bool:
        """Whether this node is about to end, and answers only until other nodes do."""
        return self._cluster is not None and self._cluster.leaving

    @property
    def figures(self) -> NodeFigures:
        """How the membership of this node goes."""
        return self._joined.insight.figures

    def view(self, *, events: bool = False) -> ClusterView:
        """The nodes and the state of the database, and what happened where that is asked for."""
        view = cluster_view(self._joined.status())
        return replace(view, events=self.events()) if events else view

    async def placements(self) -> list[PlacedServerView]:
        """Every server and where it runs, by name."""
        own = [self._placed(each) for each in self._servers().values()]
        every = [*own, *map(pinned_view, await self.pinned_elsewhere())]
        return sorted(every, key=lambda each: (each.name, each.node or ""))

    async def pinned_elsewhere(self) -> Sequence[PinnedServer]:
        """The servers of other machines' own files, as far as their nodes can be reached."""
        return await self._joined.insight.pinned_elsewhere()

    def events(self) -> list[ClusterEventView]:
        """What happened last, newest first."""
        return [self._event(each) for each in reversed(self._joined.insight.events())]

    def place(self, view: ServerView, server: DesiredServer) -> ServerView:
        """A record with the node of its server; as it is where there is no cluster."""
        if self._cluster is None:
            return view
        if server.owner.scope is not Scope.USER:
            own = self._cluster.node
            return replace(view, node=own, fence=None, node_reason=None, pinned=True)
        placement = self._cluster.placement(server.id)
        node, fence = (placement.node or None, placement.fence) if placement else (None, None)
        reason = self._reason(server) if node else None
        return replace(view, node=node, fence=fence, node_reason=reason, pinned=False)

    def where(self, server: UUID) -> object:
        """Stands for where a server is and why; another when that changes."""
        if self._cluster is None:
            return None
        return self._cluster.placement(server), self._cluster.insight.reason(server)

    def plan_move(self, ref: str, node: str) -> MovePlanView:
        """What a move would do."""
        cluster, server = self._joined, self._shared(ref)
        with _placed_somewhere(server):
            return self._plan(node, [cluster.insight.plan_move(server.id, node)])

    def plan_drain(self, node: str) -> MovePlanView:
        """What a drain would do."""
        return self._plan(node, self._joined.insight.plan_drain(node))

    async def move(self, ref: str, node: str, *, by: str = "") -> PlacementView:
        """Have another node run a server."""
        cluster, server = self._joined, self._shared(ref)
        with _placed_somewhere(server):
            return placement_view(await cluster.move(server.id, node, by=by))

    async def drain(self, node: str, *, by: str = "") -> ClusterView:
        """Let a node take no further servers, and have others run those that it has."""
        await self._joined.drain(node, by=by)
        return self.view()

    async def forget(self, node: str, *, by: str = "") -> None:
        """Take a node out of the cluster."""
        await self._joined.forget(node, by=by)

    async def rebalance(self, *, by: str = "") -> list[PlacementView]:
        """Move servers from the fullest nodes to the emptiest ones; returns what moves."""
        return [placement_view(each) for each in await self._joined.rebalance(by=by)]

    def _shared(self, ref: str) -> DesiredServer:
        server = self._find(ref)
        if server.owner.scope is not Scope.USER:
            raise NodeUnknown(
                f'"{server.name}" belongs to a file or the environment of its machine'
            ).advising("Only servers of the user scope can be moved.")
        return server

    def _placed(self, server: DesiredServer) -> PlacedServerView:
        pinned = server.owner.scope is not Scope.USER
        placement = None if pinned else self._joined.placement(server.id)
        node = self._joined.node if pinned else placement and placement.node
        return PlacedServerView(
            server=str(server.id),
            name=server.name,
            node=node or None,
            next_node=(placement.next_node or None) if placement else None,
            pinned=pinned,
            singleton=server.config.singleton,
            node_reason=self._reason(server) if placement and placement.node else None,
        )

    def _reason(self, server: DesiredServer) -> NodeReasonView:
        return reason_view(self._joined.insight.reason(server.id), server.config.labels)

    def _event(self, event: ClusterEvent) -> ClusterEventView:
        return event_view(event, self._name(event.server) if event.server else None)

    def _plan(self, node: str, moves: Iterable[PlannedMove]) -> MovePlanView:
        views = [planned_view(each, self._name(each.server)) for each in moves]
        return MovePlanView(node=node, moves=sorted(views, key=lambda each: each.name))

    def _name(self, server: UUID) -> str:
        desired = self._servers().get(server)
        return desired.name if desired else str(server)

    @property
    def _joined(self) -> Cluster:
        if self._cluster is None:
            raise NodeUnknown(_NO_CLUSTER).advising("Start mcpyard with --node and --cluster.")
        return self._cluster


@contextlib.contextmanager
def _placed_somewhere(server: DesiredServer) -> Generator[None]:
    """Say why a server that is there cannot be moved: the cluster knows only ids."""
    try:
        yield
    except ServerUnknown:
        if server.wanted is Wanted.STOPPED:
            error, advice = f'"{server.name}" is stopped: no node has it', "Start it first."
        else:
            error = f'no node runs "{server.name}" at the moment'
            advice = "See why not: mcpyard cluster status --servers"
        raise ServerUnknown(error).advising(advice) from None
