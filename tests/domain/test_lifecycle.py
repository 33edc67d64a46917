import pytest
from msgspec.structs import replace

from mcpyard.domain import lifecycle
from mcpyard.domain.backoff import RestartPolicy, spread
from mcpyard.domain.cause import FATAL, Cause, Code
from mcpyard.domain.effects import Arm, Close, Disarm, Open, Timer
from mcpyard.domain.lifecycle import (
    TABLE,
    AuthNeeded,
    Called,
    Changed,
    Closed,
    Degraded,
    Event,
    Lost,
    Phase,
    Ready,
    Recovered,
    RetryDue,
    Settled,
    StartWanted,
    State,
    Step,
    StopWanted,
    step,
)
from mcpyard.domain.status import RunState, Status, public_words

EXITED = Cause(Code.EXITED, "exited with code 1")
MISSING = Cause(Code.COMMAND_MISSING, "no such command")
HUNG = Cause(Code.UNRESPONSIVE, "did not answer")
SIGN_IN = Cause(Code.NEEDS_AUTH, "wants a sign-in")
POLICY = RestartPolicy()
REMOTE = RestartPolicy(remote=True)


def walk(*events: Event, policy: RestartPolicy = POLICY, state: State | None = None) -> Step:
    taken = Step(state or State())
    for event in events:
        taken = step(taken.state, event, policy)
        assert not taken.ignored, event
    return taken


def lost(epoch: int, at: float = 0, cause: Cause = EXITED) -> Lost:
    return Lost(epoch, cause, at)


def words(state: State) -> tuple[Status, RunState]:
    return public_words(state)


def test_a_start_opens_and_a_ready_server_settles_its_incident() -> None:
    assert walk(StartWanted()).effects == (Open(1),)
    taken = walk(StartWanted(), lost(1), RetryDue(1), Ready(2))
    assert taken.effects == (Arm(Timer.SETTLE, 60, 2),)
    assert (taken.state.n, taken.state.cause) == (1, None)
    assert step(taken.state, Settled(2), POLICY).state.n == 0


def test_constant_failure_opens_four_times_at_growing_intervals_and_then_fails() -> None:
    opens, delays, taken = 0, [], walk(StartWanted())
    while True:
        opens += sum(isinstance(effect, Open) for effect in taken.effects)
        taken = step(taken.state, lost(taken.state.epoch), POLICY)
        delays += [effect.delay for effect in taken.effects if isinstance(effect, Arm)]
        if taken.state.phase is Phase.FAILED:
            break
        taken = step(taken.state, RetryDue(taken.state.epoch), POLICY)
    assert (opens, delays) == (4, [0.25, 1.0, 4.0])
    assert taken.state.cause == EXITED


def test_a_remote_server_is_probed_at_growing_intervals_after_it_failed() -> None:
    taken, delays = walk(StartWanted(), policy=REMOTE), []
    for _ in range(9):
        taken = walk(lost(taken.state.epoch), policy=REMOTE, state=taken.state)
        delays += [effect.delay for effect in taken.effects if isinstance(effect, Arm)]
        taken = walk(RetryDue(taken.state.epoch), policy=REMOTE, state=taken.state)
    assert delays == [0.25, 1.0, 4.0, 30, 60, 120, 240, 300, 300]


def failed_remote(at: float = 100.0, cause: Cause = EXITED) -> State:
    taken = walk(StartWanted(), policy=REMOTE)
    while taken.state.phase is not Phase.FAILED:
        taken = walk(lost(taken.state.epoch, at, cause), policy=REMOTE, state=taken.state)
        if taken.state.phase is Phase.BACKOFF:
            taken = walk(RetryDue(taken.state.epoch), policy=REMOTE, state=taken.state)
    return taken.state


def test_a_call_probes_a_failed_remote_server_at_most_once_a_second() -> None:
    failed = failed_remote()
    assert failed.takes_calls
    assert step(failed, Called(100.9), REMOTE) == Step(failed)
    taken = step(failed, Called(101.0), REMOTE)
    assert taken.effects == (Disarm(Timer.RETRY), Open(failed.epoch + 1))
    assert (taken.state.phase, taken.state.probing) == (Phase.CONNECTING, True)
    again = step(taken.state, lost(taken.state.epoch, 102), REMOTE)
    assert again.effects == (Arm(Timer.RETRY, 30, taken.state.epoch),)
    assert step(again.state, Called(102.5), REMOTE).state is again.state
    back = step(taken.state, Ready(taken.state.epoch), REMOTE).state
    assert (back.phase, back.probing, back.takes_calls) == (Phase.CONNECTED, False, True)


def test_a_call_probes_a_remote_server_before_its_next_restart() -> None:
    waiting = walk(StartWanted(), lost(1, 10), policy=REMOTE).state
    assert step(waiting, Called(10.5), REMOTE) == Step(waiting)
    assert step(waiting, Called(11), REMOTE).effects == (Disarm(Timer.RETRY), Open(2))
    local = walk(StartWanted(), lost(1, 10)).state
    assert step(local, Called(11), POLICY) == Step(local)


