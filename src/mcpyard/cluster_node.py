"""Wires a node of a cluster: the shared store, the leases, the links to other nodes.

`app` loads it for a daemon that joins a cluster, and for nothing else.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final
from uuid import UUID

from mcpyard.cluster.moves import evening_moves, moves_off
from mcpyard.cluster.node_options import NodeOptions
from mcpyard.cluster.node_view import NodeView
from mcpyard.domain import limits
from mcpyard.domain.cluster import (
    ClusterStatus,
    Member,
    Node,
    NodeState,
    NodeStatus,
    Placement,
)
from mcpyard.domain.cluster_history import Why
from mcpyard.domain.degradation import Degradation, SelfCheck
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import NodeTaken, NodeUnknown, StoreAway
from mcpyard.domain.node_channel import NodeChannel
from mcpyard.domain.observed import Observed
from mcpyard.domain.stored import CallToken
from mcpyard.mesh.certificates import NodeCertificates, NodeFiles
from mcpyard.mesh.conversations import MeshChannel
from mcpyard.mesh.insight import NodeInsight
from mcpyard.mesh.local_servers import LocalServers
from mcpyard.mesh.membership import Membership, boot_time
from mcpyard.mesh.mesh import Mesh
from mcpyard.mesh.picture import PlacementRules
from mcpyard.mesh.renewal import keep_renewed
from mcpyard.runtime.causes import LEASE_EXPIRED
from mcpyard.runtime.opening import WireOpener
from mcpyard.runtime.processes.keeper_client import KeeperClient
from mcpyard.runtime.server_api import OpenFailed
from mcpyard.runtime.session_runner import make_tools
from mcpyard.sources.database import DatabaseSource
from mcpyard.store.home_identity import identify
from mcpyard.store.postgres.leases import PostgresLeases
from mcpyard.store.postgres.store import ClusterStore, SharedStore
from mcpyard.store.postgres.stored_keys import StoredKeys
from mcpyard.store.sqlite.store import Store
from mcpyard.wire.remote.credentials import RenewalClaims
from mcpyard.yard.intent import VolatileTurns
from mcpyard.yard.yard import YardCore

log = logging.getLogger(__name__)

_OF_NODES: Final = frozenset({"nodes", "placements"})
"""What says nothing about how servers should be; it changes with every move."""


class SplitTurns:
    """Turns of shared servers in the cluster, those of pinned ones in memory."""

    def __init__(self, store: ClusterStore) -> None:
        self._store = store
        self._own = VolatileTurns()

    def all(self) -> Mapping[UUID, int]:
        """The turn of each server that was ever asked to begin anew."""
        return {**self._store.turns.all(), **self._own.all()}

    async def raise_(self, server: UUID) -> int:
        """Ask a server to begin anew."""
        turns = self._store.turns if self._store.is_shared(server) else self._own
        return await turns.raise_(server)


class ClusterNode:
    """This daemon as a node; the `Cluster` port.

    Attributes:
        store: What it keeps, shared and of its own.
        turns: The restarts that were asked for.
        leaving: Whether it is about to end.
        taken: Why it must end: another daemon has its name by now.
    """

    def __init__(
        self, options: NodeOptions, store: ClusterStore, leases: PostgresLeases, version: str
    ) -> None:
        self.store = store
        self.turns = SplitTurns(store)
        self._options = options
        self._leases = leases
        self._version = version
        files = NodeFiles.of(Path(options.certificates), options.name)
        self._certificates = NodeCertificates(options.name, files)
        self._view = NodeView(options.name, options.ttl, boot_time)
        self._mesh: Mesh | None = None
        self._membership: Membership | None = None
        self.leaving = False
        self.taken: NodeTaken | None = None
        self._end: Callable[[], object] = lambda: None
        self._channel: MeshChannel | None = None
        self._insight: NodeInsight | None = None
        self._renewing: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        """Its name."""
        return self._options.name

    @property
    def claims(self) -> RenewalClaims:
        """What keeps other nodes from renewing a sign-in meanwhile."""
        return self.store.credentials

    @property
    def channel(self) -> NodeChannel:
        """The way to the other nodes, outside of calls."""
        if self._channel is None:
            mesh = self._linked
            changes = mesh.router.changes
            self._channel = MeshChannel(self._view, mesh.links, mesh.answers, changes)
            self._channel.list_members = self._leases.members
        return self._channel

    def shared_keys(self) -> StoredKeys:
        """What lets somebody in at every node."""
        return StoredKeys(self.store)

    def connect(self, servers: LocalServers, opener: WireOpener) -> Mesh:
        """The servers of all nodes, over those of this one."""
        self._mesh = Mesh(servers, self._view, self._certificates, _rules, version=self._version)
        self._mesh.picture.recall = self._recall
        opener.fence, opener.admits = self._fence, self._mesh.router.admits
        self.store.shared.memory.fence = self._view.own_fence
        self._insight = NodeInsight(self._leases, self._mesh, self.store.journal)
        return self._mesh

    async def start(
        self, yard: YardCore, source: DatabaseSource, keeper: KeeperClient, home: Path
    ) -> None:
        """Join the cluster, and follow what other nodes change.

        Raises:
            NodeTaken: Another daemon has the name of the node.
            ClusterRefused: The address for other nodes cannot be listened on.
        """
        mesh, options = self._linked, self._options
        port = await mesh.links.listen(options.host, options.port)
        renewing = keep_renewed(self._certificates)
        self._renewing = asyncio.create_task(renewing, name="certificates")
        node = Node(
            options.name,
            *await asyncio.to_thread(identify, home),
            options.address or f"{options.host}:{port}",
            options.ttl,
            options.labels,
            options.capacity,
            self._version,
        )
        membership = Membership(node, self._leases, mesh, replace=options.replace)
        membership.on_deadline, membership.on_taken = keeper.until, self._name_taken
        self._membership = membership
        self.store.follow(Changes(self.store, yard, source, membership.hint).heard)
        await membership.start()
        self.insight.reader.start()

    def end_when_taken(self, end: Callable[[], object]) -> None:
        """Have this called once another daemon has the name of this one."""
        self._end = end
        if self.taken:
            end()

    def _name_taken(self, error: NodeTaken) -> None:
        self.taken = error
        self._end()

    async def hand_over(self) -> None:
        """Have other nodes run the servers of this one before it ends; it still answers meanwhile.

        Each server is started elsewhere first, and finishes its calls here; a singleton ends here
        first. Returns when that is done, or after a while.
        """
        self.leaving = True
        if self._membership and self._linked.links.all():
            log.info("other nodes take over the servers of this one")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(limits.HAND_OVER):
                    await self._membership.hand_over()

    async def finish_relayed(self) -> None:
        """Wait until requests that other nodes relayed here have ended, as long as for own ones."""
        if self._channel:
            await self._channel.finish(limits.LAST_REQUESTS)

    async def close(self) -> None:
        """Give away what may run twice for a moment, and leave the cluster."""
        if self._renewing:
            self._renewing.cancel()
            await asyncio.wait({self._renewing})
        await self.insight.reader.close()
        if self._membership:
            await self._membership.close()

    def admin_hash(self) -> str | None:
        """The hash of the token that opens every node."""
        return self.store.admin.hash

    async def share_admin(self, token_hash: str, *, fixed: bool) -> None:
        """Let a token open every node: one that is fixed from outside, otherwise the first."""
        try:
            await self.store.admin.set(token_hash, only_first=not fixed)
        except StoreAway as error:
            log.warning("the admin token of this node opens no other one yet: %s", error.message)

    @property
    def isolated(self) -> bool:
        """Whether neither the database nor any other node can be reached."""
        return self._membership is not None and self._membership.isolated

    @property
    def checks(self) -> Sequence[SelfCheck]:
        """Whether the database answers."""

        async def database() -> Degradation | None:
            away = self.store.away
            return Degradation.of("database", away) if away else None

        return [SelfCheck("database", database)]

    def status(self) -> ClusterStatus:
        """What this node knows of its cluster."""
        members = sorted(self._view.members, key=lambda each: each.node.name)
        statuses = [self._status(each) for each in members]
        # Leases and definitions have connections of their own.
        away = self._view.database_away or self.store.away is not None
        return ClusterStatus(self._options.name, statuses, away, self.isolated)

    @property
    def node(self) -> str:
        """The name of this node."""
        return self._options.name

    @property
    def insight(self) -> NodeInsight:
        """Why servers are where they are, and what else there is to know."""
        if self._insight is None:
            raise RuntimeError("the node has no servers yet")
        return self._insight

    def placement(self, server: UUID) -> Placement | None:
        """Where a shared server is placed."""
        return self._view.admission.placements.get(server)

    async def move(self, server: UUID, node: str, *, by: str = "") -> Placement:
        """Have another node run a server."""
        placement = await self._leases.plan_move(server, node, by=by)
        self._learn([placement])
        return placement

    async def drain(self, node: str, *, by: str = "") -> None:
        """Let a node take no further servers, and have others run those that it has.

        The node itself sees to what cannot be planned now.
        """
        await self._leases.set_state(node, NodeState.DRAINING, by=by)
        members, placements = await self._leases.members(), await self._leases.placements()
        self._view.members = members
        moves = moves_off(node, self._linked.picture.wanted(), members, placements)
        await self._plan(moves, Why.DRAINED, by)

    async def forget(self, node: str, *, by: str = "") -> None:
        """Take a node out of the cluster."""
        member = next((each for each in self._view.members if each.node.name == node), None)
        if member is None:
            raise NodeUnknown(f'there is no node "{node}"')
        if member.state is not NodeState.LEFT and not self._view.is_silent(member):
            raise NodeTaken(f'the node "{node}" still beats').advising(
                "Stop its daemon first, or drain it."
            )
        await self._leases.forget(node, by=by)
        self._hint()

    async def rebalance(self, *, by: str = "") -> Sequence[Placement]:
        """Move servers from the fullest nodes to the emptiest ones."""
        members, placements = await self._leases.members(), await self._leases.placements()
        moves = evening_moves(self._linked.picture.wanted(), members, placements)
        return await self._plan(moves, Why.REBALANCED, by)

    async def _plan(self, moves: Mapping[UUID, str], why: Why, by: str) -> list[Placement]:
        planned = [*await self._leases.plan_moves(moves, why=why, by=by)]
        self._learn(planned)
        return planned

    def _learn(self, placements: Sequence[Placement]) -> None:
        self._linked.learn(placements, from_store=True)
        self._hint()

    def _hint(self) -> None:
        self.insight.reader.hint()
        if self._membership:
            self._membership.hint()

    def _status(self, member: Member) -> NodeStatus:
        name = member.node.name
        placed = [each for each in self._view.admission.placements.values() if each.node == name]
        mine = name == self._options.name
        reachable = mine or self._linked.links.get(name) is not None
        problem = "" if reachable else self._linked.links.problems.get(name, "")
        return NodeStatus(member, self._view.age(member), len(placed), reachable, problem)

    def _recall(self, server: UUID) -> Observed:
        memory = self.store.memory
        tools = make_tools(memory.tools(server), stale=True)
        return Observed(server, tools=tools, offer=memory.offer(server))

    def _fence(self, server: UUID) -> int | None:
        """The fence to start a server under; None for one that the cluster does not place."""
        placement = self.placement(server)
        if placement is None or not self.store.is_shared(server):
            return None
        if self._options.name not in {placement.node, placement.next_node}:
            raise OpenFailed(LEASE_EXPIRED)
        return placement.fence

    @property
    def _linked(self) -> Mesh:
        if self._mesh is None:
            raise RuntimeError("the node has no servers yet")
        return self._mesh


class Changes:
    """Passes on what other nodes changed."""

    def __init__(
        self,
        store: ClusterStore,
        yard: YardCore,
        source: DatabaseSource,
        hint: Callable[[], None],
    ) -> None:
        self._store = store
        self._yard = yard
        self._source = source
        self._hint = hint
        # Another token may have the name of one that was revoked before.
        self._revoked = {each.id for each in store.tokens.all() if each.revoked is not None}

    def heard(self, topics: Mapping[str, object]) -> None:
        """The database has something else in these tables; memory has it already."""
        if not topics or not topics.keys() <= _OF_NODES:
            self._source.changed_elsewhere()
        self._hint()
        if _concerns(topics, "tokens"):
            for token in self._store.tokens.all():
                self._revoke(token)
        if _concerns(topics, "profiles"):
            self._yard.profiles.changed_elsewhere()

    def _revoke(self, token: CallToken) -> None:
        if token.revoked is not None and token.id not in self._revoked:
            self._revoked.add(token.id)
            self._yard.token_revoked(token)


@asynccontextmanager
async def open_node(
    local: Store, options: NodeOptions, version: str
) -> AsyncGenerator[ClusterNode]:
    """Open the shared store of a cluster for the block; the store of the home is open already.

    Raises:
        ClusterRefused: The cluster cannot be joined as it is set up.
    """
    async with contextlib.AsyncExitStack() as undo:
        keys = options.key, options.older_key
        shared = await SharedStore.open(options.dsn, *keys, required=False)
        undo.push_async_callback(shared.close)
        leases = PostgresLeases(options.dsn)
        undo.push_async_callback(leases.close)
        yield ClusterNode(options, ClusterStore(shared, local), leases, version)


def _concerns(topics: Mapping[str, object], topic: str) -> bool:
    """Whether a table may have changed; without any topic, all of them may."""
    return not topics or topic in topics


def _rules(server: DesiredServer) -> PlacementRules:
    return PlacementRules(server.config.singleton, server.config.labels)
