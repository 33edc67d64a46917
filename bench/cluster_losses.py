"""Nodes that are killed or frozen, and a database that is away."""

import signal
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product

import httpx2

from bench.cluster_scene import Scene, register_all
from bench.measuring import Figures
from tests.cluster.nodes import ClusterOfNodes, RunningNode, place_on
from tests.cluster.recording import Record, Recording, boot_time, calling, overtaken

SERVERS_A_NODE = 10
SINGLE, OTHER = ["single0", "single1"], ["other0", "other1"]
AWAY_SECONDS = 60.0
PAUSE = 0.02
"""Between two calls of a caller: the record of an hour must fit into memory."""

_SOON = 60.0
_pause = threading.Event()


def killed(scene: Scene, figures: Figures, rounds: int) -> None:
    """Kill one node after the other; a call to each of its servers waits, and is answered."""
    names = [f"echo{number}" for number in range(3 * SERVERS_A_NODE)]
    slowest, unclear, lost = 0.0, 0, 0
    refused: list[str] = []
    with scene.cluster("n1", "n2", "n3", ttl=6.0) as cluster:
        register_all([*cluster.nodes.values()], scene.recording, names)
        for number in range(rounds):
            victim = cluster.nodes[f"n{number % 3 + 1}"]
            asker = cluster.nodes[f"n{(number + 1) % 3 + 1}"]
            victims = [each for each in names if asker.record(each)["node"] == victim.name]
            lost += len(victims)
            scene.remember(victim)
            flying, waits = _kill(scene.recording, victim, asker, victims)
            unclear += sum("disconnected" not in each for each in flying)
            refused += [text for text, _ in waits if text]
            slowest = max([slowest, *(seconds for _, seconds in waits)])
            cluster.start(victim.name, ttl=6.0)
            _even_out(cluster, names)
    figures.at_least("killed: servers that lost their node", lost, rounds * SERVERS_A_NODE)
    figures.at_most("killed: answered elsewhere after at most", slowest, 10, " s")
    figures.at_most("killed: calls made meanwhile that were refused", len(refused), 0)
    figures.at_most("killed: calls in flight without a clear error", unclear, 0)
    figures.at_most("killed: calls carried out twice", len(scene.recording.twice()), 0)
    print(*refused, sep="\n", end="\n" if refused else "")


def _kill(
    recording: Recording, victim: RunningNode, asker: RunningNode, servers: Sequence[str]
) -> tuple[list[str], list[tuple[str, float]]]:
    """Kill a node: how calls in flight end, and refusal and seconds of a call to each server."""
    with ThreadPoolExecutor(2 * len(servers) + 1) as pool:
        began = boot_time()
        flying = [pool.submit(_slow_call, asker, each, began) for each in servers]
        asker.until(lambda: _begun(recording, began) >= len(servers))
        victim.kill()
        at = boot_time()

        def call(server: str) -> tuple[str, float]:
            reply = asker.call(server, "record", text=f"{server} {at}")
            seconds = boot_time() - at
            return "" if reply.status_code == 200 else f"{seconds:.1f} s: {reply.text}", seconds

        # What is sent before the loss of the node is noticed is in flight as well.
        ended = [each.result() for each in flying]
        return ended, [*pool.map(call, servers)]


def _slow_call(node: RunningNode, server: str, at: float) -> str:
    """Make a call that takes longer than its node lives; what it ends with."""
    try:
        return node.call(server, "record", text=f"slow {server} {at}", seconds=60).text
    except httpx2.HTTPError as error:
        return repr(error)


def _begun(recording: Recording, at: float) -> int:
    return sum(each.text.startswith("slow") and each.at >= at for each in recording.calls())


def _even_out(cluster: ClusterOfNodes, names: Sequence[str]) -> None:
    """Give the node that is back its share again."""
    nodes = [*cluster.nodes.values()]
    for node in nodes:
        node.until(lambda: _is_whole(node, len(nodes)), 60)  # noqa: B023  called at once
    nodes[0].post("/api/cluster/rebalance")
    for node in nodes:
        node.until(lambda: _is_even(node, names), 60)  # noqa: B023  called at once


def _is_whole(node: RunningNode, count: int) -> bool:
    nodes = node.get("/api/cluster")["nodes"]
    return sum(each["state"] == "up" and each["reachable"] for each in nodes) == count


def _is_even(node: RunningNode, names: Sequence[str]) -> bool:
    records = [node.record(name) for name in names]
    counts = {each["servers"] for each in node.get("/api/cluster")["nodes"]}
    return counts == {SERVERS_A_NODE} and all(it["status"] == "connected" for it in records)


def frozen(scene: Scene, figures: Figures, rounds: int) -> None:
    """Freeze the daemon that has all servers for longer than its lease, and wake it."""
    _freeze(scene, figures, rounds, ttl=3.0, seconds=5.0)


def frozen_long(scene: Scene, figures: Figures, rounds: int) -> None:
    """The same with the usual time to live."""
    _freeze(scene, figures, rounds, ttl=6.0, seconds=30.0)


def frozen_machine(scene: Scene, figures: Figures, rounds: int) -> None:
    """Freeze the daemon with its keeper and all servers, as when a machine stands still.

    Nobody can end a server before it wakes, so that a call which it had not read yet, of those sent
    before, may begin then: such calls are told, and none that was sent later may begin.
    """
    _freeze(scene, figures, rounds, ttl=3.0, seconds=5.0, whole=True)


