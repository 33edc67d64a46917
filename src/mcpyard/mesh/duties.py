"""What a node does after each look at the store: the servers of dead nodes, moves, and the rest.

Every node does all of it; the store decides who comes first. Nothing is done while the store does
not answer.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from mcpyard.cluster.moves import moves_off
from mcpyard.cluster.placement import assign_nodes
from mcpyard.domain.cause import Code
from mcpyard.domain.cluster import LeaseStore, Member, NodeState, Placement
from mcpyard.domain.cluster_history import Why
from mcpyard.domain.errors import NodeUnknown, ServerUnknown
from mcpyard.domain.lifecycle import OPEN, Phase
from mcpyard.domain.model import Wanted
from mcpyard.domain.observed import Observed
from mcpyard.mesh.mesh import Mesh

log = logging.getLogger(__name__)

_OF_THIS_MACHINE: Final = frozenset({Code.COMMAND_MISSING, Code.INVALID_DEFINITION})
"""Causes that another machine may not have: a command or a variable that is missing."""

_SETTLED: Final = 2.0
"""Seconds for which a server must be stopped, or gone, before it loses its node: a node may read
placements before it reads the definitions that they were made for."""


class NodeDuties:
    """What one node does for the cluster.

    Attributes:
        takeovers: How many nodes this one took over.
    """

    def __init__(self, leases: LeaseStore, mesh: Mesh) -> None:
        self._leases = leases
        self._mesh = mesh
        self._view = mesh.view
        self._unwanted_since: dict[UUID, float] = {}
        self._cannot: dict[UUID, str] = {}
        self._stored_cannot: frozenset[UUID] = frozenset()
        self.takeovers = 0

    @property
    def _placements(self) -> Mapping[UUID, Placement]:
        return self._view.admission.placements

    def rejoined(self) -> None:
        """The store begins anew with what this node cannot run."""
        self._stored_cannot = frozenset()

    async def do(self) -> None:
        """Do all that is due; `StoreAway` when the store does not answer."""
        await self._take_back()
        await self._take_over()
        await self._place()
        await self._unplace()
        await self._raise_fences()
        await self._tell_cannot()
        await self._drain()
        await self._move()

    async def leave(self, *, keep_singletons: bool) -> None:
        """Have other nodes run the servers of this one, which ends.

        A singleton must have ended here before: it is kept until then.
        """
        view, singletons = self._view, self._mesh.picture.singletons
        keep = {
            server
            for server in self._mesh.picture.placed_on(view.name)
            if keep_singletons and singletons.get(server)
        }
        placements = await self._leases.leave(view.name, view.lease.epoch, keep, self._assign)
        self._mesh.learn(placements, from_store=True)

    def _assign(
        self, members: Sequence[Member], placements: Sequence[Placement]
    ) -> Mapping[UUID, str]:
        return assign_nodes(self._mesh.picture.wanted(), members, placements)

    async def _take_over(self) -> None:
        if dead := self._view.dead():
            names = ", ".join(each.node.name for each in dead)
            log.warning("node %s does not beat any more: its servers are placed elsewhere", names)
            self.takeovers += len(dead)
            placements = await self._leases.take_over(dead, self._assign, by=self._view.name)
            self._mesh.learn(placements, from_store=True)

    async def _place(self) -> None:
        if self._assign(self._view.members, [*self._placements.values()]):
            self._mesh.learn(await self._leases.place(self._assign), from_store=True)

    async def _unplace(self) -> None:
        """Take the node away from servers of this one that are stopped or gone."""
        now, labels, held = self._view.admission.look(), self._mesh.picture.wanted(), self._held()
        unwanted = [
            server
            for server in self._mesh.picture.placed_on(self._view.name)
            if server not in labels and _is_at_rest(held.get(server))
        ]
        since = self._unwanted_since
        self._unwanted_since = {server: since.get(server, now) for server in unwanted}
        if due := [each for each, at in self._unwanted_since.items() if now - at >= _SETTLED]:
            # One that this node does not see, for a server of that name in a file here, or because
            # it was removed, must not be placed here again.
            desired = self._mesh.picture.desired
            self._cannot |= {server: "" for server in due if server not in desired}
            await self._give_up({server: self._placements[server].fence for server in due})
            self._mesh.on_hint()

    async def _give_up(self, fences: Mapping[UUID, int]) -> None:
        """Have the store take servers from this node, which starts none of them meanwhile.

        Without an answer they stay given up: it is tried again, or they are taken back.
        """
        given_up = self._view.admission.given_up
        given_up.update(fences)
        await self._store_cannot()
        placements = await self._leases.unplace(fences)
        given_up.difference_update(fences)
        self._mesh.learn(placements, from_store=True)

    async def _take_back(self) -> None:
        """Run servers again that were given up without an answer, and that are wanted by now.

        A higher fence keeps the store from taking them still.
        """
        given_up, labels = self._view.admission.given_up, self._mesh.picture.wanted()
        for server in [*given_up]:
            placement = self._placements[server]
            if placement.node != self._view.name:
                given_up.discard(server)
            elif server in labels and await self._raise_fence(placement):
                given_up.discard(server)
                self._mesh.placed([self._placements[server]], tell=False)

    async def _raise_fences(self) -> None:
        """A server that became a singleton is replaced: no older copy may take a call."""
        switched = self._mesh.picture.switched
        for server in [*switched]:
            placement = self._placements.get(server)
            if placement is not None and placement.node == self._view.name:
                await self._raise_fence(placement)
            # Not before: without an answer of the store it is tried again.
            switched.discard(server)

    async def _raise_fence(self, placement: Placement) -> bool:
        """Raise the fence of a server; whether it has a node still."""
        try:
            raised = await self._leases.raise_fence(placement.server, placement.fence)
        except ServerUnknown:
            return False
        self._mesh.learn([raised], from_store=True)
        return True

    async def _drain(self) -> None:
        """Have other nodes run what this one has, while it is to be emptied.

        Looked at anew each time: a node that was chosen may go, or turn out not to be able to.
        """
        if self._view.is_draining and (moves := self._moves_off()):
            planned = await self._leases.plan_moves(moves, why=Why.DRAINED)
            self._mesh.learn(planned, from_store=True)

    def _moves_off(self) -> dict[UUID, str]:
        labels, members = self._mesh.picture.wanted(), self._view.members
        return moves_off(self._view.name, labels, members, [*self._placements.values()])

    @property
    def is_emptied(self) -> bool:
        """Whether nothing is left here that another node can run, and no call of it."""
        if not self._view.is_draining:
            return False
        own = [each for each in self._placements.values() if each.node == self._view.name]
        stay = {each.server for each in own}
        held = {server for server in self._held() if server in self._mesh.picture.singletons}
        return held <= stay and not any(each.next_node for each in own) and not self._moves_off()

    async def _move(self) -> None:
        """Carry on planned moves, as far as they are this node's part.

        A singleton is handed over once it has ended here; any other once it runs on its next node.
        """
        fences: dict[UUID, int] = {}
        for placement in [each for each in self._placements.values() if each.next_node]:
            if self._is_given_up(placement):
                await self._raise_fence(placement)
            elif self._is_due(placement):
                fences[placement.server] = placement.fence
        if fences:
            self._mesh.learn(await self._leases.hand_over(fences), from_store=True)

    def _is_given_up(self, placement: Placement) -> bool:
        """Whether this node sees that a move comes to nothing."""
        name = self._view.name
        if placement.node == name:
            return not self._takes_servers(placement.next_node)
        return placement.next_node == name and placement.server in self._cannot

    def _is_due(self, placement: Placement) -> bool:
        """Whether this node is to hand a server over now."""
        server, name = placement.server, self._view.name
        singleton = self._mesh.picture.singletons.get(server)
        held = self._held().get(server)
        if singleton:
            return placement.node == name and _is_at_rest(held)
        return singleton is False and placement.next_node == name and self._is_ready(placement)

    def _takes_servers(self, node: str) -> bool:
        return any(
            each.node.name == node and each.state is NodeState.UP for each in self._view.members
        )

    def _is_ready(self, placement: Placement) -> bool:
        """Whether a server can be called here no later than where it is."""
        server = placement.server
        desired, held = self._mesh.picture.desired.get(server), self._held().get(server)
        if desired is None or desired.wanted is not Wanted.RUNNING:
            return desired is not None
        if held is not None and held.state.phase in OPEN:
            return True
        before = self._mesh.picture.far(placement.node, server)
        return before is not None and before.state.phase not in OPEN

    async def _tell_cannot(self) -> None:
        """Say which servers cannot run on this machine, and move each that never was moved so."""
        desired = self._mesh.picture.desired
        digests = {server: it.launch_digest for server, it in desired.items()}
        unchanged = {
            it: digest for it, digest in self._cannot.items() if digests.get(it, "") == digest
        }
        failing = {
            server: digests[server]
            for server, observed in self._held().items()
            if server in self._mesh.picture.singletons and _cannot_run(observed)
        }
        self._cannot = {**unchanged, **failing}
        await self._store_cannot()
        for server in failing:
            await self._move_elsewhere(server)

    async def _store_cannot(self) -> None:
        cannot = frozenset(self._cannot)
        if cannot != self._stored_cannot:
            await self._leases.set_cannot(self._view.name, cannot)
            self._stored_cannot = cannot

    async def _move_elsewhere(self, server: UUID) -> None:
        placement, peers = self._placements.get(server), self._view.peers
        if placement is None or placement.next_node or placement.node != self._view.name:
            return
        if any(server in each.cannot for each in peers):
            return
        labels = self._mesh.picture.rules[server].labels
        others = [each for each in self._placements.values() if each.server != server]
        if node := assign_nodes({server: labels}, peers, others).get(server):
            log.warning("the server %s cannot run here: it moves to node %s", server, node)
            try:
                await self._leases.plan_move(server, node, why=Why.CANNOT_RUN, by=self._view.name)
            except (NodeUnknown, ServerUnknown):
                return
            self._mesh.on_hint()

    def _held(self) -> Mapping[UUID, Observed]:
        return self._mesh.held()


def _is_at_rest(observed: Observed | None) -> bool:
    return observed is None or observed.state.phase is Phase.STOPPED


def _cannot_run(observed: Observed) -> bool:
    cause = observed.state.cause
    failed = observed.state.phase is Phase.FAILED
    return failed and cause is not None and cause.code in _OF_THIS_MACHINE
