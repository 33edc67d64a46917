"""What every store of leases does, in memory and in PostgreSQL."""

from collections.abc import AsyncGenerator, Sequence
from uuid import UUID

import pytest

from mcpyard.cluster.placement import assign_nodes
from mcpyard.domain.cluster import LeaseStore, Member, Node, NodeState, Placement
from mcpyard.domain.cluster_history import EventKind, Why
from mcpyard.domain.errors import NodeTaken, NodeUnknown, ServerUnknown
from mcpyard.store.volatile_leases import VolatileLeases

TTL = 6.0
SERVER, OTHER = UUID(int=1), UUID(int=2)


@pytest.fixture(params=["memory", pytest.param("postgres", marks=pytest.mark.real)])
async def leases(request: pytest.FixtureRequest) -> AsyncGenerator[LeaseStore]:
    if request.param == "memory":
        yield VolatileLeases()
        return
    from mcpyard.store.postgres.leases import PostgresLeases  # noqa: PLC0415  needs psycopg

    store = PostgresLeases(request.getfixturevalue("cluster_dsn"))
    yield store
    await store.close()


def node(name: str, home: int = 1, boot: str = "boot") -> Node:
    return Node(name, UUID(int=home), boot, f"127.0.0.1:{home}", TTL)


def assign_all(members: Sequence[Member], placements: Sequence[Placement]) -> dict[UUID, str]:
    return assign_nodes({SERVER: {}, OTHER: {}}, members, placements)


async def test_a_node_that_beat_meanwhile_is_not_taken_over(leases: LeaseStore) -> None:
    epoch = await leases.join(node("n1"))
    await leases.join(node("n2", 2))
    await leases.place(assign_all)
    (seen,) = [each for each in await leases.members() if each.node.name == "n1"]
    assert await leases.beat("n1", epoch)
    assert await leases.take_over([seen], assign_all) == []
    assert await leases.beat("n1", epoch)


async def test_what_a_dead_node_ran_is_placed_elsewhere_with_higher_fences(
    leases: LeaseStore,
) -> None:
    epoch = await leases.join(node("n1"))
    await leases.place(assign_all)
    assert {each.node for each in await leases.placements()} == {"n1"}
    await leases.join(node("n2", 2))
    (dead,) = [each for each in await leases.members() if each.node.name == "n1"]
    moved = await leases.take_over([dead], assign_all)
    assert {(each.node, each.fence) for each in moved} == {("n2", 2)}
    assert not await leases.beat("n1", epoch)


async def test_a_restart_keeps_placements_and_another_machine_must_wait(leases: LeaseStore) -> None:
    await leases.join(node("n1"))
    (first,) = await leases.place(lambda _, __: {SERVER: "n1"})
    assert await leases.join(node("n1")) == 2
    assert await leases.placements() == [first]
    with pytest.raises(NodeTaken, match="still beats"):
        await leases.join(node("n1", boot="other"))
    (watched,) = await leases.members()
    assert await leases.join(node("n1", boot="other"), watched=watched) == 3
    assert [each.fence for each in await leases.placements()] == [first.fence + 1]
    with pytest.raises(NodeTaken, match="another daemon"):
        await leases.join(node("n1", home=9), watched=(await leases.members())[0])
    (watched,) = await leases.members()
    assert await leases.join(node("n1", home=9), watched=watched, replace=True) == 4


async def test_a_planned_move_needs_a_node_that_takes_servers(leases: LeaseStore) -> None:
    for number, name in enumerate(("n1", "n2"), 1):
        await leases.join(node(name, number))
    with pytest.raises(ServerUnknown):
        await leases.plan_move(SERVER, "n2")
    await leases.place(lambda _, __: {SERVER: "n1"})
    await leases.set_state("n2", NodeState.DRAINING)
    with pytest.raises(NodeUnknown):
        await leases.plan_move(SERVER, "n2")
    await leases.set_state("n2", NodeState.UP)
    planned = await leases.plan_move(SERVER, "n2")
    assert (planned.node, planned.next_node, planned.fence) == ("n1", "n2", 1)
    assert (await leases.hand_over({SERVER: 7})) == [planned]
    (moved,) = await leases.hand_over({SERVER: 1})
    assert (moved.node, moved.next_node, moved.fence) == ("n2", "", 2)
    assert (await leases.raise_fence(SERVER, 2)).fence == 3
    assert (await leases.raise_fence(SERVER, 2)).fence == 3


