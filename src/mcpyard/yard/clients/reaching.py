"""Puts together what a yard needs to reach the files of other clients."""

from collections.abc import Collection, Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.desired import Desired
from mcpyard.domain.errors import ArgumentsRefused, Problem, ReadOnlyOwner
from mcpyard.domain.files import FileWrite
from mcpyard.domain.stored import SeenClient
from mcpyard.formats.announced import announced_client
from mcpyard.yard.clients.clients import Clients
from mcpyard.yard.clients.edit_parts import mode_part
from mcpyard.yard.clients.edit_results import Done
from mcpyard.yard.clients.edit_terms import EditTerms
from mcpyard.yard.clients.transaction import ClientReach, diffs
from mcpyard.yard.clients.yard_scope import OwnServers
from mcpyard.yard.edit import ServerEditor
from mcpyard.yard.edit_note import EditNote
from mcpyard.yard.ports import Ports
from mcpyard.yard.profiles import ProfileBook
from mcpyard.yard.seen_clients import ClientSightings
from mcpyard.yard.sync.sync import Sync
from mcpyard.yard.views.access import SeenClientView
from mcpyard.yard.views.base import moment
from mcpyard.yard.views.clients import ImportView

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcpyard.domain.stored import CallToken


class ClientsOwner(Protocol):
    """The yard whose servers are copied and to which clients connect."""

    profiles: ProfileBook

    @property
    def seen_clients(self) -> ClientSightings:
        """The clients that were seen at the gateway."""
        ...

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
        self._sightings = owner.seen_clients

    async def seen(self, project: str | None = None) -> list[SeenClientView]:
        """The clients that were seen at the gateway, the last one first."""
        del project
        return [self._seen_view(*each) for each in self._sightings.all()]

    def _seen_view(self, client: SeenClient, sessions: int) -> SeenClientView:
        match = announced_client(client.name, self._reach.registry.clients)
        return SeenClientView(
            name=client.name,
            version=client.version,
            client=match.id if match else None,
            title=match.title if match else client.name,
            last_seen=moment(client.at),
            sessions=sessions,
        )

    async def import_machine(
        self, scope: str | None, terms: EditTerms
    ) -> tuple[list[ImportView], int | None]:
        """Import the servers of the machine (see `import_all`); with the number to undo it by."""
        return await self._import_machine(scope, terms)

    def noting(self, note: EditNote, names: Collection[str]) -> AbstractAsyncContextManager[None]:
        """Journal what happens to mcpyard's own servers of these names inside the block."""
        return self._own_edits.noting(note, names)

    async def note_parts(
        self, parts: Sequence[tuple[str, bytes | None, bytes | None]], kind: str, who: str
    ) -> int | None:
        """Journal an edit of what is in no text; the number to undo it by."""
        return await self._undo.note_parts(parts, kind, who)

    async def make_private(self, path: str, terms: EditTerms) -> Done:
        """Let only the user read a file of a client (`chmod 600`).

        Raises:
            ArgumentsRefused: It is no file of a client, or is private already.
        """
        readable = {
            each.place.file
            for each in await self.findings(terms.project)
            if each.code == "secret-readable" and each.place
        }
        file = (await self._reach.files.read([path], fresh=True))[path]
        if path not in readable or file.mode is None:
            message = "is no file of a client with secrets that others can read"
            raise ArgumentsRefused.of(Problem("path", message))
        after = file.mode & 0o700
        part = mode_part(path, file.mode, after)
        change = FileWrite(part[0], f"{file.mode:04o}\n", f"{after:04o}\n")
        edit: int | None = None
        if not terms.dry_run:
            await self._reach.files.set_mode(path, file.mode, after)
            edit = await self.note_parts([part], "private", terms.who)
        return Done(await diffs([change]), (), edit)


def reach_clients(ports: Ports, editor: ServerEditor, owner: ClientsOwner) -> ReachedClients:
    """The servers in the configuration files of other clients.

    Raises:
        ReadOnlyOwner: The yard has no access to other programs.
    """
    if ports.clients is None:
        raise ReadOnlyOwner("this mcpyard instance has no access to other programs")
    own = OwnServers(editor, lambda: owner.desired, ports.project)
    return ReachedClients(ports, ports.clients(), own, owner)
