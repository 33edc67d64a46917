"""What should be: a pure function of the source documents, the stored policies and the environment.

Of several definitions with one name the scope of the highest rank is in force; the others are
reported as shadowed. A definition whose variables cannot be filled in is wanted all the same: the
server is shown, with the problem as the reason why it does not run.

One change is looked at together with everything that stayed as it was. So what was desired before
may be handed in: it changes nothing about the outcome, but what still holds is not made anew.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple
from uuid import UUID

from mcpyard.domain.continuation import is_continued
from mcpyard.domain.definition.expand import Lookup
from mcpyard.domain.definition.fallbacks import fallback_problems, names_fallbacks
from mcpyard.domain.definition.launch import Launch, Unlaunchable, digest, make_launch
from mcpyard.domain.definition.this_yard import THIS_YARD_NOTE, SelfIdentity
from mcpyard.domain.errors import Problem, SourceLocation
from mcpyard.domain.model import (
    POLICY_FIELDS,
    Config,
    Policy,
    Scope,
    Wanted,
    default_wanted,
)


@dataclass(frozen=True, slots=True)
class Owner:
    """Who holds a definition: a scope and, for files, which one."""

    scope: Scope
    place: str = ""

    @property
    def words(self) -> str:
        """How it is told."""
        return f"{self.scope} scope" + (f", {self.place}" if self.place else "")


@dataclass(frozen=True, slots=True)
class Definition:
    """One entry of a document."""

    name: str
    config: Config
    place: SourceLocation | None = None
    warnings: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True)
class Document:
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


@dataclass(frozen=True, slots=True)
class DesireInputs:
    """What is known besides the documents.

    Attributes:
        identities: The id of each (owner, name); every definition must have one.
        policies: What the user changed, by id.
        turns: How often somebody asked a server to begin anew, by id.
        waiting: Entries that wait for the user's approval; the documents do not have them.
        lookup: Gives the value of a variable.
        identity: What an entry that points back to this gateway is known by.
    """

    identities: Mapping[tuple[Owner, str], UUID]
    lookup: Lookup
    policies: Mapping[UUID, PolicyPatch] = field(default_factory=dict[UUID, PolicyPatch])
    turns: Mapping[UUID, int] = field(default_factory=dict[UUID, int])
    waiting: tuple[Waiting, ...] = ()
    identity: SelfIdentity = field(default_factory=SelfIdentity)


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


@dataclass(frozen=True, slots=True)
class Shadowed:
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


@dataclass(frozen=True, slots=True)
class Desired:
    """Everything that should be; `made` is what the next one need not make anew."""

    servers: Mapping[UUID, DesiredServer]
    shadowed: tuple[Shadowed, ...] = ()
    problems: tuple[Problem, ...] = ()
    made: Mapping[str, MadeServer] = field(
        default_factory=dict[str, MadeServer], repr=False, compare=False
    )


_NOTHING: Final = Desired({})
_NO_POLICY: Final[PolicyPatch] = {}


def desire(
    documents: Iterable[Document], inputs: DesireInputs, before: Desired = _NOTHING
) -> Desired:
    """Merge the documents into what should be; what still holds of `before` is not made anew."""
    ordered = sorted(documents, key=lambda each: (each.owner.scope.rank, each.owner.place))
    maker = _Maker(inputs, before)
    winners: dict[str, DesiredServer] = {}
    shadowed: list[Shadowed] = []
    for document in ordered:
        unchanged = maker.unchanged(document, winners)
        winners |= {name: made.server for name, made in unchanged.items()}
        for definition in document.definitions[len(unchanged) :]:
            name = definition.name
            if winner := winners.get(name):
                shadowed.append(Shadowed(definition, document.owner))
                winners[name] = _noting_shadow(winner, document.owner)
            else:
                winners[name] = maker.server(document.owner, definition)
    for each in inputs.waiting:
        name = each.definition.name
        winner = winners.get(name)
        if winner and winner.owner.scope.rank < each.owner.scope.rank:
            shadowed.append(Shadowed(each.definition, each.owner))
            winners[name] = _noting_shadow(winner, each.owner)
        else:
            held = winner or replace(maker.server(each.owner, each.definition), held=True)
            winners[name] = replace(held, waiting=each)
    problems = tuple(problem for document in ordered for problem in document.problems)
    servers = _by_id([*winners.values()], before.servers)
    if with_fallbacks := [each for each in maker.made.values() if each.names_fallbacks]:
        configs = {name: each.config for name, each in winners.items()}
        for made in with_fallbacks:
            server = winners[made.server.name]
            servers[server.id] = _noting_fallbacks(server, configs)
    return Desired(servers, tuple(shadowed), problems, maker.made)


def apply_policy(config: Config, patch: PolicyPatch) -> Config:
    """A definition with the user's policy laid over the document's own."""
    if not patch:
        return config
    launch_fields = config.model_fields_set | {"type"}
    return type(config).model_validate(
        {name: getattr(config, name) for name in launch_fields}
        | {name: value for name, value in patch.items() if name in POLICY_FIELDS}
    )


class _Maker:
    """Makes servers of definitions; one whose definition and policy are the same is kept."""

    def __init__(self, inputs: DesireInputs, before: Desired) -> None:
        self._inputs = inputs
        self._before = before.made
        self.made: dict[str, MadeServer] = {}

    def unchanged(
        self, document: Document, taken: Mapping[str, object]
    ) -> Mapping[str, MadeServer]:
        """The servers at the front of a document that are as they were, at a glance.

        Sources and stores hand out the same object until it changes. What is added is added at the
        end, and nothing in front of it is worth a second look.
        """
        inputs, servers = self._inputs, dict[str, MadeServer]()
        before, policies, turns = self._before.get, inputs.policies, inputs.turns
        origin = document.owner, inputs.identity
        for each in document.definitions:
            made = before(each.name)
            if made is None or made.definition is not each or made.origin != origin:
                break
            # An id is costly to look up, and most users have neither policies nor turns.
            policy = policies.get(made.id, _NO_POLICY) if policies else _NO_POLICY
            if made.policy is not policy or (turns and made.id in turns):
                break
            if not made.plain or each.name in taken:
                break
            servers[each.name] = made
        self.made |= servers
        return servers

    def server(self, owner: Owner, definition: Definition) -> DesiredServer:
        """The server that a definition stands for, as far as nothing else is looked at."""
        made = self._before.get(definition.name)
        if made is None or not self._holds(made, owner, definition):
            made = self._make(owner, definition)
        self.made[definition.name] = made
        return made.server

    def _holds(self, made: MadeServer, owner: Owner, definition: Definition) -> bool:
        inputs, identity = self._inputs, made.server.id
        return (
            made.definition is definition
            and made.origin == (owner, inputs.identity)
            and made.policy is inputs.policies.get(identity, _NO_POLICY)
            and made.turn == (inputs.turns.get(identity, 0) if inputs.turns else 0)
            and (not made.server.values or self._has_values(made.server))
        )

    def _make(self, owner: Owner, definition: Definition) -> MadeServer:
        inputs, name = self._inputs, definition.name
        identity = inputs.identities[owner, name]
        policy, turn = inputs.policies.get(identity, _NO_POLICY), inputs.turns.get(identity, 0)
        config = apply_policy(definition.config, policy)
        launched = self._launched_before(name, config) or self._launched(name, config)
        this_yard = inputs.identity.is_reached_by(launched.launch)
        configured = config.wanted or default_wanted(owner.scope)
        note = (Problem("", THIS_YARD_NOTE),) if this_yard else ()
        server = DesiredServer(
            id=identity,
            name=name,
            owner=owner,
            config=config,
            wanted=configured if config.enabled and not this_yard else Wanted.STOPPED,
            launch=launched.launch,
            launch_digest=launched.launch_digest,
            policy_digest=launched.policy_digest,
            turn=turn,
            this_yard=this_yard,
            place=definition.place,
            warnings=(*definition.warnings, *note),
            values=launched.values,
        )
        falls_back = names_fallbacks(config)
        plain = not turn and not launched.values
        origin = owner, inputs.identity
        return MadeServer(origin, definition, policy, turn, server, falls_back, identity, plain)

    def _launched(self, name: str, config: Config) -> "_Launched":
        values: dict[str, str | None] = {}

        def noted(variable: str) -> str | None:
            values[variable] = value = self._inputs.lookup(variable)
            return value

        launch = make_launch(config, noted)
        # A new name is taken over as a policy is: by a server that runs on.
        return _Launched(launch, digest(launch), f"{digest(_tunable(config))} {name}", values)

    def _launched_before(self, name: str, config: Config) -> "_Launched | None":
        made = self._before.get(name)
        if made is None or made.server.config != config or not self._has_values(made.server):
            return None
        server = made.server
        return _Launched(server.launch, server.launch_digest, server.policy_digest, server.values)

    def _has_values(self, server: DesiredServer) -> bool:
        lookup = self._inputs.lookup
        return all(lookup(variable) == value for variable, value in server.values.items())


def _by_id(
    servers: list[DesiredServer], before: Mapping[UUID, DesiredServer]
) -> dict[UUID, DesiredServer]:
    # An id is slow to look up, and most servers are where they were.
    if is_continued([*before.values()], servers):
        return {**before, **{each.id: each for each in servers[len(before) :]}}
    return {each.id: each for each in servers}


class _Launched(NamedTuple):
    """What a definition comes to, which costs far more than all the rest of a server."""

    launch: Launch | Unlaunchable
    launch_digest: str
    policy_digest: str
    values: Values


def _noting_shadow(winner: DesiredServer, owner: Owner) -> DesiredServer:
    """The server in force, with a word on the definition that is not."""
    note = Problem("name", f"is also defined in the {owner.words}; this one takes precedence")
    return replace(winner, warnings=(*winner.warnings, note))


def _noting_fallbacks(server: DesiredServer, configs: Mapping[str, Config]) -> DesiredServer:
    """The server, with a word on fallbacks that cannot help."""
    return replace(server, warnings=(*server.warnings, *fallback_problems(server.name, configs)))


def _tunable(config: Policy) -> Policy:
    """The part of the policy that a standing connection can take over.

    Whether it runs on demand is: it decides what a call may start, and when it rests.
    """
    on_demand = config.wanted is Wanted.ON_DEMAND
    names = POLICY_FIELDS - ({"enabled"} if on_demand else {"enabled", "wanted"})
    return Policy.model_validate({name: getattr(config, name) for name in names})
