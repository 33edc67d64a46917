"""What should be, and what it follows from; `desiring` makes it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from mcpyard.domain.definition.expand import Lookup
from mcpyard.domain.definition.launch import Launch, Unlaunchable
from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.errors import Problem, SourceLocation
from mcpyard.domain.model import (
    Config,
    Scope,
    Wanted,
)


class Owner(Struct, frozen=True):
    """Who holds a definition: a scope and, for files, which one."""

    scope: Scope
    place: str = ""

    @property
    def words(self) -> str:
        """How it is told."""
        return f"{self.scope} scope" + (f", {self.place}" if self.place else "")


class Definition(Struct, frozen=True):
    """One entry of a document."""

    name: str
    config: Config
    place: SourceLocation | None = None
    warnings: tuple[Problem, ...] = ()


class Document(Struct, frozen=True):
    """What one owner says: its definitions, and what in it could not be used.

    Problems are wrong and warnings odd; `skipped` names the entries that cannot be used.
    """

    owner: Owner
    definitions: tuple[Definition, ...] = ()
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Problem, ...] = ()
    skipped: frozenset[str] = frozenset()


def keep_last_good(fresh: Document, last: Document) -> Document:
    """A document in which an entry that turned bad keeps the definition it had."""
    if not fresh.skipped:
        return fresh
    earlier = tuple(each for each in last.definitions if each.name in fresh.skipped)
    return replace(fresh, definitions=(*fresh.definitions, *earlier))


@dataclass(frozen=True, slots=True)
class Waiting:
    """An entry of a document that waits for the user's approval (see `approval`).

    Attributes:
        owner: Who says it.
        definition: The entry as it is written.
        approved: What was approved under its name and runs meanwhile; None for nothing.
        shadows: Who has a server of its name that it would take the place of.
    """

    owner: Owner
    definition: Definition = field(repr=False)
    approved: Config | None = field(default=None, repr=False)
    shadows: Owner | None = None


PolicyPatch = Mapping[str, object]
"""What the user changed about a server, by the model's field names; only policy fields."""

PolicyEdit = Callable[[PolicyPatch], PolicyPatch]
"""Makes a policy out of the one there is."""


class DesireInputs(Struct, frozen=True):
    """What is known besides the documents.

    Attributes:
        identities: The id of each (owner, name); every definition must have one.
        policies: What the user changed, by id.
        turns: How often somebody asked a server to begin anew, by id.
        waiting: Entries that wait for the user's approval; the documents do not have them.
        lookup: Gives the value of a variable.
        lookup_for: Gives the lookup of an owner, where not all may see the same.
        identity: What an entry that points back to this gateway is known by.
    """

    identities: Mapping[tuple[Owner, str], UUID]
    lookup: Lookup
    policies: Mapping[UUID, PolicyPatch] = {}
    turns: Mapping[UUID, int] = {}
    waiting: tuple[Waiting, ...] = ()
    identity: SelfIdentity = SelfIdentity()
    lookup_for: "Callable[[Owner], Lookup] | None" = None

    def lookup_of(self, owner: Owner) -> Lookup:
        """The lookup of an owner."""
        return self.lookup_for(owner) if self.lookup_for else self.lookup


Values = Mapping[str, str | None]
"""The variables that were asked for when a launch was made, and what each was."""


@dataclass(frozen=True, slots=True)
class DesiredServer:
    """A server as it should be; its `values` are those that went into its launch.

    One that is `held` may not run. `waiting` is the entry of its name that waits for approval: its
    own, or one that would take its place.
    """

    id: UUID
    name: str
    owner: Owner
    config: Config
    wanted: Wanted
    launch: Launch | Unlaunchable = field(repr=False)
    launch_digest: str
    policy_digest: str
    turn: int = 0
    held: bool = False
    waiting: Waiting | None = None
    this_yard: bool = False
    place: SourceLocation | None = None
    warnings: tuple[Problem, ...] = ()
    values: Values = field(default_factory=dict[str, str | None], repr=False, compare=False)


class Shadowed(Struct, frozen=True):
    """A definition that is not in force because another owner holds its name."""

    definition: Definition
    owner: Owner


class MadeServer(NamedTuple):
    """A server before anything is noted on it, and what it was made from.

    One that is `plain` has no variables and was never asked to begin anew.
    """

    origin: tuple[Owner, SelfIdentity]
    definition: Definition
    policy: PolicyPatch
    turn: int
    server: DesiredServer
    names_fallbacks: bool
    id: UUID
    plain: bool


class Front(NamedTuple):
    """The servers at the front of a document that need no second look until something changes."""

    definitions: tuple[Definition, ...] = ()
    made: Mapping[str, MadeServer] = {}
    servers: Mapping[str, DesiredServer] = {}


class Basis(NamedTuple):
    """What a desired state was made from, and what the next one need not make anew."""

    identity: SelfIdentity = SelfIdentity()
    policies: Mapping[UUID, PolicyPatch] = {}
    turns: Mapping[UUID, int] = {}
    made: Mapping[str, MadeServer] = {}
    fronts: Mapping[Owner, Front] = {}


@dataclass(frozen=True, slots=True)
class Desired:
    """Everything that should be."""

    servers: Mapping[UUID, DesiredServer]
    shadowed: tuple[Shadowed, ...] = ()
    problems: tuple[Problem, ...] = ()
    basis: Basis = field(default=Basis(), repr=False, compare=False)
