"""A server that is open: its session and, where it is local, its process."""

import asyncio
import contextlib
from collections.abc import Awaitable, Coroutine
from typing import Any, Final

from mcpyard.domain import limits
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.errors import CallRefused, Disconnected, ServerFault, YardError
from mcpyard.domain.model import ResourceLimits
from mcpyard.domain.observed import CacheHint, Capabilities, Era, Items, SessionFacts
from mcpyard.domain.ports import CallTerms, NotificationInterest
from mcpyard.domain.started_calls import CallWaiter, ServerReply
from mcpyard.runtime.processes.keeper_client import ChildProcess, StopPolicy
from mcpyard.runtime.server_api import ToolListing
from mcpyard.runtime.stderr import StderrReader
from mcpyard.wire.eras import members
from mcpyard.wire.jsonrpc import Reply, RpcError
from mcpyard.wire.link import Busy
from mcpyard.wire.pending import PendingCall
from mcpyard.wire.remote.throttle import Throttle
from mcpyard.wire.session import ServerSession

_NOT_READING: Final = Cause(
    Code.UNRESPONSIVE, "the server does not read its input: the send queue is full"
)
_ENDED: Final = Cause(Code.CLOSED, "mcpyard stopped the server")
_STOP: Final = StopPolicy(limits.EOF_GRACE, limits.TERM_GRACE)


class ServerProcess:
    """A server's process with its standard error."""

    def __init__(self, child: ChildProcess, stderr: StderrReader) -> None:
        self.child = child
        self._stderr = stderr

    async def stop(self) -> None:
        """End it in order; its input is closed already."""
        try:
            await self.child.stop(lambda: None, _STOP)
        finally:
            self._stderr.close()

    async def kill(self) -> None:
        """End it at once, with all its descendants."""
        try:
            await self.child.kill()
        finally:
            self._stderr.close()


