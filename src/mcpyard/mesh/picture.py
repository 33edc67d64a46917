"""What a node shows of all servers: its own, and those that other nodes tell of."""

from collections.abc import Callable, Mapping
from typing import Final
from uuid import UUID

from msgspec import Struct, field
from msgspec.structs import replace

from mcpyard.cluster.node_view import NodeView
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.cluster import NodeState
from mcpyard.domain.desired import Desired, DesiredServer
from mcpyard.domain.lifecycle import ASLEEP, Phase, State
from mcpyard.domain.model import Scope, Wanted
from mcpyard.domain.observed import Observed
from mcpyard.domain.plan import Action, StopServer
from mcpyard.mesh.messages import NodeReport


class PlacementRules(Struct, frozen=True):
    """What the definition of a server says about where it may run.

    Attributes:
        singleton: Whether it must never run twice.
        labels: What it requires of a node.
    """

    singleton: bool = False
    labels: Mapping[str, str] = field(default_factory=dict[str, str])


RulesOf = Callable[[DesiredServer], PlacementRules]

CHECK_NODE: Final = "Check the node and the network between the nodes."
NO_NODE: Final = Cause(
    Code.UNREACHABLE,
    "no node runs this server at the moment",
    "Check that a node is up that has the labels which it requires, and room for it.",
)
_SETTLE_SECONDS: Final = 3.0
"""After a start, before servers are shown as lost whose nodes are not linked yet."""

LEASE_EXPIRED: Final = Cause(
    Code.LEASE_EXPIRED,
    "a singleton runs only while its node reaches the database of the cluster",
    untaken=True,
)
"""Of a singleton that had to end, and that no other node may take over meanwhile."""


