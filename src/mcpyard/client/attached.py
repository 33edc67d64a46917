"""A yard that runs in another process, with the calls, edits and events of one's own.

What is read is a picture that the stream of events keeps fresh, so that reading costs no request;
what is asked for goes over HTTP and comes back as the same outcomes and the same errors.
"""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Self

import msgspec
import orjson

from mcpyard.agents.toolbox_source import ToolboxSource
from mcpyard.client.clients import AttachedClients
from mcpyard.client.discovery import SERVERS, segment, server_path
from mcpyard.client.gateway_requests import GatewayRequests
from mcpyard.client.home_client import HomeClient
from mcpyard.domain.definition.merge import Patch
from mcpyard.domain.errors import (
    Disconnected,
    Problem,
    ServerUnknown,
    TimedOut,
    ToolUnknown,
    YardError,
)
from mcpyard.domain.limits import SHUTDOWN
from mcpyard.store.home import Home, default_home
from mcpyard.yard.calls.accounts import OK
from mcpyard.yard.calls.call_context import Progress
from mcpyard.yard.calls.outcome import Outcome, PassedOver
from mcpyard.yard.closing import wait_up_to
from mcpyard.yard.edit import Change
from mcpyard.yard.events import RESYNC, EventBus, Subscription
from mcpyard.yard.readiness import READY_TIMEOUT, Readiness, readiness
from mcpyard.yard.server_content import ServerContent
from mcpyard.yard.server_questions import OnElicit, OnSample, QuestionAnswerer
from mcpyard.yard.views.base import FieldProblem
from mcpyard.yard.views.calls import CallPage, CallView
from mcpyard.yard.views.servers import ServerView, ToolView

log = logging.getLogger(__name__)

_SETTLED: Final = frozenset(
    {"connected", "degraded", "failed", "needs_auth", "needs_approval", "stopped"}
)
_OF_SERVERS: Final = frozenset({"status", "tools"})
"""Events after which the definitions are what they were."""

_LOOK_AGAIN: Final = 0.5
"""Seconds between two looks for a mcpyard that went away: it tells nobody when it is back."""

_UNDER_WAY: Final = frozenset({("running", "stopped"), ("stopped", "connected")})
"""What is wanted of a server that did not begin yet to become so, and how it still is."""


class _Health(msgspec.Struct):
    problems: list[FieldProblem] = []


