"""What the benches of a cluster share: nodes, the servers that they run, and what is left."""

import contextlib
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from tests.cluster.nodes import ClusterOfNodes, RunningNode, cluster_of
from tests.cluster.recording import Recording
from tests.postgres import Postgres
from tests.process_families import those_left

WAKING: Final = 1.0
"""Seconds in which the servers of a machine that woke are ended."""


@dataclass(frozen=True, slots=True)
class Nap:
    """A time in which a whole machine stood still."""

    frozen: float
    woken: float

    def leaves_unread(self, sent: float, at: float) -> bool:
        """Whether a call may have been in the pipe of a server, which read it when it woke."""
        return sent < self.frozen and self.woken <= at < self.woken + WAKING


class Scene:
    """A folder, a database, and the record that all servers of all nodes write to."""

    def __init__(self, folder: Path, postgres: Postgres) -> None:
        self.folder = folder
        self.postgres = postgres
        self.recording = Recording(folder / "record")
        self.naps: list[Nap] = []
        self._processes: set[psutil.Process] = set()

    @contextlib.contextmanager
    def cluster(self, *names: str, ttl: float) -> Generator[ClusterOfNodes]:
        """Nodes that know each other, for the block."""
        dsn = self.postgres.dsn(self.postgres.new_database())
        with cluster_of(self.folder / "cluster", dsn, *names, ttl=ttl) as cluster:
            yield cluster
            for node in cluster.nodes.values():
                self.remember(node)

    def remember(self, node: RunningNode) -> None:
        """The processes of a node must be gone in the end."""
        with contextlib.suppress(psutil.NoSuchProcess):
            self._processes |= {*node.tree()}

    def was_unread(self, sent: float, at: float) -> bool:
        """Whether a call may have waited in a pipe while a machine stood still."""
        return any(each.leaves_unread(sent, at) for each in self.naps)

    def orphans(self) -> int:
        """How many processes of all nodes and of all servers are left."""
        pids = {each.pid for each in self.recording.starts()}
        servers = [each for each in psutil.process_iter(["cmdline"]) if each.pid in pids]
        mine = [
            each for each in servers if str(self.recording.file) in (each.info["cmdline"] or ())
        ]
        return len({*those_left([*mine, *self._processes], 5)})


def register_all(nodes: Sequence[RunningNode], recording: Recording, names: Sequence[str]) -> None:
    """Register servers at the first node, and wait until all nodes show them as connected."""
    first = nodes[0]
    for name in names:
        first.register(name, recording.server(name), singleton=name.startswith("single"))

    def wait(node: RunningNode) -> None:
        for name in names:
            node.until(lambda: _is_connected(node, name), 60)  # noqa: B023  called at once

    with ThreadPoolExecutor() as pool:
        for done in [pool.submit(wait, node) for node in nodes]:
            done.result()


def _is_connected(node: RunningNode, name: str) -> bool:
    reply = node.client.get(f"/api/mcp/servers/{name}")
    return reply.status_code == 200 and reply.json()["status"] == "connected"
