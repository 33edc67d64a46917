"""Servers that move from one node to another while they are called."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

import pytest

from mcpyard.cluster.admission import Verdict
from mcpyard.cluster.placement import NodeRoom, choose_node
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.cluster import NodeState, Placement
from mcpyard.domain.errors import StoreAway
from mcpyard.domain.lifecycle import OPEN
from mcpyard.domain.plan import StartServer, StopServer
from mcpyard.domain.ports import CallTerms
from mcpyard.mesh.duties import NodeDuties
from mcpyard.mesh.picture import PlacementRules
from mcpyard.store.volatile_leases import LeaseTables, VolatileLeases
from tests.mesh.nodes import ECHO, ClusterNode, TestCluster, cluster_in, desired_servers

TERMS = CallTerms(timeout=12)


class Load:
    """Calls from every node, one after the other, until it is stopped."""

    def __init__(self, cluster: TestCluster) -> None:
        self.cluster = cluster
        self.answers: list[str] = []
        self.running: dict[str, int] = {}
        self.overlaps = 0
        self.stopped = False
        for node in cluster.nodes:
            node.scripted.scripts["echo"] = self.script(node)

    def script(self, node: ClusterNode):  # noqa: ANN201  a script
        async def answer(_tool: str, _arguments: bytes, _terms: CallTerms) -> bytes:
            self.running[node.name] = self.running.get(node.name, 0) + 1
            self.overlaps += len([count for count in self.running.values() if count]) > 1
            await asyncio.sleep(0)
            self.running[node.name] -= 1
            self.answers.append(node.name)
            return b"{}"

        return answer

    async def call_from(self, node: ClusterNode) -> None:
        while not self.stopped:
            assert await node.mesh.call(ECHO, "say", b"{}", TERMS) == b"{}"
            await asyncio.sleep(0.005)


@asynccontextmanager
async def loaded(cluster: TestCluster) -> AsyncGenerator[Load]:
    load = Load(cluster)
    async with asyncio.TaskGroup() as group:
        for node in cluster.nodes:
            group.create_task(load.call_from(node))
        yield load
        load.stopped = True


async def test_a_singleton_moves_under_load_and_never_runs_twice(tmp_path: Path) -> None:
    async with cluster_in(tmp_path, ttl=6) as cluster:
        cluster.rules["echo"] = PlacementRules(singleton=True)
        cluster.place("n1")
        one, two = await cluster.start("n1", "n2")
        async with loaded(cluster) as load:
            for target in (two, one, two):
                await target.until(lambda: "n1" in load.answers)
                assert one.membership
                await one.membership.move(ECHO, target.name)
                cluster.hint()
                load.answers.clear()
                await target.until(lambda target=target: target.name in load.answers)
                held = [node.name for node in (one, two) if is_open(node)]
                assert held == [target.name]
                load.answers.append("n1")
        assert load.overlaps == 0
        assert cluster.tables.placed[ECHO] == Placement(ECHO, "n2", 4)


def is_open(node: ClusterNode) -> bool:
    observed = node.mesh.held().get(ECHO)
    return observed is not None and observed.state.phase in OPEN


async def test_any_other_server_runs_on_its_next_node_before_it_ends_on_the_old(
    tmp_path: Path,
) -> None:
    async with cluster_in(tmp_path, ttl=6) as cluster:
        cluster.place("n1")
        one, two = await cluster.start("n1", "n2")
        order: list[str] = []
        for node in (one, two):
            watch_starts(node, order)
        async with loaded(cluster) as load:
            await one.until(lambda: load.answers)
            assert two.membership
            await two.membership.move(ECHO, "n2")
            cluster.hint()
            await two.until(lambda: "n2" in load.answers)
            await one.until(lambda: not is_open(one))
        assert order == ["n2 StartServer", "n1 StopServer"]
        assert cluster.tables.placed[ECHO] == Placement(ECHO, "n2", 2)


def watch_starts(node: ClusterNode, order: list[str]) -> None:
    apply = node.scripted.apply

    def noting(actions, desired) -> None:  # noqa: ANN001  as `apply` has them
        every = [*actions]
        kinds = [each for each in every if isinstance(each, StartServer | StopServer)]
        order.extend(f"{node.name} {type(each).__name__}" for each in kinds)
        apply(every, desired)

    node.scripted.apply = noting


async def test_a_move_to_a_node_that_is_gone_is_given_up(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        cluster.rules["echo"] = PlacementRules(singleton=True)
        cluster.place("n1")
        one, two = await cluster.start("n1", "n2")
        one.scripted.answers["echo"] = lambda _tool, _arguments: b"{}"
        await two.die()
        cluster.tables.set_member("n2", lambda member: member)
        assert one.membership
        await one.leases.set_state("n2", NodeState.DRAINING)
        cluster.tables.placed[ECHO] = Placement(ECHO, "n1", 1, "n2")
        cluster.hint()
        await one.until(lambda: cluster.tables.placed[ECHO] == Placement(ECHO, "n1", 2))
        assert await one.mesh.call(ECHO, "say", b"{}", TERMS) == b"{}"


async def test_switching_singleton_on_raises_the_fence_once(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        cluster.place("n1")
        one, two = await cluster.start("n1", "n2")
        await one.until(lambda: is_open(one))
        cluster.rules["echo"] = PlacementRules(singleton=True)
        for node in (two, one):
            node.want(desired_servers("echo", title="once"))
        await one.until(lambda: cluster.tables.placed[ECHO] == Placement(ECHO, "n1", 2))
        await two.until(lambda: two.view.admission.placements[ECHO].fence == 2)
        assert cluster.tables.placed[ECHO].fence == 2


async def test_a_fence_that_could_not_be_raised_is_raised_later(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        cluster.place("n1")
        (one,) = await cluster.start("n1")
        await one.until(lambda: is_open(one))
        tried: list[UUID] = []

        class AwayOnce(VolatileLeases):
            async def raise_fence(self, server: UUID, fence: int) -> Placement:
                tried.append(server)
                if len(tried) == 1:
                    raise StoreAway("the database of the cluster cannot be reached")
                return await super().raise_fence(server, fence)

        assert one.membership
        one.membership.duties = NodeDuties(AwayOnce(cluster.tables), one.mesh)
        cluster.rules["echo"] = PlacementRules(singleton=True)
        one.want(desired_servers("echo", title="once"))
        await one.until(lambda: cluster.tables.placed[ECHO] == Placement(ECHO, "n1", 2))
        assert tried == [ECHO, ECHO]


async def test_a_server_that_cannot_run_on_a_machine_moves_once(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        cluster.place("n1")
        missing = Cause(Code.COMMAND_MISSING, "the command was not found")
        one, two = cluster.node("n1"), cluster.node("n2")
        one.scripted.broken["echo"] = missing
        two.scripted.answers["echo"] = lambda _tool, _arguments: b"{}"
        await one.start()
        await two.start()
        cluster.hint()
        await two.until(lambda: cluster.tables.placed[ECHO].node == "n2")
        assert cluster.tables.nodes["n1"].cannot == {ECHO}
        await one.until(lambda: one.view.admission.placements[ECHO].node == "n2")
        assert await one.mesh.call(ECHO, "say", b"{}", TERMS) == b"{}"
        two.scripted.lose(ECHO, missing)
        await two.until(lambda: cluster.tables.nodes["n2"].cannot == {ECHO})
        assert cluster.tables.placed[ECHO] == Placement(ECHO, "n2", 2)
        for node in (one, two):
            node.scripted.broken.clear()
            node.want(desired_servers("echo", environment={"A": "1"}))
        await one.until(lambda: not cluster.tables.nodes["n1"].cannot)


async def test_a_move_that_fails_on_its_next_node_leaves_the_server_where_it_is(
    tmp_path: Path,
) -> None:
    async with cluster_in(tmp_path) as cluster:
        cluster.place("n1")
        one, two = await cluster.start("n1", "n2")
        one.scripted.answers["echo"] = lambda _tool, _arguments: b"{}"
        two.scripted.broken["echo"] = Cause(Code.COMMAND_MISSING, "the command was not found")
        assert one.membership
        await one.membership.move(ECHO, "n2")
        cluster.hint()
        await one.until(lambda: cluster.tables.placed[ECHO] == Placement(ECHO, "n1", 2))
        await two.until(lambda: ECHO not in two.mesh.held())
        assert await two.mesh.call(ECHO, "say", b"{}", TERMS) == b"{}"


async def test_servers_get_nodes_when_wanted_and_lose_them_when_stopped(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        one, two = await cluster.start("n1", "n2")
        await one.until(lambda: cluster.tables.placed.get(ECHO))
        for node in (one, two):
            node.want(desired_servers("echo", wanted="stopped"))
        await one.until(lambda: not cluster.tables.placed[ECHO].node)
        for node in (one, two):
            node.want(desired_servers("echo"))
        await one.until(lambda: cluster.tables.placed[ECHO].node)
        assert cluster.tables.placed[ECHO].fence == 3


class ForgetfulLeases(VolatileLeases):
    """Leases whose answer to what is given up is lost, after it was done or before."""

    def __init__(self, tables: LeaseTables, *, done: bool) -> None:
        super().__init__(tables)
        self.done = done
        self.asked: list[Mapping[UUID, int]] = []

    async def unplace(self, fences: Mapping[UUID, int]) -> Sequence[Placement]:
        self.asked.append(fences)
        if self.done:
            await super().unplace(fences)
        raise StoreAway("the answer is lost")


@pytest.mark.parametrize("done", [True, False])
async def test_a_server_that_was_given_up_starts_again_only_under_another_fence(
    tmp_path: Path, *, done: bool
) -> None:
    """Else the store might give it to another node while it starts here."""
    async with cluster_in(tmp_path, ttl=30) as cluster:
        cluster.rules["echo"] = PlacementRules(singleton=True)
        cluster.place("n1")
        node = cluster.node("n1")
        node.leases = leases = ForgetfulLeases(cluster.tables, done=done)
        await node.start()
        await node.until(lambda: is_open(node))
        node.want(desired_servers("echo", wanted="stopped"))
        await node.until(lambda: leases.asked)
        node.want(desired_servers("echo"))
        # Whether the store took it is not known yet.
        assert not is_open(node)
        assert node.view.admission.check(ECHO, singleton=True) is Verdict.WAIT
        await node.until(lambda: is_open(node))
        started = cluster.tables.placed[ECHO]
        assert (started.node, started.fence) == ("n1", 3 if done else 2)
        # What was asked before is worth nothing, should it be done only now.
        assert cluster.tables.unplace(leases.asked[0]) == [started]


class SlowLeases(VolatileLeases):
    """Leases whose lists are read at once and come when a test says so."""

    def __init__(self, tables: LeaseTables) -> None:
        super().__init__(tables)
        self.reading = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    async def placements(self) -> Sequence[Placement]:
        placements = await super().placements()
        self.reading.set()
        await self.gate.wait()
        return placements


async def test_a_list_that_was_read_before_a_move_does_not_undo_it(tmp_path: Path) -> None:
    """Else a singleton that was stopped would start again while it is handed over."""
    async with cluster_in(tmp_path, ttl=30) as cluster:
        cluster.rules["echo"] = PlacementRules(singleton=True)
        cluster.place("n1")
        one, two = cluster.node("n1"), cluster.node("n2")
        one.leases = leases = SlowLeases(cluster.tables)
        for node in (one, two):
            await node.start()
        cluster.hint()
        await one.linked("n2")
        await one.until(lambda: is_open(one))
        history: list[Placement] = []
        placed = one.mesh.placed

        def noting(news: Sequence[Placement], *, tell: bool = True) -> None:
            history.extend(news)
            placed(news, tell=tell)

        one.mesh.placed = noting
        leases.gate.clear()
        leases.reading.clear()
        await leases.reading.wait()
        assert one.membership
        move = asyncio.create_task(one.membership.move(ECHO, "n2"))
        await one.until(lambda: cluster.tables.placed[ECHO].next_node or leases.reading.is_set())
        leases.gate.set()
        await move
        await two.until(lambda: is_open(two))
        assert history == [Placement(ECHO, "n1", 1, "n2"), Placement(ECHO, "n2", 2)]


async def test_a_server_that_a_node_does_not_see_is_placed_on_one_that_does(tmp_path: Path) -> None:
    """A server of the same name in a file of that node takes its place there."""
    async with cluster_in(tmp_path) as cluster:
        one, two = cluster.node("n1"), cluster.node("n2")
        servers = {"n1": one, "n2": two}
        first = choose_node(ECHO, {}, [NodeRoom(name, {}, 200, 0) for name in servers])
        assert first
        blind = servers.pop(first)
        (seeing,) = servers.values()
        blind.desired = desired_servers()
        cluster.place(blind.name)
        for node in (one, two):
            await node.start()
        cluster.hint()
        await seeing.until(lambda: is_open(seeing))
        assert cluster.tables.placed[ECHO] == Placement(ECHO, seeing.name, 3)
        assert cluster.tables.nodes[blind.name].cannot == {ECHO}
        blind.want(desired_servers("echo"))
        await blind.until(lambda: not cluster.tables.nodes[blind.name].cannot)
