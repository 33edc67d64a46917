"""One session of a server, from the first try to the last trace, owned by one task.

The task that runs a tenure enters and leaves everything of the session. Its end *is* the signal
that the session is over, and what it returns is why.
"""

import asyncio
import hashlib
import logging
from collections.abc import Coroutine, Iterable
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any, Final, Protocol, TypeVar

import orjson

from mcpyard.domain import limits
from mcpyard.domain.backoff import RestartPolicy
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import TimedOut, YardError
from mcpyard.domain.health import Health, HealthVerdict
from mcpyard.domain.model import LocalConfig
from mcpyard.domain.observed import CacheHint, Capabilities, Tools
from mcpyard.domain.ports import Clock, Memory
from mcpyard.domain.tool import read_tools
from mcpyard.runtime.server_api import Live, NoRoom, Opener, OpenFailed, ToolListing
from mcpyard.runtime.starts import Starts
from mcpyard.runtime.stderr import StderrRing

log = logging.getLogger(__name__)

_T = TypeVar("_T")

_NO_ROOM_PAUSE: Final = 0.25


@dataclass(frozen=True, slots=True)
class RuntimeDeps:
    """What all connections of a yard share."""

    opener: Opener
    starts: Starts
    memory: Memory
    clock: Clock
    tempo: RestartPolicy = RestartPolicy()  # noqa: RUF009  immutable


class _Signal(Enum):
    """What can wake the task that runs a tenure, besides a cause."""

    CLOSE = auto()
    REFRESH = auto()
    REFRESH_OFFER = auto()
    PING = auto()


class SessionListener(Protocol):
    """Whoever hears of a session."""

    def ready(self, live: Live, tools: Tools) -> None:
        """It can be used."""
        ...

    def listed(self, tools: Tools) -> None:
        """Its tools were listed anew."""
        ...

    def offered(self, offer: Capabilities) -> None:
        """What it offers besides was listed."""
        ...

    def told(self, method: str, params: bytes) -> None:
        """It told something that concerns no call."""
        ...

    def degraded(self, cause: Cause) -> None:
        """It does not respond, but is not given up yet."""
        ...

    def recovered(self) -> None:
        """It responds again."""
        ...

    def over(self, cause: Cause | None) -> None:
        """It cannot be used any more: why it was lost, or None when it is being closed."""
        ...


