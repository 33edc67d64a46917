"""Which servers move when a node is drained, or nodes are evened out."""

from collections import Counter
from uuid import UUID

from msgspec.structs import replace

from mcpyard.cluster.moves import evening_moves, moves_off
from mcpyard.domain.cluster import Member, Node, NodeState, Placement

SERVERS: dict[UUID, dict[str, str]] = {UUID(int=number): {} for number in range(12)}


def member(name: str, capacity: int = 100, **labels: str) -> Member:
    return Member(Node(name, UUID(int=1), "boot", "", 6.0, labels, capacity), 1, 1)


def placed(*counts: tuple[str, int]) -> list[Placement]:
    names = [name for name, count in counts for _ in range(count)]
    return [Placement(server, name, 1) for server, name in zip(SERVERS, names, strict=False)]


def filled(placements: list[Placement], moves: dict[UUID, str]) -> Counter[str]:
    return Counter(moves.get(each.server, each.node) for each in placements)


def test_a_drained_node_gives_all_to_others_evenly() -> None:
    placements = placed(("n1", 6), ("n2", 2), ("n3", 2))
    members = [replace(member("n1"), state=NodeState.DRAINING), member("n2"), member("n3")]
    moves = moves_off("n1", SERVERS, members, placements)
    assert filled(placements, moves) == {"n2": 5, "n3": 5}


def test_what_no_other_node_can_run_stays() -> None:
    placements = placed(("n1", 2))
    needs_gpu = {**SERVERS, UUID(int=0): {"gpu": "yes"}}
    moves = moves_off("n1", needs_gpu, [member("n1", gpu="yes"), member("n2")], placements)
    assert moves == {UUID(int=1): "n2"}


def test_a_server_that_moves_already_is_left_alone() -> None:
    placements = [replace(each, next_node="n3") for each in placed(("n1", 2))]
    members = [member("n1"), member("n2"), member("n3")]
    assert moves_off("n1", SERVERS, members, placements) == {}
    assert evening_moves(SERVERS, members, placements) == {}


def test_nodes_are_evened_out_with_as_few_moves_as_possible() -> None:
    placements = placed(("n1", 10), ("n2", 2))
    members = [member("n1"), member("n2"), member("n3")]
    moves = evening_moves(SERVERS, members, placements)
    assert filled(placements, moves) == {"n1": 4, "n2": 4, "n3": 4}
    assert len(moves) == 6
    settled = [replace(each, node=moves.get(each.server, each.node)) for each in placements]
    assert evening_moves(SERVERS, members, settled) == {}


def test_a_larger_node_gets_more() -> None:
    placements = placed(("small", 12))
    moves = evening_moves(SERVERS, [member("small", 50), member("large", 100)], placements)
    assert filled(placements, moves) == {"small": 4, "large": 8}
