"""More than one machine: nodes, where each server is placed, and the port to the leases.

A node holds a lease on all that is placed on it: it renews the lease with a beat, and another node
takes over after the time to live that the node itself wrote down, seen on the taker's own clock. No
wall clock is compared anywhere.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from msgspec import Struct, field

from mcpyard.domain.cluster_history import ClusterEvent, Why

if TYPE_CHECKING:
    # It knows calls, and errors know placements.
    from mcpyard.domain.cluster_insight import ClusterInsight


class NodeState(StrEnum):
    """Whether a node takes servers."""

    UP = "up"
    DRAINING = "draining"
    LEFT = "left"


class Node(Struct, frozen=True):
    """What a node says about itself when it joins.

    Attributes:
        name: Its stable name.
        home: The id of its home, which tells two daemons of one name apart.
        boot: The machine's boot and the place of the home: a daemon of another one may still live.
        address: Where other nodes reach it, as HOST:PORT.
        ttl: How many seconds its lease lives without a beat.
        labels: What servers may require of it.
        capacity: How many servers it takes.
        version: Its version of mcpyard.
    """

    name: str
    home: UUID
    boot: str
    address: str
    ttl: float
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    capacity: int = 200
    version: str = ""


class Member(Struct, frozen=True):
    """A node as the store has it.

    Attributes:
        node: What it said when it joined.
        epoch: How often it joined, or was taken over.
        beat: How often it renewed its lease since.
        state: Whether it takes servers.
        cannot: The servers that cannot run there, for want of a variable or a command.
    """

    node: Node
    epoch: int
    beat: int
    state: NodeState = NodeState.UP
    cannot: frozenset[UUID] = frozenset()


class Placement(Struct, frozen=True):
    """Which node runs a server.

    Attributes:
        server: The server.
        node: The node that runs it; empty for none.
        fence: Grows with each change of the node; what carries an older one is refused.
        next_node: The node that gets it next; empty for none.
    """

    server: UUID
    node: str
    fence: int
    next_node: str = ""


Assign = Callable[[Sequence[Member], Sequence[Placement]], Mapping[UUID, str]]
"""Chooses nodes for servers, given all members and all placements.

