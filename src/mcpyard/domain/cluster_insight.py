"""What a node knows of its cluster besides where servers are."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol
from uuid import UUID

from msgspec import Struct

from mcpyard.domain.cluster_history import ClusterEvent, PlacementReason
from mcpyard.domain.planned_moves import PlannedMove
from mcpyard.domain.stored import CallQuery, CallRecord


class NodeFigures(Struct, frozen=True):
    """How a node's membership goes.

    Attributes:
        lease_seconds_left: For how long its singletons may run without another beat.
        takeovers: How many dead nodes it took over since it started.
        fenced: How often it lost its lease since it started.
    """

    lease_seconds_left: float = 0.0
    takeovers: int = 0
    fenced: int = 0


class PinnedServer(Struct, frozen=True):
    """A server that belongs to the files or the environment of the machine of a node."""

    node: str
    server: UUID
    name: str


class ClusterInsight(Protocol):
    """Why servers are where they are, what would be and what was, and the calls of all nodes."""

    @property
    def figures(self) -> NodeFigures:
        """How this node's membership goes."""
        ...

    def reason(self, server: UUID) -> PlacementReason | None:
        """Why a server is where it is, as far as that is known."""
        ...

    def events(self) -> Sequence[ClusterEvent]:
        """The last things that happened, the oldest first."""
        ...

    def follow(self, listener: Callable[[ClusterEvent], None]) -> None:
        """Tell of whatever happens from now on."""
        ...

    def plan_move(self, server: UUID, node: str) -> PlannedMove:
        """What `move` would do.

        Raises:
            NodeUnknown: There is no such node, or it takes no servers.
            ServerUnknown: The server has no node.
        """
        ...

    def plan_drain(self, node: str) -> Sequence[PlannedMove]:
        """What `drain` would do, server by server.

        Raises:
            NodeUnknown: There is no such node.
        """
        ...

    async def pinned_elsewhere(self) -> Sequence[PinnedServer]:
        """The pinned servers of the other nodes, as far as they can be reached."""
        ...

    async def calls(
        self, queries: Mapping[str, CallQuery]
    ) -> Mapping[str, Sequence[CallRecord] | None]:
        """Calls from the journals of nodes; None for a node that did not answer in time."""
        ...
