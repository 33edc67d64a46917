from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mcpyard.cluster.placement import NodeRoom, choose_node

SERVER = UUID(int=7)
N1 = NodeRoom("n1", {"gpu": "yes"}, 4, 2)
N2 = NodeRoom("n2", {}, 10, 3)


def test_the_least_filled_node_by_share_is_chosen() -> None:
    assert choose_node(SERVER, {}, [N1, N2]) == "n2"


def test_a_required_label_leaves_only_the_nodes_that_have_it() -> None:
    assert choose_node(SERVER, {"gpu": "yes"}, [N1, N2]) == "n1"
    assert choose_node(SERVER, {"gpu": "no"}, [N1, N2]) is None


def test_a_node_that_is_full_down_or_unable_is_not_chosen() -> None:
    for unfit in (
        replace(N2, filled=10),
        replace(N2, capacity=0, filled=0),
        replace(N2, is_up=False),
        replace(N2, cannot=frozenset({SERVER})),
    ):
        assert choose_node(SERVER, {}, [unfit]) is None
        assert choose_node(SERVER, {}, [N1, unfit]) == "n1"


@given(st.uuids(), st.permutations(["a", "b", "c", "d"]))
def test_a_tie_is_decided_alike_in_whatever_order_nodes_are_listed(
    server: UUID, names: list[str]
) -> None:
    nodes = [NodeRoom(name, {}, 5, 1) for name in names]
    chosen = choose_node(server, {}, nodes)
    assert chosen == choose_node(server, {}, sorted(nodes, key=lambda each: each.name))
    others = [each for each in nodes if each.name != names[0]]
    if chosen != names[0]:
        assert choose_node(server, {}, others) == chosen, "another node's end moves nothing else"
