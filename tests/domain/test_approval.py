"""Nothing of a project's file is in force that nobody approved."""

from dataclasses import replace
from uuid import NAMESPACE_URL, UUID, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from mcpyard.domain.definition.approval import (
    ApprovedEntry,
    Entries,
    admit,
    bound,
    digest_of,
    is_at_rest,
    seen,
)
from mcpyard.domain.desired import Definition, Desired, DesireInputs, Document, Owner, Waiting
from mcpyard.domain.desiring import desire
from mcpyard.domain.errors import Problem
from mcpyard.domain.model import Config, LocalConfig, RemoteConfig, Scope, ToolPolicy, Wanted

CODE = Owner(Scope.CODE)
PROJECT = Owner(Scope.PROJECT, "p/.mcp.json")
USER = Owner(Scope.USER)
ENV = Owner(Scope.ENV)
NAMES = ("a", "b", "c")

RUN = LocalConfig(command=["run"])
OTHER = LocalConfig(command=["other"])


class Ids(dict[tuple[Owner, str], UUID]):
    def __missing__(self, key: tuple[Owner, str]) -> UUID:
        return uuid5(NAMESPACE_URL, f"{key[0].scope}/{key[1]}")


def document(owner: Owner, **configs: Config) -> Document:
    return Document(owner, tuple(Definition(name, config) for name, config in configs.items()))


def desired(*documents: Document, **entries: ApprovedEntry) -> Desired:
    """What should be, where the project's file needs approval."""
    admission = admit(documents, {PROJECT: entries})
    inputs = DesireInputs(Ids(), {"A": "1"}.get, waiting=admission.waiting)
    return desire(admission.documents, inputs)


def in_force(desired: Desired) -> dict[str, tuple[Scope, Config]]:
    return {
        each.name: (each.owner.scope, each.config)
        for each in desired.servers.values()
        if not each.held
    }


def waiting(desired: Desired) -> dict[str, Waiting]:
    return {each.name: each.waiting for each in desired.servers.values() if each.waiting}


@pytest.mark.spec("F3.1")
def test_an_entry_that_nobody_approved_is_shown_and_held() -> None:
    result = desired(document(PROJECT, a=RUN))
    (server,) = result.servers.values()
    assert (server.name, server.held, server.config) == ("a", True, RUN)
    assert server.waiting == Waiting(PROJECT, Definition("a", RUN))
    assert in_force(result) == {}


@pytest.mark.spec("F3.1")
def test_an_approved_entry_is_in_force_and_waits_for_nothing() -> None:
    result = desired(document(PROJECT, a=RUN), a=ApprovedEntry(RUN))
    assert in_force(result) == {"a": (Scope.PROJECT, RUN)}
    assert waiting(result) == {}


@pytest.mark.spec("F3.1")
@pytest.mark.parametrize(
    "changed",
    [
        OTHER,
        LocalConfig(command=["run", "more"]),
        LocalConfig(command=["run"], environment={"NODE_OPTIONS": "--require ./x.js"}),
        LocalConfig(command=["run"], cwd="/elsewhere"),
        LocalConfig(command=["run"], inherit=["*"]),
        LocalConfig(command=["run"], fallback=["b"]),
        LocalConfig(command=["run"], tools={"t": ToolPolicy(description="call me first")}),
        RemoteConfig(url="http://h"),
    ],
)
def test_a_changed_entry_waits_while_the_approved_one_stays(changed: Config) -> None:
    result = desired(document(PROJECT, a=changed), a=ApprovedEntry(RUN))
    assert in_force(result) == {"a": (Scope.PROJECT, RUN)}
    assert waiting(result)["a"] == Waiting(PROJECT, Definition("a", changed), RUN)


@pytest.mark.spec("F3.1")
@pytest.mark.parametrize(
    "changed",
    [
        LocalConfig(command=["run"], timeout=7),
        LocalConfig(
            command=["run"],
            title="T",
            description="D",
            max_message=9,
            isolation="per-client",
            concurrency=1,
        ),
        LocalConfig(command=["run"], singleton=True, labels={"gpu": "yes"}),
        LocalConfig(command=["run"], environment={}, inherit=[]),
        LocalConfig(command=["run"], wanted=Wanted.ON_DEMAND),
    ],
)
def test_what_runs_nothing_else_needs_no_approval(changed: Config) -> None:
    result = desired(document(PROJECT, a=changed), a=ApprovedEntry(RUN))
    assert in_force(result) == {"a": (Scope.PROJECT, changed)}
    assert waiting(result) == {}


