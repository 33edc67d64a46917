"""What a node knows of its cluster besides where servers are: why, what would be, and what was."""

from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

from msgspec.structs import replace

from mcpyard.cluster.move_plans import plan_drain, plan_move
from mcpyard.domain.call_repositories import CallReader
from mcpyard.domain.cluster import LeaseStore, Placement
from mcpyard.domain.cluster_history import ClusterEvent, PlacementReason
from mcpyard.domain.cluster_insight import NodeFigures, PinnedServer
from mcpyard.domain.errors import ServerUnknown
from mcpyard.domain.planned_moves import PlannedMove
from mcpyard.domain.stored import CallQuery, CallRecord
from mcpyard.mesh.history_reader import HistoryReader
from mcpyard.mesh.journals import ASK, NodeJournals
from mcpyard.mesh.membership import boot_time
from mcpyard.mesh.mesh import Mesh
from mcpyard.mesh.pinned_servers import PinnedServers


class NodeInsight:
    """The `ClusterInsight` port of one node.

    Attributes:
        reader: What reads the events of the cluster.
    """

    def __init__(self, leases: LeaseStore, mesh: Mesh, journal: CallReader) -> None:
        self._mesh = mesh
        self._view = mesh.view
        self._journals = NodeJournals(mesh.view.name, journal, mesh.links)
        self._pinned = PinnedServers(mesh)
        self.reader = HistoryReader(mesh.view.name, leases)
        mesh.answers.add(ASK, self._journals.answer)

    @property
    def figures(self) -> NodeFigures:
        """How this node's membership goes."""
        lease = self._view.lease
        left = max(0.0, lease.until - boot_time())
        return NodeFigures(left, self.reader.takeovers, lease.losses)

    def reason(self, server: UUID) -> PlacementReason | None:
        """Why a server is where it is; None while the reason of its node was not read yet."""
        reason, placement = self.reader.history.reasons.get(server), self._placed.get(server)
        return reason if reason and placement and reason.node == placement.node else None

    def events(self) -> Sequence[ClusterEvent]:
        """The last things that happened, the oldest first."""
        return self.reader.history.events

    def follow(self, listener: Callable[[ClusterEvent], None]) -> None:
        """Tell of whatever happens from now on."""
        self.reader.on_event = listener

    def plan_move(self, server: UUID, node: str) -> PlannedMove:
        """What `move` would do."""
        placement, rules = self._placed.get(server), self._mesh.picture.rules.get(server)
        if placement is None or not placement.node or rules is None:
            raise ServerUnknown(f"the server {server} has no node")
        placements = [*self._placed.values()]
        planned = plan_move(placement, node, rules.labels, self._view.members, placements)
        return replace(planned, singleton=rules.singleton)

    def plan_drain(self, node: str) -> Sequence[PlannedMove]:
        """What `drain` would do, server by server."""
        picture, placements = self._mesh.picture, [*self._placed.values()]
        members, singletons = self._view.members, picture.singletons
        return plan_drain(node, picture.wanted(), singletons, members, placements)

    async def pinned_elsewhere(self) -> Sequence[PinnedServer]:
        """The pinned servers of the other nodes, as far as they can be reached."""
        return await self._pinned.elsewhere()

    async def calls(
        self, queries: Mapping[str, CallQuery]
    ) -> Mapping[str, Sequence[CallRecord] | None]:
        """Calls from the journals of nodes; None for a node that did not answer in time."""
        return await self._journals.ask(queries)

    @property
    def _placed(self) -> Mapping[UUID, Placement]:
        return self._view.admission.placements
