"""What was desired before spares work and changes nothing."""

from uuid import NAMESPACE_URL, UUID, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from mcpyard.domain import desiring
from mcpyard.domain.definition.expand import Lookup
from mcpyard.domain.definition.launch import Launch, LocalLaunch, Unlaunchable, make_launch
from mcpyard.domain.definition.this_yard import SelfIdentity
from mcpyard.domain.desired import (
    Definition,
    Desired,
    DesireInputs,
    Document,
    Owner,
    PolicyPatch,
    Waiting,
)
from mcpyard.domain.desiring import desire
from mcpyard.domain.model import Config, LocalConfig, RemoteConfig, Scope, ToolPolicy

PROJECT = Owner(Scope.PROJECT, "p/.mcp.json")
USER = Owner(Scope.USER)
NAMES = ("a", "b", "c")


def identity(owner: Owner, name: str) -> UUID:
    return uuid5(NAMESPACE_URL, f"{owner.scope}/{name}")


IDENTITIES = {(owner, name): identity(owner, name) for owner in (PROJECT, USER) for name in NAMES}
NOBODY: dict[str, str] = {}

CONFIGS = (
    LocalConfig(command=["run"]),
    LocalConfig(command=["run"], timeout=30_000),
    LocalConfig(command=["run", "${A:-${B}}"], fallback=["b"]),
    LocalConfig(command=["run"], environment={"KEY": "${A}"}, tools={"t": ToolPolicy()}),
    LocalConfig(command=["run"], tools={"t": ToolPolicy(enabled=True)}),
    LocalConfig(command=["mcpyard", "stdio"]),
    RemoteConfig(url="http://h/${B:-x}"),
)
configs = st.sampled_from(CONFIGS)
DEFINITIONS = [Definition(name, config) for name in NAMES for config in CONFIGS]
definitions = st.sampled_from(DEFINITIONS)


def definitions_of(name: str) -> st.SearchStrategy[Definition]:
    """The same objects again and again, as a source hands them out."""
    return st.sampled_from([each for each in DEFINITIONS if each.name == name])


policies: st.SearchStrategy[PolicyPatch] = st.sampled_from(
    [{}, {"timeout": 9}, {"enabled": False}, {"wanted": "on_demand"}, {"timeout": 30_000}]
)


@st.composite
def moments(draw: st.DrawFn) -> tuple[list[Document], DesireInputs]:
    """What is said and known at one moment."""
    documents = [
        Document(owner, tuple(draw(definitions_of(name)) for name in draw(some_names)))
        for owner in (PROJECT, USER)
    ]
    values = draw(st.dictionaries(st.sampled_from("AB"), st.sampled_from(["", "1", "2"])))
    inputs = DesireInputs(
        IDENTITIES,
        values.get,
        policies=draw(st.dictionaries(some_ids, policies)),
        turns=draw(st.dictionaries(some_ids, st.integers(0, 2))),
        waiting=tuple(
            Waiting(PROJECT, Definition(name, draw(configs))) for name in draw(some_names)
        ),
        identity=draw(
            st.sampled_from([SelfIdentity(), SelfIdentity(addresses=frozenset({"http://h"}))])
        ),
    )
    return documents, inputs


some_names = st.lists(st.sampled_from(NAMES), unique=True)
some_ids = st.sampled_from([*IDENTITIES.values()])


def everything(desired: Desired) -> list[object]:
    """What is desired, with what equality passes over."""
    servers = desired.servers.values()
    details = [(each.config.model_dump(exclude_unset=True), dict(each.values)) for each in servers]
    return [desired, details]


@given(st.lists(moments(), min_size=2, max_size=4))
def test_whatever_was_desired_before_the_outcome_is_the_same(
    sequence: list[tuple[list[Document], DesireInputs]],
) -> None:
    desired = Desired({})
    for now in sequence:
        desired = desire(*now, desired)
        assert everything(desired) == everything(desire(*now))


@given(moments(), st.lists(st.tuples(st.booleans(), definitions), max_size=4), policies)
def test_what_is_added_to_what_stays_is_the_same_as_all_at_once(
    moment: tuple[list[Document], DesireInputs],
    additions: list[tuple[bool, Definition]],
    policy: PolicyPatch,
) -> None:
    documents, inputs = moment
    desired = desire(documents, inputs, desire(documents, inputs))
    for to_project, added in additions:
        document = documents[not to_project]
        if added.name not in {each.name for each in document.definitions}:
            documents[not to_project] = replace(
                document, definitions=(*document.definitions, added)
            )
            of_it = {identity(document.owner, added.name): policy}
            inputs = replace(inputs, policies={**inputs.policies, **of_it})
        desired = desire(documents, inputs, desired)
        assert everything(desired) == everything(desire(documents, inputs))


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Config]:
    """The definitions that were made into launches, as they are."""
    configs: list[Config] = []

    def counting(config: Config, lookup: Lookup) -> Launch | Unlaunchable:
        configs.append(config)
        return make_launch(config, lookup)

    monkeypatch.setattr(desiring, "make_launch", counting)
    return configs


def document(**definitions: Config) -> Document:
    return Document(PROJECT, tuple(Definition(name, each) for name, each in definitions.items()))


def three() -> dict[str, Config]:
    """Definitions that are read anew, as from a file that was saved."""
    return {name: LocalConfig(command=["run", name, "${A:-1}"]) for name in NAMES}


def test_only_the_definition_that_changed_is_made_anew(made: list[Config]) -> None:
    inputs = DesireInputs(IDENTITIES, NOBODY.get)
    before = desire([document(**three())], inputs)
    made.clear()
    changed = LocalConfig(command=["other"])
    desire([document(**three() | {"b": changed})], inputs, before)
    assert made == [changed]


def test_a_policy_is_made_anew_for_its_server_alone(made: list[Config]) -> None:
    inputs = DesireInputs(IDENTITIES, NOBODY.get)
    before = desire([document(**three())], inputs)
    made.clear()
    desire(
        [document(**three())],
        replace(inputs, policies={identity(PROJECT, "c"): {"timeout": 9}}),
        before,
    )
    assert [each.timeout for each in made] == [9]


def test_a_new_turn_or_an_entry_that_waits_makes_no_launch_anew(made: list[Config]) -> None:
    inputs = DesireInputs(IDENTITIES, NOBODY.get)
    before = desire([document(**three())], inputs)
    made.clear()
    server = identity(PROJECT, "a")
    after = desire(
        [document(b=three()["b"], c=three()["c"])],
        replace(
            inputs, turns={server: 1}, waiting=(Waiting(PROJECT, Definition("a", three()["a"])),)
        ),
        before,
    )
    assert (after.servers[server].turn, after.servers[server].held, made) == (1, True, [])


def test_a_variable_that_has_another_value_by_now_is_filled_in_anew() -> None:
    before = desire([document(**three())], DesireInputs(IDENTITIES, NOBODY.get))
    after = desire([document(**three())], DesireInputs(IDENTITIES, {"A": "2"}.get), before)
    launches = [each.launch for each in after.servers.values()]
    assert [each.command[-1] for each in launches if isinstance(each, LocalLaunch)] == ["2"] * 3


def test_the_values_of_variables_are_not_shown_in_a_traceback() -> None:
    desired = desire(
        [document(a=LocalConfig(command=["run", "${A}"]))],
        DesireInputs(IDENTITIES, {"A": "a-secret-value"}.get),
    )
    assert "a-secret-value" not in repr(desired)