@pytest.mark.spec("F3.1")
def test_another_value_of_a_variable_needs_no_approval() -> None:
    config = LocalConfig(command=["run"], environment={"TOKEN": "${A}"})
    admission = admit([document(PROJECT, a=config)], {PROJECT: {"a": ApprovedEntry(config)}})
    launches = [
        desire(admission.documents, DesireInputs(Ids(), {"A": value}.get)).servers.values()
        for value in ("1", "2")
    ]
    assert admission.waiting == ()
    assert len({each.launch_digest for servers in launches for each in servers}) == len(launches)


@pytest.mark.parametrize(
    "at_rest",
    [
        LocalConfig(command=["run"], enabled=False),
        LocalConfig(command=["run"], wanted=Wanted.STOPPED),
    ],
)
def test_an_entry_that_was_approved_at_rest_waits_before_it_runs(at_rest: Config) -> None:
    result = desired(document(PROJECT, a=RUN), a=ApprovedEntry(at_rest))
    assert [each.wanted for each in result.servers.values()] == [Wanted.STOPPED]
    assert waiting(result)["a"].definition.config == RUN


@pytest.mark.parametrize("changed", [RUN, OTHER])
def test_what_is_switched_off_in_the_file_ends_at_once(changed: Config) -> None:
    off = changed.model_copy(update={"enabled": False})
    result = desired(document(PROJECT, a=off), a=ApprovedEntry(RUN))
    (server,) = result.servers.values()
    assert (server.wanted, server.held) == (Wanted.STOPPED, False)
    assert bound(server.config) == bound(RUN)


def test_what_is_at_rest_in_the_file_and_in_the_approval_stays_so() -> None:
    resting = LocalConfig(command=["run"], enabled=False)
    off = LocalConfig(command=["other"], enabled=False)
    (server,) = desired(document(PROJECT, a=off), a=ApprovedEntry(resting)).servers.values()
    assert server.config == resting


@pytest.mark.spec("F3.2")
@pytest.mark.parametrize("owner", [USER, ENV])
def test_an_entry_that_nobody_approved_leaves_a_server_of_its_name_in_force(owner: Owner) -> None:
    result = desired(document(PROJECT, a=OTHER), document(owner, a=RUN))
    assert in_force(result) == {"a": (owner.scope, RUN)}
    assert waiting(result)["a"] == Waiting(PROJECT, Definition("a", OTHER), shadows=owner)


@pytest.mark.spec("F3.2")
def test_taking_the_place_of_another_server_needs_an_approval_of_its_own() -> None:
    documents = document(ENV, a=RUN), document(USER, a=RUN), document(PROJECT, a=OTHER)
    result = desired(*documents, a=ApprovedEntry(OTHER))
    assert in_force(result) == {"a": (Scope.USER, RUN)}
    assert waiting(result)["a"].shadows == USER
    result = desired(*documents, a=ApprovedEntry(OTHER, shadows=True))
    assert in_force(result) == {"a": (Scope.PROJECT, OTHER)}
    assert waiting(result) == {}


def test_an_entry_that_could_not_be_in_force_anyway_is_told_as_shadowed() -> None:
    result = desired(document(CODE, a=RUN), document(PROJECT, a=OTHER))
    assert in_force(result) == {"a": (Scope.CODE, RUN)}
    assert waiting(result) == {}
    assert [each.owner for each in result.shadowed] == [PROJECT]
    (server,) = result.servers.values()
    assert "this one takes precedence" in str(server.warnings[0])


def test_a_document_that_needs_no_approval_is_left_as_it_is() -> None:
    trusted = document(PROJECT, a=RUN)
    assert admit([trusted], {}) == admit([trusted], {USER: {}})
    assert admit([trusted], {}).documents == (trusted,)


def test_an_entry_that_is_gone_runs_again_only_as_it_was() -> None:
    gone = seen(document(PROJECT), {"a": ApprovedEntry(RUN)})
    assert gone == {"a": ApprovedEntry(RUN, gone=True)}
    assert in_force(desired(document(PROJECT, a=RUN), **gone)) == {"a": (Scope.PROJECT, RUN)}
    result = desired(document(PROJECT, a=OTHER), **gone)
    assert in_force(result) == {}
    assert waiting(result)["a"].approved is None
    assert seen(document(PROJECT, a=OTHER), gone) == gone
    assert seen(document(PROJECT, a=RUN), gone) == {"a": ApprovedEntry(RUN)}


