"""One server: its state, its timers and the tenure of its present session.

The lifecycle table decides; this file carries out. `tell` feeds the table an event and does what it
says. Callers only ever see futures.
"""

import asyncio
import logging
import random
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from math import inf

from mcpyard.domain import limits
from mcpyard.domain.backoff import RestartPolicy, spread
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import CallRefused, Disconnected, TimedOut
from mcpyard.domain.lifecycle import (
    ASLEEP,
    OPEN,
    UP,
    Arm,
    AuthNeeded,
    Close,
    Closed,
    Degraded,
    Disarm,
    Effect,
    Event,
    Lost,
    Open,
    Phase,
    Ready,
    Recovered,
    RetryDue,
    Settled,
    StartWanted,
    State,
    StopWanted,
    Timer,
    step,
)
from mcpyard.domain.model import RemoteConfig, RestartLimits, Wanted
from mcpyard.domain.observed import Capabilities, Observed, Tools
from mcpyard.domain.ports import CallTerms, NotificationInterest, Telling
from mcpyard.runtime.causes import sign_in_cause, unreachable
from mcpyard.runtime.change_signal import ChangeSignal
from mcpyard.runtime.current_session import Ask, CurrentSession
from mcpyard.runtime.server_api import Live
from mcpyard.runtime.session_runner import RuntimeDeps, SessionRunner, make_tools
from mcpyard.runtime.stderr import StderrRing

log = logging.getLogger(__name__)

_USUAL = RestartLimits()