class AttachedYard(ServerContent, ToolboxSource):
    """A running mcpyard, seen from outside; `Yard.attach()` connects to it.

    Every method can be called from any event loop and any thread; `events()` belongs to the event
    loop that attached. One that was restarted is found again, also on another port.

    Attributes:
        clients: The servers of other programs on this machine.
    """

    def __init__(self, http: HomeClient, answerer: QuestionAnswerer) -> None:
        self._http = http
        self._loop = http.loop
        self._gateway = GatewayRequests(http, answerer)
        self._requests = self._gateway
        self._answers = bool(answerer)
        self.clients = AttachedClients(http)
        self._records: list[ServerView] = []
        self._tools: list[ToolView] = []
        self._problems: list[Problem] = []
        self._bus = EventBus()
        self._following: asyncio.Task[None] | None = None

    @classmethod
    @asynccontextmanager
    async def attach(
        cls,
        home: str | Path | None = None,
        *,
        on_elicit: OnElicit | None = None,
        on_sample: OnSample | None = None,
    ) -> AsyncGenerator[Self]:
        """Connect to the running mcpyard of a home (see `Yard.attach`).

        Raises:
            Disconnected: No yard runs there.
        """
        folder = Home(Path(home) if home is not None else default_home())
        async with contextlib.aclosing(HomeClient(folder)) as http:
            yard = cls(http, QuestionAnswerer(on_elicit, on_sample))
            try:
                await yard._begin()
                yield yard
            finally:
                await yard._end()

    @property
    def version(self) -> int:
        """The id of the last event; records do not change while it stays the same."""
        return self._bus.newest

    def servers(self, *, tools: bool = True) -> list[ServerView]:
        """Return the records of all servers, sorted by name."""
        return [each if tools else _without_tools(each) for each in self._records]

    def record(self, ref: str, *, tools: bool = True) -> ServerView:
        """Return the record of one server, by id or name."""
        for each in self.servers(tools=tools):
            if ref in {each.id, each.name}:
                return each
        raise ServerUnknown(f'there is no server "{ref[:80]}"')

    def tools(self, ref: str | None = None) -> list[ToolView]:
        """Return the tools that can be called: of one server, or of all."""
        name = None if ref is None else self.record(ref, tools=False).name
        return [each for each in self._tools if name in {None, each.server}]

    def problems(self) -> Sequence[Problem]:
        """Return the definitions that were ignored because they are invalid."""
        return self._problems

    async def failed_calls(self, limit: int = 20) -> list[CallView]:
        """Return the last failed calls, newest first."""
        path = "/api/mcp/calls?limit=1000"
        page = await self._http.request(CallPage, "GET", path)
        return [each for each in page.calls if each.outcome != OK][:limit]

    def events(self) -> Subscription:
        """Iterate over events from now on."""
        return self._bus.subscribe()

    async def call(
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  the limit is told to the yard
        progress: Progress | None = None,
        meta: Mapping[str, object] | None = None,
    ) -> Outcome:
        """Call a tool by its exposed name; `progress` is never called."""
        del progress
        if self._answers:
            call = self._gateway.call(self._tool(name), arguments or {}, meta, own_name=False)
            return await self._ask(name, call, timeout)
        body = _body(arguments, timeout, meta)
        return await self._call(f"/api/mcp/tools/{segment(name)}/call", body)

    async def call_tool(
        self,
        ref: str,
        tool: str,
        arguments: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  the limit is told to the yard
        meta: Mapping[str, object] | None = None,
    ) -> Outcome:
        """Call a tool by server and own name, without fallback servers."""
        if self._answers:
            view = self._tool(tool, ref)
            call = self._gateway.call(view, arguments or {}, meta, own_name=True)
            return await self._ask(tool, call, timeout)
        body = _body(arguments, timeout, meta)
        return await self._call(server_path(ref, "tools", tool, "call"), body)

    async def start(self, ref: str, *, wait: float = 0) -> ServerView:
        """Start a server; does nothing if it runs or is starting."""
        return await self._change("POST", f"{server_path(ref, 'start')}?wait={wait}")

    async def stop(self, ref: str, *, wait: float = 0) -> ServerView:
        """Stop a server."""
        return await self._change("POST", f"{server_path(ref, 'stop')}?wait={wait}")

    async def restart(self, ref: str, *, wait: float = 0) -> ServerView:
        """Restart a server."""
        return await self._change("POST", f"{server_path(ref, 'restart')}?wait={wait}")

    async def register(self, body: Mapping[str, object], *, wait: float = 0) -> ServerView:
        """Add a server; returns its record with warnings."""
        return await self._change("POST", f"{SERVERS}?wait={wait}", body)

    async def change(self, ref: str, change: Change | Patch, *, wait: float = 0) -> ServerView:
        """Change a server; returns its record with warnings."""
        change = Change.of(change)
        when = "refuse" if change.refuse_running else "restart"
        headers = {"If-Match": f'"{change.expected}"'} if change.expected else {}
        path = f"{server_path(ref)}?wait={wait}&when_running={when}"
        return await self._change("PATCH", path, change.patch, headers)

    async def remove(self, ref: str, *, wait: float = SHUTDOWN) -> None:
        """Stop a server if it runs, and remove its definition."""
        await self._http.request(bytes, "DELETE", f"{server_path(ref)}?wait={wait}")
        await self._refresh()

    async def settled(self, ref: str) -> ServerView:
        """Wait until a server reaches its desired state, or cannot without intervention."""
        await self._loop.carry(self._until(lambda: _is_settled(self.record(ref))))
        return self.record(ref)

    async def ready(
        self,
        timeout: float = READY_TIMEOUT,  # noqa: ASYNC109  it raises nothing when it runs out
        *,
        check: bool = False,
    ) -> Readiness:
        """Wait until the servers that should run are connected (see `Yard.ready`)."""
        await self._loop.carry(wait_up_to(self._until(self._is_all_settled), timeout))
        state = readiness(self.servers(tools=False), self._problems)
        if check:
            state.check()
        return state

    def _is_all_settled(self) -> bool:
        return all(_is_settled(each) for each in self._records if each.wanted == "running")

    async def _until(self, condition: Callable[[], bool]) -> None:
        events = self.events()
        try:
            while not condition():
                if not await events.batch():
                    raise Disconnected("the connection to mcpyard was closed")
        finally:
            events.finish()

    async def _begin(self) -> None:
        await self._refresh()
        await self._refresh_problems()
        fresh = asyncio.Event()
        self._following = asyncio.create_task(self._follow(fresh), name="follow mcpyard")
        await fresh.wait()

    async def _end(self) -> None:
        await self._requests.close()
        if self._following:
            self._following.cancel()
            await asyncio.wait({self._following})
        self._bus.close()

    async def _follow(self, fresh: asyncio.Event) -> None:
        """Keep the picture fresh, also of a yard that is started anew.

        One that goes away leaves the last picture, marked by `resync`.
        """
        while True:
            try:
                await self._follow_one(fresh)
            except YardError as error:
                if fresh.is_set():
                    log.debug("mcpyard is away: %s", error)
            finally:
                fresh.set()
            await asyncio.sleep(_LOOK_AGAIN)

    async def _follow_one(self, fresh: asyncio.Event) -> None:
        async with self._http.answer("GET", "/api/events") as answer:
            try:
                async for events in answer.events():
                    await self._refresh()
                    if {each.event for each in events} - _OF_SERVERS:
                        await self._refresh_problems()
                    fresh.set()
                    for each in events:
                        self._bus.publish(each.event, orjson.loads(each.data or b"{}"))
            finally:
                self._bus.publish(RESYNC, {"reason": "the connection to mcpyard was closed"})

    async def _refresh(self) -> None:
        with contextlib.suppress(Disconnected):
            self._records = await self._http.request(list[ServerView], "GET", SERVERS)
            self._tools = await self._http.request(list[ToolView], "GET", "/api/mcp/tools")

    async def _refresh_problems(self) -> None:
        # One that cannot store anything answers with an error, and the last problems stay.
        with contextlib.suppress(YardError):
            health = await self._http.request(_Health, "GET", "/healthz")
            self._problems = [Problem(each.field, each.message) for each in health.problems]

    def _tool(self, name: str, ref: str | None = None) -> ToolView:
        for each in self.tools(ref):
            if name == (each.exposed_name if ref is None else each.name):
                return each
        raise ToolUnknown(f'there is no tool "{name[:80]}"')

    async def _ask(
        self, tool: str, call: Coroutine[Any, Any, Outcome], seconds: float | None
    ) -> Outcome:
        """Call through the gateway: only there can a server ask something meanwhile."""
        try:
            async with asyncio.timeout(seconds):
                return await self._loop.carry(call)
        except TimeoutError:
            raise TimedOut(f'the tool "{tool}" took longer than {seconds} s') from None

    async def _call(self, path: str, body: Mapping[str, object]) -> Outcome:
        result = await self._http.request(dict[str, Any], "POST", path, orjson.dumps(body))
        yard = result.pop("yard")
        passed = tuple(PassedOver(**each) for each in yard.get("passedOver", ()))
        return Outcome(
            msgspec.json.encode(result), yard["server"], yard["tool"], yard["ms"], passed
        )

    async def _change(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> ServerView:
        content = b"" if body is None else orjson.dumps(body)
        changed = await self._http.request(ServerView, method, path, content, headers)
        await self._refresh()
        return changed


def _is_settled(record: ServerView) -> bool:
    goal, phase = record.wanted, record.phase
    return phase in _SETTLED and (goal, phase) not in _UNDER_WAY


def _without_tools(record: ServerView) -> ServerView:
    return msgspec.structs.replace(record, tools=None)


def _body(
    arguments: Mapping[str, object] | None,
    seconds: float | None,
    meta: Mapping[str, object] | None,
) -> dict[str, object]:
    """The body of a call."""
    body: dict[str, object] = {"arguments": arguments or {}}
    if seconds is not None:
        body["timeoutMs"] = max(1, round(seconds * 1000))
    return body | {"_meta": meta} if meta else body
