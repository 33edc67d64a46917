"""Nodes whose servers go to others on purpose, while they are called."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from mcpyard.cluster.placement import NodeRoom, choose_node
from mcpyard.domain import limits
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.cluster import NodeState, Placement
from mcpyard.domain.lifecycle import OPEN
from mcpyard.domain.ports import CallTerms
from mcpyard.mesh import routing
from mcpyard.mesh.picture import PlacementRules
from tests.cluster.recording import PROGRAM, Recording
from tests.mesh.nodes import ECHO, ClusterNode, TestCluster, cluster_in, desired_servers
from tests.mesh.supervised import supervisor

TERMS = CallTerms(timeout=10)
SLOW = b'{"text":"slow","seconds":2.5}'


def is_open(node: ClusterNode) -> bool:
    observed = node.mesh.held().get(ECHO)
    return observed is not None and observed.state.phase in OPEN


async def supervised(
    cluster: TestCluster, file: Path, *, singleton: bool
) -> tuple[Sequence[ClusterNode], Recording]:
    """Two nodes with real processes; the server is on the first, and takes calls."""
    recording = Recording(file)
    command = [sys.executable, "-I", "-S", PROGRAM, str(file), "echo"]
    cluster.desired = desired_servers("echo", command=command)
    cluster.rules["echo"] = PlacementRules(singleton=singleton)
    cluster.place("n1")
    nodes = [cluster.node(name, supervisor()) for name in ("n1", "n2")]
    for node in nodes:
        await node.start()
    cluster.hint()
    await nodes[0].linked("n2")
    await nodes[0].until(lambda: is_open(nodes[0]))
    return nodes, recording


async def begun(node: ClusterNode, recording: Recording) -> None:
    """Return once the server has taken a call."""
    await node.until(recording.calls)


@pytest.mark.real
@pytest.mark.spec("F8.5")
@pytest.mark.parametrize("singleton", [True, False])
async def test_calls_of_a_server_that_moves_have_the_time_that_they_allow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, singleton: bool
) -> None:
    monkeypatch.setattr(limits, "DRAIN", 0.1)
    monkeypatch.setattr(routing, "LONGEST_WAIT", 1.0)
    async with cluster_in(tmp_path, ttl=30) as cluster:
        (one, two), recording = await supervised(cluster, tmp_path / "r", singleton=singleton)
        slow = [asyncio.create_task(it.mesh.call(ECHO, "record", SLOW, TERMS)) for it in (one, two)]
        await begun(one, recording)
        assert one.membership
        await one.membership.move(ECHO, "n2")
        meanwhile = [it.mesh.call(ECHO, "record", b"{}", TERMS) for it in (one, two)]
        answers = await asyncio.gather(*slow, *meanwhile)
        assert [b"slow" in each for each in answers] == [True, True, False, False]
        await one.until(lambda: ECHO not in one.mesh.held())
        assert cluster.tables.placed[ECHO] == Placement(ECHO, "n2", 2)
        assert is_open(two)
        first, second = recording.starts()
        assert first.pid != second.pid
        done = max(each.at for each in recording.calls() if each.pid == first.pid) + 2.5
        assert (second.at > done) == singleton


@pytest.mark.real
@pytest.mark.spec("F8.5")
@pytest.mark.parametrize("singleton", [True, False])
async def test_a_node_that_ends_hands_its_servers_over_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, singleton: bool
) -> None:
    monkeypatch.setattr(limits, "DRAIN", 0.1)
    async with cluster_in(tmp_path, ttl=30) as cluster:
        (one, two), recording = await supervised(cluster, tmp_path / "r", singleton=singleton)
        slow = asyncio.create_task(two.mesh.call(ECHO, "record", SLOW, TERMS))
        await begun(one, recording)
        assert one.membership
        await one.membership.hand_over()
        assert ECHO not in one.mesh.held()
        await two.until(lambda: is_open(two))
        assert b"slow" in await slow
        assert cluster.tables.nodes["n1"].state is NodeState.DRAINING
        # It still passes calls on.
        assert await one.mesh.call(ECHO, "record", b"{}", TERMS)
        await one.close()
        assert cluster.tables.nodes["n1"].state is NodeState.LEFT
        assert cluster.tables.placed[ECHO] == Placement(ECHO, "n2", 2)


@pytest.mark.spec("F8.5")
async def test_a_drained_server_that_cannot_run_on_one_node_goes_to_another(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        cluster.place("n1")
        one, *others = await cluster.start("n1", "n2", "n3")
        first = choose_node(ECHO, {}, [NodeRoom(name, {}, 200, 0) for name in ("n2", "n3")])
        for node in others:
            if node.name == first:
                node.scripted.broken["echo"] = Cause(Code.COMMAND_MISSING, "it was not found")
        await one.leases.set_state("n1", NodeState.DRAINING)
        cluster.hint()
        (last,) = (each for each in others if each.name != first)
        await one.until(lambda: cluster.tables.placed[ECHO].node == last.name)
        await one.until(lambda: ECHO not in one.mesh.held())


@pytest.mark.spec("F8.5")
async def test_a_server_that_does_not_run_anyway_goes_without_waiting(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        cluster.place("n1")
        one, two = cluster.node("n1"), cluster.node("n2")
        for node in (one, two):
            node.scripted.broken["echo"] = Cause(Code.EXITED, "the process exited with code 1")
            await node.start()
        cluster.hint()
        await one.linked("n2")
        assert one.membership
        async with asyncio.timeout(10):
            await one.membership.hand_over()
        assert cluster.tables.placed[ECHO] == Placement(ECHO, "n2", 2)


@pytest.mark.spec("F8.5")
async def test_a_node_hands_over_only_what_another_one_can_run(tmp_path: Path) -> None:
    async with cluster_in(tmp_path) as cluster:
        cluster.place("n1")
        (one,) = await cluster.start("n1")
        await one.until(lambda: is_open(one))
        assert one.membership
        async with asyncio.timeout(5):
            await one.membership.hand_over()
            one.leases.away = True
            await one.membership.hand_over()
        assert is_open(one)
        one.leases.away = False
