"""Puts together what a yard needs to reach the files of other clients."""

from typing import TYPE_CHECKING, Protocol

from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.desired import Desired
from mcpyard.domain.errors import ReadOnlyOwner
from mcpyard.yard.clients.clients import Clients
from mcpyard.yard.clients.transaction import ClientReach
from mcpyard.yard.clients.yard_scope import OwnServers
from mcpyard.yard.edit import ServerEditor
from mcpyard.yard.ports import Ports
from mcpyard.yard.profiles import ProfileBook
from mcpyard.yard.sync.sync import Sync

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpyard.domain.stored import CallToken


class ClientsOwner(Protocol):
    """The yard whose servers are copied and to which clients connect."""

    profiles: ProfileBook
    token_revoked: "Callable[[CallToken], None]"

    @property
    def desired(self) -> Desired:
        """The desired state."""
        ...

    @property
    def identity(self) -> SelfIdentity:
        """How an entry that points back to the yard is recognized."""
        ...


class ReachedClients(Clients):
    """The servers of every program on this machine, and what keeps one set of them everywhere.

    Attributes:
        sync: Plans and applies a sync.
    """

    def __init__(
        self, ports: Ports, reach: ClientReach, own: OwnServers, owner: ClientsOwner
    ) -> None:
        super().__init__(reach, own, ports.clock, lambda: owner.identity)
        self.sync = Sync(reach, own, ports.clock, owner.profiles, lambda: owner.identity)
        self.revoked = owner.token_revoked


def reach_clients(ports: Ports, editor: ServerEditor, owner: ClientsOwner) -> ReachedClients:
    """The servers in the configuration files of other clients.

    Raises:
        ReadOnlyOwner: The yard has no access to other programs.
    """
    if ports.clients is None:
        raise ReadOnlyOwner("this mcpyard instance has no access to other programs")
    own = OwnServers(editor, lambda: owner.desired, ports.project)
    return ReachedClients(ports, ports.clients(), own, owner)
