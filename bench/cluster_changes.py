"""Changes to what a cluster shares: none lost, none applied twice, seen by all nodes soon."""

import random
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count

import httpx2
import psycopg
from psycopg.sql import SQL, Identifier

from bench.cluster_scene import Scene
from bench.measuring import Figures, percentile
from tests.cluster.network import network
from tests.cluster.nodes import RunningNode
from tests.cluster.recording import boot_time
from tests.relay import CutAt

NODES = ["n1", "n2", "n3"]
CUT_SHARE = 0.1
"""Of the transactions, the share whose connection is cut at COMMIT, before it or after."""
KILLS = 5
_pause = threading.Event()


@dataclass
class Writer:
    """Changes one server at one node, one change after the other, and notes what it was told."""

    node: RunningNode
    server: str
    id: str = ""
    promised: list[int] = field(default_factory=list[int])
    unknown: list[int] = field(default_factory=list[int])
    refused: int = 0

    def write(self, changes: int) -> None:
        for value in count(1000):
            if len(self.promised) >= changes:
                return
            try:
                reply = self.node.client.patch(
                    f"/api/mcp/servers/{self.server}", json={"timeout": value}
                )
            except httpx2.HTTPError:
                self.unknown.append(value)
                continue
            self.note(value, reply)

    def note(self, value: int, reply: httpx2.Response) -> None:
        if reply.status_code == 200:
            self.promised.append(value)
        elif reply.json()["type"].endswith("store-away"):
            self.refused += 1
            _pause.wait(0.02)
        else:
            self.unknown.append(value)

    def is_kept(self, value: int) -> bool:
        """Whether a value is the last promise, or a later change whose outcome nobody knows."""
        later = [each for each in self.unknown if each > self.promised[-1]]
        return value in (self.promised[-1], *later)

    def excess(self, applied: int) -> int:
        """How many changes were applied that were not asked for, or are missing."""
        least, most = len(self.promised), len(self.promised) + len(self.unknown)
        return max(0, applied - most, least - applied)


def changes(scene: Scene, figures: Figures, rounds: int) -> None:
    """Change servers at three nodes while the database is killed and connections are cut."""
    dice = random.Random(22)  # noqa: S311  a choice, not a secret
    choices: Sequence[CutAt] = ("before", "after")

    def plan() -> CutAt:
        return dice.choice(choices) if dice.random() < CUT_SHARE else ""

    with network() as net, scene.cluster(ttl=6.0) as cluster:
        path, far = net.to_database(cluster.dsn)
        nodes = [cluster.start(name, dsn=far, ttl=6.0) for name in NODES]
        writers = [Writer(node, f"of-{node.name}") for node in nodes]
        for writer in writers:
            body = {**scene.recording.server(writer.server), "start": False}
            writer.id = writer.node.register(writer.server, body, start=False)["id"]
        before = notes(cluster.dsn, writers)
        path.cut_commits(plan)
        with ThreadPoolExecutor(len(NODES)) as pool:
            shares = [pool.submit(each.write, rounds // len(NODES) + 1) for each in writers]
            for kill in range(KILLS):
                due = (kill + 1) * rounds / (KILLS + 1)
                while sum(len(each.promised) for each in writers) < due:
                    _pause.wait(0.05)
                scene.postgres.kill()
                _pause.wait(0.5)
                scene.postgres.start()
            for share in shares:
                share.result()
        path.cut_commits(lambda: "")
        after = notes(cluster.dsn, writers)
        lost = sum(lost_promises(writer, nodes) for writer in writers)
        twice = sum(
            it.excess(new - old) for it, old, new in zip(writers, before, after, strict=True)
        )
        cuts = path.commits_cut
    promised = sum(len(each.promised) for each in writers)
    unknown, refused = (
        sum(map(len, [each.unknown for each in writers])),
        sum(each.refused for each in writers),
    )
    figures.show("changes: promised, unknown, refused", f"{promised}, {unknown}, {refused}")
    figures.show("changes: database killed", str(KILLS))
    figures.at_least("changes: commits cut", cuts, CUT_SHARE * rounds / 2)
    figures.at_most("changes: promised ones that are lost", lost, 0)
    figures.at_most("changes: applied twice, or not at all", twice, 0)


def notes(dsn: str, writers: Sequence[Writer], table: str = "mcpyard.changes") -> list[int]:
    """How many transactions changed the server of each writer."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        query = SQL("SELECT count(DISTINCT rev) FROM {} WHERE key = %s").format(
            Identifier(*table.split("."))
        )
        rows = [connection.execute(query, (each.id,)).fetchone() for each in writers]
        return [row[0] for row in rows if row]


def lost_promises(writer: Writer, nodes: Sequence[RunningNode]) -> int:
    """At how many nodes the last promise of a writer is not what is shown."""
    lost = 0
    for node in nodes:
        try:
            node.until(lambda: writer.is_kept(node.record(writer.server)["timeout"]), 10)  # noqa: B023
        except AssertionError:
            lost += 1
    return lost


def seen(scene: Scene, figures: Figures, rounds: int) -> None:
    """How soon after its acknowledgement a change is shown by the other nodes."""
    with scene.cluster(*NODES, ttl=6.0) as cluster:
        first, *others = cluster.nodes.values()
        first.register("it", scene.recording.server("it"), start=False)
        for node in others:
            node.until(lambda: node.client.get("/api/mcp/servers/it").status_code == 200)  # noqa: B023
        delays: list[float] = []
        with ThreadPoolExecutor(len(others)) as pool:
            for value in range(1000, 1000 + rounds):
                watching = [pool.submit(_shown_at, node, value) for node in others]
                reply = first.client.patch("/api/mcp/servers/it", json={"timeout": value})
                acknowledged = boot_time()
                assert reply.status_code == 200, reply.text
                moment = max(each.result() for each in watching)
                delays.append(max(0.0, moment - acknowledged) * 1000)
    middle, high = percentile(delays, 0.5), percentile(delays, 0.99)
    figures.show("seen by all nodes, median after the acknowledgement", f"{middle:.1f} ms")
    figures.at_most("seen by all nodes, p99 after the acknowledgement", high, 50, " ms")


def _shown_at(node: RunningNode, value: int) -> float:
    until = boot_time() + 20
    while node.record("it")["timeout"] != value:
        assert boot_time() < until, "the change is not shown"
    return boot_time()