class SessionRunner:
    """One session of a server.

    Attributes:
        ring: Where the lines of its standard error go.
        closing: Whether it was asked to end.
        health: The evidence on whether it responds.
    """

    def __init__(self, server: DesiredServer, crew: RuntimeDeps, ring: StderrRing) -> None:
        self.ring = ring
        self.closing = False
        self.health = Health(server.config.health)
        self._server = server
        self._crew = crew
        self._mail: asyncio.Queue[_Signal | Cause] = asyncio.Queue()
        self._to_close = asyncio.Event()
        self._timers: dict[_Signal, asyncio.TimerHandle] = {}
        self._ttl: asyncio.TimerHandle | None = None
        self._told: SessionListener | None = None
        self._offering: asyncio.Task[None] | None = None

    def close(self) -> None:
        """Ask it to end gracefully."""
        self.closing = True
        self._to_close.set()
        self._mail.put_nowait(_Signal.CLOSE)

    def call_timed_out(self) -> None:
        """A call ran into its time limit: a ping tells at once whether the server responds."""
        self.health.timed_out()
        if not self.health.pinging:
            self.health.pinging = True
            self._mail.put_nowait(_Signal.PING)

    def lost(self, cause: Cause) -> None:
        """The session is gone (see `ConnectionEvents`)."""
        self._mail.put_nowait(cause)

    def tools_changed(self) -> None:
        """The tools may have changed (see `ConnectionEvents`)."""
        self._soon(_Signal.REFRESH)

    def offer_changed(self) -> None:
        """What is offered besides may have changed (see `ConnectionEvents`)."""
        self._soon(_Signal.REFRESH_OFFER)

    def told(self, method: str, params: bytes) -> None:
        """The server told something (see `ConnectionEvents`)."""
        if self._told:
            self._told.told(method, params)

    async def run(self, told: "SessionListener") -> Cause | None:
        """Live through the session; why it was lost, or None when it was closed.

        Whoever is told hears of a loss at once; what is left of the server is ended afterwards.
        """
        try:
            live = await self._unless_closed(self._open())
        except OpenFailed as failure:
            return failure.cause
        if live is None:
            return None
        self._told = told
        cause: Cause | None = None
        graceful = False
        try:
            self._offering = asyncio.create_task(self._list_offer(live, told))
            tools = await self._unless_closed(self._first_list(live))
            if tools is not None:
                told.ready(live, tools)
            cause = await self._watch(live, told)
            graceful = cause is None
        except YardError as error:
            cause = getattr(error, "cause", None) or self._no_list(error)
        finally:
            told.over(cause)
            await self._forget()
            await (live.close() if graceful else live.kill(cause))
        return cause

    def _no_list(self, error: YardError) -> Cause:
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
        async with self._crew.starts.place(urgent=self._server.turn > 0):
            patience = self._crew.clock.monotonic() + self._start_limit()
            while True:
                try:
                    return await self._crew.opener.open(self._server, self)
                except NoRoom:
                    if self._crew.clock.monotonic() >= patience:
                        raise OpenFailed(NoRoom.cause) from None
                    await asyncio.sleep(_NO_ROOM_PAUSE)

    def _start_limit(self) -> float:
        config = self._server.config
        command = config.command if isinstance(config, LocalConfig) else ()
        return limits.start_limit(command, config.start_timeout)

    async def _watch(self, live: Live, told: "SessionListener") -> Cause | None:
        seen = live.activity
        while True:
            mail = await self._next_mail(self.health.pause)
            if isinstance(mail, Cause):
                return mail
            if mail is _Signal.CLOSE:
                return None
            if mail is _Signal.REFRESH or mail is _Signal.REFRESH_OFFER:
                work = self._refresh if mail is _Signal.REFRESH else self._list_offer
                await self._unless_closed(work(live, told))
                continue
            # What came before a call ran into its limit says nothing about the time since.
            heard = live.activity != seen and not self.health.timeouts
            if verdict := await self._judge(live, heard=heard):
                self._tell(verdict, told)
            if verdict is HealthVerdict.LOST:
                return self._unresponsive(_pings(self.health.misses))
            seen = live.activity

    async def _next_mail(self, within: float) -> "_Signal | Cause | None":
        """What comes next; None when nothing does for so long."""
        try:
            # Not wait_for: in Python 3.11 it can swallow a cancellation that meets the mail.
            async with asyncio.timeout(within):
                return await self._mail.get()
        except TimeoutError:
            return None

    async def _judge(self, live: Live, *, heard: bool) -> HealthVerdict | None:
        """What a ping says of the server, where it was not heard of anyway."""
        self.health.pinging, before = True, live.activity
        try:
            answers = heard or await self._unless_closed(self._answers(live))
        finally:
            self.health.pinging = False
        if answers or live.activity != before:
            return self.health.answered()
        # One that is gone or is being closed says why by itself.
        if live.lost or self.closing:
            return None
        return self.health.missed(working=live.working)

    def _tell(self, verdict: HealthVerdict, told: "SessionListener") -> None:
        if verdict is HealthVerdict.RECOVERED:
            told.recovered()
        elif verdict is HealthVerdict.DEGRADED:
            calls = self.health.timeouts
            times = "a call" if calls == 1 else f"{calls} calls"
            told.degraded(self._unresponsive(f"did not answer {times} or a ping in time"))

    def _unresponsive(self, text: str) -> Cause:
        return Cause(Code.UNRESPONSIVE, text, stderr=self.ring.tail())

    async def _answers(self, live: Live) -> bool:
        try:
            await live.ping(self.health.check.timeout / 1000)
        except YardError as error:
            log.info("%s: no answer to a ping: %s", self._server.name, error)
            return False
        return True

    def _soon(self, mail: _Signal) -> None:
        if mail not in self._timers:
            loop = asyncio.get_running_loop()
            self._timers[mail] = loop.call_later(limits.LIST_DEBOUNCE, self._ask, mail)

    def _ask(self, mail: _Signal) -> None:
        del self._timers[mail]
        self._mail.put_nowait(mail)

    async def _list_offer(self, live: Live, told: "SessionListener") -> None:
        offer = await live.list_offer()
        self._crew.memory.keep_offer(self._server.id, offer)
        told.offered(offer)

    async def _refresh(self, live: Live, told: "SessionListener") -> None:
        try:
            told.listed(await self._list(live))
        except YardError as error:
            log.warning("%s: failed to list its tools again: %s", self._server.name, error)

    async def _first_list(self, live: Live) -> Tools:
        seconds = self._start_limit()
        try:
            async with asyncio.timeout(seconds):
                tools = await self._list(live, seconds)
        except TimeoutError:
            raise TimedOut(f"no answer within {seconds:g} s") from None
        if self._offering:
            # Its other lists are nearly always there by now; one that is late comes by itself.
            await asyncio.wait({self._offering}, timeout=limits.OFFER_PATIENCE)
        return tools

    async def _list(self, live: Live, within: float = limits.LIST) -> Tools:
        listing = await live.list_tools(within)
        if listing.ttl:
            self._renew_after(max(listing.ttl, limits.LEAST_TOOLS_TTL))
        tools = replace(make_tools(listing.tools, stale=False), keeping=_keeping(listing))
        self._crew.memory.keep_tools(self._server.id, [tool.raw for tool in tools.definitions])
        return tools

    def _renew_after(self, seconds: float) -> None:
        if self._ttl:
            self._ttl.cancel()
        self._ttl = asyncio.get_running_loop().call_later(seconds, self.tools_changed)

    async def _forget(self) -> None:
        for timer in (*self._timers.values(), self._ttl):
            if timer:
                timer.cancel()
        if self._offering and not self._offering.done():
            self._offering.cancel()
            await asyncio.wait({self._offering})


def make_tools(listed: Iterable[object], *, stale: bool) -> Tools:
    """The tools of a list, with a digest that tells whether anything about them changed."""
    tools, problems = read_tools(listed)
    raw = orjson.dumps([tool.raw for tool in tools])
    return Tools(tools, hashlib.sha256(raw).hexdigest()[:32], stale, problems)


def _keeping(listing: ToolListing) -> CacheHint:
    return CacheHint(None if listing.ttl is None else round(listing.ttl * 1000), listing.public)


def _pings(misses: int) -> str:
    return "did not answer a ping" if misses == 1 else f"did not answer {misses} pings in a row"
