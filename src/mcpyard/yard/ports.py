"""What a yard reaches the world through, all together."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field

from mcpyard.domain.definition.expand import Lookup
from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.degradation import SelfCheck
from mcpyard.domain.errors import YardError
from mcpyard.domain.model import Scope
from mcpyard.domain.observed import Observed
from mcpyard.domain.ports import Clock, Memory, Servers, SignIns, Source
from mcpyard.domain.repositories import Journal, Policies, Profiles
from mcpyard.yard.approving import ReadProject, no_project
from mcpyard.yard.profiles import VolatileProfiles
from mcpyard.yard.reconcile import NoSecrets, SecretLookup
from mcpyard.yard.trust import Trusting

if TYPE_CHECKING:
    from mcpyard.yard.clients.transaction import ClientReach


class Observable(Servers, Protocol):
    """Servers that tell of changes."""

    def listen(self, on_change: Callable[[Observed], None]) -> None:
        """Tell of every change of what is observed."""
        ...


class Ports(Struct, frozen=True):
    """What a yard reaches the world through.

    `fault` tells why it can store nothing, `checks` what else does not work, `clients` gives the
    way to other programs' files when somebody needs it.
    """

    sources: Sequence[Source]
    memory: Memory
    policies: Policies
    servers: Observable
    clock: Clock
    lookup: Lookup
    journal: Journal | None = None
    trust: Trusting = field(default_factory=Trusting)
    sign_ins: SignIns | None = None
    profiles: Profiles = field(default_factory=VolatileProfiles)
    identity: SelfIdentity = field(default_factory=SelfIdentity)
    clients: "Callable[[], ClientReach] | None" = None
    fault: Callable[[], YardError | None] = lambda: None
    secrets: SecretLookup = field(default_factory=NoSecrets)
    read_project: ReadProject = no_project
    checks: Sequence[SelfCheck] = ()

    @property
    def project(self) -> Path | None:
        """The folder of the project, if a project's file is among the sources."""
        places = [each.owner.place for each in self.sources if each.owner.scope is Scope.PROJECT]
        return Path(places[0]).parent if places else None
