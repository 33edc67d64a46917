from uuid import NAMESPACE_URL, UUID, uuid5

import pytest

from mcpyard.domain.definition.launch import Unlaunchable
from mcpyard.domain.desired import (
    Definition,
    Desired,
    DesireInputs,
    Document,
    Owner,
    Waiting,
    keep_last_good,
)
from mcpyard.domain.desiring import apply_policy, desire
from mcpyard.domain.errors import Problem
from mcpyard.domain.model import LocalConfig, RemoteConfig, Scope, ToolPolicy, Wanted

CODE = Owner(Scope.CODE)
PROJECT = Owner(Scope.PROJECT, "p/.mcp.json")
USER = Owner(Scope.USER)
ENV = Owner(Scope.ENV)


class Ids(dict[tuple[Owner, str], UUID]):
    def __missing__(self, key: tuple[Owner, str]) -> UUID:
        return uuid5(NAMESPACE_URL, f"{key[0].scope}/{key[1]}")


def document(owner: Owner, **configs: LocalConfig | RemoteConfig) -> Document:
    return Document(owner, tuple(Definition(name, config) for name, config in configs.items()))


def around(**more: object) -> DesireInputs:
    return DesireInputs(Ids(), {"HOME": "/home/u"}.get, **more)  # pyright: ignore[reportArgumentType]


def by_name(desired: Desired) -> dict[str, Scope]:
    return {server.name: server.owner.scope for server in desired.servers.values()}


ECHO = LocalConfig(command=["echo"])


def test_of_one_name_in_all_scopes_code_wins_and_the_rest_are_shadowed() -> None:
    desired = desire([document(owner, fs=ECHO) for owner in (ENV, USER, CODE, PROJECT)], around())
    assert by_name(desired) == {"fs": Scope.CODE}
    assert [each.owner.scope for each in desired.shadowed] == [
        Scope.PROJECT,
        Scope.USER,
        Scope.ENV,
    ]
    (winner,) = desired.servers.values()
    assert [str(each) for each in winner.warnings] == [
        "name: is also defined in the project scope, p/.mcp.json; this one takes precedence",
        "name: is also defined in the user scope; this one takes precedence",
        "name: is also defined in the env scope; this one takes precedence",
    ]


def test_names_of_different_scopes_stand_side_by_side() -> None:
    desired = desire([document(USER, b=ECHO), document(PROJECT, a=ECHO)], around())
    assert by_name(desired) == {"a": Scope.PROJECT, "b": Scope.USER}


def test_the_problems_of_all_documents_are_told() -> None:
    broken = Document(PROJECT, problems=(Problem("x", "y"),))
    assert desire([broken], around()).problems == (Problem("x", "y"),)


@pytest.mark.parametrize(
    ("owner", "wanted_state"),
    [
        (PROJECT, Wanted.RUNNING),
        (ENV, Wanted.RUNNING),
        (USER, Wanted.STOPPED),
        (CODE, Wanted.STOPPED),
    ],
)
def test_a_scope_has_its_own_default_of_what_is_wanted(owner: Owner, wanted_state: Wanted) -> None:
    (server,) = desire([document(owner, fs=ECHO)], around()).servers.values()
    assert server.wanted is wanted_state


def test_a_server_that_is_switched_off_is_wanted_stopped() -> None:
    off = LocalConfig(command=["echo"], enabled=False, wanted=Wanted.RUNNING)
    (server,) = desire([document(PROJECT, fs=off)], around()).servers.values()
    assert server.wanted is Wanted.STOPPED


@pytest.mark.spec("A1.3")
def test_a_missing_variable_is_an_error_of_that_server_only() -> None:
    broken = LocalConfig(command=["echo", "${NOPE}"])
    desired = desire([document(PROJECT, bad=broken, good=ECHO)], around())
    launches = {server.name: server.launch for server in desired.servers.values()}
    bad = launches["bad"]
    assert isinstance(bad, Unlaunchable)
    assert str(bad.problems[0]) == "args[0]: the variable NOPE is not set"
    assert not isinstance(launches["good"], Unlaunchable)


def test_the_stored_policy_lies_over_the_documents_own() -> None:
    identity = Ids()[PROJECT, "fs"]
    config = LocalConfig(command=["echo"], timeout=5, enabled=False, tools={"a": ToolPolicy()})
    inputs = around(
        policies={identity: {"enabled": True, "wanted": "on_demand"}}, turns={identity: 4}
    )
    (server,) = desire([document(PROJECT, fs=config)], inputs).servers.values()
    assert server.config == config.model_copy(update={"enabled": True, "wanted": Wanted.ON_DEMAND})
    assert (server.wanted, server.turn) == (Wanted.ON_DEMAND, 4)


def test_a_stored_policy_cannot_change_what_is_launched() -> None:
    assert apply_policy(ECHO, {"command": ["rm"], "timeout": 9}) == LocalConfig(
        command=["echo"], timeout=9
    )
    remote = RemoteConfig(url="http://h")
    assert apply_policy(remote, {"timeout": 9}) == RemoteConfig(url="http://h", timeout=9)


def test_a_policy_change_moves_the_policy_digest_and_a_launch_change_the_launch_digest() -> None:
    def digests(config: LocalConfig) -> tuple[str, str]:
        (server,) = desire([document(PROJECT, fs=config)], around()).servers.values()
        return server.launch_digest, server.policy_digest

    launch, policy = digests(ECHO)
    assert digests(ECHO.model_copy(update={"timeout": 1}))[0] == launch
    assert digests(ECHO.model_copy(update={"timeout": 1}))[1] != policy
    assert digests(LocalConfig(command=["other"]))[0] != launch
    assert digests(LocalConfig(command=["other"]))[1] == policy
    assert digests(ECHO.model_copy(update={"enabled": False, "wanted": "running"})) == (
        launch,
        policy,
    )


def test_a_held_server_is_marked() -> None:
    inputs = around(waiting=(Waiting(PROJECT, Definition("fs", ECHO)),))
    assert [each.held for each in desire([], inputs).servers.values()] == [True]


def test_what_is_launched_is_not_shown_in_a_traceback() -> None:
    secret = LocalConfig(command=["echo", "${HOME}/secret"])
    (server,) = desire([document(PROJECT, fs=secret)], around()).servers.values()
    assert "/home/u" not in repr(server)


def test_an_entry_that_turned_bad_keeps_the_definition_it_had() -> None:
    last = document(PROJECT, a=ECHO, b=ECHO, c=ECHO)
    fresh = Document(PROJECT, (Definition("a", ECHO),), skipped=frozenset({"b", "new"}))
    assert [each.name for each in keep_last_good(fresh, last).definitions] == ["a", "b"]
