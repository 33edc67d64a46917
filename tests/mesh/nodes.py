"""Nodes of one cluster in one process: real links, leases in memory, servers that tests script."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from mcpyard.cluster.node_view import NodeView
from mcpyard.domain.cluster import Node
from mcpyard.domain.desired import (
    Definition,
    Desired,
    DesiredServer,
    DesireInputs,
    Document,
    Owner,
)
from mcpyard.domain.desiring import desire
from mcpyard.domain.errors import ServerUnknown
from mcpyard.domain.model import LocalConfig, Scope
from mcpyard.domain.observed import Observed
from mcpyard.domain.plan import plan
from mcpyard.domain.ports import CallTerms
from mcpyard.mesh.certificates import NodeCertificates, NodeFiles, make_authority, make_certificate
from mcpyard.mesh.local_servers import LocalServers
from mcpyard.mesh.membership import Membership, boot_time
from mcpyard.mesh.mesh import Mesh
from mcpyard.mesh.picture import PlacementRules
from mcpyard.store.volatile_leases import LeaseTables, VolatileLeases
from mcpyard.testing import FakeServers

if TYPE_CHECKING:
    from types import CoroutineType

HOSTS = {"n1": "127.0.0.2", "n2": "127.0.0.3", "n3": "127.0.0.4"}
ECHO, OTHER = UUID(int=1), UUID(int=2)
IDS = {"echo": ECHO, "other": OTHER}
TTL = 3.0

Script = Callable[[str, bytes, CallTerms], "CoroutineType[Any, Any, bytes]"]


class ScriptedServers(FakeServers):
    """Servers whose answers take time and use the terms of the call."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts: dict[str, Script] = {}

    def call(
        self, server: UUID, tool: str, arguments: bytes, terms: CallTerms
    ) -> "CoroutineType[Any, Any, bytes]":
        if server not in self.held():
            raise ServerUnknown("the server was removed")
        if script := self.scripts.get(self._names[server]):
            self.calls.append((self._names[server], tool, arguments, terms))
            return script(tool, arguments, terms)
        return super().call(server, tool, arguments, terms)


class Clock:
    """CLOCK_BOOTTIME, and what a test adds to it."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return boot_time() + self.ahead


def desired_servers(*names: str, scope: Scope = Scope.USER, **policy: object) -> Desired:
    owner = Owner(scope, "" if scope is Scope.USER else "here")
    config = LocalConfig.model_validate({"command": ["true"], "wanted": "running", **policy})
    document = Document(owner, tuple(Definition(name, config) for name in names))
    identities = {(owner, name): IDS[name] for name in names}
    return desire([document], DesireInputs(identities, lookup=lambda _: None))


class ClusterNode:
    """One node: its servers, its mesh, and what carries out its share of the desired state."""

    def __init__(
        self,
        name: str,
        cluster: "TestCluster",
        local: LocalServers,
        certificates: NodeCertificates | None = None,
    ) -> None:
        self.name = name
        self.clock = Clock()
        self.cluster = cluster
        self.local = local
        self.leases = VolatileLeases(cluster.tables)
        self.view = NodeView(name, cluster.ttl, self.clock)
        certificates = certificates or cluster.certificates(name)
        self.mesh = Mesh(local, self.view, certificates, self._rules, version="test")
        self.desired = cluster.desired
        self.changes = asyncio.Event()
        self.closed = False
        self.deadlines: list[float] = []
        self.observed: list[Observed] = []
        self.membership: Membership | None = None
        self.mesh.listen(self._changed)

    @property
    def scripted(self) -> ScriptedServers:
        assert isinstance(self.local, ScriptedServers)
        return self.local

    async def start(self) -> None:
        await self.join(await self.listen())

    async def listen(self) -> str:
        """Listen for other nodes; where."""
        return f"{HOSTS[self.name]}:{await self.mesh.links.listen(HOSTS[self.name], 0)}"

    async def join(self, address: str) -> None:
        """Join under an address, which may be that of a relay."""
        self.reconcile()
        node = Node(self.name, UUID(int=int(self.name[1:])), "boot", address, self.cluster.ttl)
        self.membership = Membership(node, self.leases, self.mesh, clock=self.clock)
        self.membership.on_deadline = self.deadlines.append
        await self.membership.start()

    def want(self, desired: Desired) -> None:
        self.desired = desired
        self.reconcile()

    def reconcile(self) -> None:
        if self.closed:
            return
        share = self.mesh.share(self.desired)
        if actions := plan(share, self.mesh.held()):
            self.mesh.apply(actions, share.servers)

    async def until(self, condition: Callable[[], object]) -> None:
        """Return once a condition holds, looked at whenever the node changes."""
        async with asyncio.timeout(15):
            while not condition():
                self.changes.clear()
                self.mesh.router.changes.happened()
                try:
                    async with asyncio.timeout(0.1):
                        await self.changes.wait()
                except TimeoutError:
                    continue

    async def linked(self, *names: str) -> None:
        await self.until(lambda: all(self.mesh.links.get(name) for name in names))

    async def die(self) -> None:
        """End as a killed daemon does: no word to anybody."""
        self.leases.away = True
        if self.membership:
            await self.membership.close()
        await self.mesh.links.close()

    async def close(self) -> None:
        """End as a daemon does that is told to."""
        self.closed = True
        if self.membership:
            await self.membership.close()
        await self.mesh.close()

    def _rules(self, server: DesiredServer) -> PlacementRules:
        return self.cluster.rules.get(server.name, PlacementRules())

    def _changed(self, observed: Observed) -> None:
        self.observed.append(observed)
        self.changes.set()
        asyncio.get_running_loop().call_soon(self.reconcile)


class TestCluster:
    """What the nodes of a cluster share."""

    __test__ = False

    def __init__(self, folder: Path, ttl: float = TTL) -> None:
        self.folder = folder
        self.ttl = ttl
        self.tables = LeaseTables({}, {}, {})
        self.rules: dict[str, PlacementRules] = {}
        self.desired = desired_servers("echo")
        self.nodes: list[ClusterNode] = []
        make_authority(folder)

    def certificates(self, name: str) -> NodeCertificates:
        make_certificate(self.folder, name, self.folder)
        return NodeCertificates(name, NodeFiles.of(self.folder, name))

    def node(self, name: str, local: LocalServers | None = None) -> ClusterNode:
        node = ClusterNode(name, self, local or ScriptedServers())
        self.nodes.append(node)
        return node

    async def start(self, *names: str) -> Sequence[ClusterNode]:
        """Nodes that are linked; the first one gets the first server."""
        nodes = [self.node(name) for name in names]
        for node in nodes:
            await node.start()
        self.hint()
        for node in nodes:
            await node.linked(*(each for each in names if each != node.name))
        return nodes

    def hint(self) -> None:
        """Have every node look, as the notice of a database does."""
        for node in self.nodes:
            if node.membership:
                node.membership.hint()

    def place(self, node: str, server: UUID = ECHO) -> None:
        """Say where a server is, before any node looks."""
        self.tables.place(lambda _members, _placements: {server: node})

    async def close(self) -> None:
        for node in self.nodes:
            await node.close()


@asynccontextmanager
async def cluster_in(folder: Path, ttl: float = TTL) -> AsyncGenerator[TestCluster]:
    cluster = TestCluster(folder, ttl)
    try:
        yield cluster
    finally:
        await cluster.close()
