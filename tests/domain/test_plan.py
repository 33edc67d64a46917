from dataclasses import replace
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from mcpyard.domain.definition.launch import LocalLaunch
from mcpyard.domain.desired import Desired, DesiredServer, Owner
from mcpyard.domain.lifecycle import Phase, State
from mcpyard.domain.model import LocalConfig, Scope, Wanted
from mcpyard.domain.observed import Observed
from mcpyard.domain.plan import (
    Action,
    Forget,
    Replace,
    StartServer,
    StopServer,
    UpdateInterest,
    plan,
)

ID = UUID(int=1)
RUNNING = [Phase.CONNECTING, Phase.CONNECTED, Phase.BACKOFF, Phase.FAILED, Phase.NEEDS_AUTH]


def server(
    wanted_state: Wanted = Wanted.RUNNING, identity: UUID = ID, **more: object
) -> DesiredServer:
    base = DesiredServer(
        id=identity,
        name=f"s{identity.int}",
        owner=Owner(Scope.PROJECT),
        config=LocalConfig(command=["x"]),
        wanted=wanted_state,
        launch=LocalLaunch(("x",), {}, None, ()),
        launch_digest="l",
        policy_digest="p",
    )
    return replace(base, **more)


def seen(phase: Phase, *, restart: bool = False, **more: object) -> Observed:
    base = Observed(ID, State(phase, restart=restart), "l", "p", 0)
    return structs.replace(base, **more)


def actions(want: DesiredServer | None, observed: Observed | None) -> tuple[Action, ...]:
    desired = Desired({want.id: want} if want else {})
    return plan(desired, {observed.id: observed} if observed else {})


def test_a_new_server_is_started() -> None:
    assert actions(server(), None) == (StartServer(ID),)


def test_one_that_is_wanted_stopped_or_on_demand_is_not() -> None:
    assert actions(server(Wanted.STOPPED), None) == (UpdateInterest(ID),)
    assert actions(server(Wanted.ON_DEMAND), None) == (UpdateInterest(ID),)


def test_one_at_rest_takes_over_a_change_without_starting() -> None:
    assert actions(server(Wanted.STOPPED, launch_digest="new"), seen(Phase.STOPPED)) == (
        UpdateInterest(ID),
    )
    assert actions(server(Wanted.ON_DEMAND), seen(Phase.STOPPED)) == ()


@pytest.mark.parametrize("phase", RUNNING)
def test_a_server_that_is_as_it_should_be_is_left_alone(phase: Phase) -> None:
    assert actions(server(), seen(phase)) == ()
    assert actions(server(Wanted.ON_DEMAND), seen(phase)) == ()


@pytest.mark.parametrize("phase", RUNNING)
def test_a_changed_launch_replaces_and_a_changed_policy_retunes(phase: Phase) -> None:
    assert actions(server(launch_digest="new"), seen(phase)) == (Replace(ID),)
    assert actions(server(policy_digest="new"), seen(phase)) == (UpdateInterest(ID),)
    assert actions(server(policy_digest="new", launch_digest="new"), seen(phase)) == (Replace(ID),)


def test_a_new_turn_begins_anew() -> None:
    assert actions(server(turn=1), seen(Phase.FAILED)) == (Replace(ID),)
    assert actions(server(turn=1), seen(Phase.FAILED, turn=1)) == ()


@pytest.mark.parametrize("phase", [*RUNNING, Phase.NEEDS_APPROVAL])
def test_a_server_that_should_not_run_is_stopped(phase: Phase) -> None:
    assert actions(server(Wanted.STOPPED), seen(phase)) == (StopServer(ID),)
    assert actions(None, seen(phase)) == (StopServer(ID),)


def test_a_server_on_its_way_to_rest_is_not_stopped_again() -> None:
    for want in (server(Wanted.STOPPED), None):
        assert actions(want, seen(Phase.STOPPING)) == ()
        assert actions(want, seen(Phase.STOPPING, restart=True)) == (StopServer(ID),)


def test_one_that_is_gone_and_at_rest_is_forgotten() -> None:
    assert actions(None, seen(Phase.STOPPED)) == (Forget(ID),)


def test_a_start_while_it_stops_is_asked_for_once() -> None:
    assert actions(server(), seen(Phase.STOPPING)) == (StartServer(ID),)
    assert actions(server(), seen(Phase.STOPPING, restart=True)) == ()


def test_a_held_server_goes_to_wait_for_approval_and_starts_with_it() -> None:
    assert actions(server(held=True), seen(Phase.CONNECTED)) == (Replace(ID),)
    assert actions(server(held=True), seen(Phase.NEEDS_APPROVAL)) == ()
    assert actions(server(), seen(Phase.NEEDS_APPROVAL)) == (StartServer(ID),)
    assert actions(server(Wanted.ON_DEMAND), seen(Phase.NEEDS_APPROVAL)) == (StopServer(ID),)


def test_endings_come_before_beginnings() -> None:
    desired = Desired(
        {
            UUID(int=2): server(identity=UUID(int=2)),
            UUID(int=3): server(Wanted.STOPPED, UUID(int=3)),
        }
    )
    observed = {
        ID: seen(Phase.CONNECTED),
        UUID(int=3): structs.replace(seen(Phase.CONNECTED), id=UUID(int=3)),
    }
    assert plan(desired, observed) == (
        StopServer(ID),
        StopServer(UUID(int=3)),
        StartServer(UUID(int=2)),
    )


@given(
    st.sampled_from(Wanted),
    st.sampled_from(Phase),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["l", "new"]),
)
def test_once_carried_out_the_same_picture_gives_nothing(
    wanted_state: Wanted, phase: Phase, restart: bool, held: bool, digest: str
) -> None:
    want = server(wanted_state, held=held, launch_digest=digest)
    observed = seen(phase, restart=restart and phase is Phase.STOPPING)
    for _ in range(3):
        todo = actions(want, observed)
        if not todo:
            break
        observed = carried_out(todo[0], observed, want)
    assert actions(want, observed) == ()


def carried_out(action: Action, observed: Observed, want: DesiredServer) -> Observed:
    """The picture after the runtime did what the plan says and everything went well."""
    took_over = structs.replace(
        observed, launch_digest=want.launch_digest, policy_digest=want.policy_digest
    )
    waiting = Phase.NEEDS_APPROVAL if want.held else Phase.CONNECTED
    match action:
        case StartServer() | Replace():
            return structs.replace(took_over, state=State(waiting))
        case UpdateInterest():
            return took_over
        case _:
            return structs.replace(observed, state=State())
