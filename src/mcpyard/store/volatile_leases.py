"""Leases in memory: of a cluster whose nodes are all in one process, as in tests."""

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from msgspec.structs import replace

from mcpyard.domain.cluster import Assign, Member, Node, NodeState, Placement
from mcpyard.domain.cluster_history import ClusterEvent, Why
from mcpyard.domain.errors import StoreAway
from mcpyard.store.lease_tables import LeaseTables


class VolatileLeases:
    """The `LeaseStore` port in memory; `away` makes it refuse.

    Attributes:
        tables: What it holds; several nodes may share them.
        away: Whether it cannot be reached.
    """

    def __init__(self, tables: LeaseTables | None = None) -> None:
        self.tables = tables or LeaseTables({}, {}, {})
        self.away = False

    async def join(
        self, node: Node, *, watched: Member | None = None, replace: bool = False
    ) -> int:
        """Take the name of a node."""
        return self._reach().join(node, watched, replace_it=replace)

    async def beat(self, name: str, epoch: int) -> bool:
        """Renew a lease."""
        return self._reach().beat(name, epoch)

    async def members(self) -> Sequence[Member]:
        """Every node."""
        return [*self._reach().nodes.values()]

    async def placements(self) -> Sequence[Placement]:
        """Every placement."""
        return [*self._reach().placed.values()]

    async def take_over(
        self, dead: Sequence[Member], assign: Assign, *, by: str = ""
    ) -> Sequence[Placement]:
        """Place the servers of dead nodes elsewhere."""
        return self._reach().take_over(dead, assign, by)

    async def leave(
        self, name: str, epoch: int, keep: Collection[UUID], assign: Assign
    ) -> Sequence[Placement]:
        """Place the servers of a node that ends elsewhere."""
        return self._reach().leave(name, epoch, keep, assign)

    async def place(self, assign: Assign) -> Sequence[Placement]:
        """Give nodes to servers that have none."""
        return self._reach().place(assign)

    async def plan_move(
        self, server: UUID, node: str, *, why: Why = Why.MOVED, by: str = ""
    ) -> Placement:
        """Say which node gets a server next."""
        return self._reach().plan_move(server, node, why, by)

    async def plan_moves(
        self, moves: Mapping[UUID, str], *, why: Why = Why.MOVED, by: str = ""
    ) -> Sequence[Placement]:
        """Say which nodes get servers next."""
        return self._reach().plan_moves(moves, why, by)

    async def hand_over(self, fences: Mapping[UUID, int]) -> Sequence[Placement]:
        """Give servers to their next nodes."""
        return self._reach().hand_over(fences)

    async def raise_fence(self, server: UUID, fence: int) -> Placement:
        """Raise the fence of a server."""
        return self._reach().raise_fence(server, fence)

    async def unplace(self, fences: Mapping[UUID, int]) -> Sequence[Placement]:
        """Take the nodes of servers away."""
        return self._reach().unplace(fences)

    async def set_state(self, name: str, state: NodeState, *, by: str = "") -> None:
        """Say whether a node takes servers."""
        self._reach().set_state(name, state, by)

    async def set_cannot(self, name: str, servers: frozenset[UUID]) -> None:
        """Say which servers cannot run on a node."""
        self._reach().set_member(name, lambda member: replace(member, cannot=servers))

    async def forget(self, name: str, *, by: str = "") -> None:
        """Take a node out of the list."""
        self._reach().forget(name, by)

    async def events(self, after: int) -> Sequence[ClusterEvent]:
        """What happened since."""
        events = enumerate(self._reach().events, 1)
        return [replace(each, id=number) for number, each in events if number > after]

    async def close(self) -> None:
        """Nothing is held."""

    def _reach(self) -> LeaseTables:
        if self.away:
            raise StoreAway("the database of the cluster cannot be reached")
        return self.tables
