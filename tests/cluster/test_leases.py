"""Single rules of leases that the model reaches only by chance."""

from collections.abc import Sequence
from uuid import UUID

import pytest

from mcpyard.cluster.admission import LATE, Verdict
from mcpyard.cluster.node_view import NodeView
from mcpyard.cluster.placement import assign_nodes
from mcpyard.domain.cluster import Member, Node, NodeState, Placement
from mcpyard.domain.errors import StoreAway
from mcpyard.store.volatile_leases import VolatileLeases

TTL = 6.0
SERVER, OTHER = UUID(int=1), UUID(int=2)


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


def node(name: str, home: int = 1, boot: str = "boot") -> Node:
    return Node(name, UUID(int=home), boot, f"127.0.0.1:{home}", TTL)


def view(clock: Clock, name: str = "n1") -> NodeView:
    return NodeView(name, TTL, clock)


def assign_all(members: Sequence[Member], placements: Sequence[Placement]) -> dict[UUID, str]:
    return assign_nodes({SERVER: {}, OTHER: {}}, members, placements)


def test_an_outage_of_the_store_makes_nobody_dead() -> None:
    clock = Clock()
    mine, other = view(clock), Member(node("n2"), 1, 7)
    mine.listed([other], [], clock.now)
    clock.now += 60
    mine.store_lost()
    mine.listed([other], [], clock.now)
    assert mine.dead() == []
    clock.now += TTL
    assert mine.dead() == [other]


def test_a_node_that_slept_has_not_seen_who_beat_meanwhile() -> None:
    clock = Clock()
    mine, other = view(clock), Member(node("n2"), 1, 7)
    mine.listed([other], [], clock.now)
    clock.now += TTL
    mine.listed([other], [], clock.now)
    assert mine.dead() == []
    for _ in range(3):
        clock.now += TTL / 3
        mine.listed([other], [], clock.now)
    assert mine.dead() == [other]


def test_a_node_that_left_is_not_taken_over_again() -> None:
    clock = Clock()
    mine, gone = view(clock), Member(node("n2"), 1, 7, NodeState.LEFT)
    mine.listed([gone], [], clock.now)
    clock.now += TTL
    assert mine.dead() == []
    assert mine.is_silent(gone)


def test_an_older_fence_is_no_news_whoever_repeats_it() -> None:
    mine = view(Clock())
    newest = Placement(SERVER, "n2", 5)
    mine.admission.learn([newest], from_store=True)
    old = Placement(SERVER, "n1", 4)
    assert mine.admission.learn([old], from_store=True) == []
    assert mine.admission.learn([old], from_store=False) == []
    assert mine.admission.placements[SERVER] == newest


def test_only_the_store_changes_a_placement_of_the_same_fence() -> None:
    mine = view(Clock())
    mine.admission.learn([Placement(SERVER, "n1", 5, "n2")], from_store=True)
    plain = Placement(SERVER, "n1", 5)
    assert mine.admission.learn([plain], from_store=False) == []
    assert mine.admission.learn([plain], from_store=True) == [plain]


def test_a_server_without_a_node_waits_and_one_of_another_node_is_elsewhere() -> None:
    mine = view(Clock())
    assert mine.admission.check(SERVER, singleton=False) is Verdict.WAIT
    mine.admission.learn([Placement(SERVER, "", 1)], from_store=True)
    assert mine.admission.check(SERVER, singleton=False) is Verdict.WAIT
    mine.admission.learn([Placement(SERVER, "n2", 2)], from_store=True)
    assert mine.admission.check(SERVER, singleton=False) is Verdict.ELSEWHERE


def test_a_node_that_slept_waits_until_it_has_asked() -> None:
    clock = Clock()
    mine = view(clock)
    mine.joined(1, clock.now)
    mine.listed([], [Placement(SERVER, "n1", 1)], clock.now)
    asked_before = clock.now
    assert mine.admission.check(SERVER, singleton=False) is Verdict.HERE
    clock.now += LATE + 0.1
    assert mine.admission.check(SERVER, singleton=False) is Verdict.WAIT
    mine.admission.confirm(asked_before)
    assert mine.admission.woken
    mine.admission.confirm(clock.now)
    assert mine.admission.check(SERVER, singleton=False) is Verdict.HERE


def test_a_daemon_whose_name_another_one_has_takes_nothing() -> None:
    clock = Clock()
    mine = view(clock)
    mine.joined(1, clock.now)
    mine.listed([Member(node("n1"), 1, 7)], [Placement(SERVER, "n1", 1)], clock.now)
    assert mine.admission.check(SERVER, singleton=False) is Verdict.HERE
    mine.listed([Member(node("n1", home=2), 2, 0)], [Placement(SERVER, "n1", 2)], clock.now)
    assert mine.admission.check(SERVER, singleton=False) is Verdict.WAIT
    assert mine.admission.check(SERVER, singleton=True) is Verdict.EXPIRED
    assert mine.lease.epoch == 0


def test_a_singleton_is_taken_only_while_the_lease_covers_the_moment() -> None:
    clock = Clock()
    mine = view(clock)
    mine.joined(1, clock.now)
    mine.listed([], [Placement(SERVER, "n1", 1)], clock.now)
    clock.now += TTL - 0.6
    assert mine.admission.check(SERVER, singleton=True) is Verdict.HERE
    clock.now += 0.1
    assert mine.admission.check(SERVER, singleton=True) is Verdict.EXPIRED
    mine.beaten(clock.now, held=True)
    assert mine.admission.check(SERVER, singleton=True) is Verdict.HERE
    mine.beaten(clock.now, held=False)
    assert mine.admission.check(SERVER, singleton=True) is Verdict.EXPIRED
    assert mine.lease.epoch == 0


def test_only_a_node_that_runs_a_server_stores_what_it_lists() -> None:
    mine = view(Clock())
    assert mine.own_fence(SERVER) is None
    for placement, fence in (
        (Placement(SERVER, "n1", 3), 3),
        (Placement(SERVER, "n1", 4, "n2"), 4),
        (Placement(SERVER, "n2", 5), 0),
        (Placement(SERVER, "n2", 6, "n1"), 6),
        (Placement(SERVER, "", 7), 0),
    ):
        mine.admission.learn([placement], from_store=True)
        assert mine.own_fence(SERVER) == fence


def test_a_server_that_was_given_up_takes_no_call_until_its_fence_is_another() -> None:
    clock = Clock()
    mine = view(clock)
    mine.joined(1, clock.now)
    mine.listed([], [Placement(SERVER, "n1", 1)], clock.now)
    mine.admission.given_up.add(SERVER)
    for singleton in (True, False):
        assert mine.admission.check(SERVER, singleton=singleton) is Verdict.WAIT
    mine.admission.given_up.clear()
    assert mine.admission.check(SERVER, singleton=True) is Verdict.HERE


async def test_a_store_that_is_away_refuses() -> None:
    leases = VolatileLeases()
    leases.away = True
    with pytest.raises(StoreAway):
        await leases.members()
