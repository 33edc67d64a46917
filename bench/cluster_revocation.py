"""Call tokens that are revoked at one node: the others refuse them too, or are named."""

import random
import signal
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Final

import httpx2

from bench.cluster_chaos import Stage
from bench.cluster_drain import NODES, wait_whole
from bench.cluster_scene import Scene
from bench.gateway import META, MODERN
from bench.measuring import Figures, percentile
from tests.cluster.network import network
from tests.cluster.nodes import RunningNode
from tests.cluster.recording import boot_time

TTL: Final = 6.0
BARRIER: Final = 2.0
"""Seconds within which other nodes confirm a revocation, or are named."""

_SLACK: Final = 0.5
_FAULTS: Final = ("none", "cut", "frozen")
_REFUSED: Final = 401
_LIST: Final = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}


def revocation(scene: Scene, figures: Figures, rounds: int, seed: int) -> None:
    """Revoke tokens at random nodes, while another one is well, cut off or frozen by turns."""
    dice = random.Random(seed)  # noqa: S311  a choice, not a secret
    times: list[float] = []
    usable, unnamed, named, wrongly = 0, 0, 0, 0
    cut_off = sum(number % len(_FAULTS) > 0 for number in range(rounds))
    with network() as net, scene.cluster(ttl=TTL) as cluster:
        stage = Stage(scene, cluster, dice, TTL)
        stage.prepare(net)
        for name in NODES:
            stage.start(name)
        wait_whole(cluster)
        for number in range(rounds):
            sender, *others = (cluster.nodes[name] for name in dice.sample(NODES, len(NODES)))
            made = sender.post("/api/tokens", {"name": f"token{number}"}, 201)
            for node in cluster.nodes.values():
                node.until(lambda node=node, secret=made["token"]: _status(node, secret) == 200)
            fault = _FAULTS[number % len(_FAULTS)]
            with _faulty(stage, others[0], fault):
                began = boot_time()
                unconfirmed = _revoke(sender, made["id"])
                times.append(boot_time() - began)
                reachable = [sender, others[1], *([] if fault == "frozen" else [others[0]])]
                still = {each.name for each in reachable if _status(each, made["token"]) == 200}
            usable += len(still)
            unnamed += len(still - {*unconfirmed})
            named += len(unconfirmed)
            wrongly += len({*unconfirmed} - ({others[0].name} if fault != "none" else set()))
            wait_whole(cluster)
            wrongly += _use_everywhere([*cluster.nodes.values()], made["token"])
    figures.show("revocation: rounds, nodes that still took it", f"{rounds}, {usable}")
    figures.at_least("revocation: nodes that were named", named, cut_off)
    median = f"{percentile(times, 0.5) * 1000:.0f} ms"
    figures.show("revocation: median until it returned", median)
    figures.at_most("revocation: returned after at most", max(times), BARRIER + _SLACK, " s")
    figures.at_most("revocation: took it and were not named", unnamed, 0)
    figures.at_most("revocation: named although they were well", wrongly, 0)


@contextmanager
def _faulty(stage: Stage, node: RunningNode, fault: str) -> Generator[None]:
    if fault == "frozen":
        node.signal_all(signal.SIGSTOP)
    if fault == "cut":
        stage.links.cut(node.name)
        stage.databases[node.name].cut()
    try:
        yield
    finally:
        if fault == "cut":
            stage.databases[node.name].heal()
            stage.links.heal(node.name)
        if fault == "frozen":
            node.signal_all(signal.SIGCONT)


def _revoke(node: RunningNode, token: str) -> Sequence[str]:
    """Revoke a token; the nodes that did not confirm it."""
    reply = node.client.delete(f"/api/tokens/{token}")
    assert reply.status_code in {202, 204}, reply.text
    return reply.json()["unconfirmed"] if reply.status_code == 202 else ()


def _use_everywhere(nodes: Sequence[RunningNode], token: str) -> int:
    """Wait until every node refuses a token; how many do not."""

    def refuses(node: RunningNode) -> bool:
        try:
            node.until(lambda: _status(node, token) == _REFUSED, 5)
        except AssertionError:
            return False
        return True

    with ThreadPoolExecutor(len(nodes)) as pool:
        return sum(not each for each in pool.map(refuses, nodes))


def _status(node: RunningNode, token: str) -> int:
    headers = {**MODERN, "Mcp-Method": "tools/list", "Authorization": f"Bearer {token}"}
    return httpx2.post(f"{node.up.url.rstrip('/')}/mcp", json=_LIST, headers=headers).status_code
