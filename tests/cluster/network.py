"""Relays between real daemons and what they reach, run beside a test that waits for answers."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Generator

import psutil

from tests.cluster.nodes import HOSTS
from tests.free_ports import free_port
from tests.relay import CutAt, Relay


class NetworkPath:
    """One way through the network; cut, nothing passes and nothing is closed."""

    def __init__(self, relay: Relay, loop: asyncio.AbstractEventLoop) -> None:
        self._relay = relay
        self._loop = loop

    @property
    def port(self) -> int:
        return self._relay.port

    @property
    def commits_cut(self) -> int:
        return self._relay.cuts

    def cut(self, origin: str = "") -> None:
        """Let nothing through, or nothing of one node."""
        self._do(lambda: self._relay.freeze(origin))

    def heal(self, origin: str = "") -> None:
        """Let bytes through again; connections from before are gone, as they are by then."""
        self._do(lambda: self._relay.cut(origin))
        self._do(lambda: self._relay.thaw(origin))

    def cut_commits(self, plan: Callable[[], CutAt]) -> None:
        """Ask at each COMMIT whether its connection is cut."""
        self._relay.plan = plan

    def _do(self, change: Callable[[], None]) -> None:
        async def work() -> None:
            change()

        asyncio.run_coroutine_threadsafe(work(), self._loop).result(10)


class Network:
    """The ways of one test."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._relays: list[Relay] = []

    def to(
        self,
        port: int,
        host: str = "127.0.0.1",
        origin: Callable[[int], str] | None = None,
    ) -> NetworkPath:
        """A way to a port."""
        relay = Relay(port, host)
        relay.origin = origin
        asyncio.run_coroutine_threadsafe(relay.start(), self._loop).result(10)
        self._relays.append(relay)
        return NetworkPath(relay, self._loop)

    def to_database(self, dsn: str) -> tuple[NetworkPath, str]:
        """A way to a database, and the DSN that goes along it."""
        start, _, database = dsn.rpartition("/")
        start, _, port = start.rpartition(":")
        path = self.to(int(port))
        return path, f"{start}:{path.port}/{database}"

    def to_node(self, name: str) -> tuple[NetworkPath, list[str]]:
        """A way to a node that is not up yet, and the arguments that it is started with."""
        port = free_port(HOSTS[name])
        path = self.to(port, HOSTS[name], node_at)
        listen = ["--node-listen", f"{HOSTS[name]}:{port}"]
        return path, [*listen, "--node-address", f"127.0.0.1:{path.port}"]

    def close(self) -> None:
        for each in self._relays:
            asyncio.run_coroutine_threadsafe(each.close(), self._loop).result(10)


def node_at(port: int) -> str:
    """The name of the node whose daemon has this port of loopback; empty if none has."""
    for each in psutil.net_connections("tcp4"):
        if each.laddr == ("127.0.0.1", port) and each.raddr and each.pid:
            with contextlib.suppress(psutil.Error):
                words = psutil.Process(each.pid).cmdline()
                if "--node" in words:
                    return words[words.index("--node") + 1]
    return ""


class LinkCuts:
    """The ways to all nodes, between any two of which the link can be cut.

    A pair of nodes has one connection, dialed by the smaller name: the way to the larger one has
    to stop what comes from the other. Cutting the way to a node leaves the links that it dialed.
    """

    def __init__(self) -> None:
        self._paths: dict[str, NetworkPath] = {}

    def add(self, name: str, path: NetworkPath) -> None:
        """A node, and the way to it."""
        self._paths[name] = path

    def cut(self, name: str, *others: str) -> None:
        """Cut the links of a node to these others, or to all."""
        for path, origin in self._of(name, others):
            path.cut(origin)

    def heal(self, name: str, *others: str) -> None:
        """Connect them again."""
        for path, origin in self._of(name, others):
            path.heal(origin)

    def _of(self, name: str, others: tuple[str, ...]) -> list[tuple[NetworkPath, str]]:
        pairs = [sorted((name, other)) for other in others or self._paths if other != name]
        return [(self._paths[larger], smaller) for smaller, larger in pairs]


@contextlib.contextmanager
def network() -> Generator[Network]:
    """A network for the block, on a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    ways = Network(loop)
    try:
        yield ways
    finally:
        ways.close()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