class Connection:
    """Supervises one server.

    Attributes:
        server: The desired state it follows.
        ring: The last lines of the server's standard error, over all its restarts.
    """

    def __init__(
        self,
        server: DesiredServer,
        crew: RuntimeDeps,
        on_change: Callable[["Connection"], None],
        on_notice: Telling | None = None,
    ) -> None:
        self.server = server
        self.ring = StderrRing(crew.clock)
        self._crew = crew
        self._on_change = on_change
        self._on_notice = on_notice
        self._loop = asyncio.get_running_loop()
        self._state = State()
        self._tools = make_tools(crew.memory.tools(server.id), stale=True)
        self._offer = crew.memory.offer(server.id)
        self._tuning = NotificationInterest()
        self._session: CurrentSession | None = None
        self._guarded = self._on_demand
        self._calls = 0
        self._rest: asyncio.TimerHandle | None = None
        self._owners: set[asyncio.Task[None]] = set()
        self._timers: dict[Timer, asyncio.TimerHandle] = {}
        self._gone = False
        self._since: datetime = crew.clock.now()
        self._next_retry: datetime | None = None
        self._late = 0
        self._changes = ChangeSignal()

    @property
    def phase(self) -> Phase:
        """Where in its life the server is."""
        return self._state.phase

    @property
    def usable(self) -> bool:
        """Whether a call can reach it, now or soon."""
        return self.phase in UP or self._wakes

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
            next_retry_at=self._next_retry,
            pid=live.pid if live else None,
            session=live.facts if live else None,
            tools=self._tools,
            offer=self._offer,
            lanes=live.lanes if live else None,
            late_events=self._late,
        )

    def take_over(self, server: DesiredServer) -> None:
        """Follow this desired state from now on."""
        self.server = server
        self._gone = False
        self._guard()
        if self._session:
            self._session.health.check = server.config.health
        if self._wakes and not self._calls and self._rest is None:
            self._rest_later()

    def let_go(self) -> None:
        """Nobody desires it any more: it ends, and no call wakes it."""
        self._gone = True
        self.tell(StopWanted())

    def tell(self, event: Event) -> None:
        """Feed the table an event and do what it says."""
        before = self._state
        taken = step(before, event, self._tempo())
        self._late += taken.ignored
        self._state = taken.state
        if taken.state.phase is not before.phase:
            self._since = self._crew.clock.now()
            self._next_retry = None
            self._guard()
        for effect in taken.effects:
            self._carry_out(effect)
        if taken.state != before:
            self._changed()

    async def call(self, tool: str, arguments: bytes, terms: CallTerms) -> bytes:
        """Call a tool, waiting within the terms for a server that is just coming up."""
        session = self._session
        live = session.live if session else None
        # The hot path: nothing to wait for, and nothing to look after.
        if session is None or live is None or live.lost or self._guarded:
            return await self._use(lambda live, terms: live.call(tool, arguments, terms), terms)
        try:
            answer = await live.call(tool, arguments, terms)
        except Disconnected as fault:
            if not _was_refused(fault):
                raise
        except (TimedOut, CallRefused) as fault:
            session.failed(fault)
            raise
        else:
            if session.health.timeouts:
                session.answered()
            return answer
        return await self._later(lambda live, terms: live.call(tool, arguments, terms), terms, live)

    async def request(self, method: str, params: bytes, terms: CallTerms) -> bytes:
        """Ask anything, waiting as `call` does."""
        return await self._use(lambda live, terms: live.request(method, params, terms), terms)

    def tune(self, tuning: NotificationInterest) -> None:
        """What is wanted to be heard of the server, now and after every restart."""
        self._tuning = tuning
        if live := self._live:
            live.tune(tuning)

    def _guard(self) -> None:
        """Say whether calls must be looked after, at every change of what decides it."""
        self._guarded = self._on_demand or self.phase is Phase.DEGRADED

    async def _use(self, ask: Ask, terms: CallTerms) -> bytes:
        self._calls += 1
        try:
            live = self._live
            if live is not None:
                try:
                    return await self._asked(live, ask, terms)
                except Disconnected as fault:
                    if not _was_refused(fault):
                        raise
            return await self._later(ask, terms, live)
        finally:
            self._calls -= 1
            if self._on_demand and not self._calls:
                self._rest_later()

    async def _asked(self, live: Live, ask: Ask, terms: CallTerms) -> bytes:
        session, degraded = self._session, self.phase is Phase.DEGRADED
        assert session  # noqa: S101  whatever lives is the session's
        refused = unreachable(self.server.name, self._state) if degraded else None
        return await session.ask(live, ask, terms, refused)

    async def _later(self, ask: Ask, terms: CallTerms, instead_of: Live | None) -> bytes:
        began = self._crew.clock.monotonic()
        live = await self._come_up(terms.timeout, instead_of=instead_of)
        if terms.timeout is not None:
            waited = self._crew.clock.monotonic() - began
            terms = terms._replace(timeout=max(0.001, terms.timeout - waited))
        return await self._asked(live, ask, terms)

    def _rest_later(self) -> None:
        if self._rest:
            self._rest.cancel()
        self._rest = self._loop.call_later(limits.ON_DEMAND_IDLE, self._go_to_rest)

    def _go_to_rest(self) -> None:
        self._rest = None
        if not self._wakes or self._calls or self._tuning.uris or self.phase in ASLEEP:
            return
        if self.phase in OPEN:
            self.tell(StopWanted())
        else:
            self._rest_later()

    async def ended(self) -> None:
        """Return when every trace of every session is gone."""
        if self._owners:
            await asyncio.wait(self._owners)

    def hurry(self) -> None:
        """Skip all patience: what is left of the session is killed."""
        for owner in self._owners:
            owner.cancel()

    def _tempo(self) -> RestartPolicy:
        remote = isinstance(self.server.config, RemoteConfig)
        tempo, restart = self._crew.tempo, self.server.config.restart
        if restart != _USUAL:
            tempo = tempo.limited(restart.attempts, restart.limit, restart.window / 1000)
        return replace(tempo, remote=remote, approved=not self.server.held)

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case Open(epoch):
                self._open(epoch)
            case Close():
                if self._session:
                    self._session.tenure.close()
            case Arm(timer, delay, epoch):
                self._arm(timer, spread(delay, random.random()), epoch)  # noqa: S311  jitter
            case Disarm(timer):
                self._disarm(timer)

    def _open(self, epoch: int) -> None:
        tenure = SessionRunner(self.server, self._crew, self.ring)
        self._session = session = CurrentSession(epoch, tenure, self)
        owner = asyncio.create_task(
            self._own(session, frozenset(self._owners)),
            name=f"server {self.server.name}, epoch {epoch}",
        )
        self._owners.add(owner)
        owner.add_done_callback(self._owners.discard)

    def _arm(self, timer: Timer, delay: float, epoch: int) -> None:
        self._disarm(timer)
        due = RetryDue(epoch) if timer is Timer.RETRY else Settled(epoch)
        self._timers[timer] = self._loop.call_later(delay, self.tell, due)
        if timer is Timer.RETRY:
            self._next_retry = self._crew.clock.now() + timedelta(seconds=delay)

    def _disarm(self, timer: Timer) -> None:
        if handle := self._timers.pop(timer, None):
            handle.cancel()

    async def _own(self, session: CurrentSession, before: frozenset[asyncio.Task[None]]) -> None:
        cause: Cause | None = None
        try:
            if before:
                # What is left of the last session must not meet the next one.
                await asyncio.wait(before)
            cause = await session.tenure.run(session)
        except asyncio.CancelledError:
            log.debug("%s: ended in a hurry", self.server.name)
        except Exception as error:
            # A mistake of ours costs this session, not the watch over the server.
            log.exception("%s: supervision failed", self.server.name)
            cause = Cause(Code.CLOSED, f"internal error in mcpyard: {error!r}")
        if not session.told_loss:
            self._tell_end(session, cause or Cause(Code.CLOSED, "was ended"))

    def hear_ready(self, session: CurrentSession, tools: Tools) -> None:
        """The present session can be used."""
        self._tools = tools
        if session.live and self._tuning != NotificationInterest():
            session.live.tune(self._tuning)
        self.tell(Ready(session.epoch))

    def hear_tools(self, tools: Tools) -> None:
        """The present session has other tools."""
        self._tools = tools
        self._changed()

    def hear_offer(self, offer: Capabilities) -> None:
        """The present session offers this besides tools."""
        if offer != self._offer:
            self._offer = offer
            self._changed()

    def hear_notice(self, method: str, params: bytes) -> None:
        """The present session told something that concerns no call."""
        if self._on_notice:
            self._on_notice(method, params)

    def hear_degraded(self, session: CurrentSession, cause: Cause) -> None:
        """The present session does not respond."""
        log.warning("%s: %s", self.server.name, cause.message)
        self._tools = replace(self._tools, stale=True)
        self.tell(Degraded(session.epoch, cause))

    def hear_recovered(self, session: CurrentSession) -> None:
        """The session responds again, unless it is being closed already."""
        if self.phase is Phase.DEGRADED and self._session is session:
            self._tools = replace(self._tools, stale=False)
            self.tell(Recovered(session.epoch))

    def hear_over(self, session: CurrentSession, cause: Cause | None) -> None:
        """No call may find the session any more; one that was lost is told at once."""
        self._tools = replace(self._tools, stale=True)
        if cause is None or session.tenure.closing:
            self._changed()
        else:
            session.told_loss = True
            self._tell_end(session, cause)

    def _tell_end(self, session: CurrentSession, cause: Cause) -> None:
        if self._session is session:
            self._session = None
        if session.tenure.closing:
            # How it ended while it was being closed makes no difference.
            self.tell(Closed(session.epoch))
        elif cause.code is Code.NEEDS_AUTH:
            self.tell(AuthNeeded(session.epoch, sign_in_cause(cause, self.server)))
        else:
            log.error("%s: %s", self.server.name, cause.message)
            self.tell(Lost(session.epoch, cause, self._crew.clock.monotonic()))

    async def _come_up(self, seconds: float | None, *, instead_of: Live | None) -> Live:
        if self._wakes and self.phase in ASLEEP:
            self.tell(StartWanted())
        deadline = self._crew.clock.monotonic() + (inf if seconds is None else seconds)
        while (live := self._live) is None or live is instead_of:
            restarts = self.phase is Phase.STOPPING and self._state.restart
            if self.phase not in UP and not restarts:
                raise unreachable(self.server.name, self._state)
            left = deadline - self._crew.clock.monotonic()
            in_backoff = self.phase is Phase.BACKOFF
            try:
                await self._changes.wait(min(left, limits.WAIT_IN_BACKOFF) if in_backoff else left)
            except TimeoutError:
                raise unreachable(self.server.name, self._state) from None
        return live

    def _changed(self) -> None:
        self._changes.happened()
        self._on_change(self)


def _was_refused(fault: Disconnected) -> bool:
    """An expired session refuses what it never took; the next session can have it."""
    return fault.cause is not None and fault.cause.untaken
