"""A node that is drained, and all nodes restarted one after the other, under load."""

import contextlib
import math
import random
import signal
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import httpx2

from bench.cluster_callers import CallerPool, calling_all
from bench.cluster_owners import shared_fences
from bench.cluster_scene import Scene, register_all
from bench.measuring import Figures, percentile
from tests.cluster.nodes import ClusterOfNodes, RunningNode
from tests.cluster.recording import boot_time, overtaken

NODES: Final = ["n1", "n2", "n3"]
PAUSE: Final = 0.4
"""Seconds between two calls of a caller: two hundred of them make about 500 calls a second."""

_CALLS_EACH: Final = 20
_EVEN: Final = 0.1
_SETTLE: Final = 2.0
_LONGEST_STOP: Final = 120.0
_READY: Final = 200
_pause = threading.Event()


@dataclass(frozen=True)
class DrainOptions:
    """How much of it."""

    servers: int = 300
    callers: int = 200
    seed: int = 23
    pause: float = PAUSE
    ttl: float = 6.0


def names_of(servers: int) -> tuple[list[str], list[str]]:
    """The names of so many servers: singletons, every tenth, and others."""
    single = [f"single{number}" for number in range(servers // 10)]
    return single, [f"other{number}" for number in range(servers - len(single))]


def port_of(node: RunningNode) -> int:
    return int(node.up.url.rstrip("/").rpartition(":")[2])


def drain(scene: Scene, figures: Figures, options: DrainOptions) -> None:
    """Drain one node, restart all of them, and even them out, while many call."""
    single, others = names_of(options.servers)
    with scene.cluster(*NODES, ttl=options.ttl) as cluster:
        began = boot_time()
        register_all([*cluster.nodes.values()], scene.recording, single + others)
        figures.show("drain: servers, seconds until all run", _pair(options.servers, began))
        _show_spread(figures, "after the start", cluster)
        ports = {name: port_of(node) for name, node in cluster.nodes.items()}
        names = single + others
        with calling_all(
            ports, names, width=options.callers, pause=options.pause, seed=options.seed
        ) as pool:
            _pause.wait(_SETTLE)
            _empty(cluster, figures, NODES[0], NODES[1])
            dice = random.Random(options.seed)  # noqa: S311  a choice, not a secret
            # The drained node takes servers again after its restart.
            for name in (NODES[0], *dice.sample(NODES[1:], 2)):
                _restart(scene, cluster, pool, figures, (name, options.ttl))
            began = boot_time()
            cluster.nodes[NODES[0]].post("/api/cluster/rebalance")
            for node in cluster.nodes.values():
                until(lambda node=node: _spread(node) <= _EVEN, 60)
            figures.show("drain: rebalanced within", f"{boot_time() - began:.1f} s")
            _show_spread(figures, "after a rebalance", cluster)
            _pause.wait(_SETTLE)
    judge(figures, "drain", scene, pool, single)
    figures.at_least("drain: calls", len(pool.ended), options.callers * _CALLS_EACH)
    figures.at_most("drain: calls that failed", len(pool.failed()), 0)


def judge(
    figures: Figures, label: str, scene: Scene, pool: CallerPool, single: Sequence[str]
) -> None:
    """What must hold of all calls, whatever happens meanwhile."""
    times = [each.ended - each.sent for each in pool.ended]
    middle, high = percentile(times, 0.5) * 1000, percentile(times, 0.999)
    figures.show(f"{label}: calls, not answered", f"{len(times):,}, {len(pool.failed()):,}")
    longest = f"{middle:.1f} ms, {high:.2f} s, {max(times):.2f} s"
    figures.show(f"{label}: median, p99.9, longest call", longest)
    figures.at_most(f"{label}: wrong answers", sum(each.wrong for each in pool.ended), 0)
    unfinished = sum(each.unfinished for each in pool.ended)
    figures.at_most(f"{label}: calls without an end", unfinished, 0)
    figures.at_most(f"{label}: carried out twice", len(scene.recording.twice()), 0)
    sent = {each.nonce: each.sent for each in pool.ended}
    late = overtaken(scene.recording.calls(*single))
    unread = [each for each in late if scene.was_unread(sent.get(each.text, math.inf), each.at)]
    if scene.naps:
        figures.show(f"{label}: sent before a machine stood still", str(len(unread)))
    figures.at_most(f"{label}: by an old copy of a singleton", len(late) - len(unread), 0)
    shared = shared_fences(scene.recording.calls(*single))
    figures.at_most(f"{label}: singletons of one fence twice", shared, 0)
    kinds = Counter(f"{each.node}: {each.problem[:200]}" for each in pool.failed())
    for problem, number in kinds.most_common(10):
        print(f"  {number} x {problem}")
    for each in pool.failed()[:5]:
        print(f"  sent {each.sent:.3f}, ended {each.ended:.3f}: {each.server} at {each.node}")


def _empty(cluster: ClusterOfNodes, figures: Figures, name: str, sender: str) -> None:
    """Drain a node by a request to another one."""
    began = boot_time()
    cluster.nodes[sender].post(f"/api/cluster/nodes/{name}/drain")
    for node in cluster.nodes.values():
        until(lambda node=node: not _filled(node)[name], _LONGEST_STOP)
    figures.show(f"drain: {name} emptied within", f"{boot_time() - began:.1f} s")


def _restart(
    scene: Scene,
    cluster: ClusterOfNodes,
    pool: CallerPool,
    figures: Figures,
    node: tuple[str, float],
) -> None:
    """Stop a node as a service manager does, and start it again.

    Its callers go elsewhere as behind a load balancer: once it says that it is not ready. A node
    that was drained ends at once, so they leave it before.
    """
    name, ttl = node
    stopped = cluster.nodes[name]
    scene.remember(stopped)
    drained = not _filled(stopped)[name]
    if drained:
        pool.leave(name)
    began = boot_time()
    stopped.up.process.send_signal(signal.SIGTERM)
    if not drained:
        until(lambda: not _is_ready(stopped), _LONGEST_STOP)
        pool.leave(name)
    figures.at_most(f"drain: {name} ends with", stopped.up.process.wait(_LONGEST_STOP), 0)
    ended = boot_time()
    started = cluster.start(name, ttl=ttl)
    wait_whole(cluster)
    pool.join(name, port_of(started))
    figures.show(
        f"drain: {name} stopped, started within",
        f"{ended - began:.1f} s, {boot_time() - ended:.1f} s",
    )
    _pause.wait(_SETTLE)


def wait_whole(cluster: ClusterOfNodes, seconds: float = 60.0) -> None:
    """Return once every node is up and reaches all others and the database."""
    for node in cluster.nodes.values():
        until(lambda node=node: _is_whole(node, len(cluster.nodes)), seconds)


def until(fits: Callable[[], bool], seconds: float) -> None:
    """Return once something is so; looks a few times a second, since others need the processor."""
    deadline = boot_time() + seconds
    while not fits():
        assert boot_time() < deadline, f"not so within {seconds:g} s"
        _pause.wait(0.1)


def _is_ready(node: RunningNode) -> bool:
    """What a load balancer asks."""
    with contextlib.suppress(httpx2.HTTPError):
        return node.client.get("/readyz").status_code == _READY
    return False


def _is_whole(node: RunningNode, count: int) -> bool:
    cluster = node.get("/api/cluster")
    up = [each for each in cluster["nodes"] if each["state"] == "up" and each["reachable"]]
    return cluster["database"] == "ok" and len(up) == count


def _filled(node: RunningNode) -> dict[str, int]:
    return {each["name"]: each["servers"] for each in node.get("/api/cluster")["nodes"]}


def _spread(node: RunningNode) -> float:
    """By how much the fullest node exceeds the emptiest one, of what each would have."""
    counts = _filled(node).values()
    return (max(counts) - min(counts)) * len(counts) / max(1, sum(counts))


def _show_spread(figures: Figures, when: str, cluster: ClusterOfNodes) -> None:
    node = cluster.nodes[NODES[0]]
    filled = " ".join(str(each) for each in _filled(node).values())
    figures.show(f"drain: servers of each node {when}", filled)
    figures.at_most(f"drain: unevenness {when}", _spread(node) * 100, _EVEN * 100, " %")


def _pair(number: int, since: float) -> str:
    return f"{number}, {boot_time() - since:.1f} s"