def _freeze(
    scene: Scene,
    figures: Figures,
    rounds: int,
    *,
    ttl: float,
    seconds: float,
    whole: bool = False,
) -> None:
    names, nodes, recording = SINGLE + OTHER, ["n1", "n2"], scene.recording
    naps: list[_Nap] = []
    missing = 0
    with scene.cluster(*nodes, ttl=ttl) as cluster:
        register_all([*cluster.nodes.values()], recording, names)
        place_on(cluster, "n1", *names)
        with calling([*cluster.nodes.values()], names, PAUSE) as callers:
            for number in range(rounds):
                victim, other = nodes[number % 2], nodes[(number + 1) % 2]
                callers.wait_answered(names, nodes)
                family = {each.pid for each in cluster.nodes[victim].tree()}
                old = recording.all_copies() & family
                missing += len(names) - len(old)
                freeze = cluster.nodes[victim].signal_all if whole else cluster.nodes[victim].signal
                freeze(signal.SIGSTOP)
                frozen_at = boot_time()
                _pause.wait(seconds)
                callers.wait_answered(names, [other])
                naps.append(_Nap(old, frozen_at, boot_time()))
                freeze(signal.SIGCONT)
                callers.wait_answered(names, nodes)
                cluster.nodes[victim].until(lambda: len(recording.all_copies()) == len(names))
    label = f"{'machine' if whole else 'daemon'} frozen {seconds:g} s, TTL {ttl:g} s"
    outcomes = callers.of()
    sent = {each.text: each.sent for each in outcomes}
    early, late = _late_calls(recording.calls(), naps, sent)
    answered = sum(each.answered for each in outcomes)
    figures.show(f"{label}: rounds, calls, answered", f"{rounds}, {len(outcomes)}, {answered}")
    figures.at_most(f"{label}: servers that were not on the frozen node", missing, 0)
    single = overtaken(recording.calls(*SINGLE))
    unread = early if whole else []
    single_late = [each for each in single if each not in unread]
    figures.at_most(f"{label}: singletons, by an old copy", len(single_late), 0)
    figures.at_most(f"{label}: on the old copy after it woke", len(early + late) - len(unread), 0)
    if whole:
        texts = f"{len(single) - len(single_late)} of singletons, {len(unread)} of all"
        figures.show(f"{label}: sent before and read after it", texts)
    figures.at_most(f"{label}: calls carried out twice", len(recording.twice()), 0)
    for each in (*single_late, *late):
        print(f"  {each}; sent {sent[each.text]:.3f}")


def _late_calls(
    calls: Sequence[Record], naps: Sequence["_Nap"], sent: Mapping[str, float]
) -> tuple[list[Record], list[Record]]:
    """The calls that a copy from before a nap began after it.

    Apart from them those that were sent before it: they may have been in the pipe of the server,
    which reads them when it wakes, if the keeper does not end it first. Where they were is not
    known.
    """
    early: list[Record] = []
    late: list[Record] = []
    for nap, call in product(naps, calls):
        if nap.began_late(call):
            (early if sent[call.text] < nap.frozen else late).append(call)
    return early, late


@dataclass(frozen=True)
class _Nap:
    """One time in which a node was frozen, with the copies that it had."""

    old: frozenset[int]
    frozen: float
    woken: float

    def began_late(self, call: Record) -> bool:
        # A pid may be used again after a while.
        return call.pid in self.old and self.woken < call.at < self.woken + _SOON


def away(scene: Scene, figures: Figures, _rounds: int) -> None:
    """Take the database away for a minute."""
    names, nodes, recording = SINGLE + OTHER, ["n1", "n2"], scene.recording
    with scene.cluster(*nodes, ttl=6.0) as cluster:
        register_all([*cluster.nodes.values()], recording, names)
        with calling([*cluster.nodes.values()], names, PAUSE) as callers:
            callers.wait_answered(names, nodes)
            starts = recording.starts(*OTHER)
            scene.postgres.kill()
            gone_at = boot_time()
            _pause.wait(AWAY_SECONDS)
            gone = [each for each in SINGLE if recording.copies(each)]
            scene.postgres.start()
            at = boot_time()
            callers.wait_answered(SINGLE, nodes)
            back = boot_time() - at
            callers.wait_answered(names, nodes)
        restarts = len(recording.starts(*OTHER)) - len(starts)
        others = callers.of(*OTHER)
        meanwhile = [each for each in others if gone_at < each.sent and each.ended < at]
    label = f"away {AWAY_SECONDS:g} s"
    refused = sum(not each.answered for each in others)
    figures.at_least(f"{label}: calls to others meanwhile", len(meanwhile), AWAY_SECONDS)
    figures.at_most(f"{label}: calls to others not answered", refused, 0)
    figures.at_most(f"{label}: restarts of others", restarts, 0)
    figures.at_most(f"{label}: singletons that outlived the lease", len(gone), 0)
    figures.at_most(f"{label}: singletons back after", back, 10, " s")
    single = len(overtaken(recording.calls(*SINGLE)))
    figures.at_most(f"{label}: singletons, begun by an old copy", single, 0)
