"""The node that a server is placed on: the least filled of those that can run it.

Ties go by rendezvous hash, so that every node chooses the same one without asking.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from mcpyard.domain.cluster import Member, NodeState, Placement


class NodeRoom(Struct, frozen=True):
    """What placement needs to know about a node.

    Attributes:
        name: Its stable name.
        labels: What servers may require of it.
        capacity: How many servers it takes.
        filled: How many it has.
        is_up: Whether it takes servers: up, and not draining.
        cannot: The servers that cannot run there, for want of a variable or a command.
    """

    name: str
    labels: Mapping[str, str]
    capacity: int
    filled: int
    is_up: bool = True
    cannot: frozenset[UUID] = frozenset()


def choose_node(server: UUID, required: Mapping[str, str], nodes: Iterable[NodeRoom]) -> str | None:
    """The node for a server; None when no node can run it."""
    able = [each for each in nodes if _can_run(each, server, required)]
    if not able:
        return None
    return min(able, key=lambda each: (each.filled / each.capacity, _rank(server, each.name))).name


def assign_nodes(
    servers: Mapping[UUID, Mapping[str, str]],
    members: Iterable[Member],
    placements: Iterable[Placement],
) -> dict[UUID, str]:
    """Nodes for the servers that have none, each given with the labels that it requires.

    A server that nobody can run gets none. One server after the other is placed, so that the
    nodes fill up evenly.
    """
    placed = [each for each in placements if each.node]
    rooms = rooms_of(members, placed)
    chosen: dict[UUID, str] = {}
    for server in sorted(servers.keys() - {each.server for each in placed}):
        if node := choose_node(server, servers[server], rooms):
            chosen[server] = node
            rooms = [_with_one_more(each) if each.name == node else each for each in rooms]
    return chosen


def rooms_of(members: Iterable[Member], placements: Iterable[Placement]) -> list[NodeRoom]:
    """How full each node is; a server on its way counts at both ends."""
    filled = Counter(name for each in placements for name in (each.node, each.next_node) if name)
    return [_room(each, filled[each.node.name]) for each in members]


def _room(member: Member, filled: int) -> NodeRoom:
    node = member.node
    is_up = member.state is NodeState.UP
    return NodeRoom(node.name, node.labels, node.capacity, filled, is_up, member.cannot)


def _with_one_more(room: NodeRoom) -> NodeRoom:
    return replace(room, filled=room.filled + 1)


def _can_run(node: NodeRoom, server: UUID, required: Mapping[str, str]) -> bool:
    has_labels = required.items() <= node.labels.items()
    return node.is_up and node.filled < node.capacity and has_labels and server not in node.cannot


def _rank(server: UUID, node: str) -> bytes:
    return hashlib.sha256(server.bytes + node.encode()).digest()
