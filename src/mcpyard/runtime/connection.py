"""One server: its state, its timers and the runner of its present session.

The lifecycle table decides; this file carries out. `dispatch` feeds the table an event and does
what it says. Callers only ever see futures.
"""

import asyncio
import logging
import random
from collections.abc import Callable, Coroutine
from math import inf
from typing import Any

from msgspec.structs import replace

from mcpyard.domain import limits
from mcpyard.domain.backoff import spread
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.definition.secrets import without_secrets
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.effects import Arm, Close, Disarm, Effect, Open, Timer
from mcpyard.domain.errors import Disconnected, Problem, ServerBusy
from mcpyard.domain.lifecycle import (
    ASLEEP,
    AWAY,
    OPEN,
    AuthNeeded,
    Called,
    Closed,
    Degraded,
    Event,
    Lost,
    Phase,
    Ready,
    Recovered,
    StartWanted,
    State,
    StopWanted,
    step,
)
from mcpyard.domain.model import Wanted
from mcpyard.domain.observed import Capabilities, Observed, Tools
from mcpyard.domain.ports import CallTerms, NotificationInterest, NotificationListener
from mcpyard.domain.started_calls import CallWaiter
from mcpyard.runtime.call_wait import CallWait
from mcpyard.runtime.causes import sign_in_cause, unreachable
from mcpyard.runtime.current_session import Ask, CurrentSession, was_refused
from mcpyard.runtime.running_call import RunningCall, carry_out
from mcpyard.runtime.server_api import Live
from mcpyard.runtime.session_runner import RuntimeDeps, SessionRunner, make_tools
from mcpyard.runtime.stderr import StderrRing
from mcpyard.runtime.timers import Timers
from mcpyard.wire.change_signal import ChangeSignal

log = logging.getLogger(__name__)