def test_what_cannot_be_read_is_not_gone() -> None:
    entries = {"a": ApprovedEntry(RUN), "b": ApprovedEntry(RUN)}
    broken = Document(PROJECT, problems=(Problem("", "does not parse"),))
    assert seen(broken, entries) == entries
    skipping = Document(PROJECT, problems=(Problem("a", "is bad"),), skipped=frozenset({"a"}))
    half = structs.replace(skipping, definitions=(Definition("b", RUN),))
    assert seen(half, entries) == entries
    assert seen(document(PROJECT, b=OTHER), entries)["a"].gone


def test_an_edit_from_here_is_approved_before_and_after_it_is_written() -> None:
    editing = {"a": ApprovedEntry(RUN, edit=OTHER)}
    for config in (RUN, OTHER):
        result = desired(document(PROJECT, a=config), **editing)
        assert in_force(result) == {"a": (Scope.PROJECT, config)}
        assert waiting(result) == {}
    assert seen(document(PROJECT, a=RUN), editing) == editing
    assert seen(document(PROJECT, a=OTHER), editing) == {"a": ApprovedEntry(OTHER)}
    third = LocalConfig(command=["third"])
    assert waiting(desired(document(PROJECT, a=third), **editing))["a"].approved == RUN


def test_the_digest_of_what_is_shown_is_another_whenever_that_is() -> None:
    entry = Waiting(PROJECT, Definition("a", RUN))
    digests = {
        digest_of([]),
        digest_of([entry]),
        digest_of([replace(entry, owner=structs.replace(PROJECT, place="q/.mcp.json"))]),
        digest_of([replace(entry, definition=Definition("b", RUN))]),
        digest_of([replace(entry, definition=Definition("a", OTHER))]),
        digest_of(
            [replace(entry, definition=Definition("a", RUN.model_copy(update={"timeout": 1})))]
        ),
        digest_of([replace(entry, shadows=USER)]),
        digest_of([entry, replace(entry, definition=Definition("b", RUN))]),
    }
    assert len(digests) == 8
    assert digest_of([entry]) == digest_of([replace(entry, approved=OTHER)])


def test_what_is_approved_is_not_shown_in_a_traceback() -> None:
    secret = LocalConfig(command=["run"], environment={"TOKEN": "hidden-value"})
    entry = ApprovedEntry(secret)
    assert "hidden-value" not in repr([entry, Waiting(PROJECT, Definition("a", secret), secret)])


some_configs = st.sampled_from(
    [
        RUN,
        OTHER,
        LocalConfig(command=["run"], timeout=9),
        LocalConfig(command=["run"], enabled=False),
        LocalConfig(command=["run"], inherit=["TOKEN"]),
        LocalConfig(command=["run", "${A}"]),
        RemoteConfig(url="http://h/${A}", headers={"X": "${A}"}),
    ]
)
some_entries = st.builds(ApprovedEntry, some_configs, st.booleans(), st.booleans())
definitions = st.dictionaries(st.sampled_from(NAMES), some_configs)


def may_run(name: str, config: Config, entries: Entries) -> bool:
    return name in entries and bound(entries[name].config) == bound(config)


@pytest.mark.spec("F3.1")
@pytest.mark.spec("F3.2")
@given(definitions, definitions, definitions, st.dictionaries(st.sampled_from(NAMES), some_entries))
def test_nothing_unapproved_is_in_force_and_what_was_approved_stays_until_it_is_taken_out(
    project: dict[str, Config],
    user: dict[str, Config],
    code: dict[str, Config],
    entries: dict[str, ApprovedEntry],
) -> None:
    documents = document(PROJECT, **project), document(USER, **user), document(CODE, **code)
    result = desired(*documents, **entries)
    running = in_force(result)
    for name, (scope, config) in running.items():
        if scope is Scope.PROJECT:
            assert may_run(name, config, entries), "it is what somebody approved"
            assert name in project, "what is taken out of the file is not in force"
            assert entries[name].shadows or name not in user
            assert is_at_rest(config) or not is_at_rest(entries[name].config)
    for name in user.keys() - code.keys():
        scope, _ = running[name]
        displaced = scope is Scope.PROJECT
        assert not displaced or (name in entries and entries[name].shadows)
    for name in project.keys() & entries.keys() - user.keys() - code.keys():
        assert entries[name].gone or name in running, "what was approved goes on"
    for name in project.keys() - code.keys():
        covered = name in running and running[name] == (Scope.PROJECT, project[name])
        assert covered or name in waiting(result), "what waits is shown"
