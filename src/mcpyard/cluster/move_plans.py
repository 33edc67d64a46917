"""What a drain or a move would do, told before it is done."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from mcpyard.cluster.moves import Required, moves_off
from mcpyard.cluster.placement import NodeRoom, rooms_of
from mcpyard.domain.cluster import Member, NodeState, Placement
from mcpyard.domain.errors import NodeUnknown
from mcpyard.domain.planned_moves import Obstacle, PlannedMove


def plan_drain(
    node: str,
    servers: Required,
    singletons: Mapping[UUID, bool],
    members: Sequence[Member],
    placements: Sequence[Placement],
) -> list[PlannedMove]:
    """Where the servers of a node would go; without a target those that would stay.

    Raises:
        NodeUnknown: There is no such node.
    """
    check_node(node, members)
    targets = moves_off(node, servers, members, placements)
    others = [each for each in rooms_of(members, placements) if each.name != node]
    moves: list[PlannedMove] = []
    for each in placements:
        if each.node != node or each.server not in servers:
            continue
        server = each.server
        target = each.next_node or targets.get(server, "")
        obstacle = None if target else obstacle_of(server, servers[server], others)
        moves.append(PlannedMove(server, node, target, singletons.get(server, False), obstacle))
    return moves


def plan_move(
    placement: Placement,
    node: str,
    required: Mapping[str, str],
    members: Sequence[Member],
    placements: Sequence[Placement],
) -> PlannedMove:
    """What a move of a server to a node would be; the obstacle says that it does not fit there.

    Raises:
        NodeUnknown: There is no such node, or it takes no servers.
    """
    if check_node(node, members).state is not NodeState.UP:
        raise NodeUnknown(f'there is no node "{node}" that takes servers')
    target = [each for each in rooms_of(members, placements) if each.name == node]
    there = node in (placement.node, placement.next_node)
    obstacle = None if there else obstacle_of(placement.server, required, target)
    return PlannedMove(placement.server, placement.node, node, obstacle=obstacle)


def obstacle_of(
    server: UUID, required: Mapping[str, str], rooms: Sequence[NodeRoom]
) -> Obstacle | None:
    """Why none of these nodes can take a server; None if one can."""
    rooms = [each for each in rooms if each.is_up]
    if not rooms:
        return Obstacle.NO_NODE
    rooms = [each for each in rooms if required.items() <= each.labels.items()]
    if not rooms:
        return Obstacle.LABELS
    rooms = [each for each in rooms if server not in each.cannot]
    if not rooms:
        return Obstacle.CANNOT_RUN
    return None if any(each.filled < each.capacity for each in rooms) else Obstacle.FULL


def check_node(name: str, members: Sequence[Member]) -> Member:
    """The member of that name.

    Raises:
        NodeUnknown: There is none.
    """
    for each in members:
        if each.node.name == name:
            return each
    raise NodeUnknown(f'there is no node "{name}"')
