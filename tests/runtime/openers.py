"""An opener without processes: sessions that open, fail and get lost as a test says."""

import asyncio

from mcpyard.domain import limits
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import TimedOut, YardError
from mcpyard.domain.model import ResourceLimits
from mcpyard.domain.observed import Capabilities, Era, SessionFacts
from mcpyard.domain.ports import CallTerms, NotificationInterest
from mcpyard.domain.started_calls import CallWaiter, ServerReply
from mcpyard.runtime.server_api import ConnectionEvents, NoRoom, OpenFailed, ToolListing
from mcpyard.wire.pending import PendingCall

EXITED = Cause(Code.EXITED, "the process exited with code 1", stderr=("boom",))


class FakeLive:
    def __init__(self, opener: "FakeOpener", events: ConnectionEvents) -> None:
        self.opener = opener
        self.events = events
        self.pid = 100 + len(opener.opened)
        self.facts = SessionFacts(Era.HANDSHAKE, "2025-11-25")
        self.activity = 0
        self.concurrency = None
        self.lost = False
        self.throttled = 0.0
        self.call_limits: list[tuple[int, int]] = []
        self.ended = ""
        self.pings = 0
        self.working = False
        self.killed_by: Cause | None = None
        self.drained: float | None = 0.0
        self.tuned: list[NotificationInterest] = []
        self.roots = ((self.pid, 1),)
        self.limits: list[ResourceLimits] = []

    async def call(self, tool: str, arguments: bytes, terms: CallTerms) -> bytes:
        del arguments
        self.opener.terms.append(terms)
        self.opener.calls += 1
        if self.opener.call_faults:
            raise self.opener.call_faults.pop(0)
        await self.opener.answering.wait()
        self.activity += 1
        return tool.encode()

    def start(
        self, tool: str, arguments: bytes, terms: CallTerms, waiter: CallWaiter
    ) -> PendingCall | None:
        del tool, arguments, terms, waiter

    def answered(self, call: PendingCall, reply: ServerReply) -> bytes:
        raise NotImplementedError

    async def wait(self, call: PendingCall) -> bytes:
        raise NotImplementedError

    async def request(self, method: str, params: bytes, terms: CallTerms) -> bytes:
        del params
        return await self.call(method, b"", terms)

    def set_limits(self, resources: ResourceLimits) -> None:
        self.limits.append(resources)

    def limit_calls(self, concurrency: int, queue: int) -> None:
        self.call_limits.append((concurrency, queue))

    def tune(self, interest: NotificationInterest) -> None:
        self.tuned.append(interest)

    async def list_capabilities(self) -> Capabilities:
        await self.opener.listing.wait()
        return self.opener.capabilities

    async def list_tools(self, within: float = 0) -> ToolListing:
        self.opener.list_limits.append(within)
        if self.opener.list_fault:
            raise self.opener.list_fault
        self.opener.listings += 1
        self.opener.listed.set()
        return ToolListing(self.opener.tools, self.opener.ttl)

    async def ping(self, within: float) -> None:
        self.pings += 1
        self.opener.ping_limits.append(within)
        await self.opener.pinging.wait()
        if self.opener.mute:
            self.opener.missed += 1
            raise TimedOut("no answer")

    async def close(self, drain: float | None = limits.DRAIN) -> None:
        self.drained = drain
        await self.opener.closing.wait()
        self.ended = "closed"

    async def kill(self, cause: Cause | None = None) -> None:
        self.killed_by = cause
        await self.opener.killing.wait()
        self.ended = "killed"


class FakeOpener:
    def __init__(self) -> None:
        self.tools: list[dict[str, object]] = [{"name": "t"}]
        self.ttl: float | None = None
        self.capabilities = Capabilities()
        self.listing = asyncio.Event()
        self.listing.set()
        self.failures: list[Cause] = []
        self.always: Cause | None = None
        self.no_room = 0
        self.mute = False
        self.pinging = asyncio.Event()
        self.pinging.set()
        self.missed = 0
        self.ping_limits: list[float] = []
        self.list_fault: YardError | None = None
        self.gate = asyncio.Event()
        self.gate.set()
        self.killing = asyncio.Event()
        self.killing.set()
        self.closing = asyncio.Event()
        self.closing.set()
        self.list_limits: list[float] = []
        self.opened: list[FakeLive] = []
        self.tries = 0
        self.cancelled = 0
        self.listings = 0
        self.listed = asyncio.Event()
        self.terms: list[CallTerms] = []
        self.call_faults: list[YardError] = []
        self.calls = 0
        self.answering = asyncio.Event()
        self.answering.set()
        self.closed = False

    async def open(self, server: DesiredServer, events: ConnectionEvents) -> FakeLive:
        del server
        self.tries += 1
        if self.no_room:
            self.no_room -= 1
            raise NoRoom
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if cause := self.always or (self.failures.pop(0) if self.failures else None):
            raise OpenFailed(cause)
        live = FakeLive(self, events)
        self.opened.append(live)
        return live

    async def close(self) -> None:
        self.closed = True
