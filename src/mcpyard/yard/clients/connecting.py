"""The gateway as one more server in a program's own configuration."""

from dataclasses import dataclass
from typing import Final

from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.errors import ArgumentsRefused, EditRefused, NameTaken, Problem
from mcpyard.formats.copying.mapping import convert
from mcpyard.formats.copying.matrix import Matrix, holds
from mcpyard.formats.entries import Entry
from mcpyard.formats.facts import EntryTransport, Field
from mcpyard.formats.locations import ClientScopeRef
from mcpyard.yard.clients.patching import refuse_unfit
from mcpyard.yard.clients.scope_store import ScopeStore
from mcpyard.yard.clients.workspace import Workspace

VARIABLE: Final = "MCPYARD_CALL_TOKEN"
"""Where a program finds its token, if it can read one from a variable."""

NAME: Final = "mcpyard"


@dataclass(frozen=True, slots=True)
class Bridged:
    """The gateway through a command of ours, which needs no token."""

    command: tuple[str, ...]

    def entry(self, spot: ClientScopeRef) -> Entry:
        """What to say, in the yard's own words."""
        del spot
        program, *args = self.command
        return Entry(command=program, args=tuple(args), type=EntryTransport.STDIO)


@dataclass(frozen=True, slots=True)
class Addressed:
    """The gateway at its address; the token is written down only where there is no other way."""

    url: str
    token: str

    def entry(self, spot: ClientScopeRef) -> Entry:
        """What to say, in the yard's own words."""
        secret = f"${{{VARIABLE}}}" if takes_variable(spot) else self.token
        headers = {"Authorization": f"Bearer {secret}"}
        return Entry(url=self.url, headers=headers, type=EntryTransport.HTTP)


def takes_variable(spot: ClientScopeRef) -> bool:
    """Whether a program can read its token from a variable."""
    named = holds(Matrix.NATIVE, spot.client, spot.shape, Field.BEARER)
    return bool(spot.client.dialect.reference) or named


@dataclass(slots=True)
class Connecting:
    """A wish to have the gateway in a program's configuration.

    Attributes:
        seat: Where it is to be.
        name: What it is to be called.
        way: How it is reached.
        ours: The spot whose words the entry is in.
        here: What an entry that is the gateway already is known by.
        by_variable: Whether the token was left to a variable, once it was done.
    """

    seat: ScopeStore
    name: str
    way: Bridged | Addressed
    ours: ClientScopeRef
    here: SelfIdentity
    by_variable: bool = False

    @property
    def seats(self) -> tuple[ScopeStore, ...]:
        """Where something changes."""
        return (self.seat,)

    def do(self, desk: Workspace) -> None:
        """Write the gateway down, in place of an earlier way to it."""
        if self.seat.spot.client.id == self.ours.client.id:
            problem = Problem("client", "mcpyard cannot be connected to itself")
            raise EditRefused.of(problem).advising("Choose the program that should use mcpyard.")
        if self.seat.has(desk, self.name) and not self._is_ours(desk):
            raise NameTaken(f'a server "{self.name}" already exists in {self.seat.spot}')
        spot = self.seat.found(desk, self.name)
        converted = convert(self.way.entry(spot), self.ours, spot, Matrix.NATIVE)
        if isinstance(self.way, Addressed) and converted.entry.url is None:
            message = f"{spot.client.title} supports no URLs; connect it over stdio"
            raise ArgumentsRefused.of(Problem("http", message))
        refuse_unfit(converted.entry)
        desk.tell(*converted.warnings)
        self.seat.write(desk, self.name, converted.entry)
        self.by_variable = isinstance(self.way, Addressed) and takes_variable(spot)

    def _is_ours(self, desk: Workspace) -> bool:
        entry, _ = self.seat.entry(desk, self.name)
        if entry.url:
            return self.here.is_at(entry.url)
        return self.here.is_run_by((entry.command or "", *(entry.args or ())), entry.env or {})
