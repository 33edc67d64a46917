"""Two nodes with real supervisors: processes that are called from the other node, and moved."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mcpyard.domain.lifecycle import OPEN, Phase
from mcpyard.domain.ports import CallTerms
from mcpyard.runtime.supervisor import Supervisor
from tests.mesh.nodes import ECHO, ClusterNode, TestCluster, cluster_in, desired_servers
from tests.mesh.supervised import opener, runtime_deps, supervisor

pytestmark = pytest.mark.real
SERVER = [sys.executable, "-I", "-S", str(Path(__file__).parents[1] / "faults" / "echo.py")]
RECORDER = [
    *(sys.executable, "-I", "-S"),
    str(Path(__file__).parents[1] / "cluster" / "recording_server.py"),
]
TERMS = CallTerms(timeout=30)


def pid(node: ClusterNode) -> int | None:
    held = node.mesh.held().get(ECHO)
    return held.pid if held and held.state.phase in OPEN else None


async def test_a_process_is_called_from_the_other_node_and_moves_there(tmp_path: Path) -> None:
    async with cluster_in(tmp_path, ttl=30) as cluster:
        cluster.desired = desired_servers("echo", command=[*SERVER, "ordinary"])
        cluster.place("n2")
        one, two = cluster.node("n1", supervisor()), cluster.node("n2", supervisor())
        for node in (one, two):
            await node.start()
        cluster.hint()
        await one.until(lambda: shown(one) is Phase.CONNECTED)
        far = await one.mesh.call(ECHO, "echo", b'{"text":"hello"}', TERMS)
        near = await two.mesh.call(ECHO, "echo", b'{"text":"hello"}', TERMS)
        assert far == near
        assert b"hello" in far
        assert one.mesh.observed()[ECHO].tools == two.mesh.observed()[ECHO].tools
        first = pid(two)
        assert first
        assert not pid(one)
        assert one.membership
        await one.membership.move(ECHO, "n1")
        calls = [
            node.mesh.call(ECHO, "echo", b'{"text":"moved"}', TERMS)
            for node in (one, two)
            for _ in range(20)
        ]
        assert len(await asyncio.gather(*calls)) == 40
        await two.until(lambda: pid(one) and ECHO not in two.mesh.held())
        assert b"moved" in await two.mesh.call(ECHO, "echo", b'{"text":"moved"}', TERMS)
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


@asynccontextmanager
async def recorded_on(
    tmp_path: Path, seconds: float = 0.0
) -> AsyncGenerator[tuple[TestCluster, ClusterNode, ClusterNode]]:
    """Two nodes, and a server on the second that takes one call at a time and is slow to start."""
    async with cluster_in(tmp_path, ttl=30) as cluster:
        command = [*RECORDER, str(tmp_path / "record"), "echo", "0", str(seconds)]
        cluster.desired = desired_servers("echo", command=command, concurrency=1)
        cluster.place("n2")
        for name in ("n1", "n2"):
            open_servers = opener()
            node = cluster.node(name, Supervisor(runtime_deps(open_servers)))
            open_servers.admits = node.mesh.router.admits
            await node.start()
        cluster.hint()
        one, two = cluster.nodes
        await one.linked("n2")
        yield cluster, one, two


def record(node: ClusterNode, text: str, seconds: float = 0.0) -> asyncio.Task[bytes]:
    arguments = json.dumps({"text": text, "seconds": seconds}).encode()
    return asyncio.create_task(node.mesh.call(ECHO, "record", arguments, TERMS))


def begun(tmp_path: Path) -> dict[str, int]:
    """Which process began each call; each began once."""
    lines = [json.loads(line) for line in (tmp_path / "record").read_text().splitlines()]
    calls = [(each["text"], each["pid"]) for each in lines if each["event"] == "call"]
    assert len({text for text, _ in calls}) == len(calls)
    return dict(calls)


@pytest.mark.parametrize("caller", [0, 1])
async def test_a_call_that_waits_for_its_turn_begins_where_its_server_is_by_then(
    tmp_path: Path, caller: int
) -> None:
    async with recorded_on(tmp_path) as (cluster, one, two):
        await one.until(lambda: shown(one) is Phase.CONNECTED)
        running = record(cluster.nodes[caller], "running", 3.0)
        await one.until(lambda: begun(tmp_path))
        waiting = [record(cluster.nodes[caller], f"waiting{number}") for number in range(3)]
        assert one.membership
        await one.membership.move(ECHO, "n1")
        await two.until(lambda: two.view.admission.placements[ECHO].node == "n1")
        assert not running.done()
        await asyncio.gather(running, *waiting)
    calls = begun(tmp_path)
    assert len(calls) == 4
    assert all(calls[f"waiting{number}"] != calls["running"] for number in range(3))


@pytest.mark.parametrize("caller", [0, 1])
async def test_a_call_that_waits_for_a_server_to_start_is_not_lost_when_it_moves(
    tmp_path: Path, caller: int
) -> None:
    async with recorded_on(tmp_path, seconds=2.0) as (cluster, one, two):
        await two.until(lambda: two.mesh.held().get(ECHO))
        waiting = record(cluster.nodes[caller], "waiting")
        assert one.membership
        await one.membership.move(ECHO, "n1")
        assert b"waiting" in await waiting
    assert [*begun(tmp_path)] == ["waiting"]


def shown(node: ClusterNode) -> Phase | None:
    observed = node.mesh.observed().get(ECHO)
    return observed.state.phase if observed else None