async def test_a_move_back_gives_up_the_one_that_is_planned(leases: LeaseStore) -> None:
    for number, name in enumerate(("n1", "n2"), 1):
        await leases.join(node(name, number))
    await leases.place(lambda _, __: {SERVER: "n1"})
    before = await leases.plan_move(SERVER, "n1")
    assert (before.next_node, before.fence) == ("", 1)
    await leases.plan_move(SERVER, "n2")
    stays = await leases.plan_move(SERVER, "n1", by="somebody")
    assert (stays.node, stays.next_node, stays.fence) == ("n1", "", 2)
    # Whoever was about to hand it over comes too late.
    assert await leases.hand_over({SERVER: 1}) == [stays]
    *_, event = await leases.events(0)
    assert (event.kind, event.node, event.by) == (EventKind.STAYED, "n1", "somebody")


async def test_moves_are_planned_for_all_servers_that_they_can_be_planned_for(
    leases: LeaseStore,
) -> None:
    for number, name in enumerate(("n1", "n2"), 1):
        await leases.join(node(name, number))
    await leases.place(lambda _, __: {SERVER: "n1", OTHER: "n1"})
    planned = await leases.plan_moves({SERVER: "n2", OTHER: "n9", UUID(int=8): "n2"})
    assert [*planned] == [Placement(SERVER, "n1", 1, "n2")]
    assert not await leases.plan_moves({SERVER: "n1"})
    moved = await leases.hand_over({SERVER: 1, OTHER: 1, UUID(int=8): 1})
    assert [*moved] == [Placement(SERVER, "n2", 2), Placement(OTHER, "n1", 1)]


async def test_a_forgotten_name_is_refused_until_it_is_replaced(leases: LeaseStore) -> None:
    await leases.join(node("n1"))
    await leases.place(lambda _, __: {SERVER: "n1"})
    with pytest.raises(NodeTaken, match="still has servers") as refused:
        await leases.forget("n1")
    assert refused.value.advice.startswith("Drain it")
    assert await leases.unplace({SERVER: 1}) == [Placement(SERVER, "", 2)]
    await leases.forget("n1")
    with pytest.raises(NodeTaken, match="removed"):
        await leases.join(node("n1"))
    assert await leases.join(node("n1"), replace=True) == 2
    assert not await leases.beat("n1", 1)
    with pytest.raises(NodeUnknown):
        await leases.forget("n9")
    with pytest.raises(NodeUnknown):
        await leases.set_cannot("n9", frozenset())


async def test_what_a_node_says_about_itself_is_read_back(leases: LeaseStore) -> None:
    mine = Node("n1", UUID(int=1), "b", "127.0.0.2:7", 3.5, {"gpu": "yes"}, 7, "0.2")
    epoch = await leases.join(mine)
    assert await leases.beat("n1", epoch)
    await leases.set_cannot("n1", frozenset({SERVER, OTHER}))
    await leases.set_state("n1", NodeState.DRAINING)
    expected = Member(mine, epoch, 1, NodeState.DRAINING, frozenset({SERVER, OTHER}))
    assert await leases.members() == [expected]


async def test_joining_twice_loses_nothing(leases: LeaseStore) -> None:
    await leases.join(node("n1"))
    await leases.place(assign_all)
    (watched,) = await leases.members()
    other = node("n1", boot="other")
    first = await leases.join(other, watched=watched)
    before = await leases.placements()
    again = await leases.join(other, watched=watched)
    assert again == first + 1
    assert await leases.placements() == before
    assert not await leases.beat("n1", first)
    assert await leases.beat("n1", again)


async def test_a_fence_never_shrinks_also_while_a_server_has_no_node(leases: LeaseStore) -> None:
    await leases.join(node("n1"))
    for round_ in range(3):
        (placement,) = await leases.place(lambda _, __: {SERVER: "n1"})
        assert placement == Placement(SERVER, "n1", 2 * round_ + 1)
        assert await leases.place(lambda _, __: {SERVER: "n1"}) == []
        gone = Placement(SERVER, "", 2 * round_ + 2)
        assert await leases.unplace({SERVER: placement.fence, OTHER: 1}) == [gone]
        assert await leases.placements() == [gone]


async def test_a_late_word_about_a_stopped_server_takes_no_node_from_its_successor(
    leases: LeaseStore,
) -> None:
    await leases.join(node("n1"))
    await leases.join(node("n2", 2))
    await leases.place(lambda _, __: {SERVER: "n1"})
    await leases.plan_move(SERVER, "n2")
    (moved,) = await leases.hand_over({SERVER: 1})
    assert await leases.unplace({SERVER: 1}) == [moved]
    assert await leases.placements() == [moved]


