"""One session of a server, from the first try to the last trace, owned by one task.

The task that runs a session enters and leaves everything of the session. Its end *is* the signal
that the session is over, and what it returns is why.
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Coroutine, Iterable
from enum import Enum, auto
from typing import Any, Final, Protocol, TypeVar

import orjson
from msgspec import Struct
from msgspec.structs import replace

from mcpyard.domain import limits
from mcpyard.domain.backoff import RestartPolicy
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import Problem, ServerFault, TimedOut, YardError
from mcpyard.domain.health import Health, HealthVerdict
from mcpyard.domain.model import DEFAULT_RESTARTS, LocalConfig, RemoteConfig
from mcpyard.domain.observed import CacheHint, Capabilities, Tools
from mcpyard.domain.ports import Clock, Memory, NotificationListener
from mcpyard.domain.tool import read_tools
from mcpyard.runtime.list_pace import CHANGES_TOO_OFTEN, ListPace
from mcpyard.runtime.server_api import Live, NoRoom, Opener, OpenFailed, ToolListing
from mcpyard.runtime.starts import Starts
from mcpyard.runtime.stderr import StderrRing

log = logging.getLogger(__name__)

_T = TypeVar("_T")

_NO_ROOM_PAUSE: Final = 0.25
_NAMED_PAUSE: Final = 1.0
"""Seconds that a list has to wait for a server to be warned of; nobody notices a shorter wait."""


class RuntimeDeps(Struct, frozen=True):
    """What all connections of a yard share."""

    opener: Opener
    starts: Starts
    memory: Memory
    clock: Clock
    restart_policy: RestartPolicy = RestartPolicy()

    def restart_policy_of(self, server: DesiredServer) -> RestartPolicy:
        """How often a server is started again when it is lost."""
        policy, restart = self.restart_policy, server.config.restart
        if restart != DEFAULT_RESTARTS:
            policy = policy.limited(restart.attempts, restart.limit, restart.window / 1000)
        remote = isinstance(server.config, RemoteConfig)
        return replace(policy, remote=remote, approved=not server.held)


class _Signal(Enum):
    """What can wake the task that runs a session, besides a cause."""

    CLOSE = auto()
    REFRESH_TOOLS = auto()
    REFRESH_CAPABILITIES = auto()
    PING = auto()


class SessionListener(Protocol):
    """Receives the events of a session."""

    def on_ready(self, live: Live, tools: Tools) -> None:
        """It can be used."""
        ...

    def on_tools(self, tools: Tools) -> None:
        """Its tools were listed again."""
        ...

    def on_warning(self, problem: Problem) -> None:
        """It misbehaves, without being lost."""
        ...

    def on_capabilities(self, capabilities: Capabilities) -> None:
        """Its resources, templates and prompts were listed."""
        ...

    def on_degraded(self, cause: Cause) -> None:
        """It does not respond, but is not given up yet."""
        ...

    def on_recovered(self) -> None:
        """It responds again."""
        ...

    def on_over(self, cause: Cause | None) -> None:
        """It cannot be used any more: why it was lost, or None when it is being closed."""
        ...


class SessionRunner:
    """One session of a server.

    Attributes:
        ring: Where the lines of its standard error go.
        closing: Whether it was asked to end.
        health: The evidence on whether it responds.
    """

    def __init__(
        self,
        server: DesiredServer,
        deps: RuntimeDeps,
        ring: StderrRing,
        listener: NotificationListener | None = None,
    ) -> None:
        self.ring = ring
        self.closing = False
        self._drain: float | None = limits.DRAIN
        self.health = Health(server.config.health)
        self._server = server
        self._deps = deps
        self._signals: asyncio.Queue[_Signal | Cause] = asyncio.Queue()
        self._to_close = asyncio.Event()
        self._timers: dict[_Signal, asyncio.TimerHandle] = {}
        self._ttl: asyncio.TimerHandle | None = None
        self._listener = listener
        self._delivers = False
        self._warn: Callable[[Problem], None] | None = None
        self._pace = ListPace(deps.clock)
        self._listing: asyncio.Task[None] | None = None

    def close(self, drain: float | None = limits.DRAIN) -> None:
        """Ask it to end gracefully: its calls have so many seconds, or what they allow."""
        self.closing, self._drain = True, drain
        self._to_close.set()
        self._signals.put_nowait(_Signal.CLOSE)

    def call_timed_out(self) -> None:
        """A call ran into its time limit: a ping tells at once whether the server responds."""
        self.health.timed_out()
        if not self.health.pinging:
            self.health.pinging = True
            self._signals.put_nowait(_Signal.PING)

    def lost(self, cause: Cause) -> None:
        """The session is gone (see `ConnectionEvents`)."""
        self._signals.put_nowait(cause)

    def on_list_changed(self, kind: str) -> None:
        """A list may have changed (see `ConnectionEvents`)."""
        self._debounce(_Signal.REFRESH_TOOLS if kind == "tools" else _Signal.REFRESH_CAPABILITIES)

    def on_notification(self, method: str, params: bytes) -> None:
        """The server sent a notification (see `ConnectionEvents`); none of an ended session."""
        if self._listener and self._delivers:
            self._listener.on_notification(self._server.id, method, params)

    def on_warning(self, problem: Problem) -> None:
        """The server misbehaves (see `ConnectionEvents`)."""
        if self._warn:
            self._warn(problem)

    async def run(self, listener: "SessionListener") -> Cause | None:
        """Live through the session; why it was lost, or None when it was closed.

        The listener hears of a loss at once; what is left of the server is ended afterwards.
        """
        self._warn = listener.on_warning
        try:
            live = await self._unless_closed(self._open())
        except OpenFailed as failure:
            return failure.cause
        if live is None:
            return None
        self._delivers = True
        cause: Cause | None = None
        graceful = False
        try:
            self._listing = asyncio.create_task(self._list_capabilities(live, listener))
            tools = await self._unless_closed(self._first_list(live))
            if tools is not None:
                listener.on_ready(live, tools)
            cause = await self._watch(live, listener)
            graceful = cause is None
        except YardError as error:
            cause = self._why_over(error)
        finally:
            listener.on_over(cause)
            await self._end(live, cause, graceful=graceful)
        return cause

    async def _end(self, live: Live, cause: Cause | None, *, graceful: bool) -> None:
        # One that is closed gracefully finishes its calls, and may notify until then.
        self._delivers = graceful
        try:
            await self._forget()
            await (live.close(self._drain) if graceful else live.kill(cause))
        finally:
            self._delivers = False

    def _why_over(self, error: YardError) -> Cause:
        if isinstance(error, ServerFault) and error.cause:
            return error.cause
        text = f"failed to list its tools: {error}"
        code = Code.START_TIMEOUT if isinstance(error, TimedOut) else Code.REFUSED_HANDSHAKE
        return Cause(code, text, stderr=self.ring.tail())

    async def _unless_closed(self, work: Coroutine[Any, Any, _T]) -> _T | None:
        """What the work gives; None when the session was asked to end first.

        Nobody who stops a server waits for it to answer.
        """
        working = asyncio.create_task(work)
        closing = asyncio.create_task(self._to_close.wait())
        try:
            await asyncio.wait({working, closing}, return_when=asyncio.FIRST_COMPLETED)
            return working.result() if working.done() else None
        finally:
            closing.cancel()
            working.cancel()
            await asyncio.wait({working})

    async def _open(self) -> Live:
        # A turn is what a person asked for; that person waits.
        async with self._deps.starts.place(urgent=self._server.turn > 0):
            deadline = self._deps.clock.monotonic() + self._start_limit()
            while True:
                try:
                    return await self._deps.opener.open(self._server, self)
                except NoRoom:
                    if self._deps.clock.monotonic() >= deadline:
                        raise OpenFailed(NoRoom.cause) from None
                    await asyncio.sleep(_NO_ROOM_PAUSE)

    def _start_limit(self) -> float:
        config = self._server.config
        command = config.command if isinstance(config, LocalConfig) else ()
        return limits.start_limit(command, config.start_timeout)

    async def _watch(self, live: Live, listener: "SessionListener") -> Cause | None:
        activity = live.activity
        while True:
            signal = await self._next_signal(self.health.pause)
            if isinstance(signal, Cause):
                return signal
            if signal is _Signal.CLOSE:
                return None
            if left := live.throttled:
                self._postpone(signal, left)
                continue
            if signal is _Signal.REFRESH_TOOLS or signal is _Signal.REFRESH_CAPABILITIES:
                await self._refresh(signal, live, listener)
                continue
            # What came before a call ran into its limit says nothing about the time since.
            responded = live.activity != activity and not self.health.timeouts
            if verdict := await self._judge(live, responded=responded):
                self._report(verdict, listener)
            if verdict is HealthVerdict.LOST:
                return self._unresponsive(_pings(self.health.misses))
            activity = live.activity

    async def _next_signal(self, within: float) -> "_Signal | Cause | None":
        """What comes next; None when nothing does for so long."""
        try:
            # Not wait_for: in Python 3.11 it can swallow a cancellation that meets the signal.
            async with asyncio.timeout(within):
                return await self._signals.get()
        except TimeoutError:
            return None

    async def _judge(self, live: Live, *, responded: bool) -> HealthVerdict | None:
        """What a ping says of the server, where no message came anyway."""
        self.health.pinging, before = True, live.activity
        try:
            answers = responded or await self._unless_closed(self._answers(live))
        finally:
            self.health.pinging = False
        if answers or live.activity != before:
            return self.health.answered()
        # One that is gone or is being closed says why by itself.
        if live.lost or self.closing:
            return None
        return self.health.missed(working=live.working)

    def _report(self, verdict: HealthVerdict, listener: "SessionListener") -> None:
        if verdict is HealthVerdict.RECOVERED:
            listener.on_recovered()
        elif verdict is HealthVerdict.DEGRADED:
            calls = self.health.timeouts
            times = "a call" if calls == 1 else f"{calls} calls"
            listener.on_degraded(self._unresponsive(f"did not answer {times} or a ping in time"))

    def _unresponsive(self, text: str) -> Cause:
        return Cause(Code.UNRESPONSIVE, text, stderr=self.ring.tail())

    async def _answers(self, live: Live) -> bool:
        try:
            await live.ping(self.health.check.timeout / 1000)
        except YardError as error:
            log.info("%s: no answer to a ping: %s", self._server.name, error)
            return False
        return True

    def _debounce(self, signal: _Signal, seconds: float = limits.LIST_DEBOUNCE) -> None:
        if signal not in self._timers:
            loop = asyncio.get_running_loop()
            pause = self._pace.pause()
            if pause > _NAMED_PAUSE:
                self.on_warning(CHANGES_TOO_OFTEN)
            delay = max(seconds, pause)
            self._timers[signal] = loop.call_later(delay, self._put, signal)

    def _postpone(self, signal: _Signal | None, seconds: float) -> None:
        """Send the server nothing for so long; then its lists, but no ping that is out of date."""
        if signal is _Signal.REFRESH_TOOLS or signal is _Signal.REFRESH_CAPABILITIES:
            self._debounce(signal, seconds)
        elif signal is _Signal.PING:
            self.health.pinging = False

    def _put(self, signal: _Signal) -> None:
        del self._timers[signal]
        self._signals.put_nowait(signal)

    async def _refresh(self, signal: _Signal, live: Live, listener: "SessionListener") -> None:
        if self._pace.pause():
            # The list that was fetched just before, or meanwhile, has spent the budget.
            self._debounce(signal)
            return
        tools = signal is _Signal.REFRESH_TOOLS
        work = self._refresh_tools if tools else self._list_capabilities
        await self._unless_closed(work(live, listener))

    async def _list_capabilities(self, live: Live, listener: "SessionListener") -> None:
        capabilities = await live.list_capabilities()
        self._pace.spend(capabilities.count)
        self._deps.memory.keep_offer(self._server.id, capabilities)
        listener.on_capabilities(capabilities)

    async def _refresh_tools(self, live: Live, listener: "SessionListener") -> None:
        try:
            listener.on_tools(await self._list(live))
        except YardError as error:
            log.warning("%s: failed to list its tools again: %s", self._server.name, error)

    async def _first_list(self, live: Live) -> Tools:
        seconds = self._start_limit()
        try:
            async with asyncio.timeout(seconds):
                tools = await self._list(live, seconds)
        except TimeoutError:
            raise TimedOut(f"no answer within {seconds:g} s") from None
        if self._listing:
            # Its other lists are nearly always there by now; one that is late comes by itself.
            await asyncio.wait({self._listing}, timeout=limits.LISTING_GRACE)
        return tools

    async def _list(self, live: Live, within: float = limits.LIST) -> Tools:
        listing = await live.list_tools(within)
        self._pace.spend(len(listing.tools))
        if listing.ttl:
            self._renew_after(max(listing.ttl, limits.LEAST_TOOLS_TTL))
        tools = replace(tools_of(listing), cache_hint=_cache_hint(listing))
        self._deps.memory.keep_tools(self._server.id, [tool.raw for tool in tools.definitions])
        return tools

    def _renew_after(self, seconds: float) -> None:
        if self._ttl:
            self._ttl.cancel()
        self._ttl = asyncio.get_running_loop().call_later(seconds, self.on_list_changed, "tools")

    async def _forget(self) -> None:
        for timer in (*self._timers.values(), self._ttl):
            if timer:
                timer.cancel()
        if self._listing and not self._listing.done():
            self._listing.cancel()
            await asyncio.wait({self._listing})


def tools_of(listing: ToolListing) -> Tools:
    """The tools of a list that just came, with what was left out of it."""
    tools = make_tools(listing.tools, stale=False)
    return replace(tools, problems=(*listing.problems, *tools.problems))


def make_tools(items: Iterable[object], *, stale: bool) -> Tools:
    """The tools of a list, with a digest that tells whether anything about them changed."""
    tools, problems = read_tools(items)
    raw = orjson.dumps([tool.raw for tool in tools])
    return Tools(tools, hashlib.sha256(raw).hexdigest()[:32], stale, problems)


def _cache_hint(listing: ToolListing) -> CacheHint:
    return CacheHint(None if listing.ttl is None else round(listing.ttl * 1000), listing.public)


def _pings(misses: int) -> str:
    return "did not answer a ping" if misses == 1 else f"did not answer {misses} pings in a row"
