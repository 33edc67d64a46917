"""Two nodes with real supervisors: processes that are called from the other node, and moved."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from mcpyard.domain.lifecycle import OPEN, Phase
from mcpyard.domain.ports import CallTerms
from tests.mesh.nodes import ECHO, ClusterNode, cluster_in, desired_servers
from tests.mesh.supervised import supervisor

pytestmark = pytest.mark.real
SERVER = [sys.executable, "-I", "-S", str(Path(__file__).parents[1] / "faults" / "echo.py")]
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


def shown(node: ClusterNode) -> Phase | None:
    observed = node.mesh.observed().get(ECHO)
    return observed.state.phase if observed else None
