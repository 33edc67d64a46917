"""Calls to a server of another node against calls to one of this: `python -m bench.mesh [SECONDS]`.

Two processes, each a node with a real supervisor and the same echo server as a child; one link with
mutual TLS over 127.0.0.2. The rate is taken at 64 calls in flight and the latency at one. Processor
time is that of this process and all below it. Near and far alternate.

The calls do not pass the gateway, whose own work is most of a near call there: the ratios here are
those of the mesh alone, and the limits for calls through the gateway are not held against them. On
a busy machine the tails of the latency are those of other processes: the median counts.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from operator import truediv
from pathlib import Path
from uuid import UUID

import psutil
import uvloop

from bench.measuring import ECHO as SERVER
from bench.measuring import Figures, percentile, rate
from mcpyard.domain.cluster import Member, Node, Placement
from mcpyard.domain.lifecycle import Phase
from mcpyard.domain.ports import CallTerms
from mcpyard.mesh.certificates import make_authority, make_certificate
from mcpyard.store.volatile_leases import LeaseTables
from tests.mesh.nodes import HOSTS, ClusterNode, TestCluster, desired_servers
from tests.mesh.supervised import supervisor

NEAR, FAR = UUID(int=1), UUID(int=2)
ROUNDS = 5
WIDTH = 64
ARGUMENTS = b'{"text":"hello"}'
TERMS = CallTerms(timeout=30)
FOREVER = 1e6
"""The leases of the two processes are not the same ones: neither may miss the other's beats."""


def cluster(folder: Path) -> TestCluster:
    common = TestCluster(folder, FOREVER)
    common.desired = desired_servers("echo", "other", command=[*SERVER, "ordinary"])
    placed = {NEAR: Placement(NEAR, "n1", 1), FAR: Placement(FAR, "n2", 1)}
    common.tables = LeaseTables({}, placed, {})
    return common


def member(name: str, port: int) -> Member:
    return Member(Node(name, UUID(int=9), "boot", f"{HOSTS[name]}:{port}", FOREVER), 1, 1)


async def own(folder: Path) -> None:
    """Run the second node until the standard input is closed."""
    common = cluster(folder)
    common.tables.nodes["n1"] = member("n1", 1)
    node = ClusterNode("n2", common, supervisor())
    address = await node.listen()
    await node.join(address)
    print(address.rpartition(":")[2], flush=True)
    await asyncio.to_thread(sys.stdin.read)
    await node.close()


async def connected(node: ClusterNode, *servers: UUID) -> None:
    observed = node.mesh.observed
    await node.until(
        lambda: all(
            server in observed() and observed()[server].state.phase is Phase.CONNECTED
            for server in servers
        )
    )


def processor_seconds() -> float:
    """Of this process and all its descendants, in user and system mode."""
    this = psutil.Process()
    total = 0.0
    for each in (this, *this.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):
            times = each.cpu_times()
            total += times.user + times.system
    return total


async def latencies(ask: Callable[[], Awaitable[object]], seconds: float) -> list[float]:
    """What calls take, one at a time, in microseconds."""
    until = time.perf_counter() + seconds
    taken: list[float] = []
    while (began := time.perf_counter()) < until:
        await ask()
        taken.append((time.perf_counter() - began) * 1e6)
    return taken


async def measure(node: ClusterNode, seconds: float) -> None:
    figures = Figures()
    asks = {
        "near": lambda: node.mesh.call(NEAR, "echo", ARGUMENTS, TERMS),
        "far": lambda: node.mesh.call(FAR, "echo", ARGUMENTS, TERMS),
    }
    rates: dict[str, list[float]] = {name: [] for name in asks}
    costs: dict[str, list[float]] = {name: [] for name in asks}
    delays: dict[str, list[list[float]]] = {name: [] for name in asks}
    for _ in range(ROUNDS):
        for name, ask in asks.items():
            before = processor_seconds()
            rates[name].append(await rate(ask, WIDTH, seconds))
            costs[name].append((processor_seconds() - before) / (rates[name][-1] * seconds) * 1e6)
            delays[name].append(await latencies(ask, seconds / 2))
    for name in asks:
        every = [each for taken in delays[name] for each in taken]
        low, high = percentile(every, 0.1), percentile(every, 0.9)
        middle = statistics.median(every)
        figures.show(f"{name}, calls a second at 64", f"{statistics.median(rates[name]):,.0f}")
        figures.show(f"{name}, processor time a call", f"{statistics.median(costs[name]):.0f} us")
        figures.show(f"{name}, latency at 1", f"{middle:.0f} us  (p10 {low:.0f}, p90 {high:.0f})")
    share = statistics.median(map(truediv, rates["far"], rates["near"]))
    medians = {name: [*map(statistics.median, delays[name])] for name in asks}
    times = statistics.median(map(truediv, medians["far"], medians["near"]))
    figures.show("far against near, calls a second at 64", f"{share:.2f}x")
    figures.show("far against near, latency at 1", f"{times:.1f}x")


async def ask_both(folder: Path, seconds: float) -> None:
    command = [sys.executable, "-m", "bench.mesh", "own", str(folder)]
    other = subprocess.Popen(  # noqa: ASYNC220
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdin
    assert other.stdout
    common = cluster(folder)
    node = ClusterNode("n1", common, supervisor())
    try:
        port = int(await asyncio.to_thread(other.stdout.readline))
        common.tables.nodes["n2"] = member("n2", port)
        await node.start()
        await connected(node, NEAR, FAR)
        await measure(node, seconds)
    finally:
        await node.close()
        other.stdin.close()
        await asyncio.to_thread(other.wait)


def main() -> None:
    if sys.argv[1:2] == ["own"]:
        uvloop.run(own(Path(sys.argv[2])))
        return
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    with tempfile.TemporaryDirectory() as folder:
        make_authority(Path(folder))
        for name in HOSTS:
            make_certificate(Path(folder), name, Path(folder))
        print(f"load average {os.getloadavg()[0]:.1f}")
        uvloop.run(ask_both(Path(folder), seconds))


if __name__ == "__main__":
    main()
