"""The gateway as one more server in a program's own configuration."""

from dataclasses import dataclass
from typing import Final

from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.errors import (
    ArgumentsRefused,
    EditRefused,
    InputError,
    NameTaken,
    Problem,
)
from mcpyard.formats.copying.mapping import convert
from mcpyard.formats.copying.matrix import Matrix, holds
from mcpyard.formats.entries import Entry
from mcpyard.formats.entry_list import nobody
from mcpyard.formats.facts import EntryTransport, Field
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.yard.clients.patching import refuse_unfit
from mcpyard.yard.clients.scope_store import FileScopeStore
from mcpyard.yard.clients.workspace import Workspace
from mcpyard.yard.clients.yard_scope_store import ScopeStore

VARIABLE: Final = "MCPYARD_CALL_TOKEN"
"""Where a program finds its token, if it can read one from a variable."""

NAME: Final = "mcpyard"


@dataclass(frozen=True, slots=True)
class Bridged:
    """The gateway through a command of ours, which needs no token."""

    command: tuple[str, ...]

    def entry(self, ref: ClientScopeRef) -> Entry:
        """What to say, in the yard's own words."""
        del ref
        program, *args = self.command
        return Entry(command=program, args=tuple(args), type=EntryTransport.STDIO)


@dataclass(frozen=True, slots=True)
class Addressed:
    """The gateway at its address; the token is written down only where there is no other way."""

    url: str
    token: str

    def entry(self, ref: ClientScopeRef) -> Entry:
        """What to say, in the yard's own words."""
        secret = f"${{{VARIABLE}}}" if takes_variable(ref) else self.token
        headers = {"Authorization": f"Bearer {secret}"}
        return Entry(url=self.url, headers=headers, type=EntryTransport.HTTP)


def takes_variable(ref: ClientScopeRef) -> bool:
    """Whether a program can read its token from a variable."""
    named = holds(Matrix.NATIVE, ref.client, ref.shape, Field.BEARER)
    return bool(ref.client.dialect.reference) or named


@dataclass(slots=True)
class Connecting:
    """A request to have the gateway in a program's configuration.

    Attributes:
        ours: The scope whose words the entry is in.
        identity: What an entry that is the gateway already is known by.
        by_variable: Whether the token was left to a variable, once it was done.
    """

    store: ScopeStore
    name: str
    way: Bridged | Addressed
    ours: ClientScopeRef
    identity: SelfIdentity
    by_variable: bool = False

    @property
    def stores(self) -> tuple[ScopeStore, ...]:
        """Where something changes."""
        return (self.store,)

    @property
    def written(self) -> tuple[ScopeStore, ...]:
        """What it may write."""
        return self.stores

    def do(self, workspace: Workspace) -> None:
        """Write the gateway down, in place of an earlier way to it."""
        if self.store.ref.client.id == self.ours.client.id:
            problem = Problem("client", "mcpyard cannot be connected to itself")
            raise EditRefused.of(problem).advising("Choose the program that should use mcpyard.")
        if self.store.has(workspace, self.name) and not is_gateway(
            self.store.entry(workspace, self.name)[0], self.identity
        ):
            raise NameTaken(f'a server "{self.name}" already exists in {self.store.ref}')
        ref = self.store.file_ref(workspace, self.name)
        converted = convert(self.way.entry(ref), self.ours, ref, Matrix.NATIVE)
        if isinstance(self.way, Addressed) and converted.entry.url is None:
            message = f"{ref.client.title} supports no URLs; connect it over stdio"
            raise ArgumentsRefused.of(Problem("http", message))
        refuse_unfit(converted.entry)
        workspace.warn(*converted.warnings)
        self.store.write(workspace, self.name, converted.entry)
        self.by_variable = isinstance(self.way, Addressed) and takes_variable(ref)


@dataclass(frozen=True, slots=True)
class Disconnecting:
    """A request to take the gateway out of a program's configuration, under whatever name."""

    store: ScopeStore
    identity: SelfIdentity

    @property
    def stores(self) -> tuple[ScopeStore, ...]:
        """Where something changes."""
        return (self.store,)

    @property
    def written(self) -> tuple[ScopeStore, ...]:
        """What it may write."""
        return self.stores

    def do(self, workspace: Workspace) -> None:
        """Take out every entry that leads here.

        Raises:
            ServerUnknown: There is none.
        """
        names = [each for each in self._names(workspace) if self._leads_here(workspace, each)]
        if not names:
            raise nobody(NAME, self.store.ref)
        for name in names:
            self.store.remove(workspace, name)

    def _names(self, workspace: Workspace) -> tuple[str, ...]:
        return self.store.names(workspace) if isinstance(self.store, FileScopeStore) else ()

    def _leads_here(self, workspace: Workspace, name: str) -> bool:
        try:
            return is_gateway(self.store.entry(workspace, name)[0], self.identity)
        except InputError:
            # What its program cannot read leads nowhere.
            return False


def is_gateway(entry: Entry, identity: SelfIdentity) -> bool:
    """Whether a program's entry is this yard's gateway."""
    if entry.url:
        return identity.is_at(entry.url)
    return identity.is_run_by((entry.command or "", *(entry.args or ())), entry.env or {})
