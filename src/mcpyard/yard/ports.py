"""What a yard reaches the world through, all together."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from msgspec import Struct, field

from mcpyard.domain.call_repositories import CallHistoryStore, Journal, RecordingSettings
from mcpyard.domain.cluster import Cluster
from mcpyard.domain.definition.expand import Lookup
from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.degradation import SelfCheck
from mcpyard.domain.desired import DesireInputs
from mcpyard.domain.errors import Disconnected, YardError
from mcpyard.domain.model import Scope
from mcpyard.domain.observed import Observed
from mcpyard.domain.ports import Clock, Memory, Servers, SignIns
from mcpyard.domain.repositories import Policies, Profiles, SeenClients, Turns
from mcpyard.domain.source import Source
from mcpyard.yard.approving import ReadProject, no_project
from mcpyard.yard.calls.recording import VolatileRecordingSettings
from mcpyard.yard.intent import VolatileTurns
from mcpyard.yard.profiles import VolatileProfiles
from mcpyard.yard.reconcile import NoSecrets, SecretLookup
from mcpyard.yard.secrets import SecretPorts
from mcpyard.yard.seen_clients import ClientSightings, VolatileSeenClients
from mcpyard.yard.server_fixes import Commands, no_commands
from mcpyard.yard.trust import Trusting

if TYPE_CHECKING:
    from mcpyard.yard.clients.transaction import ClientReach
    from mcpyard.yard.server_content import InProcessRequests
    from mcpyard.yard.yard import YardCore


class Observable(Servers, Protocol):
    """Servers that tell of changes."""

    def listen(self, on_change: Callable[[Observed], None]) -> None:
        """Tell of every change of what is observed."""
        ...


class Ports(Struct, frozen=True):
    """What a yard reaches the world through.

    `fault` tells why it can store nothing, `checks` what else does not work, `clients` gives the
    way to other programs' files when somebody needs it, `gateway` the gateway without HTTP.
    """

    sources: Sequence[Source]
    memory: Memory
    policies: Policies
    servers: Observable
    clock: Clock
    lookup: Lookup
    journal: Journal | None = None
    history: CallHistoryStore | None = None
    trust: Trusting = field(default_factory=Trusting)
    sign_ins: SignIns | None = None
    profiles: Profiles = field(default_factory=VolatileProfiles)
    seen_clients: SeenClients = field(default_factory=VolatileSeenClients)
    identity: SelfIdentity = field(default_factory=SelfIdentity)
    clients: "Callable[[], ClientReach] | None" = None
    fault: Callable[[], YardError | None] = lambda: None
    secrets: SecretLookup = field(default_factory=NoSecrets)
    secret_store: SecretPorts | None = None
    read_project: ReadProject = no_project
    checks: Sequence[SelfCheck] = ()
    turns: Turns = field(default_factory=VolatileTurns)
    recording: RecordingSettings = field(default_factory=VolatileRecordingSettings)
    cluster: Cluster | None = None
    commands: Commands = no_commands
    gateway: "Callable[[YardCore], InProcessRequests] | None" = None

    @property
    def by_scope(self) -> Mapping[Scope, Source]:
        """The sources by what they hold."""
        return {source.owner.scope: source for source in self.sources}

    @property
    def inputs(self) -> DesireInputs:
        """What servers are made from besides documents."""
        store = self.secret_store
        lookup_for = store.variables.of_owner if store else None
        return DesireInputs({}, self.lookup, identity=self.identity, lookup_for=lookup_for)

    @property
    def project(self) -> Path | None:
        """The folder of the project, if a project's file is among the sources."""
        places = [each.owner.place for each in self.sources if each.owner.scope is Scope.PROJECT]
        return Path(places[0]).parent if places else None


class OverPorts:
    """What reaches a port at its first use; a part of `YardCore`."""

    _ports: Ports

    @property
    def seen_clients(self) -> ClientSightings:
        """The clients that were seen at the gateway."""
        return self._sightings

    @cached_property
    def _sightings(self) -> ClientSightings:
        return ClientSightings(self._ports.seen_clients, self._ports.clock)

    @cached_property
    def gateway(self) -> "InProcessRequests":
        """The gateway without HTTP: resources, prompts, and calls in which servers ask questions.

        Raises:
            Disconnected: Nothing runs here that could be asked.
        """
        if self._ports.gateway is None:
            raise Disconnected("mcpyard runs no servers here")
        return self._ports.gateway(cast("YardCore", self))