Called inside a transaction, maybe twice; it does nothing but choose.
"""


class LeaseStore(Protocol):
    """Membership, placements and fences, decided in one place.

    Every method raises `StoreAway` when the store cannot be reached in time; nothing was changed
    then, or the next call shows that it was. A fence never shrinks, also over the time in which a
    server has no node.
    """

    async def join(
        self, node: Node, *, watched: Member | None = None, replace: bool = False
    ) -> int:
        """Take the name of a node; the epoch from which on its beats count.

        A daemon of the same home and boot keeps its placements: it is a restart, and the lock of
        the home says that the daemon before it is gone. Otherwise the name must not have beaten
        for its time to live, which the caller watched, and the fences of its servers grow; one of
        another home, or one that was forgotten, needs `replace` besides.

        Raises:
            NodeTaken: Another daemon has the name.
        """
        ...

    async def beat(self, name: str, epoch: int) -> bool:
        """Renew a lease; False when it was taken over."""
        ...

    async def members(self) -> Sequence[Member]:
        """Every node that joined and was not forgotten."""
        ...

    async def placements(self) -> Sequence[Placement]:
        """The placement of every server that ever had one."""
        ...

    async def take_over(
        self, dead: Sequence[Member], assign: Assign, *, by: str = ""
    ) -> Sequence[Placement]:
        """Place the servers of dead nodes elsewhere, or nowhere, with higher fences.

        `by` is the node that takes over. A member whose epoch or beat is another one by now is
        not dead and is left alone; the others get a higher epoch, so that their beats are refused.
        """
        ...

    async def leave(
        self, name: str, epoch: int, keep: Collection[UUID], assign: Assign
    ) -> Sequence[Placement]:
        """Place the servers of a node that ends elsewhere, or nowhere, except for some.

        As long as it keeps any it takes no others; without any it has left, and its beats are
        refused. Nothing happens when the node was taken over.
        """
        ...

    async def place(self, assign: Assign) -> Sequence[Placement]:
        """Give nodes to servers that have none, with higher fences; what has one keeps it."""
        ...

    async def plan_move(
        self, server: UUID, node: str, *, why: Why = Why.MOVED, by: str = ""
    ) -> Placement:
        """Say which node gets a server next, and why; `hand_over` follows.

        To the node that has it, it stays there: a move that was planned before is given up.

        Raises:
            ServerUnknown: It has no node.
            NodeUnknown: There is no such node, or it is not up.
        """
        ...

    async def plan_moves(
        self, moves: Mapping[UUID, str], *, why: Why = Why.MOVED, by: str = ""
    ) -> Sequence[Placement]:
        """Say which nodes get servers next, and why; returns what was planned.

        A server that moves already, or that no move can be planned for, is left alone.
        """
        ...

    async def hand_over(self, fences: Mapping[UUID, int]) -> Sequence[Placement]:
        """Give servers to their next nodes with higher fences, those that still have these fences.

        Returns what the placements of all of them are by then.
        """
        ...

    async def unplace(self, fences: Mapping[UUID, int]) -> Sequence[Placement]:
        """Take the nodes of servers away that are stopped or gone, if they still have these fences.

        Returns what the placements of all of them are by then.
        """
        ...

    async def raise_fence(self, server: UUID, fence: int) -> Placement:
        """Raise the fence of a server on its node, if it still has this fence."""
        ...

    async def set_state(self, name: str, state: NodeState, *, by: str = "") -> None:
        """Say whether a node takes servers; `NodeUnknown` when there is none of that name.

        A node that left is not drained: it has nothing any more.
        """
        ...

    async def set_cannot(self, name: str, servers: frozenset[UUID]) -> None:
        """Say which servers cannot run on a node."""
        ...

    async def forget(self, name: str, *, by: str = "") -> None:
        """Take a node that does not beat out of the list; its name is refused from then on.

        Raises:
            NodeUnknown: There is none of that name.
            NodeTaken: It still has servers.
        """
        ...

    async def events(self, after: int) -> Sequence[ClusterEvent]:
        """What happened since that event, the oldest first; the last 5,000 are kept."""
        ...

    async def close(self) -> None:
        """Let go of the connection."""
        ...


class NodeStatus(Struct, frozen=True):
    """A node as another one sees it just now.

    Attributes:
        member: The node as the store has it.
        beat_age: Seconds since its beat was last seen to change, by the clock of whoever looks.
        servers: How many servers are placed on it.
        reachable: Whether calls to it can be made.
        problem: Why they cannot; empty where they can, or where nobody knows.
    """

    member: Member
    beat_age: float
    servers: int
    reachable: bool
    problem: str = ""


class ClusterStatus(Struct, frozen=True):
    """A cluster as one of its nodes sees it just now.

    Attributes:
        node: The name of the node that looks.
        nodes: All nodes, by name.
        database_away: Whether the database cannot be reached.
        isolated: Whether neither the database nor any other node can be reached.
    """

    node: str
    nodes: Sequence[NodeStatus]
    database_away: bool = False
    isolated: bool = False


class Cluster(Protocol):
    """The cluster that a yard is a node of."""

    @property
    def node(self) -> str:
        """The name of this node."""
        ...

    @property
    def isolated(self) -> bool:
        """Whether neither the database nor any other node can be reached."""
        ...

    @property
    def leaving(self) -> bool:
        """Whether this node is about to end, and answers only until other nodes do."""
        ...

    def status(self) -> ClusterStatus:
        """What is known of it."""
        ...

    def placement(self, server: UUID) -> Placement | None:
        """Where a shared server is placed."""
        ...

    @property
    def insight(self) -> "ClusterInsight":
        """Why servers are where they are, and what else there is to know."""
        ...

    async def move(self, server: UUID, node: str, *, by: str = "") -> Placement:
        """Have another node run a server.

        Raises:
            NodeUnknown: There is no such node, or it takes no servers.
            ServerUnknown: The server has no node.
        """
        ...

    async def drain(self, node: str, *, by: str = "") -> None:
        """Let a node take no further servers, and have others run those that it has.

        Raises:
            NodeUnknown: There is no such node.
        """
        ...

    async def forget(self, node: str, *, by: str = "") -> None:
        """Take a node out of the cluster.

        Raises:
            NodeUnknown: There is no such node.
            NodeTaken: It still beats, or has servers.
        """
        ...

    async def rebalance(self, *, by: str = "") -> Sequence[Placement]:
        """Move servers from the fullest nodes to the emptiest ones; what moves."""
        ...
