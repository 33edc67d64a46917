"""A yard that runs in another process, with the calls, edits and events of one's own.

What is read is a picture that the stream of events keeps fresh, so that reading costs no request;
what is asked for goes over HTTP and comes back as the same outcomes and the same errors.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, cast
from urllib.parse import quote

import orjson

from mcpyard.agents.toolbox import AgentToolbox
from mcpyard.domain import errors
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.definition.merge import Patch
from mcpyard.domain.errors import Disconnected, Problem, ServerUnknown, YardError
from mcpyard.domain.limits import SHUTDOWN
from mcpyard.store.home import Home, default_home
from mcpyard.store.tls import trusting
from mcpyard.yard.calls.accounts import OK
from mcpyard.yard.calls.context import Progress
from mcpyard.yard.calls.outcome import Outcome, PassedOver
from mcpyard.yard.clients.elsewhere import ClientsElsewhere
from mcpyard.yard.edit import Change
from mcpyard.yard.events import RESYNC, EventBus, Subscription
from mcpyard.yard.records import Record
from mcpyard.yard.toolbox.gathering import Local, Own, Select, gather

if TYPE_CHECKING:
    import httpx2

_SERVERS: Final = "/api/mcp/servers"
_SETTLED: Final = frozenset(
    {"connected", "degraded", "failed", "needs_auth", "needs_approval", "stopped"}
)
_UNDER_WAY: Final = frozenset({("running", "stopped"), ("stopped", "connected")})
"""What is wanted of a server that did not begin yet to become so, and how it still is."""

_KINDS: Final = {each.problem: kind for kind, each in errors.EDGES.items()}


class AttachedYard:
    """The yard that holds a home, seen from outside.

    Attributes:
        clients: The servers of other programs on this machine.
    """

    def __init__(self, client: "httpx2.AsyncClient") -> None:
        self._http = client
        self.clients = ClientsElsewhere(self._ask)
        self._records: list[Record] = []
        self._tools: list[Record] = []
        self._bus = EventBus()
        self._following: asyncio.Task[None] | None = None

    @classmethod
    @asynccontextmanager
    async def attach(cls, home: str | Path | None = None) -> AsyncGenerator[Self]:
        """The running yard of a home, for as long as the block lasts.

        Raises:
            Disconnected: No yard runs there.
        """
        import httpx2  # noqa: PLC0415  whoever runs a yard of his own does without

        found = Home(Path(home) if home is not None else default_home())
        running = found.running()
        if running is None or not running.url:
            raise Disconnected(f"mcpyard is not running (home {found.folder}): mcpyard up")
        headers = {"Authorization": f"Bearer {found.token()}"}
        async with httpx2.AsyncClient(
            base_url=running.url,
            headers=headers,
            timeout=None,
            trust_env=False,
            verify=trusting(running.certificate) if running.certificate else True,
        ) as client:
            yard = cls(client)
            try:
                await yard._begin()
                yield yard
            finally:
                await yard._end()

    def servers(self, *, tools: bool = True) -> list[Record]:
        """The records of all servers, by name."""
        return [each if tools else _without_tools(each) for each in self._records]

    def record(self, ref: str, *, tools: bool = True) -> Record:
        """The record of one server, by id or name."""
        for each in self.servers(tools=tools):
            if ref in {each["id"], each["name"]}:
                return each
        raise ServerUnknown(f'there is no server "{ref[:80]}"')

    def tools(self, ref: str | None = None) -> list[Record]:
        """The tools that can be called: of one server, or of all."""
        name = None if ref is None else self.record(ref, tools=False)["name"]
        return [each for each in self._tools if name in {None, each["server"]}]

    async def failed_calls(self, limit: int = 20) -> list[Record]:
        """The last calls that failed, newest first."""
        told = await self._ask("GET", "/api/mcp/calls?limit=1000")
        return [each for each in told["calls"] if each["outcome"] != OK][:limit]

    def events(self) -> Subscription:
        """What happens from now on."""
        return self._bus.subscribe()

    def toolbox(
        self, own: Own = (), select: Select | None = None, *, local: Local | None = None
    ) -> AgentToolbox:
        """The tools of one conversation (see `Yard.toolbox`)."""
        return AgentToolbox.of(gather(self, own, select, local))

    async def call(
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  the limit is told to the yard
        progress: Progress | None = None,
        meta: Mapping[str, object] | None = None,
    ) -> Outcome:
        """Call a tool by its exposed name; nothing is heard of its progress from here."""
        del progress
        body = _body(arguments, timeout, meta)
        return await self._call(f"/api/mcp/tools/{_part(name)}/call", body)

    async def call_tool(
        self,
        ref: str,
        tool: str,
        arguments: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  the limit is told to the yard
        meta: Mapping[str, object] | None = None,
    ) -> Outcome:
        """Call a server's tool by its own name."""
        body = _body(arguments, timeout, meta)
        return await self._call(f"{_one(ref)}/tools/{_part(tool)}/call", body)

    async def start(self, ref: str, *, wait: float = 0) -> Record:
        """Want a server to run."""
        return await self._change("POST", f"{_one(ref)}/start?wait={wait}")

    async def stop(self, ref: str, *, wait: float = 0) -> Record:
        """Want a server to be stopped."""
        return await self._change("POST", f"{_one(ref)}/stop?wait={wait}")

    async def restart(self, ref: str, *, wait: float = 0) -> Record:
        """Stop a server and start it again."""
        return await self._change("POST", f"{_one(ref)}/restart?wait={wait}")

    async def register(self, body: Mapping[str, object], *, wait: float = 0) -> Record:
        """Add a server."""
        return await self._change("POST", f"{_SERVERS}?wait={wait}", body)

    async def change(self, ref: str, change: Change | Patch, *, wait: float = 0) -> Record:
        """Change a server."""
        change = Change.of(change)
        when = "refuse" if change.refuse_running else "restart"
        headers = {"If-Match": f'"{change.expected}"'} if change.expected else {}
        path = f"{_one(ref)}?wait={wait}&when_running={when}"
        return await self._change("PATCH", path, change.patch, headers)

    async def remove(self, ref: str, *, wait: float = SHUTDOWN) -> None:
        """Stop a server if it runs, and take it out."""
        await self._change("DELETE", f"{_one(ref)}?wait={wait}")

    async def settled(self, ref: str) -> Record:
        """Wait until a server is at rest: connected, stopped, or in need of somebody's help."""
        events = self.events()
        try:
            while not _is_settled(record := self.record(ref)):
                if not await events.batch():
                    raise Disconnected("the connection to mcpyard was closed")
        finally:
            events.finish()
        return record

    async def _begin(self) -> None:
        await self._refresh()
        fresh = asyncio.Event()
        self._following = asyncio.create_task(self._follow(fresh), name="follow the yard")
        await fresh.wait()

    async def _end(self) -> None:
        if self._following:
            self._following.cancel()
            await asyncio.wait({self._following})
        self._bus.close()

    async def _follow(self, fresh: asyncio.Event) -> None:
        """Keep the picture fresh; a yard that goes away leaves the last one, marked by `resync`."""
        import httpx2  # noqa: PLC0415  see `attach`

        from mcpyard.wire.remote.eventstream import EventParser, SseEvent  # noqa: PLC0415

        parser = EventParser()
        try:
            async with self._http.stream("GET", "/api/events") as stream:
                async for chunk in stream.aiter_bytes():
                    heard = [each for each in parser.feed(chunk) if isinstance(each, SseEvent)]
                    if heard:
                        await self._refresh()
                        fresh.set()
                    for each in heard:
                        self._bus.publish(each.event, orjson.loads(each.data or b"{}"))
        except httpx2.HTTPError as error:
            self._bus.publish(RESYNC, {"reason": str(error)})
        finally:
            fresh.set()

    async def _refresh(self) -> None:
        with contextlib.suppress(Disconnected):
            self._records = await self._ask("GET", _SERVERS)
            self._tools = await self._ask("GET", "/api/mcp/tools")

    async def _call(self, path: str, body: Mapping[str, object]) -> Outcome:
        result: dict[str, Any] = await self._ask("POST", path, body)
        yard = result.pop("yard")
        passed = tuple(PassedOver(**each) for each in yard.get("passedOver", ()))
        return Outcome(orjson.dumps(result), yard["server"], yard["tool"], yard["ms"], passed)

    async def _change(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Record:
        changed = await self._ask(method, path, body, headers)
        await self._refresh()
        return cast("Record", changed)

    async def _ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:  # noqa: ANN401  JSON, as the route has it
        import httpx2  # noqa: PLC0415  see `attach`

        sent: dict[str, Any] = {"headers": dict(headers or {})}
        if body is not None:
            sent["content"] = orjson.dumps(body)
            sent["headers"]["Content-Type"] = "application/json"
        try:
            answer = await self._http.request(method, path, **sent)
        except httpx2.HTTPError as error:
            raise Disconnected(f"mcpyard does not respond: {error}") from error
        if answer.is_success:
            return orjson.loads(answer.content) if answer.content else None
        raise _error(answer.content, answer.status_code)


def _error(content: bytes, status: int) -> YardError:
    """The error that a problem tells of, as the yard raised it."""
    try:
        told: dict[str, Any] = orjson.loads(content)
    except ValueError:
        return YardError(f"mcpyard answered with HTTP {status}")
    kind = _KINDS.get(str(told.get("type", "")).rsplit(":", 1)[-1], YardError)
    message = str(told.get("detail", ""))
    if issubclass(kind, errors.ChangedSince):
        return kind(message, tuple((each["path"], each["diff"]) for each in told.get("files", ())))
    if issubclass(kind, errors.InputError):
        listed = told.get("problems", [])
        return kind(message, tuple(Problem(each["field"], each["message"]) for each in listed))
    error = kind(message)
    passed = told.get("passedOver", ())
    error.passed_over = tuple((each["server"], each["why"]) for each in passed)
    if isinstance(error, errors.ServerFault) and (cause := told.get("cause")):
        words = tuple(cause["stderr"])
        return error.because(Cause(Code(cause["code"]), cause["message"], cause["hint"], words))
    return error


def _is_settled(record: Record) -> bool:
    wanted, phase = record["wanted"], record["phase"]
    return phase in _SETTLED and (wanted, phase) not in _UNDER_WAY


def _without_tools(record: Record) -> Record:
    return {key: value for key, value in record.items() if key != "tools"}


def _one(ref: str) -> str:
    return f"{_SERVERS}/{_part(ref)}"


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


def _part(text: str) -> str:
    return quote(text, safe="")