class LiveServer:
    """A session in use (see `Live`)."""

    def __init__(
        self,
        session: ServerSession,
        process: ServerProcess | None,
        throttle: Throttle | None = None,
    ) -> None:
        self._session = session
        self._process = process
        self._throttle = throttle
        self._calls = 0
        self._log_level: str | None = None
        self._idle = asyncio.Event()
        self._idle.set()
        self.facts = SessionFacts(
            era=Era(session.era),
            protocol_version=session.protocol_version,
            server_info=session.server_info,
            capabilities=session.capabilities,
            instructions=session.instructions,
        )

    @property
    def pid(self) -> int | None:
        """Of its process, where it has one."""
        return self._process.child.pid if self._process else None

    @property
    def roots(self) -> tuple[tuple[int, int], ...]:
        """The processes whose descendants are its tree, each with its start time."""
        return self._process.child.roots if self._process else ()

    @property
    def lost(self) -> bool:
        """Whether it is gone already."""
        return self._session.lost

    @property
    def activity(self) -> int:
        """Counts the messages that came."""
        return self._session.stats.received

    @property
    def concurrency(self) -> int | None:
        """How many calls it runs at once; None for no limit."""
        return self._session.concurrency

    @property
    def throttled(self) -> float:
        """Seconds for which it asked not to be sent anything."""
        return self._throttle.left if self._throttle else 0.0

    @property
    def working(self) -> bool:
        """Whether a call within its time limit waits for an answer."""
        return self._session.working

    def set_limits(self, resources: ResourceLimits) -> None:
        """How much its processes may use from now on."""
        if self._process:
            self._process.child.set_limits(resources)

    def limit_calls(self, concurrency: int, queue: int) -> None:
        """Run at most so many calls at once, and let so many wait."""
        self._session.limit_calls(concurrency, queue)

    def call(self, tool: str, arguments: bytes, terms: CallTerms) -> Coroutine[Any, Any, bytes]:
        """Call a tool."""
        return self._answer(self._session.call_tool(tool, arguments, terms))

    def start(
        self, tool: str, arguments: bytes, terms: CallTerms, waiter: CallWaiter
    ) -> PendingCall | None:
        """Call a tool at once."""
        try:
            call = self._session.start_call(tool, arguments, terms, waiter)
        except (RpcError, Busy, ServerFault):
            # It was not sent, and `call` says why.
            return None
        if call is not None:
            self._calls += 1
        return call

    def answered(self, call: PendingCall, reply: ServerReply) -> bytes:
        """A call is over with this answer."""
        self._session.end_call(call)
        self._calls -= 1
        if not self._calls:
            self._idle.set()
        return reply.result

    async def wait(self, call: PendingCall) -> bytes:
        """Wait for the answer to a call that was handed over."""
        # It is counted already, and would be again.
        self._calls -= 1
        return await self._answer(self._session.wait_for(call))

    def request(self, method: str, params: bytes, terms: CallTerms) -> Coroutine[Any, Any, bytes]:
        """Ask it anything."""
        return self._answer(self._session.request(method, params, terms))

    async def _answer(self, request: Awaitable[Reply]) -> bytes:
        self._calls += 1
        try:
            reply = await request
        except (RpcError, Busy) as error:
            raise _fault(error) from None
        finally:
            self._calls -= 1
            if not self._calls:
                self._idle.set()
        return reply.result if reply.is_short else await reply.copy_result()

    def tune(self, interest: NotificationInterest) -> None:
        """Ask for the notifications that are wanted, as far as it has them."""
        if self._session.lost:
            return
        with contextlib.suppress(Busy):
            self._set_level(interest.log_level)
            if members(self._session.capabilities.get("resources")).get("subscribe") is True:
                self._session.watch(interest.uris)

    def _set_level(self, level: str | None) -> None:
        # In the modern era each request says it for itself.
        if self._session.era == "modern" or "logging" not in self._session.capabilities:
            return
        if level is not None and level != self._log_level:
            self._session.post("logging/setLevel", {"level": level})
            self._log_level = level

    async def list_capabilities(self) -> Capabilities:
        """Its resources, templates and prompts."""
        resources, templates, prompts = await asyncio.gather(
            self._list_items("resources", "resources/list", "resources"),
            self._list_items("resources", "resources/templates/list", "resourceTemplates"),
            self._list_items("prompts", "prompts/list", "prompts"),
        )
        return Capabilities(resources, templates, prompts)

    async def _list_items(self, capability: str, method: str, member: str) -> Items:
        if capability not in self._session.capabilities:
            return Items()
        try:
            listing = await self._session.list_items(method, member, limits.LIST)
        except (RpcError, Busy, YardError):
            return Items()
        return Items(listing.tools, CacheHint(listing.ttl_ms, listing.public))

    async def list_tools(self, within: float = limits.LIST) -> ToolListing:
        """All its tools; none where it offers none."""
        if "tools" not in self._session.capabilities:
            return ToolListing(())
        try:
            listing = await self._session.list_tools(within)
        except (RpcError, Busy) as error:
            raise _fault(error) from None
        ttl = None if listing.ttl_ms is None else listing.ttl_ms / 1000
        return ToolListing(listing.tools, ttl, listing.public, listing.problems)

    async def ping(self, within: float) -> None:
        """Return when it answers."""
        try:
            await self._session.ping(within)
        except Busy as error:
            raise _fault(error) from None

    async def close(self, drain: float | None = limits.DRAIN) -> None:
        """Let calls in flight finish, then end it in order (see `Live`)."""
        try:
            if self._calls:
                self._idle.clear()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(drain):
                        await self._idle.wait()
            await self._session.close()
        except asyncio.CancelledError:
            await self.kill()
            raise
        if self._process:
            await self._process.stop()

    async def kill(self, cause: Cause | None = None) -> None:
        """End it at once."""
        self._session.fail(cause or _ENDED)
        if self._process:
            await self._process.kill()
        await self._session.close()


def _fault(error: RpcError | Busy) -> ServerFault:
    """What the wire raises, in the words of the domain."""
    if isinstance(error, RpcError):
        return CallRefused(error.message, error.code, error.data)
    return Disconnected(_NOT_READING.message).because(_NOT_READING)
