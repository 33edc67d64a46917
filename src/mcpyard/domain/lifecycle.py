"""The life of a server: one table, in a file that does nothing else.

`step(state, event, policy)` gives the next state and the effects the runtime must carry out. Every
status anybody sees comes from here; nothing else assigns one.

A state carries the `epoch` of the child or session it speaks of; it grows with every open. Events
about a child or a timer name the epoch they belong to, and one of an older epoch changes nothing:
a dead child's last words cannot harm its successor. A pair that is not in the table is a late event
and changes nothing either. The runtime counts both, by `Step.ignored`.

A `Lost` is told at once, so that nobody sees a dead server as running; the runtime ends what is
left of the child by itself, before it carries out the next `Open`. `Close` is for one that lives.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from mcpyard.domain.backoff import RestartPolicy
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.effects import Arm, Close, Disarm, Effect, Open, Timer


class Phase(StrEnum):
    """Where in its life a server is."""

    STOPPED = "stopped"
    CONNECTING = "connecting"
    CONNECTED = "connected"
    DEGRADED = "degraded"
    BACKOFF = "backoff"
    FAILED = "failed"
    NEEDS_AUTH = "needs_auth"
    NEEDS_APPROVAL = "needs_approval"
    STOPPING = "stopping"


OPEN = frozenset({Phase.CONNECTED, Phase.DEGRADED})
"""The phases of a server whose session stands, whether or not it responds."""

UP = OPEN | {Phase.CONNECTING, Phase.BACKOFF}
"""The phases of a server that runs or is about to."""

AWAY = frozenset({Phase.BACKOFF, Phase.FAILED})
"""The phases of a server that was lost; each owns the retry timer."""

ASLEEP = frozenset({Phase.STOPPED, Phase.STOPPING})
"""The phases of a server that a call can wake."""


class State(Struct, frozen=True):
    """A server's phase and what belongs to it.

    Attributes:
        phase: Where in its life the server is.
        epoch: Counts the opens.
        n: Restarts used up in the present incident.
        probes: Half-open probes of a failed remote server.
        probing: Whether a remote server is tried on after it failed: the next probe is pending, or
            the present open is one.
        lost_at: When it was lost last, in monotonic seconds.
        restart: In `stopping`: open again once closed.
        was_connected: Whether the loss that led here was that of a standing connection.
        cause: Why it is not connected; None in phases that need no reason.
        restarts: When it was restarted lately, for the flap brake.
    """

    phase: Phase = Phase.STOPPED
    epoch: int = 0
    n: int = 0
    probes: int = 0
    probing: bool = False
    lost_at: float = 0.0
    restart: bool = False
    was_connected: bool = False
    cause: Cause | None = None
    restarts: tuple[float, ...] = ()

    @property
    def takes_calls(self) -> bool:
        """Whether a call can reach it now or soon, or is itself the probe that finds out."""
        return self.phase in UP or (self.phase is Phase.FAILED and self.probing)


class StartWanted(Struct, frozen=True):
    """Somebody wants it to run."""


class StopWanted(Struct, frozen=True):
    """Nobody wants it to run."""


class Changed(Struct, frozen=True):
    """It should run, with another definition or simply anew."""


class Ready(Struct, frozen=True):
    """The handshake is done and the tools are listed."""

    epoch: int


class Degraded(Struct, frozen=True):
    """It runs, but answers neither calls nor a ping."""

    epoch: int
    cause: Cause


class Recovered(Struct, frozen=True):
    """It answers again."""

    epoch: int


class Lost(Struct, frozen=True):
    """The connection ended, or never came about; `at` is monotonic time in seconds."""

    epoch: int
    cause: Cause
    at: float


class AuthNeeded(Struct, frozen=True):
    """Sign-in required first."""

    epoch: int
    cause: Cause


class RetryDue(Struct, frozen=True):
    """The retry timer ran out."""

    epoch: int


class Called(Struct, frozen=True):
    """A call needs it; `at` is monotonic time in seconds."""

    at: float


class Settled(Struct, frozen=True):
    """The settle timer ran out."""

    epoch: int


class Closed(Struct, frozen=True):
    """The child and all its descendants are gone, or the session is ended."""

    epoch: int


Event = (
    StartWanted
    | StopWanted
    | Changed
    | Ready
    | Degraded
    | Recovered
    | Lost
    | AuthNeeded
    | RetryDue
    | Called
    | Settled
    | Closed
)


class Step(NamedTuple):
    """The outcome of one event."""

    state: State
    effects: tuple[Effect, ...] = ()
    ignored: bool = False


_MINUTE: Final = 60.0
_LEASE_PAUSE: Final = 1.0
"""Seconds between two tries to start what needs the lease of this node: as often as it beats."""

_Move = Callable[[State, Event, RestartPolicy], Step]


def _open(state: State, _event: Event, policy: RestartPolicy) -> Step:
    if not policy.approved:
        why = Cause(Code.NEEDS_APPROVAL, "needs your approval", "Run `mcpyard approve`.")
        return Step(replace(state, phase=Phase.NEEDS_APPROVAL, restart=False, cause=why))
    epoch = state.epoch + 1
    opened = replace(state, phase=Phase.CONNECTING, epoch=epoch, restart=False)
    return Step(opened, (Open(epoch),))


def _open_afresh(state: State, event: Event, policy: RestartPolicy) -> Step:
    return _open(_calm(state), event, policy)


def _open_disarmed(state: State, event: Event, policy: RestartPolicy) -> Step:
    after, effects, _ = _open_afresh(state, event, policy)
    return Step(after, (*_owned_timer(state), *effects))


def _probe(state: State, event: Event, policy: RestartPolicy) -> Step:
    assert isinstance(event, Called)  # noqa: S101  the table pairs this move with it alone
    pause = max(policy.probe_gap, state.cause.retry_after if state.cause else 0)
    given_up = state.phase is Phase.FAILED and not state.probing
    if not policy.remote or given_up or event.at < state.lost_at + pause:
        return Step(state)
    # Somebody needs it: should this probe fail, the next ones come at short intervals again.
    after, effects, _ = _open(replace(state, probes=0), event, policy)
    return Step(after, (*_owned_timer(state), *effects))


def _ready(state: State, _event: Event, policy: RestartPolicy) -> Step:
    connected = replace(state, phase=Phase.CONNECTED, cause=None, was_connected=True, probing=False)
    return Step(connected, (Arm(Timer.SETTLE, policy.settle, state.epoch),))


def _degrade(state: State, event: Event, _policy: RestartPolicy) -> Step:
    assert isinstance(event, Degraded)  # noqa: S101  the table pairs this move with it alone
    degraded = replace(state, phase=Phase.DEGRADED, cause=event.cause)
    return Step(degraded, (Disarm(Timer.SETTLE),))


def _settle(state: State, _event: Event, _policy: RestartPolicy) -> Step:
    return Step(replace(state, n=0, probes=0))


def _lose(state: State, event: Event, policy: RestartPolicy) -> Step:
    assert isinstance(event, Lost)  # noqa: S101  the table pairs this move with Lost alone
    was_connected = state.phase in OPEN
    off = (Disarm(Timer.SETTLE),) if state.phase is Phase.CONNECTED else ()
    recent = tuple(at for at in state.restarts if event.at - at < policy.flap_window)
    lost = replace(state, was_connected=was_connected, cause=event.cause, restarts=recent)
    lost = replace(lost, lost_at=event.at, probing=False)
    if event.cause.fatal:
        return Step(replace(lost, phase=Phase.FAILED), off)
    if event.cause.code is Code.LEASE_EXPIRED:
        # It did not fail: it starts again as soon as this node has its lease back.
        waiting = replace(lost, phase=Phase.BACKOFF)
        return Step(waiting, (*off, Arm(Timer.RETRY, _LEASE_PAUSE, state.epoch)))
    if state.n >= policy.max_restarts:
        return _give_up(lost, policy, off)
    if len(recent) >= policy.flap_limit:
        why = _flapping(event.cause, len(recent), policy) if recent else event.cause
        return _give_up(replace(lost, cause=why), policy, off)
    waiting = replace(lost, phase=Phase.BACKOFF, n=state.n + 1, restarts=(*recent, event.at))
    return Step(waiting, (*off, Arm(Timer.RETRY, policy.delays[state.n], state.epoch)))


def _give_up(lost: State, policy: RestartPolicy, off: tuple[Effect, ...]) -> Step:
    # n stays at its limit, so that a probe that fails too leads straight back here.
    failed = replace(lost, phase=Phase.FAILED, n=policy.max_restarts)
    if not policy.remote:
        return Step(failed, off)
    delay = policy.probe_delay(lost.probes)
    probing = replace(failed, probes=lost.probes + 1, probing=True)
    return Step(probing, (*off, Arm(Timer.RETRY, delay, lost.epoch)))


def _flapping(cause: Cause, restarts: int, policy: RestartPolicy) -> Cause:
    window = policy.flap_window
    span = f"{window:g} s" if window < _MINUTE else f"{window / _MINUTE:.0f} minutes"
    times = "once" if restarts == 1 else f"{restarts} times"
    message = f"restarted {times} within {span}; last error: {cause.message}"
    retry_after = cause.retry_after
    return Cause(Code.FLAPPING, message, cause.hint, cause.stderr, retry_after=retry_after)


def _ask_for_sign_in(state: State, event: Event, _policy: RestartPolicy) -> Step:
    assert isinstance(event, AuthNeeded)  # noqa: S101  the table pairs this move with it alone
    off = (Disarm(Timer.SETTLE),) if state.phase is Phase.CONNECTED else ()
    return Step(replace(state, phase=Phase.NEEDS_AUTH, cause=event.cause), off)


def _close(state: State, _event: Event, _policy: RestartPolicy) -> Step:
    stopping = replace(_calm(state), phase=Phase.STOPPING)
    return Step(stopping, (*_owned_timer(state), Close(state.epoch)))


def _close_to_restart(state: State, event: Event, policy: RestartPolicy) -> Step:
    after, effects, _ = _close(state, event, policy)
    return Step(replace(after, restart=True), effects)


def _rest(state: State, _event: Event, _policy: RestartPolicy) -> Step:
    return Step(replace(_calm(state), phase=Phase.STOPPED), _owned_timer(state))


def _stay(state: State, _event: Event, _policy: RestartPolicy) -> Step:
    return Step(state)


def _reopen(state: State, _event: Event, _policy: RestartPolicy) -> Step:
    return Step(replace(state, restart=True))


def _do_not_reopen(state: State, _event: Event, _policy: RestartPolicy) -> Step:
    return Step(replace(state, restart=False))


def _closed(state: State, event: Event, policy: RestartPolicy) -> Step:
    return _open(state, event, policy) if state.restart else _rest(state, event, policy)


def _calm(state: State) -> State:
    """The state with the incident forgotten; the flap brake remembers."""
    calm = replace(state, n=0, probes=0, probing=False, restart=False)
    return replace(calm, was_connected=False, cause=None)


def _owned_timer(state: State) -> tuple[Effect, ...]:
    """Take back the timer that the phase being left owns."""
    if state.phase is Phase.CONNECTED:
        return (Disarm(Timer.SETTLE),)
    if state.phase in AWAY:
        return (Disarm(Timer.RETRY),)
    return ()


class Cell(NamedTuple):
    """One cell of the table: where it can lead, and the move that leads there."""

    to: tuple[Phase, ...]
    move: _Move


_OPENED: Final = (Phase.CONNECTING, Phase.NEEDS_APPROVAL)
_LOST: Final = (Phase.BACKOFF, Phase.FAILED)

TABLE: Final[dict[tuple[Phase, type[Event]], Cell]] = {
    (Phase.STOPPED, StartWanted): Cell(_OPENED, _open_afresh),
    (Phase.STOPPED, Changed): Cell((Phase.STOPPED,), _stay),
    (Phase.STOPPED, StopWanted): Cell((Phase.STOPPED,), _stay),
    (Phase.CONNECTING, StartWanted): Cell((Phase.CONNECTING,), _stay),
    (Phase.CONNECTING, Ready): Cell((Phase.CONNECTED,), _ready),
    (Phase.CONNECTING, Lost): Cell(_LOST, _lose),
    (Phase.CONNECTING, AuthNeeded): Cell((Phase.NEEDS_AUTH,), _ask_for_sign_in),
    (Phase.CONNECTING, Changed): Cell((Phase.STOPPING,), _close_to_restart),
    (Phase.CONNECTING, StopWanted): Cell((Phase.STOPPING,), _close),
    (Phase.CONNECTED, StartWanted): Cell((Phase.CONNECTED,), _stay),
    (Phase.CONNECTED, Degraded): Cell((Phase.DEGRADED,), _degrade),
    (Phase.CONNECTED, Lost): Cell(_LOST, _lose),
    (Phase.CONNECTED, AuthNeeded): Cell((Phase.NEEDS_AUTH,), _ask_for_sign_in),
    (Phase.CONNECTED, Settled): Cell((Phase.CONNECTED,), _settle),
    (Phase.CONNECTED, Changed): Cell((Phase.STOPPING,), _close_to_restart),
    (Phase.CONNECTED, StopWanted): Cell((Phase.STOPPING,), _close),
    (Phase.DEGRADED, StartWanted): Cell((Phase.DEGRADED,), _stay),
    (Phase.DEGRADED, Recovered): Cell((Phase.CONNECTED,), _ready),
    (Phase.DEGRADED, Lost): Cell(_LOST, _lose),
    (Phase.DEGRADED, AuthNeeded): Cell((Phase.NEEDS_AUTH,), _ask_for_sign_in),
    (Phase.DEGRADED, Changed): Cell((Phase.STOPPING,), _close_to_restart),
    (Phase.DEGRADED, StopWanted): Cell((Phase.STOPPING,), _close),
    (Phase.BACKOFF, StartWanted): Cell((Phase.BACKOFF,), _stay),
    (Phase.BACKOFF, RetryDue): Cell(_OPENED, _open),
    (Phase.BACKOFF, Called): Cell((Phase.BACKOFF, *_OPENED), _probe),
    (Phase.BACKOFF, Changed): Cell(_OPENED, _open_disarmed),
    (Phase.BACKOFF, StopWanted): Cell((Phase.STOPPED,), _rest),
    (Phase.FAILED, StartWanted): Cell(_OPENED, _open_disarmed),
    (Phase.FAILED, RetryDue): Cell(_OPENED, _open),
    (Phase.FAILED, Called): Cell((Phase.FAILED, *_OPENED), _probe),
    (Phase.FAILED, Changed): Cell(_OPENED, _open_disarmed),
    (Phase.FAILED, StopWanted): Cell((Phase.STOPPED,), _rest),
    (Phase.NEEDS_AUTH, StartWanted): Cell(_OPENED, _open_afresh),
    (Phase.NEEDS_AUTH, Changed): Cell(_OPENED, _open_afresh),
    (Phase.NEEDS_AUTH, StopWanted): Cell((Phase.STOPPED,), _rest),
    (Phase.NEEDS_APPROVAL, StartWanted): Cell(_OPENED, _open_afresh),
    (Phase.NEEDS_APPROVAL, Changed): Cell((Phase.NEEDS_APPROVAL,), _stay),
    (Phase.NEEDS_APPROVAL, StopWanted): Cell((Phase.STOPPED,), _rest),
    (Phase.STOPPING, StartWanted): Cell((Phase.STOPPING,), _reopen),
    (Phase.STOPPING, Changed): Cell((Phase.STOPPING,), _reopen),
    (Phase.STOPPING, StopWanted): Cell((Phase.STOPPING,), _do_not_reopen),
    (Phase.STOPPING, Closed): Cell((*_OPENED, Phase.STOPPED), _closed),
}


def step(state: State, event: Event, policy: RestartPolicy) -> Step:
    """What an event makes of a state."""
    epoch = getattr(event, "epoch", state.epoch)
    cell = TABLE.get((state.phase, type(event)))
    if cell is None or epoch != state.epoch:
        return Step(state, ignored=True)
    return cell.move(state, event, policy)