class Connection:
    """Supervises one server.

    Attributes:
        server: The desired state it follows.
        ring: The last lines of the server's standard error, over all its restarts.
    """

    def __init__(
        self,
        server: DesiredServer,
        deps: RuntimeDeps,
        on_change: Callable[["Connection"], None],
        listener: NotificationListener | None = None,
    ) -> None:
        self.server = server
        self.ring = StderrRing(deps.clock)
        self._deps = deps
        self._on_change = on_change
        self._listener = listener
        self._loop = asyncio.get_running_loop()
        self._timers = Timers(deps.clock, self.dispatch)
        self._state = State()
        self._tools = make_tools(deps.memory.tools(server.id), stale=True)
        self._capabilities = deps.memory.offer(server.id)
        self._interest = NotificationInterest()
        self._session: CurrentSession | None = None
        self._guarded = self._on_demand
        self._calls = 0
        self._idle_timer: asyncio.TimerHandle | None = None
        self._owners: set[asyncio.Task[None]] = set()
        self._gone = self._moved = False
        self._since = deps.clock.now()
        self._late = 0
        self._changes = ChangeSignal()

    @property
    def phase(self) -> Phase:
        """Where in its life the server is."""
        return self._state.phase

    @property
    def roots(self) -> tuple[tuple[int, int], ...]:
        """The processes whose descendants are the server's, each with its start time."""
        live = self._live
        return live.roots if live else ()

    @property
    def usable(self) -> bool:
        """Whether a call can reach it, now or soon."""
        return self._state.takes_calls or self._wakes

    @property
    def is_over(self) -> bool:
        """Whether it rests, and nothing is left of any session."""
        return self.phase is Phase.STOPPED and not self._owners

    @property
    def _wakes(self) -> bool:
        return self._on_demand and not self._gone

    @property
    def _on_demand(self) -> bool:
        return self.server.wanted is Wanted.ON_DEMAND

    @property
    def _live(self) -> Live | None:
        live = self._session.live if self._session else None
        # A call made in the very moment of a loss waits for the restart like any later one.
        return None if live is None or live.lost else live

    def observed(self) -> Observed:
        """What is, for readers."""
        live = self._live
        return Observed(
            id=self.server.id,
            state=self._state,
            launch_digest=self.server.launch_digest,
            policy_digest=self.server.policy_digest,
            turn=self.server.turn,
            since=self._since,
            next_retry_at=self._timers.next_retry if self.phase in AWAY else None,
            pid=live.pid if live else None,
            session=live.facts if live else None,
            tools=self._tools,
            warnings=self._session.warnings if self._session else (),
            offer=self._capabilities,
            concurrency=live.concurrency if live else None,
            late_events=self._late,
        )

    def take_over(self, server: DesiredServer) -> None:
        """Follow this desired state from now on."""
        self.server = server
        self._gone = self._moved = False
        self._guard()
        if self._session:
            self._session.take_over(server.config)
        if live := self._live:
            live.set_limits(server.config.limits)
        if self._wakes and not self._calls and self._idle_timer is None:
            self._stop_when_idle()

    def let_go(self, *, moved: bool = False) -> None:
        """Nobody desires it any more, here at least: it ends, and no call wakes it."""
        self._gone, self._moved = True, moved
        self.dispatch(StopWanted())

    def dispatch(self, event: Event) -> None:
        """Feed the table an event and do what it says."""
        before = self._state
        transition = step(before, event, self._deps.restart_policy_of(self.server))
        self._late += transition.ignored
        self._state = transition.state
        if transition.state.phase is not before.phase:
            self._since = self._deps.clock.now()
            self._guard()
        for effect in transition.effects:
            self._carry_out(effect)
        if transition.state != before:
            self._changed()

    def call(self, tool: str, arguments: bytes, terms: CallTerms) -> Coroutine[Any, Any, bytes]:
        """Call a tool, waiting within the terms for a server that is just coming up."""
        session = self._session
        live = session.live if session else None
        # The hot path: nothing to wait for, and nothing to look after.
        if session is None or live is None or live.lost or self._guarded:
            return self._use(lambda live, terms: live.call(tool, arguments, terms), terms)
        return carry_out(self, session, live, tool, arguments, terms)

    def start(
        self, tool: str, arguments: bytes, terms: CallTerms, waiter: CallWaiter
    ) -> RunningCall | None:
        """Call a tool without waiting for anything (see `Servers`)."""
        session = self._session
        live = session.live if session else None
        if session is None or live is None or live.lost or self._guarded:
            return None
        pending = live.start(tool, arguments, terms, waiter)
        if pending is None:
            return None
        return RunningCall(self, session, live, tool, arguments, terms, pending)

    async def request(self, method: str, params: bytes, terms: CallTerms) -> bytes:
        """Ask anything, waiting as `call` does."""
        return await self._use(lambda live, terms: live.request(method, params, terms), terms)

    def probe(self) -> None:
        """Try a remote server that is away now, unless it was tried within the last second."""
        if self.phase in AWAY:
            self.dispatch(Called(self._deps.clock.monotonic()))

    def tune(self, interest: NotificationInterest) -> None:
        """Which notifications of the server are wanted, now and after every restart."""
        self._interest = interest
        if live := self._live:
            live.tune(interest)

    def _guard(self) -> None:
        """Say whether calls must be looked after, at every change of what decides it."""
        self._guarded = self._on_demand or self.phase is Phase.DEGRADED

    async def _use(self, ask: Ask, terms: CallTerms) -> bytes:
        self._calls += 1
        try:
            live = self._live
            if live is not None:
                try:
                    return await self._ask(live, ask, terms)
                except Disconnected as fault:
                    if not was_refused(fault):
                        raise
            return await self.ask_later(ask, terms, live)
        finally:
            self._calls -= 1
            if self._on_demand and not self._calls:
                self._stop_when_idle()

    async def _ask(self, live: Live, ask: Ask, terms: CallTerms) -> bytes:
        session, degraded = self._session, self.phase is Phase.DEGRADED
        assert session  # noqa: S101  whatever lives is the session's
        refused = unreachable(self.server.name, self._state) if degraded else None
        return await session.ask(live, ask, terms, refused)

    async def ask_later(self, ask: Ask, terms: CallTerms, instead_of: Live | None) -> bytes:
        """Ask a server that is coming up, and not this one any more."""
        started, waiting = self._deps.clock.monotonic(), self._changes.waiting
        if waiting >= self.server.config.calls_at_once + self.server.config.queue:
            raise ServerBusy(f"{waiting} calls already wait for it to start")
        try:
            live = await self._come_up(terms.timeout, instead_of=instead_of)
        finally:
            waited = self._deps.clock.monotonic() - started
            if terms.waiting is not None:
                terms.waiting.waited += waited
        if terms.timeout is not None:
            terms = replace(terms, timeout=max(0.001, terms.timeout - waited))
        return await self._ask(live, ask, terms)

    def _stop_when_idle(self) -> None:
        if self._idle_timer:
            self._idle_timer.cancel()
        self._idle_timer = self._loop.call_later(limits.ON_DEMAND_IDLE, self._stop_if_idle)

    def _stop_if_idle(self) -> None:
        self._idle_timer = None
        if not self._wakes or self._calls or self._interest.uris or self.phase in ASLEEP:
            return
        if self.phase in OPEN:
            self.dispatch(StopWanted())
        else:
            self._stop_when_idle()

    async def ended(self) -> None:
        """Return when every trace of every session is gone."""
        if self._owners:
            await asyncio.wait(self._owners)

    def force_close(self) -> None:
        """Kill what is left of the session at once."""
        for owner in self._owners:
            owner.cancel()

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case Open(epoch):
                self._open(epoch)
            case Close():
                if self._session:
                    self._session.runner.close(None if self._moved else limits.DRAIN)
            case Arm(timer, delay, epoch):
                delay = spread(delay, random.random())  # noqa: S311  jitter
                if timer is Timer.RETRY and (cause := self._state.cause):
                    delay = max(delay, cause.retry_after)
                self._timers.arm(timer, delay, epoch)
            case Disarm(timer):
                self._timers.disarm(timer)

    def _open(self, epoch: int) -> None:
        runner = SessionRunner(self.server, self._deps, self.ring, self._listener)
        self._session = session = CurrentSession(epoch, runner, self)
        owner = asyncio.create_task(
            self._own(session, frozenset(self._owners)),
            name=f"server {self.server.name}, epoch {epoch}",
        )
        self._owners.add(owner)
        owner.add_done_callback(self._owners.discard)

    async def _own(self, session: CurrentSession, before: frozenset[asyncio.Task[None]]) -> None:
        cause: Cause | None = None
        try:
            if before:
                # What is left of the last session must not meet the next one.
                await asyncio.wait(before)
            cause = await session.runner.run(session)
        except asyncio.CancelledError:
            log.debug("%s: force closed", self.server.name)
        except Exception as error:
            # A mistake of ours costs this session, not the watch over the server.
            log.exception("%s: supervision failed", self.server.name)
            cause = Cause(Code.CLOSED, f"internal error in mcpyard: {error!r}")
        if not session.loss_reported:
            self._dispatch_end(session, cause or Cause(Code.CLOSED, "was ended"))

    def on_ready(self, session: CurrentSession, tools: Tools) -> None:
        """The present session can be used."""
        self._tools = tools
        if session.live and self._interest != NotificationInterest():
            session.live.tune(self._interest)
        self.dispatch(Ready(session.epoch))

    def on_tools(self, tools: Tools) -> None:
        """The present session has other tools."""
        self._tools = tools
        self._changed()

    def on_warning(self, problem: Problem) -> None:
        """The present session misbehaves."""
        log.warning("%s: %s", self.server.name, problem)
        self._changed()

    def on_capabilities(self, capabilities: Capabilities) -> None:
        """The present session has these resources, templates and prompts."""
        if capabilities != self._capabilities:
            self._capabilities = capabilities
            self._changed()

    def on_degraded(self, session: CurrentSession, cause: Cause) -> None:
        """The present session does not respond."""
        log.warning("%s: %s", self.server.name, cause.message)
        self._tools = replace(self._tools, stale=True)
        self.dispatch(Degraded(session.epoch, cause))

    def on_recovered(self, session: CurrentSession) -> None:
        """The session responds again, unless it is being closed already."""
        if self.phase is Phase.DEGRADED and self._session is session:
            self._tools = replace(self._tools, stale=False)
            self.dispatch(Recovered(session.epoch))

    def on_over(self, session: CurrentSession, cause: Cause | None) -> None:
        """No call may find the session any more; a loss is reported at once."""
        self._tools = replace(self._tools, stale=True)
        if cause is None or session.runner.closing:
            self._changed()
        else:
            session.loss_reported = True
            self._dispatch_end(session, cause)

    def _dispatch_end(self, session: CurrentSession, cause: Cause) -> None:
        if self._session is session:
            self._session = None
        cause = without_secrets(cause, self.server.launch)
        if session.runner.closing:
            self.dispatch(Closed(session.epoch))  # How it ended makes no difference then.
        elif cause.code is Code.NEEDS_AUTH:
            self.dispatch(AuthNeeded(session.epoch, sign_in_cause(cause, self.server)))
        else:
            # A probe that a call makes every second is no news each time.
            news = logging.DEBUG if cause == self._state.cause else logging.ERROR
            log.log(news, "%s: %s", self.server.name, cause.message)
            self.dispatch(Lost(session.epoch, cause, self._deps.clock.monotonic()))

    async def _come_up(self, seconds: float | None, *, instead_of: Live | None) -> Live:
        if self._wakes and self.phase in ASLEEP:
            self.dispatch(StartWanted())
        clock, policy = self._deps.clock, self._deps.restart_policy_of(self.server)
        wait = CallWait(policy, clock.monotonic() + (inf if seconds is None else seconds))
        while (live := self._live) is None or live is instead_of:
            self.probe()
            within = wait.seconds(self._state, clock.monotonic())
            if within is None:
                raise unreachable(self.server.name, self._state)
            try:
                await self._changes.wait(within)
            except TimeoutError:
                if not wait.goes_on(self._state, clock.monotonic()):
                    raise unreachable(self.server.name, self._state) from None
        return live

    def _changed(self) -> None:
        self._changes.happened()
        self._on_change(self)
