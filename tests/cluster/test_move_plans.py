"""What a drain or a move would do, told before it is done."""

from uuid import UUID

import pytest
from msgspec.structs import replace

from mcpyard.cluster.move_plans import plan_drain, plan_move
from mcpyard.domain.cluster import Member, Node, NodeState, Placement
from mcpyard.domain.errors import NodeUnknown
from mcpyard.domain.planned_moves import Obstacle, PlannedMove

FILES, SEARCH = UUID(int=1), UUID(int=2)
ANY: dict[str, str] = {}
GPU = {"gpu": "yes"}


def member(name: str, state: NodeState = NodeState.UP, **more: object) -> Member:
    node = Node(name, UUID(int=9), "boot", "", 6.0)
    return Member(replace(node, **more), 1, 1, state)


def test_a_drain_names_where_each_server_goes_and_which_cannot_go() -> None:
    members = [member("n1", labels=GPU), member("n2")]
    placements = [Placement(FILES, "n1", 1), Placement(SEARCH, "n1", 1)]
    required = {FILES: ANY, SEARCH: GPU}
    assert plan_drain("n1", required, {FILES: True}, members, placements) == [
        PlannedMove(FILES, "n1", "n2", singleton=True),
        PlannedMove(SEARCH, "n1", "", obstacle=Obstacle.LABELS),
    ]


def test_a_drain_leaves_out_what_is_stopped_and_names_what_moves_already() -> None:
    members = [member("n1"), member("n2")]
    placements = [Placement(FILES, "n1", 1, "n2"), Placement(SEARCH, "n1", 1)]
    assert plan_drain("n1", {FILES: ANY}, {}, members, placements) == [
        PlannedMove(FILES, "n1", "n2")
    ]


@pytest.mark.parametrize(
    ("other", "obstacle"),
    [
        (member("n2", NodeState.DRAINING), Obstacle.NO_NODE),
        (member("n2", capacity=0), Obstacle.FULL),
        (replace(member("n2"), cannot=frozenset({FILES})), Obstacle.CANNOT_RUN),
    ],
)
def test_a_server_that_can_go_nowhere_is_told_why(other: Member, obstacle: Obstacle) -> None:
    members, placements = [member("n1"), other], [Placement(FILES, "n1", 1)]
    [move] = plan_drain("n1", {FILES: ANY}, {}, members, placements)
    assert (move.target, move.obstacle) == ("", obstacle)


def test_a_move_to_a_node_that_does_not_fit_is_told() -> None:
    members, placement = [member("n1"), member("n2")], Placement(FILES, "n1", 1)
    assert plan_move(placement, "n2", ANY, members, [placement]).obstacle is None
    assert plan_move(placement, "n2", GPU, members, [placement]).obstacle is Obstacle.LABELS
    assert plan_move(placement, "n1", GPU, members, [placement]).obstacle is None


def test_a_move_needs_a_node_that_takes_servers() -> None:
    members, placement = [member("n1"), member("n2", NodeState.LEFT)], Placement(FILES, "n1", 1)
    for name in ("n2", "n9"):
        with pytest.raises(NodeUnknown):
            plan_move(placement, name, ANY, members, [placement])
    with pytest.raises(NodeUnknown):
        plan_drain("n9", {}, {}, members, [placement])
