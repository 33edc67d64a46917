"""The rules of leases, over tables in memory: of a store in memory, or of one transaction."""

import contextlib
from collections.abc import Callable, Collection, Iterable, Mapping
from uuid import UUID

from msgspec import Struct, field
from msgspec.structs import replace

from mcpyard.domain.cluster import Assign, Member, Node, NodeState, Placement
from mcpyard.domain.cluster_history import ClusterEvent, EventKind, Why
from mcpyard.domain.errors import NodeTaken, NodeUnknown, ServerUnknown


class LeaseTables(Struct):
    """What a store of leases holds, and its rules; every method is one transaction.

    Attributes:
        nodes: The members.
        placed: The placements, also of servers that have no node.
        blocked: The epochs of nodes that were forgotten.
        events: What happened, the oldest first.
    """

    nodes: dict[str, Member]
    placed: dict[UUID, Placement]
    blocked: dict[str, int]
    events: list[ClusterEvent] = field(default_factory=list[ClusterEvent])

    def join(self, node: Node, watched: Member | None, *, replace_it: bool) -> int:
        """See `LeaseStore.join`."""
        before = self.nodes.get(node.name)
        if before is None and node.name in self.blocked and not replace_it:
            raise NodeTaken(f'the node "{node.name}" was removed from the cluster')
        if before is None:
            # Its last daemon may still live: its beats must not count.
            epoch = self.blocked.pop(node.name, 0) + 1
            self._admit(node, epoch)
            return epoch
        same_daemon = (before.node.home, before.node.boot) == (node.home, node.boot)
        if not same_daemon:
            if before.node.home != node.home and not replace_it:
                raise NodeTaken(f'another daemon has the node name "{node.name}"')
            if watched is None or (watched.epoch, watched.beat) != (before.epoch, before.beat):
                raise NodeTaken(f'the node "{node.name}" still beats')
            for each in self._of(node.name):
                self._put(each.server, each.node, each.next_node)
        self._admit(node, before.epoch + 1)
        return before.epoch + 1

    def beat(self, name: str, epoch: int) -> bool:
        """See `LeaseStore.beat`."""
        member = self.nodes.get(name)
        if member is None or member.epoch != epoch:
            return False
        self.nodes[name] = replace(member, beat=member.beat + 1)
        return True

    def take_over(self, dead: Iterable[Member], assign: Assign, by: str = "") -> list[Placement]:
        """See `LeaseStore.take_over`."""
        orphaned: list[UUID] = []
        for each in dead:
            member = self.nodes.get(each.node.name)
            if member and (member.epoch, member.beat) == (each.epoch, each.beat):
                gone = replace(member, epoch=member.epoch + 1, state=NodeState.LEFT)
                self.nodes[each.node.name] = gone
                self._note(EventKind.LOST, each.node.name, by=by)
                orphaned += [placement.server for placement in self._of(each.node.name)]
        return self._place_anew(orphaned, assign, Why.TAKEN_OVER)

    def leave(
        self, name: str, epoch: int, keep: Collection[UUID], assign: Assign
    ) -> list[Placement]:
        """See `LeaseStore.leave`."""
        member = self.nodes.get(name)
        if member is None or member.epoch != epoch:
            return []
        gone = replace(member, epoch=epoch + 1, state=NodeState.LEFT)
        self.nodes[name] = replace(member, state=NodeState.DRAINING) if keep else gone
        if not keep:
            self._note(EventKind.LEFT, name)
        servers = [each.server for each in self._of(name) if each.server not in keep]
        return self._place_anew(servers, assign, Why.STOPPED)

    def place(self, assign: Assign) -> list[Placement]:
        """See `LeaseStore.place`."""
        chosen = assign([*self.nodes.values()], [*self.placed.values()])
        fresh = [
            (server, node)
            for server, node in chosen.items()
            if (current := self.placed.get(server)) is None or not current.node
        ]
        for server, node in fresh:
            self._note(EventKind.PLACED, node, server, why=Why.CHOSEN)
        return [self._put(server, node) for server, node in fresh]

    def plan_move(self, server: UUID, node: str, why: Why = Why.MOVED, by: str = "") -> Placement:
        """See `LeaseStore.plan_move`."""
        placement = self._placement(server)
        member = self.nodes.get(node)
        if member is None or member.state is not NodeState.UP:
            raise NodeUnknown(f'there is no node "{node}" that takes servers')
        if placement.node != node:
            self._note(EventKind.MOVING, node, server, placement.node, why, by)
            placement = self.placed[server] = replace(placement, next_node=node)
        elif placement.next_node:
            # A higher fence: the hand-over may be under way.
            self._note(EventKind.STAYED, node, server, by=by)
            placement = self._put(server, node)
        return placement

    def plan_moves(
        self, moves: Mapping[UUID, str], why: Why = Why.MOVED, by: str = ""
    ) -> list[Placement]:
        """See `LeaseStore.plan_moves`."""
        planned: list[Placement] = []
        for server, node in moves.items():
            with contextlib.suppress(NodeUnknown, ServerUnknown):
                if not self._placement(server).next_node:
                    planned.append(self.plan_move(server, node, why, by))
        return planned

    def hand_over(self, fences: Mapping[UUID, int]) -> list[Placement]:
        """See `LeaseStore.hand_over`."""
        for server, fence in fences.items():
            placement = self.placed.get(server)
            if placement and placement.node and placement.fence == fence and placement.next_node:
                node = placement.next_node
                self._note(EventKind.PLACED, node, server, placement.node, Why.MOVED)
                self._put(server, node)
        return [self.placed[each] for each in fences if each in self.placed]

    def raise_fence(self, server: UUID, fence: int) -> Placement:
        """See `LeaseStore.raise_fence`."""
        placement = self._placement(server)
        if placement.fence != fence:
            return placement
        if placement.next_node:
            self._note(EventKind.STAYED, placement.node, server)
        return self._put(server, placement.node)

    def unplace(self, fences: Mapping[UUID, int]) -> list[Placement]:
        """See `LeaseStore.unplace`."""
        for server, fence in fences.items():
            current = self.placed.get(server)
            if current and current.node and current.fence == fence:
                self._put(server, "")
        return [self.placed[each] for each in fences if each in self.placed]

    def set_member(self, name: str, change: Callable[[Member], Member]) -> None:
        """Change what is stored of a node."""
        self.nodes[name] = change(self._member(name))

    def set_state(self, name: str, state: NodeState, by: str = "") -> None:
        """See `LeaseStore.set_state`."""
        before = self._member(name).state
        if state is before or (before is NodeState.LEFT and state is NodeState.DRAINING):
            # One that is gone has no servers, and would be taken over once more.
            return
        self.set_member(name, lambda member: replace(member, state=state))
        if state is NodeState.DRAINING:
            self._note(EventKind.DRAINING, name, by=by)

    def forget(self, name: str, by: str = "") -> None:
        """See `LeaseStore.forget`."""
        self._member(name)
        if any(True for _ in self._of(name)):
            raise NodeTaken(f'the node "{name}" still has servers').advising(
                "Drain it, or wait until other nodes took them over."
            )
        self.blocked[name] = self.nodes.pop(name).epoch
        self._note(EventKind.FORGOTTEN, name, by=by)

    def _place_anew(self, servers: Collection[UUID], assign: Assign, why: Why) -> list[Placement]:
        """Give other nodes to servers that had one, or none, with higher fences."""
        before = {server: self.placed[server].node for server in servers}
        for server in servers:
            self._put(server, "")
        chosen = assign([*self.nodes.values()], [*self.placed.values()])
        for server in servers:
            node = chosen.get(server, "")
            self._note(EventKind.PLACED, node, server, before[server], why)
            self.placed[server] = replace(self.placed[server], node=node)
        return [self.placed[server] for server in servers]

    def _admit(self, node: Node, epoch: int) -> None:
        self.nodes[node.name] = Member(node, epoch, 0)
        self._note(EventKind.JOINED, node.name)

    def _note(  # noqa: PLR0913, PLR0917  one a column
        self,
        kind: EventKind,
        node: str,
        server: UUID | None = None,
        source: str = "",
        why: Why | None = None,
        by: str = "",
    ) -> None:
        self.events.append(ClusterEvent(kind, node, server, source, why, by))

    def _of(self, node: str) -> list[Placement]:
        return [each for each in self.placed.values() if each.node == node]

    def _member(self, name: str) -> Member:
        if name not in self.nodes:
            raise NodeUnknown(f'there is no node "{name}"')
        return self.nodes[name]

    def _placement(self, server: UUID) -> Placement:
        placement = self.placed.get(server)
        if placement is None or not placement.node:
            raise ServerUnknown(f"the server {server} has no node")
        return placement

    def _put(self, server: UUID, node: str, next_node: str = "") -> Placement:
        """Change where a server is, with the next fence."""
        current = self.placed.get(server)
        fence = current.fence + 1 if current else 1
        placement = self.placed[server] = Placement(server, node, fence, next_node)
        return placement
