"""Relays between real daemons and what they reach, run beside a test that waits for answers."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Generator

from tests.cluster.nodes import HOSTS
from tests.postgres import free_port
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

    def cut(self) -> None:
        self._do(self._relay.freeze)

    def heal(self) -> None:
        """Let bytes through again; connections from before are gone, as they are by then."""
        self._do(self._relay.cut)
        self._do(self._relay.thaw)

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

    def to(self, port: int, host: str = "127.0.0.1") -> NetworkPath:
        """A way to a port."""
        relay = Relay(port, host)
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
        port = free_port()
        path = self.to(port, HOSTS[name])
        listen = ["--node-listen", f"{HOSTS[name]}:{port}"]
        return path, [*listen, "--node-address", f"127.0.0.1:{path.port}"]

    def close(self) -> None:
        for each in self._relays:
            asyncio.run_coroutine_threadsafe(each.close(), self._loop).result(10)


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
