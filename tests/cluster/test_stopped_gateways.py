"""Nodes that are stopped while clients use sessions through them, or sessions that they hold."""

import asyncio
import signal
from pathlib import Path

import pytest

from mcpyard.domain import limits
from tests.cli.commands import TIMEOUT
from tests.cluster.nodes import cluster_of, place_on
from tests.cluster.recording import Recording
from tests.cluster.test_relayed_sessions import talks, through
from tests.gateway.talking import Event, messages, odd_server
from tests.runtime.waiting import eventually

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]


@pytest.mark.spec("F8.3", "F8.5")
async def test_a_node_that_is_stopped_finishes_the_calls_that_others_relayed_to_it(
    tmp_path: Path, dsn: str
) -> None:
    recording = Recording(tmp_path / "record")
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2") as cluster:
        first = cluster.nodes["n1"]
        first.register("slow", recording.server("slow"))
        place_on(cluster, "n2", "slow")
        async with talks(cluster) as (near, far):
            session = through(far, await near.meet("/mcp/servers/slow"))
            params = {"name": "record", "arguments": {"text": "x", "seconds": 14.0}}
            async with session.streaming(id="s", method="tools/call", params=params) as stream:
                assert await eventually(lambda: bool(recording.calls()), 10)
                first.signal(signal.SIGTERM)
                (done,) = [each async for each in messages(stream)]
            assert "result" in done, done
            assert await asyncio.to_thread(first.up.process.wait, TIMEOUT) == 0
        assert not recording.twice()


@pytest.mark.spec("F8.3", "F8.5")
async def test_a_node_that_is_stopped_ends_the_streams_of_notifications_that_it_relays(
    tmp_path: Path, dsn: str
) -> None:
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2") as cluster:
        first, second = cluster.nodes.values()
        first.register("odd", odd_server())
        place_on(cluster, "n1", "odd")
        async with talks(cluster) as (near, far):
            met = await near.meet("/mcp/servers/odd")
            async with through(far, met).listening() as stream:
                began = await anext(stream)
                second.signal(signal.SIGTERM)
                # Ended, not broken, and long before requests in flight would be given up.
                rest: list[Event] = []
                async with asyncio.timeout(limits.LAST_REQUESTS / 2):
                    rest += [each async for each in stream]
                assert [each.message for each in rest] == []
            async with asyncio.timeout(limits.LAST_REQUESTS / 2):
                assert await asyncio.to_thread(second.up.process.wait, TIMEOUT) == 0
            async with met.listening(last=began.id) as stream:
                await met.ask("resources/subscribe", uri="odd://thing")
                await met.call("touch")
                assert (await anext(messages(stream)))["method"].endswith("updated")
