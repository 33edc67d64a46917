"""What should be: a pure function of the source documents, the stored policies and the environment.

Of several definitions with one name the scope of the highest rank is in force; the others are
reported as shadowed. A definition whose variables cannot be filled in is wanted all the same: the
server is shown, with the problem as the reason why it does not run.

One change is looked at together with everything that stayed as it was. So what was desired before
may be handed in: it changes nothing about the outcome, but what still holds is not made anew.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple
from uuid import UUID

from mcpyard.domain.continuation import is_continued
from mcpyard.domain.definition.fallbacks import fallback_problems, names_fallbacks
from mcpyard.domain.definition.launch import Launch, Unlaunchable, digest, make_launch
from mcpyard.domain.definition.this_yard import THIS_YARD_NOTE
from mcpyard.domain.desired import (
    Basis,
    Definition,
    Desired,
    DesiredServer,
    DesireInputs,
    Document,
    Front,
    MadeServer,
    Owner,
    PolicyPatch,
    Shadowed,
    Values,
)
from mcpyard.domain.errors import Problem
from mcpyard.domain.model import POLICY_FIELDS, Config, Policy, Wanted, default_wanted

_NOTHING: Final = Desired({})
_NO_POLICY: Final[PolicyPatch] = {}
_NO_FRONT: Final = Front()


def desire(
    documents: Iterable[Document], inputs: DesireInputs, before: Desired = _NOTHING
) -> Desired:
    """Merge the documents into what should be; what still holds of `before` is not made anew."""
    ordered = sorted(documents, key=lambda each: (each.owner.scope.rank, each.owner.place))
    maker = _Maker(inputs, before)
    winners: dict[str, DesiredServer] = {}
    shadowed: list[Shadowed] = []
    for document in ordered:
        front = maker.front(document, winners)
        winners |= front.servers
        for definition in document.definitions[len(front.definitions) :]:
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
    return Desired(servers, tuple(shadowed), problems, maker.basis())


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
        self._before = before.basis.made
        self._same = _says_the_same(inputs, before)
        self._fronts = before.basis.fronts
        self._new_fronts: dict[Owner, Front] = {}
        self.made: dict[str, MadeServer] = {}

    def basis(self) -> Basis:
        """What the next one need not make anew."""
        inputs = self._inputs
        policies, turns = dict(inputs.policies), dict(inputs.turns)
        return Basis(inputs.identity, policies, turns, self.made, self._new_fronts)

    def front(self, document: Document, taken: Mapping[str, object]) -> Front:
        """The servers at the front of a document that are as they were, at a glance.

        Sources and stores hand out the same object until it changes. What is added is added at the
        end, and nothing in front of it is worth a second look.
        """
        front = self._fronts.get(document.owner, _NO_FRONT) if self._same else _NO_FRONT
        is_same = is_continued(front.definitions, document.definitions)
        if not is_same or not taken.keys().isdisjoint(front.made.keys()):
            front = _NO_FRONT
        fresh = self._unchanged(document, len(front.definitions), taken)
        count = len(front.definitions) + len(fresh)
        servers = {name: made.server for name, made in fresh.items()}
        front = Front(
            document.definitions[:count], {**front.made, **fresh}, {**front.servers, **servers}
        )
        self._new_fronts[document.owner] = front
        self.made |= front.made
        return front

    def _unchanged(
        self, document: Document, first: int, taken: Mapping[str, object]
    ) -> dict[str, MadeServer]:
        """The servers from a definition on that are as they were, one by one."""
        inputs, servers = self._inputs, dict[str, MadeServer]()
        origin = document.owner, inputs.identity
        for each in document.definitions[first:]:
            made = self._before.get(each.name)
            if made is None or made.definition is not each or made.origin != origin:
                break
            # An id is costly to look up, and most users have neither policies nor turns.
            policy = inputs.policies.get(made.id, _NO_POLICY) if inputs.policies else _NO_POLICY
            if made.policy is not policy or (inputs.turns and made.id in inputs.turns):
                break
            if not made.plain or each.name in taken:
                break
            servers[each.name] = made
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
        launched = self._launched_before(owner, name, config) or self._launched(owner, name, config)
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

    def _launched(self, owner: Owner, name: str, config: Config) -> "_Launched":
        values: dict[str, str | None] = {}
        lookup = self._inputs.lookup_of(owner)

        def noted(variable: str) -> str | None:
            values[variable] = value = lookup(variable)
            return value

        launch = make_launch(config, noted)
        # A new name is taken over as a policy is: by a server that runs on.
        return _Launched(launch, digest(launch), f"{digest(_tunable(config))} {name}", values)

    def _launched_before(self, owner: Owner, name: str, config: Config) -> "_Launched | None":
        made = self._before.get(name)
        if made is None or made.server.config != config or made.server.owner != owner:
            return None
        server = made.server
        if not self._has_values(server):
            return None
        return _Launched(server.launch, server.launch_digest, server.policy_digest, server.values)

    def _has_values(self, server: DesiredServer) -> bool:
        lookup = self._inputs.lookup_of(server.owner)
        return all(lookup(variable) == value for variable, value in server.values.items())


def _says_the_same(inputs: DesireInputs, before: Desired) -> bool:
    """Whether nothing else is said about the servers that were there."""
    basis = before.basis
    return inputs.identity == basis.identity and before.servers.keys().isdisjoint(
        {*_differing(basis.policies, inputs.policies), *_differing(basis.turns, inputs.turns)}
    )


def _differing(before: Mapping[UUID, object], after: Mapping[UUID, object]) -> Iterator[UUID]:
    """The ids under which something else stands than before; those behind are seen at a glance."""
    values = [*after.values()]
    if is_continued([*before.values()], values) and is_continued([*before], [*after]):
        yield from [*after][len(before) :]
        return
    for each in {*before, *after}:
        if before.get(each) is not after.get(each):
            yield each


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