def test_a_call_probes_no_server_that_asked_to_wait_or_cannot_be_helped() -> None:
    busy = failed_remote(cause=Cause(Code.HTTP_ERROR, "wait", retry_after=30))
    assert step(busy, Called(129), REMOTE) == Step(busy)
    assert step(busy, Called(130), REMOTE).state.phase is Phase.CONNECTING
    probed = step(failed_remote(), Called(101), REMOTE).state
    hopeless = step(probed, lost(probed.epoch, 102, MISSING), REMOTE).state
    assert not hopeless.takes_calls
    assert step(hopeless, Called(200), REMOTE) == Step(hopeless)


def test_the_wait_between_probes_stays_finite_for_ever() -> None:
    assert REMOTE.probe_delay(10**6) == 300


@pytest.mark.parametrize("code", sorted(FATAL))
def test_what_trying_again_cannot_help_fails_at_once(code: Code) -> None:
    taken = walk(StartWanted(), lost(1, cause=Cause(code, "x")), policy=REMOTE)
    assert (taken.state.phase, taken.effects) == (Phase.FAILED, ())


def test_a_lost_lease_is_no_crash_and_is_waited_for_without_end() -> None:
    expired = Cause(Code.LEASE_EXPIRED, "the lease of this node expired")
    state = walk(StartWanted(), Ready(1)).state
    for second in range(20):
        taken = walk(lost(state.epoch, second, expired), state=state)
        assert (taken.state.phase, taken.state.n, taken.state.restarts) == (Phase.BACKOFF, 0, ())
        assert Arm(Timer.RETRY, 1.0, state.epoch) in taken.effects
        state = walk(RetryDue(state.epoch), state=taken.state).state
    assert walk(Ready(state.epoch), state=state).state.phase is Phase.CONNECTED


def test_too_many_restarts_within_an_hour_fail_however_stable_each_run_was() -> None:
    state = walk(StartWanted(), Ready(1)).state
    for crash in range(10):
        state = walk(lost(state.epoch, crash * 300.0), state=state).state
        assert state.phase is Phase.BACKOFF
        opened = walk(RetryDue(state.epoch), state=state).state
        state = walk(Ready(opened.epoch), Settled(opened.epoch), state=opened).state
    failed = walk(lost(state.epoch, 3000.0), state=state).state
    assert failed.phase is Phase.FAILED
    assert failed.cause is not None
    assert failed.cause.code is Code.FLAPPING
    assert (
        failed.cause.message
        == "restarted 10 times within 60 minutes; last error: exited with code 1"
    )
    later = walk(lost(state.epoch, 3601.0), state=state).state
    assert later.phase is Phase.BACKOFF


def test_the_limits_of_restarts_are_those_of_the_server() -> None:
    none = POLICY.limited(0, 10, 3600)
    assert walk(StartWanted(), lost(1), policy=none).state.phase is Phase.FAILED
    assert POLICY.limited(2, 10, 3600).delays == (0.25, 1.0)
    assert POLICY.limited(6, 10, 3600).delays == (0.25, 1.0, 4.0, 16.0, 60.0, 60.0)
    once = POLICY.limited(3, 1, 30)
    again = walk(StartWanted(), lost(1), RetryDue(1), lost(2, at=29), policy=once).state
    assert again.cause is not None
    assert again.cause.message == "restarted once within 30 s; last error: exited with code 1"
    assert walk(StartWanted(), lost(1), RetryDue(1), lost(2, at=30), policy=once).state.n == 2
    never = walk(StartWanted(), lost(1), policy=POLICY.limited(3, 0, 30)).state
    assert (never.phase, never.cause and never.cause.message) == (
        Phase.FAILED,
        "exited with code 1",
    )


def test_a_changed_server_is_closed_and_opened_again() -> None:
    taken = walk(StartWanted(), Ready(1), Changed())
    assert taken.effects == (Disarm(Timer.SETTLE), Close(1))
    assert walk(Closed(1), state=taken.state).effects == (Open(2),)


def test_a_stop_while_it_restarts_wins_and_a_start_while_it_stops_is_remembered() -> None:
    assert walk(StartWanted(), Changed(), StopWanted(), Closed(1)).state.phase is Phase.STOPPED
    assert (
        walk(StartWanted(), StopWanted(), StartWanted(), Closed(1)).state.phase is Phase.CONNECTING
    )
    assert walk(StartWanted(), StopWanted(), Changed(), Closed(1)).state.phase is Phase.CONNECTING


def test_a_change_ends_a_wait_and_a_failure_at_once() -> None:
    waiting = walk(StartWanted(), lost(1), Changed())
    assert waiting.effects == (Disarm(Timer.RETRY), Open(2))
    failed = walk(StartWanted(), lost(1, cause=MISSING), Changed())
    assert failed.effects == (Disarm(Timer.RETRY), Open(2))
    assert (failed.state.n, failed.state.cause) == (0, None)