async def test_a_node_of_which_nobody_knows_does_not_beat(leases: LeaseStore) -> None:
    assert not await leases.beat("o'n1", 1)
    assert await leases.take_over([Member(node("n1"), 1, 1)], assign_all) == []


async def test_a_node_that_leaves_keeps_what_must_end_there_first(leases: LeaseStore) -> None:
    epoch = await leases.join(node("n1"))
    await leases.place(assign_all)
    await leases.join(node("n2", 2))
    assert await leases.leave("n1", epoch - 1, [], assign_all) == []
    (moved,) = await leases.leave("n1", epoch, [SERVER], assign_all)
    assert moved == Placement(OTHER, "n2", 2)
    leaving, _ = await leases.members()
    assert (leaving.epoch, leaving.state) == (epoch, NodeState.DRAINING)
    assert await leases.leave("n1", epoch, [], assign_all) == [Placement(SERVER, "n2", 2)]
    gone, _ = await leases.members()
    assert (gone.epoch, gone.state) == (epoch + 1, NodeState.LEFT)
    assert not await leases.beat("n1", epoch)
    assert await leases.join(node("n1")) == epoch + 2


async def test_what_happened_is_told_once_and_in_order(leases: LeaseStore) -> None:
    epoch = await leases.join(node("n1"))
    await leases.join(node("n2", 2))
    await leases.place(lambda _, __: {SERVER: "n1", OTHER: "n1"})
    assert await leases.place(assign_all) == []
    await leases.plan_move(SERVER, "n2", why=Why.DRAINED, by="somebody")
    await leases.hand_over({SERVER: 1})
    await leases.plan_move(OTHER, "n2")
    await leases.raise_fence(OTHER, 1)
    (dead,) = [each for each in await leases.members() if each.node.name == "n2"]
    await leases.take_over([dead], lambda _, __: {}, by="n1")
    await leases.leave("n1", epoch, [], assign_all)
    await leases.forget("n1", by="somebody")
    events = await leases.events(0)
    assert [(each.kind, each.node, each.source, each.why, each.by) for each in events] == [
        (EventKind.JOINED, "n1", "", None, ""),
        (EventKind.JOINED, "n2", "", None, ""),
        (EventKind.PLACED, "n1", "", Why.CHOSEN, ""),
        (EventKind.PLACED, "n1", "", Why.CHOSEN, ""),
        (EventKind.MOVING, "n2", "n1", Why.DRAINED, "somebody"),
        (EventKind.PLACED, "n2", "n1", Why.MOVED, ""),
        (EventKind.MOVING, "n2", "n1", Why.MOVED, ""),
        (EventKind.STAYED, "n1", "", None, ""),
        (EventKind.LOST, "n2", "", None, "n1"),
        (EventKind.PLACED, "", "n2", Why.TAKEN_OVER, ""),
        (EventKind.LEFT, "n1", "", None, ""),
        (EventKind.PLACED, "", "n1", Why.STOPPED, ""),
        (EventKind.FORGOTTEN, "n1", "", None, "somebody"),
    ]
    assert [each.id for each in events] == sorted({each.id for each in events})
    assert await leases.events(events[-2].id) == [events[-1]]


async def test_a_drain_names_who_asked_for_it(leases: LeaseStore) -> None:
    await leases.join(node("n1"))
    await leases.set_state("n1", NodeState.DRAINING, by="somebody")
    *_, event = await leases.events(0)
    assert (event.kind, event.node, event.by) == (EventKind.DRAINING, "n1", "somebody")
    with pytest.raises(NodeUnknown):
        await leases.set_state("n9", NodeState.DRAINING)
    assert (await leases.events(event.id)) == []


async def test_a_node_that_left_is_not_drained(leases: LeaseStore) -> None:
    await leases.join(node("n1"))
    await leases.join(node("n2", 2))
    (dead,) = [each for each in await leases.members() if each.node.name == "n1"]
    await leases.take_over([dead], assign_all)
    *_, event = await leases.events(0)
    await leases.set_state("n1", NodeState.DRAINING, by="somebody")
    states = {each.node.name: each.state for each in await leases.members()}
    assert states == {"n1": NodeState.LEFT, "n2": NodeState.UP}
    assert (await leases.events(event.id)) == []
    await leases.join(node("n1"))
    (back, _) = await leases.members()
    assert back.state is NodeState.UP
