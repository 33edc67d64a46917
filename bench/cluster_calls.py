"""Calls to a server of another node against calls to one of this, through real gateways."""

import asyncio
import statistics
from operator import truediv

from bench.cluster_scene import Scene, register_all
from bench.gateway_load import load, post
from bench.measuring import Figures, percentile
from tests.api.daemon import one
from tests.cluster.nodes import TOKEN, RunningNode, place_on

SERVERS = ["near", "far"]
WIDTH = 64
SECONDS = 3.0


def calls(scene: Scene, figures: Figures, rounds: int) -> None:
    """Call the same server near and far by turns, 64 at once and one at a time."""
    rates: dict[str, list[float]] = {name: [] for name in SERVERS}
    delays: dict[str, list[float]] = {name: [] for name in SERVERS}
    costs: dict[str, list[float]] = {name: [] for name in SERVERS}
    with scene.cluster("n1", "n2", ttl=6.0) as cluster:
        first, second = cluster.nodes.values()
        register_all([first, second], scene.recording, SERVERS)
        place_on(cluster, "n1", "near")
        place_on(cluster, "n2", "far")
        for _ in range(rounds):
            for name in SERVERS:
                before = _processor_seconds(first, second)
                many = _load(first, name, WIDTH)
                spent = _processor_seconds(first, second) - before
                rates[name].append(many.rate)
                costs[name].append(spent / len(many.times) * 1e6)
                single = _load(first, name, 1)
                delays[name].append(percentile(single.times, 0.5) * 1e6)
                assert not many.bad + single.bad, "a call was not answered"
    for name in SERVERS:
        figures.show(f"{name}, calls a second at {WIDTH}", f"{statistics.median(rates[name]):,.0f}")
        figures.show(f"{name}, processor time a call", f"{statistics.median(costs[name]):.0f} us")
        figures.show(f"{name}, latency at 1", f"{statistics.median(delays[name]):.0f} us")
    share = statistics.median(map(truediv, rates["far"], rates["near"]))
    times = statistics.median(map(truediv, delays["far"], delays["near"]))
    figures.at_least(f"far against near, calls a second at {WIDTH}", share, 0.8, "x")
    figures.at_most("far against near, latency at 1", times, 2.2, "x")


def _load(node: RunningNode, server: str, width: int):  # noqa: ANN202  a `Tally`
    request = post(
        one(server, "tools", "record", "call"),
        b'{"arguments":{}}',
        Authorization=f"Bearer {TOKEN}",
    )
    port = int(node.up.url.rstrip("/").rpartition(":")[2])
    return asyncio.run(load(port, [[request]] * width, b'"content"', seconds=SECONDS))


def _processor_seconds(*nodes: RunningNode) -> float:
    """What all processes of the nodes have used."""
    total = 0.0
    for node in nodes:
        for each in node.tree():
            times = each.cpu_times()
            total += times.user + times.system
    return total
