"""What a node needs: memory, connections and transactions, beside one machine without a cluster."""

import statistics
import threading
from collections.abc import Sequence
from typing import Final

import httpx2
import psutil
import psycopg

from bench.cluster_drain import NODES, until
from bench.cluster_scene import Scene, register_all
from bench.measuring import Figures
from tests.api.daemon import SERVERS
from tests.cli.commands import TIMEOUT, Up
from tests.cluster.nodes import TOKEN, ClusterOfNodes, RunningNode
from tests.cluster.recording import Recording, boot_time

IDLE: Final = 20.0
CALLS: Final = 3000
_SETTLE: Final = 5.0
_MIB: Final = 1 << 20
_TRANSACTIONS: Final = """SELECT xact_commit + xact_rollback FROM pg_stat_database
    WHERE datname = current_database()"""
_CONNECTIONS: Final = """SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'mcpyard'"""
_SIZE: Final = "SELECT pg_database_size(current_database())"
_pause = threading.Event()


def sizing(scene: Scene, figures: Figures, servers: int) -> None:
    """Measure nodes with and without servers, and the same on one machine."""
    share = servers // len(NODES)
    with scene.cluster(*NODES, ttl=6.0) as cluster:
        _pause.wait(_SETTLE)
        figures.show("sizing: memory of a node, no servers", _memory(cluster))
        idle = _transactions_a_second(cluster)
        figures.show("sizing: transactions a second of an idle node", f"{idle:.1f}")
        connections = _ask(cluster.dsn, _CONNECTIONS) / len(NODES)
        figures.at_most("sizing: connections to the database, each node", connections, 4)
        names = [f"other{number}" for number in range(servers)]
        nodes = [*cluster.nodes.values()]
        register_all(nodes, scene.recording, names)
        _pause.wait(_SETTLE)
        figures.show(f"sizing: memory of a node, {share} servers of its own", _memory(cluster))
        figures.show(f"sizing: database, {servers} servers", f"{_size(cluster.dsn):.0f} MiB")
        idle = _transactions_a_second(cluster)
        figures.show(f"sizing: transactions a second, {share} servers", f"{idle:.1f}")
        figures.at_most("sizing: transactions for a call", _for_a_call(cluster, names), 0.05)
    _one_machine(scene, figures, share)


def _memory(cluster: ClusterOfNodes) -> str:
    return f"{statistics.median(_resident(each.up) for each in cluster.nodes.values()):.0f} MiB"


def _resident(up: Up) -> float:
    return psutil.Process(up.process.pid).memory_info().rss / _MIB


def _ask(dsn: str, query: str) -> int:
    """A number of the database itself; the question is a transaction too."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row
    return row[0]


def _size(dsn: str) -> float:
    return _ask(dsn, _SIZE) / _MIB


def _transactions_a_second(cluster: ClusterOfNodes) -> float:
    """Of one node that has nothing to do but to beat and to look for changes."""
    began, before = boot_time(), _ask(cluster.dsn, _TRANSACTIONS)
    _pause.wait(IDLE)
    made = _ask(cluster.dsn, _TRANSACTIONS) - before
    return made / (boot_time() - began) / len(NODES)


def _for_a_call(cluster: ClusterOfNodes, names: Sequence[str]) -> float:
    """Transactions beyond those of an idle cluster, while calls are made at one node."""
    idle = _transactions_a_second(cluster) * len(NODES)
    node = cluster.nodes[NODES[0]]
    began, before = boot_time(), _ask(cluster.dsn, _TRANSACTIONS)
    for number in range(CALLS):
        assert node.call(names[number % len(names)], "record").status_code == 200
    # What the database counts, it tells a moment later.
    _pause.wait(_SETTLE)
    made = _ask(cluster.dsn, _TRANSACTIONS) - before
    return max(0.0, made - idle * (boot_time() - began)) / CALLS


def _one_machine(scene: Scene, figures: Figures, servers: int) -> None:
    home = scene.folder / "one-machine"
    up = Up(home, "--json", environment={"MCPYARD_TOKEN": TOKEN}).wait_ready()
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with httpx2.Client(base_url=up.url, headers=headers, timeout=TIMEOUT) as client:
        node = RunningNode("one", up, client)
        try:
            node.get(SERVERS)
            _pause.wait(_SETTLE)
            figures.show("sizing: memory of one machine, no servers", f"{_resident(up):.0f} MiB")
            _fill(node, scene.recording, servers)
            _pause.wait(_SETTLE)
            label = f"sizing: memory of one machine, {servers} servers"
            figures.show(label, f"{_resident(up):.0f} MiB")
            scene.remember(node)
        finally:
            up.process.terminate()
            up.process.wait(TIMEOUT)


def _fill(node: RunningNode, recording: Recording, servers: int) -> None:
    for number in range(servers):
        node.register(f"alone{number}", recording.server(f"alone{number}"))
    until(lambda: {each["status"] for each in node.get(SERVERS)} == {"connected"}, 120)
