"""The lifecycle as a stateful machine: whatever happens in whatever order, the promises hold."""

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from mcpyard.domain.backoff import RestartPolicy
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.effects import Arm, Close, Disarm, Effect, Open, Timer
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
    StopWanted,
    step,
)
from mcpyard.domain.status import RunState, Status, public_words

OWNERS = {
    Timer.RETRY: {Phase.BACKOFF, Phase.FAILED},
    Timer.SETTLE: {Phase.CONNECTED},
}
ALIVE = {Phase.CONNECTING, Phase.CONNECTED, Phase.DEGRADED, Phase.STOPPING}
WAYS_OUT_OF_DEGRADED = (Recovered, Lost, AuthNeeded, Changed, StopWanted)
HUNG = Cause(Code.UNRESPONSIVE, "did not answer")
causes = st.sampled_from([Cause(Code.EXITED, "exited"), Cause(Code.COMMAND_MISSING, "missing")])


class Server(RuleBasedStateMachine):
    """Carries the effects out the way the runtime does, and lets anything happen next."""

    def __init__(self) -> None:
        super().__init__()
        self.state = State()
        self.policy = RestartPolicy()
        self.timers: dict[Timer, int] = {}
        self.child: int | None = None
        self.closing = False
        self.opens_in_incident = 0
        self.opened_by_calls = False
        self.breaker_open = False
        self.now = 0.0

    def happen(self, event: Event) -> None:
        before, taken = self.state, step(self.state, event, self.policy)
        if taken.ignored:
            assert taken.state == before
            assert not taken.effects
            return
        assert taken.state.phase in TABLE[before.phase, type(event)].to
        self.state = taken.state
        self.only_a_connected_server_degrades(before, event)
        for effect in taken.effects:
            self.carry_out(effect)

    def only_a_connected_server_degrades(self, before: State, event: Event) -> None:
        phase = self.state.phase
        if phase is Phase.DEGRADED and before.phase is not Phase.DEGRADED:
            assert before.phase is Phase.CONNECTED
            assert isinstance(event, Degraded)
            self.breaker_open = True
        elif before.phase is Phase.DEGRADED and phase is not Phase.DEGRADED:
            assert isinstance(event, WAYS_OUT_OF_DEGRADED)
            self.breaker_open = False

    def carry_out(self, effect: Effect) -> None:
        match effect:
            case Open(epoch):
                assert self.child is None, "two children of one server"
                self.child = epoch
                self.opens_in_incident += 1
            case Close(epoch):
                assert epoch == self.child
                self.closing = True
            case Arm(timer, delay, epoch):
                assert timer not in self.timers, "a timer was armed twice"
                assert delay > 0
                self.timers[timer] = epoch
            case Disarm(timer):
                self.timers.pop(timer, None)

    @rule()
    def somebody_starts_it(self) -> None:
        self.fresh_incident_if(Phase.STOPPED, Phase.FAILED, Phase.NEEDS_AUTH, Phase.NEEDS_APPROVAL)
        self.happen(StartWanted())

    @rule()
    def somebody_stops_it(self) -> None:
        self.happen(StopWanted())

    @rule()
    def its_definition_changes(self) -> None:
        self.fresh_incident_if(*Phase)
        self.happen(Changed())

    def fresh_incident_if(self, *phases: Phase) -> None:
        if self.state.phase in phases:
            self.opens_in_incident = 0
            self.opened_by_calls = False

    @precondition(lambda self: self.child is not None and not self.closing)
    @rule()
    def it_gets_ready(self) -> None:
        assert self.child is not None
        if self.state.phase is Phase.CONNECTING:
            self.happen(Ready(self.child))

    @precondition(lambda self: self.child is not None)
    @rule()
    def it_hangs(self) -> None:
        assert self.child is not None
        self.happen(Degraded(self.child, HUNG))

    @precondition(lambda self: self.child is not None)
    @rule()
    def it_answers_again(self) -> None:
        assert self.child is not None
        self.happen(Recovered(self.child))

    @precondition(lambda self: self.child is not None and not self.closing)
    @rule(cause=causes)
    def it_dies(self, cause: Cause) -> None:
        epoch, self.child = self.child, None
        assert epoch is not None
        self.happen(Lost(epoch, cause, self.now))

    @precondition(lambda self: self.child is not None and not self.closing)
    @rule()
    def it_wants_a_sign_in(self) -> None:
        epoch, self.child = self.child, None
        assert epoch is not None
        self.happen(AuthNeeded(epoch, Cause(Code.NEEDS_AUTH, "sign in")))

    @precondition(lambda self: self.closing)
    @rule()
    def it_is_closed(self) -> None:
        epoch, self.child, self.closing = self.child, None, False
        assert epoch is not None
        self.opens_in_incident = 0
        self.happen(Closed(epoch))

    @precondition(lambda self: Timer.RETRY in self.timers)
    @rule()
    def the_retry_is_due(self) -> None:
        self.happen(RetryDue(self.timers.pop(Timer.RETRY)))

    @rule()
    def somebody_calls_it(self) -> None:
        """A call opens a remote server that is away, never sooner than a second after its loss."""
        before = self.state
        self.happen(Called(self.now))
        if self.state.epoch != before.epoch:
            assert self.policy.remote
            assert before.phase is Phase.BACKOFF or before.probing
            assert self.now >= before.lost_at + self.policy.probe_gap
            self.opened_by_calls = True

    @precondition(lambda self: Timer.SETTLE in self.timers)
    @rule()
    def it_settles(self) -> None:
        self.opens_in_incident = 0
        self.opened_by_calls = False
        self.happen(Settled(self.timers.pop(Timer.SETTLE)))

    @rule(seconds=st.floats(0, 4000))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @rule(approved=st.booleans(), remote=st.booleans())
    def the_policy_changes(self, *, approved: bool, remote: bool) -> None:
        self.policy = RestartPolicy(approved=approved, remote=remote)

    @rule(back=st.integers(1, 5), cause=causes)
    def an_old_epoch_speaks(self, back: int, cause: Cause) -> None:
        epoch, before = self.state.epoch - back, self.state
        late = (Ready(epoch), Lost(epoch, cause, self.now), AuthNeeded(epoch, cause))
        health = (Degraded(epoch, cause), Recovered(epoch))
        for event in (*late, *health, RetryDue(epoch), Settled(epoch), Closed(epoch)):
            assert step(before, event, self.policy).ignored

    @invariant()
    def a_child_lives_exactly_in_the_phases_that_have_one(self) -> None:
        assert (self.child is not None) == (self.state.phase in ALIVE)
        assert self.closing == (self.state.phase is Phase.STOPPING)

    @invariant()
    def no_timer_without_a_phase_that_owns_it(self) -> None:
        for timer, epoch in self.timers.items():
            assert self.state.phase in OWNERS[timer]
            assert epoch == self.state.epoch

    @invariant()
    def a_wait_always_has_its_timer(self) -> None:
        if self.state.phase is Phase.BACKOFF:
            assert Timer.RETRY in self.timers

    @invariant()
    def a_server_that_takes_calls_although_it_failed_has_its_next_probe(self) -> None:
        if self.state.phase is Phase.FAILED:
            assert self.state.takes_calls == (Timer.RETRY in self.timers)

    @invariant()
    def a_local_server_is_opened_at_most_four_times_an_incident(self) -> None:
        if not self.state.probes and not self.opened_by_calls:
            assert self.opens_in_incident <= 4

    @invariant()
    def no_reason_stands_beside_a_connected_server(self) -> None:
        assert self.state.phase is not Phase.CONNECTED or self.state.cause is None
        reasoned = {Phase.FAILED, Phase.BACKOFF, Phase.DEGRADED}
        assert self.state.phase not in reasoned or self.state.cause

    @invariant()
    def nothing_is_green_while_the_breaker_is_open(self) -> None:
        words = public_words(self.state)
        assert self.breaker_open == (self.state.phase is Phase.DEGRADED)
        assert not self.breaker_open or words == (Status.ERROR, RunState.ERROR)

    @invariant()
    def a_degraded_server_can_always_be_left(self) -> None:
        if self.state.phase is Phase.DEGRADED:
            assert step(self.state, Recovered(self.state.epoch), self.policy).state.cause is None

    @invariant()
    def a_stop_always_ends_in_stopped(self) -> None:
        taken = step(self.state, StopWanted(), self.policy)
        if taken.state.phase is Phase.STOPPING:
            taken = step(taken.state, Closed(taken.state.epoch), self.policy)
        assert taken.state.phase is Phase.STOPPED


TestServer = Server.TestCase
TestServer.settings = settings(max_examples=settings().max_examples // 2, stateful_step_count=30)
