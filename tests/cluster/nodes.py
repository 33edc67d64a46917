"""Daemons of one cluster on this machine, as an operator runs them.

Each node has a home and an address of its own on loopback, and reaches the database and is reached
by the others through ports that a test may give: a network that can be cut.
"""

import contextlib
import signal
import subprocess
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import psutil
import psycopg

from mcpyard.client.discovery import Deadline
from tests.api.daemon import SERVERS, one
from tests.cli.commands import TIMEOUT, Up, answer
from tests.free_ports import free_port
from tests.postgres import KEY

HOSTS = {"n1": "127.0.0.2", "n2": "127.0.0.3", "n3": "127.0.0.4"}
TTL = 3.0
TOKEN = "the-" + "token"


@dataclass
class RunningNode:
    """A node that is up, and somebody who may ask it anything."""

    name: str
    up: Up
    client: httpx2.Client

    def get(self, path: str) -> Any:  # noqa: ANN401  any JSON
        reply = self.client.get(path)
        assert reply.status_code == 200, reply.text
        return reply.json()

    def post(self, path: str, body: object = None, status: int = 200) -> Any:  # noqa: ANN401
        reply = self.client.post(path, json=body)
        assert reply.status_code == status, reply.text
        return reply.json()

    def register(self, name: str, definition: dict[str, object], **more: object) -> Any:  # noqa: ANN401
        body = {"name": name, **definition, "scope": "user", "start": True, **more}
        return self.post(SERVERS, body, 201)

    def record(self, name: str) -> Any:  # noqa: ANN401
        return self.get(one(name))

    def call(self, server: str, tool: str = "echo", **arguments: object) -> httpx2.Response:
        path = one(server, "tools", tool, "call")
        return self.client.post(path, json={"arguments": arguments})

    def text_of(self, server: str, text: str) -> str:
        """What the echo of a server says."""
        reply = self.call(server, text=text)
        assert reply.status_code == 200, reply.text
        return reply.json()["content"][0]["text"]

    def until(self, fits: Callable[[], bool], seconds: float = 20.0) -> None:
        """Ask until something is so; a test fails that waits for it too long."""
        deadline = Deadline(seconds)
        while not fits():
            assert deadline.lasts(), f"not so within {seconds} s, seen from {self.name}"

    def until_connected(self, server: str, on: str = "") -> None:
        """Wait until a server is connected, on a node or on whichever."""

        def fits() -> bool:
            reply = self.client.get(one(server))
            record = reply.json() if reply.status_code == 200 else {"status": "unknown"}
            return record["status"] == "connected" and on in ("", record["node"])

        self.until(fits)

    def tree(self) -> list[psutil.Process]:
        """All its processes, itself first."""
        process = psutil.Process(self.up.process.pid)
        return [process, *process.children(recursive=True)]

    def signal(self, number: int) -> None:
        """Send a signal to the daemon alone."""
        self.up.process.send_signal(number)

    def signal_all(self, number: int) -> list[psutil.Process]:
        """Send a signal to every process of the node; those that there were."""
        tree = self.tree()
        for each in tree:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.send_signal(number)
        return tree

    def kill(self) -> list[psutil.Process]:
        """End the whole node as if its machine was gone."""
        tree = self.signal_all(signal.SIGSTOP)
        for each in tree:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.kill()
        self.close()
        return tree

    def close(self) -> None:
        self.client.close()
        self.up.close()


@dataclass
class ClusterOfNodes:
    """The nodes of one cluster."""

    folder: Path
    dsn: str
    nodes: dict[str, RunningNode] = field(default_factory=dict[str, RunningNode])

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        self.certificates = self.folder / "certs"
        home = self.folder / "operator"
        answer("cluster", "init", home=home, MCPYARD_CLUSTER=self.dsn, MCPYARD_KEY=KEY)
        answer("cluster", "cert", *HOSTS, "--out", self.certificates, home=home)

    def start(
        self,
        name: str,
        *arguments: object,
        dsn: str = "",
        ttl: float = TTL,
        home: str = "",
        ready: bool = True,
        **environment: str,
    ) -> RunningNode:
        """Start a node and wait until it answers; later arguments replace those from here."""
        up = self.up(name, *arguments, dsn=dsn, ttl=ttl, home=home, **environment)
        if ready:
            with contextlib.ExitStack() as failed:
                failed.callback(up.close)
                up.wait_ready()
                failed.pop_all()
        if before := self.nodes.get(home or name):
            before.close()
        client = httpx2.Client(
            base_url=up.url, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=TIMEOUT
        )
        node = self.nodes[home or name] = RunningNode(name, up, client)
        return node

    def up(
        self,
        name: str,
        *arguments: object,
        dsn: str = "",
        ttl: float = TTL,
        home: str = "",
        **environment: str,
    ) -> Up:
        """Start the daemon of a node, and wait for nothing."""
        return Up(
            self.folder / (home or name),
            "--json",
            *("--node", name, "--node-ttl", ttl, "--node-certs", self.certificates),
            *("--node-listen", f"{HOSTS[name]}:{free_port(HOSTS[name])}"),
            *arguments,
            environment={
                "MCPYARD_CLUSTER": dsn or self.dsn,
                "MCPYARD_KEY": KEY,
                "MCPYARD_TOKEN": TOKEN,
                **environment,
            },
        )

    def beats(self) -> dict[str, int]:
        """How often each node renewed its lease since it joined."""
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            return dict(connection.execute("SELECT name, beat FROM mcpyard.nodes").fetchall())

    def wait_beats(self, name: str, more: int = 3) -> None:
        """Return once a node has renewed its lease so many times."""
        until = self.beats()[name] + more
        self.nodes[name].until(lambda: self.beats()[name] >= until)

    def close(self) -> None:
        """Stop all nodes at once: none of them waits for another to take its servers over."""
        for each in self.nodes.values():
            with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):
                each.signal_all(signal.SIGCONT)
            if each.up.process.poll() is None:
                each.up.process.terminate()
        for each in self.nodes.values():
            if each.up.process.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    each.up.process.wait(TIMEOUT)
            each.close()


@contextlib.contextmanager
def cluster_of(folder: Path, dsn: str, *names: str, **options: Any) -> Generator[ClusterOfNodes]:  # noqa: ANN401
    """A cluster whose nodes are up, and know each other."""
    cluster = ClusterOfNodes(folder, dsn)
    try:
        for name in names:
            cluster.start(name, **options)
        for node in cluster.nodes.values():
            node.until(lambda node=node: _knows(node, names))
        yield cluster
    finally:
        cluster.close()


def place_on(cluster: ClusterOfNodes, target: str, *servers: str) -> None:
    """Move servers to a node, and return once every node shows them as connected there."""
    node = cluster.nodes[target]
    for server in servers:
        node.until(lambda server=server: bool(node.record(server)["node"]))
        if node.record(server)["node"] != target:
            node.post(one(server, "move"), {"node": target})
    for each in cluster.nodes.values():
        for server in servers:
            each.until_connected(server, target)


def _knows(node: RunningNode, names: tuple[str, ...]) -> bool:
    nodes = node.get("/api/cluster")["nodes"]
    return {each["name"] for each in nodes if each["reachable"]} >= set(names)