class ClusterPicture:
    """The desired state as it concerns the cluster, and the observed state of all nodes.

    Attributes:
        desired: The servers that should be.
        rules: Of each shared server what its definition says about where it may run.
        singletons: Whether each shared server is one; a server that is not in here is pinned.
        observed: What is shown of every server.
        switched: The servers that became singletons and were not raised a fence yet.
        recall: What is remembered of a server that was not observed yet, such as its tools.
    """

    def __init__(
        self,
        view: NodeView,
        held: Callable[[], Mapping[UUID, Observed]],
        is_linked: Callable[[str], bool],
        rules_of: RulesOf,
    ) -> None:
        self._view = view
        self._held = held
        self._is_linked = is_linked
        self._rules_of = rules_of
        self._last: Desired | None = None
        self._far: dict[str, dict[UUID, Observed]] = {}
        self.desired: Mapping[UUID, DesiredServer] = {}
        self.rules: dict[UUID, PlacementRules] = {}
        self.singletons: dict[UUID, bool] = {}
        self.observed: dict[UUID, Observed] = {}
        self.switched: set[UUID] = set()
        self._settle_by: float | None = None
        self._is_settled = False
        self.recall: Callable[[UUID], Observed] = Observed

    def take_desired(self, desired: Desired) -> bool:
        """Take another desired state over; whether it is another one."""
        if desired is self._last:
            return False
        self._last, self.desired = desired, desired.servers
        servers = desired.servers.values()
        self.rules = {
            each.id: self._rules_of(each) for each in servers if each.owner.scope is Scope.USER
        }
        singletons = {server: rules.singleton for server, rules in self.rules.items()}
        self.switched |= {
            server
            for server, singleton in singletons.items()
            if singleton and self.singletons.get(server) is False
        }
        self.singletons = singletons
        return True

    def wanted(self) -> dict[UUID, Mapping[str, str]]:
        """The labels of each shared server that needs a node."""
        return {
            server: rules.labels
            for server, rules in self.rules.items()
            if self.desired[server].wanted is not Wanted.STOPPED
        }

    def settles(self, now: float) -> bool:
        """Whether every other node is linked from this look on, or should have been by now."""
        if self._is_settled:
            return False
        if self._settle_by is None:
            # Servers that no node has yet are placed after the first look.
            self._settle_by = now + _SETTLE_SECONDS
            return False
        peers = [each for each in self._view.peers if each.state is not NodeState.LEFT]
        linked = bool(self._view.members) and all(self._is_linked(it.node.name) for it in peers)
        self._is_settled = linked or now > self._settle_by
        return self._is_settled

    def is_share(self, server: UUID, now: float) -> bool:
        """Whether a server is this node's to run at a moment."""
        singleton = self.singletons.get(server)
        if singleton is None:
            return True
        placement = self._view.admission.placements.get(server)
        if placement is None or server in self._view.admission.given_up:
            return False
        name = self._view.name
        if singleton:
            stays = placement.node == name and not placement.next_node
            return stays and self._view.lease.covers(now)
        has_joined = self._view.lease.epoch > 0
        return has_joined and name in (placement.node, placement.next_node)

    def as_move(self, action: Action) -> Action:
        """An action; the stop of a server that goes on elsewhere lets its calls finish."""
        if isinstance(action, StopServer) and self._is_moved(action.id):
            return StopServer(action.id, moved=True)
        return action

    def _is_moved(self, server: UUID) -> bool:
        """Whether a server that should run belongs to another node by now, or is about to."""
        desired = self.desired.get(server)
        placement = self._view.admission.placements.get(server)
        if desired is None or placement is None or server not in self.singletons:
            return False
        is_elsewhere = placement.node != self._view.name or bool(placement.next_node)
        return is_elsewhere and desired.wanted is not Wanted.STOPPED

    def far(self, node: str, server: UUID) -> Observed | None:
        """What another node told of a server of its own."""
        return self._far.get(node, {}).get(server)

    def take_report(self, node: str, report: NodeReport) -> set[UUID]:
        """Take over what another node tells of its servers; which ones."""
        servers = self._far.setdefault(node, {})
        gone = {*report.gone}
        if report.full:
            gone |= servers.keys() - {each.id for each in report.observed}
        for server in gone:
            servers.pop(server, None)
        for each in report.observed:
            servers[each.id] = each
        return gone | {each.id for each in report.observed}

    def placed_on(self, node: str) -> list[UUID]:
        """The servers that are placed on a node."""
        placements = self._view.admission.placements.values()
        return [each.server for each in placements if each.node == node]

    def news(self) -> list[UUID]:
        """Look at all servers anew; those that are not what was shown of them before.

        A placement and tools may have been known before the definition was.
        """
        return [each for each in {*self.singletons, *self.observed} if self.is_news(each)]

    def is_news(self, server: UUID) -> bool:
        """Look at a server anew; whether it is not what was shown of it before."""
        before, now = self.observed.get(server), self.refresh(server)
        if before is None or now is None:
            return before is not now
        return (before.state, before.tools.digest) != (now.state, now.tools.digest)

    def refresh(self, server: UUID) -> Observed | None:
        """Look at a server anew; None when nothing is known of it any more."""
        observed = self._look(server)
        if observed is None:
            self.observed.pop(server, None)
        else:
            self.observed[server] = observed
        return observed

    def _look(self, server: UUID) -> Observed | None:
        own = self._held().get(server)
        desired = self.desired.get(server)
        if desired is None or server not in self.singletons or desired.wanted is Wanted.STOPPED:
            return own
        placement = self._view.admission.placements.get(server)
        if placement is None or not placement.node:
            return self._lost(desired, State(Phase.BACKOFF, cause=NO_NODE))
        if placement.node == self._view.name:
            return self._as_wanted(desired, own)
        return self._far_one(desired, placement.node)

    def has_no_lease(self, server: UUID) -> bool:
        """Whether a singleton is away because its node, and this one, have no database."""
        if not self.singletons.get(server) or not self._view.database_away:
            return False
        placement = self._view.admission.placements.get(server)
        is_own = placement is not None and placement.node == self._view.name
        return not (is_own and self._view.lease.covers(self._view.admission.look()))

    def _as_wanted(self, desired: DesiredServer, observed: Observed | None) -> Observed:
        """A server on its node; one that rests there but should run is about to, or elsewhere.

        Calls wait for it, as for any server that starts: a singleton that moves ends first.
        """
        is_running = desired.wanted is Wanted.RUNNING
        rests = observed is None or (observed.state.phase in ASLEEP and not observed.state.restart)
        if rests and is_running and self.has_no_lease(desired.id):
            return self._without_session(desired.id, State(Phase.BACKOFF, cause=LEASE_EXPIRED))
        if observed is None:
            return self._without_session(desired.id, State(_first_phase(desired)))
        if rests and is_running:
            return self._without_session(desired.id, State(Phase.CONNECTING))
        if observed.session is None and not observed.tools.definitions:
            # A node that never ran it may not know its tools yet; callers wait for them.
            return self._with_known_lists(observed)
        return observed

    def _far_one(self, desired: DesiredServer, node: str) -> Observed:
        far = self.far(node, desired.id)
        if not self._is_linked(node):
            text = f'node "{node}" cannot be reached'
            cause = Cause(Code.UNREACHABLE, text, CHECK_NODE)
            return self._lost(desired, State(Phase.BACKOFF, was_connected=True, cause=cause))
        # Digests are made from each machine's own environment, and mean nothing elsewhere.
        return replace(
            self._as_wanted(desired, far),
            launch_digest=desired.launch_digest,
            policy_digest=desired.policy_digest,
        )

    def _lost(self, desired: DesiredServer, state: State) -> Observed:
        """A server that no node is known to run, or whose node is not linked.

        Of a node that has just started that is no news: it has not looked around yet.
        """
        settled = state if self._is_settled else State(_first_phase(desired))
        return self._without_session(desired.id, settled)

    def _without_session(self, server: UUID, state: State) -> Observed:
        """A server that cannot be used just now, with the tools that it had."""
        desired, before = self.desired[server], self.observed.get(server)
        return self._with_known_lists(
            Observed(
                server,
                state,
                desired.launch_digest,
                desired.policy_digest,
                before.turn if before else 0,
            )
        )

    def _with_known_lists(self, observed: Observed) -> Observed:
        """A server with what it listed, as it was shown before or else is remembered."""
        server, tools, offer = observed.id, observed.tools, observed.offer
        for look_up in (self.observed.get, self.recall):
            before = look_up(server) or Observed(server)
            tools = tools if tools.definitions else before.tools
            offer = offer if offer.count else before.offer
        return replace(observed, tools=replace(tools, stale=True), offer=offer)


def _first_phase(server: DesiredServer) -> Phase:
    return Phase.STOPPED if server.wanted is Wanted.ON_DEMAND else Phase.CONNECTING
