"""Two nodes with real supervisors: processes that are called from the other node, and moved."""

import asyncio
import json
import os
import sys
from pathlib import Path

import pytest

from mcpyard.domain.lifecycle import OPEN, Phase
from mcpyard.domain.ports import CallTerms
from mcpyard.runtime.supervisor import Supervisor
from tests.mesh.nodes import ECHO, ClusterNode, cluster_in, desired_servers
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


@pytest.mark.parametrize("caller", ["n1", "n2"])
async def test_a_call_that_waits_for_its_turn_begins_on_the_node_that_has_the_server_by_then(
    tmp_path: Path, caller: str
) -> None:
    record = tmp_path / "record"
    async with cluster_in(tmp_path, ttl=30) as cluster:
        command = [*RECORDER, str(record), "echo"]
        cluster.desired = desired_servers("echo", command=command, concurrency=1)
        cluster.place("n2")
        nodes: dict[str, ClusterNode] = {}
        for name in ("n1", "n2"):
            open_servers = opener()
            nodes[name] = cluster.node(name, Supervisor(runtime_deps(open_servers)))
            open_servers.admits = nodes[name].mesh.router.admits
            await nodes[name].start()
        cluster.hint()
        one, two = nodes["n1"], nodes["n2"]
        await one.until(lambda: shown(one) is Phase.CONNECTED)

        def call(text: str, seconds: float = 0.0) -> asyncio.Task[bytes]:
            arguments = json.dumps({"text": text, "seconds": seconds}).encode()
            ask = nodes[caller].mesh.call(ECHO, "record", arguments, TERMS)
            return asyncio.create_task(ask)

        running = call("running", 3.0)
        await one.until(lambda: '"running"' in record.read_text())
        waiting = [call(f"waiting{number}") for number in range(3)]
        assert one.membership
        await one.membership.move(ECHO, "n1")
        await two.until(lambda: two.view.admission.placements[ECHO].node == "n1")
        assert not running.done()
        await asyncio.gather(running, *waiting)
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    begun = {each["text"]: each["pid"] for each in lines if each["event"] == "call"}
    assert len(begun) == len([each for each in lines if each["event"] == "call"]) == 4
    assert all(begun[f"waiting{number}"] != begun["running"] for number in range(3))


def shown(node: ClusterNode) -> Phase | None:
    observed = node.mesh.observed().get(ECHO)
    return observed.state.phase if observed else None
