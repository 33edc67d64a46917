"""Which servers move, when a node is drained or nodes are evened out."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from msgspec.structs import replace

from mcpyard.cluster.placement import NodeRoom, choose_node, rooms_of
from mcpyard.domain.cluster import Member, Placement

Required = Mapping[UUID, Mapping[str, str]]
"""The labels that each server requires of its node."""


def moves_off(
    node: str, servers: Required, members: Sequence[Member], placements: Sequence[Placement]
) -> dict[UUID, str]:
    """Where the servers of a node go; those that no other node can run stay."""
    rooms = [each for each in rooms_of(members, placements) if each.name != node]
    moves: dict[UUID, str] = {}
    for placement in placements:
        if placement.node == node and not placement.next_node and placement.server in servers:
            server = placement.server
            if target := choose_node(server, servers[server], rooms):
                moves[server] = target
                rooms = [_filled(each, 1) if each.name == target else each for each in rooms]
    return moves


def evening_moves(
    servers: Required, members: Sequence[Member], placements: Sequence[Placement]
) -> dict[UUID, str]:
    """What moves so that the nodes are filled alike; as few servers as possible."""
    rooms = {each.name: each for each in rooms_of(members, placements) if each.is_up}
    moves: dict[UUID, str] = {}
    movable = [
        each
        for each in placements
        if each.node in rooms and not each.next_node and each.server in servers
    ]
    for placement in sorted(movable, key=lambda each: each.server):
        source, server = rooms[placement.node], placement.server
        others = [each for each in rooms.values() if each.name != source.name]
        target = choose_node(server, servers[server], others)
        if target and _evens_out(source, rooms[target]):
            moves[server] = target
            rooms[source.name] = _filled(source, -1)
            rooms[target] = _filled(rooms[target], 1)
    return moves


def _evens_out(source: NodeRoom, target: NodeRoom) -> bool:
    """Whether a server less here and one more there leaves the source at least as full."""
    return (source.filled - 1) / source.capacity >= (target.filled + 1) / target.capacity


def _filled(room: NodeRoom, more: int) -> NodeRoom:
    return replace(room, filled=room.filled + more)