def test_a_server_that_wants_a_sign_in_waits_for_a_start() -> None:
    taken = walk(StartWanted(), AuthNeeded(1, SIGN_IN))
    assert (taken.state.phase, taken.state.cause) == (Phase.NEEDS_AUTH, SIGN_IN)
    assert walk(StartWanted(), state=taken.state).effects == (Open(2),)
    assert walk(Changed(), state=taken.state).effects == (Open(2),)
    dropped = walk(StartWanted(), Ready(1), AuthNeeded(1, SIGN_IN))
    assert dropped.effects == (Disarm(Timer.SETTLE),)


def test_a_degraded_server_says_why_and_is_connected_again_once_it_answers() -> None:
    degraded = walk(StartWanted(), Ready(1), Degraded(1, HUNG))
    assert (degraded.state.phase, degraded.state.cause) == (Phase.DEGRADED, HUNG)
    assert degraded.effects == (Disarm(Timer.SETTLE),)
    assert walk(StartWanted(), state=degraded.state).state == degraded.state
    answers = walk(Recovered(1), state=degraded.state)
    assert (answers.state.phase, answers.state.cause) == (Phase.CONNECTED, None)
    assert answers.effects == (Arm(Timer.SETTLE, 60, 1),)


def test_a_degraded_server_that_is_lost_is_restarted_like_a_connected_one() -> None:
    degraded = walk(StartWanted(), Ready(1), Degraded(1, HUNG)).state
    waiting = walk(lost(1), state=degraded)
    assert waiting.effects == (Arm(Timer.RETRY, 0.25, 1),)
    assert words(waiting.state) == (Status.DISCONNECTED, RunState.ERROR)
    assert walk(AuthNeeded(1, SIGN_IN), state=degraded).effects == ()
    assert walk(Changed(), state=degraded).effects == (Close(1),)
    assert walk(StopWanted(), state=degraded).state.phase is Phase.STOPPING


def test_nothing_opens_without_approval() -> None:
    held = RestartPolicy(approved=False)
    waiting = walk(StartWanted(), policy=held)
    assert (waiting.state.phase, waiting.effects) == (Phase.NEEDS_APPROVAL, ())
    assert waiting.state.cause is not None
    assert waiting.state.cause.code is Code.NEEDS_APPROVAL
    assert walk(StartWanted(), state=waiting.state).effects == (Open(1),)
    assert walk(Changed(), policy=held, state=waiting.state).state == waiting.state
    running = walk(StartWanted(), Ready(1), Changed()).state
    assert walk(Closed(1), policy=held, state=running).state.phase is Phase.NEEDS_APPROVAL


def test_the_words_of_an_older_epoch_change_nothing() -> None:
    state = walk(StartWanted(), lost(1), RetryDue(1)).state
    late = (Ready(1), Degraded(1, HUNG), Recovered(1), lost(1), AuthNeeded(1, SIGN_IN))
    for event in (*late, RetryDue(1), Settled(1), Closed(1)):
        assert step(state, event, POLICY) == Step(state, ignored=True)


def test_a_late_event_changes_nothing() -> None:
    assert step(State(), Ready(0), POLICY) == Step(State(), ignored=True)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (State(), (Status.DISCONNECTED, RunState.STOPPED)),
        (State(Phase.CONNECTING), (Status.CONNECTING, RunState.RUNNING)),
        (State(Phase.CONNECTING, n=1), (Status.CONNECTING, RunState.ERROR)),
        (State(Phase.CONNECTED), (Status.CONNECTED, RunState.RUNNING)),
        (State(Phase.CONNECTED, n=2), (Status.CONNECTED, RunState.RUNNING)),
        (State(Phase.DEGRADED), (Status.ERROR, RunState.ERROR)),
        (State(Phase.BACKOFF, was_connected=True), (Status.DISCONNECTED, RunState.ERROR)),
        (State(Phase.BACKOFF), (Status.ERROR, RunState.ERROR)),
        (State(Phase.FAILED), (Status.ERROR, RunState.ERROR)),
        (State(Phase.NEEDS_AUTH), (Status.ERROR, RunState.ERROR)),
        (State(Phase.NEEDS_APPROVAL), (Status.ERROR, RunState.ERROR)),
        (State(Phase.STOPPING), (Status.DISCONNECTED, RunState.RUNNING)),
    ],
)
def test_every_phase_has_its_public_words(state: State, expected: tuple[Status, RunState]) -> None:
    assert words(state) == expected


def test_a_lost_connection_is_disconnected_and_a_failed_connect_is_an_error() -> None:
    assert words(walk(StartWanted(), Ready(1), lost(1)).state)[0] is Status.DISCONNECTED
    assert words(walk(StartWanted(), lost(1)).state)[0] is Status.ERROR
    again = walk(StartWanted(), Ready(1), lost(1), RetryDue(1), lost(2)).state
    assert words(again)[0] is Status.ERROR


def test_every_phase_and_event_stands_in_the_table() -> None:
    assert {phase for phase, _ in TABLE} == set(Phase)
    assert {event for _, event in TABLE} == set(lifecycle.Event.__args__)


def test_jitter_spreads_a_delay_by_a_fifth_either_way() -> None:
    assert [spread(10, unit) for unit in (0, 0.5, 1)] == pytest.approx([8, 10, 12])


def test_a_state_is_a_value() -> None:
    assert replace(State(), n=1) == State(n=1)
