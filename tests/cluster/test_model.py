"""The rules of leases as a stateful machine: pauses, cuts and outages at any moment.

Three nodes with clocks of their own, one of which two daemons claim to be, ask one store. A
question may be delayed on its way, carried out and its answer lost, or answered while its node is
frozen. Whatever happens in whatever order, a singleton has at most one owner that would take a
call, and no call begins under an older fence than one that its node has seen.
"""

import os
from collections.abc import Callable
from uuid import UUID

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from mcpyard.cluster.admission import LATE, Verdict
from mcpyard.domain.cluster import Node
from mcpyard.domain.errors import NodeTaken, ServerUnknown, YardError
from mcpyard.store.lease_tables import LeaseTables
from tests.cluster.simulation import NAMES, OTHERS, SERVERS, SINGLETONS, TTL, SimulatedNode

pytestmark = pytest.mark.timeout(900 if os.environ.get("MCPYARD_PROOF") == "full" else 60)

nodes = st.sampled_from(NAMES)
singletons = st.sampled_from(SINGLETONS)
moments = st.sampled_from((0.05, 0.3, 0.9, 1.2, 2.5, 5.4, 5.6, 6.1))


class ClusterMachine(RuleBasedStateMachine):
    """Four daemons of three nodes, two singletons, two other servers."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 100.0
        self.tables = LeaseTables({}, {}, {})
        self.wanted = {*SERVERS}
        self.owners: dict[tuple[UUID, int], str] = {}
        self.nodes = {
            name: SimulatedNode(name, lambda: self.now, at) for at, name in enumerate(NAMES)
        }
        for node in self.nodes.values():
            self.joins(node.name)
            self.the_store_works(node.name)
            self.an_answer_comes(node.name)
        self.tables.place(self.nodes["n1"].assign)

    def awake(self, name: str) -> SimulatedNode | None:
        node = self.nodes[name]
        return node if node.frozen_at is None else None

    @rule(seconds=moments)
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(reaching=st.sets(nodes, min_size=1), seconds=st.integers(1, 8))
    def some_nodes_reach_the_database_for_a_while(self, reaching: set[str], seconds: int) -> None:
        """Each of them does all that a node does, once a second; the others are cut off."""
        for name in set(NAMES) - reaching:
            self.the_database_is_cut_off(name)
        self.they_do_their_rounds(reaching, seconds)

    def they_do_their_rounds(self, reaching: set[str], seconds: int) -> None:
        for _ in range(2 * seconds):
            self.now += 0.5
            self.everybody_looks_at_the_clock()
            for name in sorted(reaching):
                self.does_its_round(name)
                self.check_all()

    def everybody_looks_at_the_clock(self) -> None:
        for name in NAMES:
            if node := self.awake(name):
                node.view.admission.look()

    def does_its_round(self, name: str) -> None:
        self.hears_what_is_wanted(name)
        duties = (self.joins, self.beats, self.lists, self.takes_back, self.takes_over, self.places)
        for duty in (*duties, self.lists, self.gives_up, self.the_owner_hands_over):
            self.asks_and_hears(duty, name)

    def check_all(self) -> None:
        self.a_singleton_has_one_owner()
        self.no_call_begins_under_an_older_fence()
        self.a_node_that_woke_asks_before_it_takes_calls()

    @rule(name=nodes)
    def joins(self, name: str) -> None:
        node = self.awake(name)
        if node is None or node.view.lease.epoch:
            return
        asked_at, described = node.clock(), Node(node.name, node.home, "boot", "", TTL)
        own = (each for each in node.view.members if each.node.name == node.name)
        silent = next((each for each in own if node.view.is_silent(each)), None)

        def follow(epoch: object) -> None:
            assert isinstance(epoch, int)
            node.view.joined(epoch, asked_at)

        node.ask(lambda: self.tables.join(described, silent, replace_it=True), follow)

    @rule(name=nodes)
    def beats(self, name: str) -> None:
        node = self.awake(name)
        if node is None or not node.view.lease.epoch:
            return
        epoch, asked_at = node.view.lease.epoch, node.clock()
        node.ask(
            lambda: self.tables.beat(node.name, epoch),
            lambda held: node.view.beaten(asked_at, held=bool(held)),
        )

    @rule(name=nodes)
    def lists(self, name: str) -> None:
        if node := self.awake(name):
            asked_at = node.clock()
            node.ask(
                lambda: ([*self.tables.nodes.values()], [*self.tables.placed.values()]),
                lambda answer: node.listed(asked_at, answer),  # pyright: ignore[reportArgumentType]
            )

    @rule(name=nodes)
    def takes_over(self, name: str) -> None:
        node = self.awake(name)
        if node and (dead := node.view.dead()):
            node.ask(lambda: self.tables.take_over(dead, node.assign), lambda _: None)

    @rule(name=nodes)
    def places(self, name: str) -> None:
        if node := self.awake(name):
            node.ask(lambda: self.tables.place(node.assign), lambda _: None)

    @rule(server=st.sampled_from((*SINGLETONS, *OTHERS)))
    def somebody_stops_or_starts_a_server(self, server: UUID) -> None:
        self.wanted ^= {server}

    @rule(name=nodes)
    def hears_what_is_wanted(self, name: str) -> None:
        if node := self.awake(name):
            node.wanted = {*self.wanted}

    @rule(name=nodes)
    def gives_up(self, name: str) -> None:
        """The owner has stopped a server, and asks the store to take it."""
        node = self.awake(name)
        if node is None or not node.view.lease.epoch or not node.may_ask:
            return
        placed = [each for each in node.placed_here() if each.server not in node.wanted]
        if fences := {each.server: each.fence for each in placed}:
            given_up = node.view.admission.given_up
            given_up.update(fences)

            def follow(placements: object) -> None:
                given_up.difference_update(fences)
                node.take_placements(placements)  # pyright: ignore[reportArgumentType]

            node.ask(lambda: self.tables.unplace(fences), follow)

    @rule(server=singletons, seconds=st.integers(1, 10), at_once=st.booleans())
    def a_server_stops_and_starts_while_its_owner_gets_no_answer(
        self, server: UUID, seconds: int, *, at_once: bool
    ) -> None:
        """What the owner gave up is done at once or late, and it hears of neither."""
        for name in self.daemons_of(server):
            self.wanted.discard(server)
            self.hears_what_is_wanted(name)
            self.gives_up(name)
            if at_once:
                self.the_store_works(name)
            self.wanted.add(server)
            self.hears_what_is_wanted(name)
            self.its_question_comes_late(name, seconds)

    @rule(server=singletons, to=st.sampled_from(NAMES[:3]), seconds=st.integers(1, 10))
    def a_hand_over_comes_late(self, server: UUID, to: str, seconds: int) -> None:
        """The server may have another owner by then, and be about to get one more."""
        for name in self.daemons_of(server):
            self.somebody_moves_a_singleton(server, to)
            self.asks_and_hears(self.lists, name)
            self.the_owner_hands_over(name)
            self.they_do_their_rounds({*NAMES} - {name}, seconds)
            self.somebody_moves_a_singleton(server, to)
            self.its_question_comes_late(name, 0)

    @rule(name=nodes, seconds=st.integers(0, 2))
    def nodes_come_back_while_one_takes_them_over(self, name: str, seconds: int) -> None:
        for _ in range(int(2 * TTL) + 2):
            self.now += 0.5
            self.asks_and_hears(self.beats, name)
            self.asks_and_hears(self.lists, name)
        self.takes_over(name)
        self.they_do_their_rounds({*NAMES} - {name}, seconds)
        self.the_store_works(name)
        self.an_answer_comes(name)
        self.asks_and_hears(self.lists, name)
        self.check_all()

    def daemons_of(self, server: UUID) -> list[str]:
        owner = self.tables.placed[server].node
        return [each for each in NAMES if each.split()[-1] == owner]

    def asks_and_hears(self, duty: Callable[[str], None], name: str) -> None:
        duty(name)
        self.the_store_works(name)
        self.an_answer_comes(name)

    def its_question_comes_late(self, name: str, seconds: int) -> None:
        """What a node asked is carried out after the others went on for a while."""
        others = {*NAMES} - {name}
        self.they_do_their_rounds(others, seconds)
        self.the_store_works(name)
        self.they_do_their_rounds(others, 1)
        self.an_answer_comes(name)
        self.check_all()

    @rule(name=nodes)
    def takes_back(self, name: str) -> None:
        """What is wanted again, and may have been taken, gets another fence before it runs."""
        node = self.awake(name)
        if node is None or not node.view.lease.epoch or not node.may_ask:
            return
        given_up = node.view.admission.given_up
        placements = {each.server: each for each in node.placed_here()}
        given_up.intersection_update(placements)
        for server in sorted(given_up & node.wanted):

            def follow(raised: object, server: UUID = server) -> None:
                node.take_placements([raised])  # pyright: ignore[reportArgumentType]
                given_up.discard(server)

            fence = placements[server].fence
            node.ask(lambda: self.tables.raise_fence(server, fence), follow)  # noqa: B023
            return

    @rule(server=singletons, name=st.sampled_from(NAMES[:3]))
    def somebody_moves_a_singleton(self, server: UUID, name: str) -> None:
        try:
            self.tables.plan_move(server, name)
        except YardError:
            return

    @rule(name=nodes)
    def the_owner_hands_over(self, name: str) -> None:
        """The owner saw the next node, so it takes no call, and says so once it has stopped it."""
        node = self.awake(name)
        for server in SINGLETONS if node else ():
            placement = node.view.admission.placements.get(server) if node else None
            is_own = node and placement and placement.node == node.name
            if node and placement and placement.next_node and is_own and node.view.lease.epoch:
                assert node.verdict(server) is Verdict.WAIT
                fence = placement.fence
                node.ask(lambda: self.tables.hand_over({server: fence}), lambda _: None)  # noqa: B023
                return

    @rule(name=nodes)
    def the_store_works(self, name: str) -> None:
        node = self.nodes[name]
        if question := node.asked:
            node.asked = None
            try:
                node.answers = question, question.work()
            except (NodeTaken, ServerUnknown):
                node.answers = None

    @rule(name=nodes)
    def an_answer_comes(self, name: str) -> None:
        if (node := self.awake(name)) and node.answers:
            (question, answer), node.answers = node.answers, None
            question.follow(answer)

    @rule(name=nodes)
    def the_database_is_cut_off(self, name: str) -> None:
        node = self.nodes[name]
        node.asked = node.answers = None
        if node.frozen_at is None:
            node.view.store_lost()

    @rule(name=nodes)
    def freezes(self, name: str) -> None:
        node = self.nodes[name]
        if node.frozen_at is None:
            node.frozen_at = self.now
            node.view.admission.look()

    @rule(name=nodes)
    def wakes(self, name: str) -> None:
        node = self.nodes[name]
        if node.frozen_at is not None:
            if self.now - node.frozen_at > LATE:
                node.woke_at = node.clock()
            node.frozen_at = None

    @rule(name=nodes, other=nodes)
    def tells_another_node(self, name: str, other: str) -> None:
        source, target = self.awake(name), self.awake(other)
        if source and target:
            placements = [*source.view.admission.placements.values()]
            target.learn(placements)
            target.view.admission.learn(placements, from_store=False)

    @invariant()
    def a_singleton_has_one_owner(self) -> None:
        for server in SINGLETONS:
            owners = [name for name in NAMES if self._takes(name, server)]
            assert len(owners) <= 1, owners
            for name in owners:
                # One that goes on under the fence of another would pass for it elsewhere.
                fence = self.nodes[name].view.admission.placements[server].fence
                assert self.owners.setdefault((server, fence), name) == name

    @invariant()
    def no_call_begins_under_an_older_fence(self) -> None:
        for name in NAMES:
            for server in SERVERS:
                if self._takes(name, server):
                    node = self.nodes[name]
                    fence = node.view.admission.placements[server].fence
                    assert fence >= node.seen.get(server, 0)

    @invariant()
    def a_node_that_woke_asks_before_it_takes_calls(self) -> None:
        for name in NAMES:
            node = self.nodes[name]
            if any(self._takes(name, server) for server in OTHERS):
                assert node.listed_at >= node.woke_at

    def _takes(self, name: str, server: UUID) -> bool:
        node = self.awake(name)
        if node is None or server not in node.wanted:
            return False
        return node.verdict(server) is Verdict.HERE

    def teardown(self) -> None:
        """Once all is well again, every server is answered for, by one node."""
        self.wanted = {*SERVERS}
        for name in NAMES:
            self.wakes(name)
            self.nodes[name].asked = self.nodes[name].answers = None
        self.some_nodes_reach_the_database_for_a_while({*NAMES}, 20)
        for name in NAMES:
            self.does_its_round(name)
        for server in SERVERS:
            assert len([name for name in NAMES if self._takes(name, server)]) == 1


ClusterMachine.TestCase.settings = settings(stateful_step_count=40)
test_leases_hold_whatever_happens = pytest.mark.spec("F8.2")(ClusterMachine.TestCase)
