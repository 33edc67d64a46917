"""Resources and prompts of servers from Python, through the gateway of this or another process."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Protocol, Self, TypeVar

from mcpyard.catalog.routes import Route
from mcpyard.domain.errors import Disconnected, ServerUnknown
from mcpyard.domain.lifecycle import UP
from mcpyard.yard.calls.call_context import CallContext
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.event_loop import YardLoop
from mcpyard.yard.server_questions import NO_ANSWERS, QuestionAnswerer
from mcpyard.yard.views.content import (
    PromptResult,
    PromptView,
    ResourceContents,
    ResourceTemplateView,
    ResourceView,
    prompt_result,
    prompt_views,
    resource_contents,
    resource_views,
    template_views,
)
from mcpyard.yard.views.servers import ServerView

RESOURCES: Final = "resources/list"
TEMPLATES: Final = "resources/templates/list"
PROMPTS: Final = "prompts/list"
READ: Final = "resources/read"
GET_PROMPT: Final = "prompts/get"

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class ResourceUpdate:
    """A resource that changed; it has to be read again.

    Attributes:
        uri: The resource, by the address it was subscribed with.
    """

    uri: str


class UpdateListener(Protocol):
    """Receives what a subscription reports, on the loop of the yard."""

    def begun(self) -> None:
        """The subscription is active."""
        ...

    def updated(self, uri: str) -> None:
        """A resource changed."""
        ...


class ContentRequests(Protocol):
    """The gateway, in this process or another; used on the loop of the yard."""

    async def request(self, server: str | None, method: str, params: Mapping[str, object]) -> bytes:
        """The result of a request to one server under its own names, or to all of them."""
        ...

    async def listen(
        self, server: str | None, uris: Sequence[str], listener: UpdateListener
    ) -> None:
        """Report changes of resources until cancelled."""
        ...

    async def close(self) -> None:
        """End what is open."""
        ...


class InProcessRequests(ContentRequests, Protocol):
    """The gateway in this process, for any caller."""

    def of(self, who: str, answerer: QuestionAnswerer = NO_ANSWERS) -> "InProcessRequests":
        """The same for another caller, and for somebody else who answers questions."""
        ...

    async def call_with(
        self, route: Route, arguments: Mapping[str, object] | None, context: CallContext
    ) -> Outcome:
        """Call a tool whose server may ask questions (see `CallPipeline.call_with`)."""
        ...


class ResourceUpdates:
    """The changes of subscribed resources, in any event loop: `async for update in updates`.

    As `async with`, it begins at once and ends with the block; otherwise it begins with the first
    step and ends with mcpyard. Changes of one resource that come together are reported once.
    """

    def __init__(
        self, loop: YardLoop, requests: ContentRequests, server: str | None, uris: Sequence[str]
    ) -> None:
        self._loop = loop
        self._requests = requests
        self._server = server
        self._uris = [*uris]
        self._changed: dict[str, None] = {}
        self._news: asyncio.Event | None = None
        self._listening: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self._loop.carry(self._begin())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ResourceUpdate:
        uri = await self._loop.carry(self._next())
        if uri is None:
            raise StopAsyncIteration
        return ResourceUpdate(uri)

    async def aclose(self) -> None:
        """End the subscription."""
        await self._loop.carry(self._end())

    def begun(self) -> None:
        """Note that the subscription is active (see `UpdateListener`)."""
        if self._news:
            self._news.set()

    def updated(self, uri: str) -> None:
        """Note that a resource changed (see `UpdateListener`)."""
        self._changed[uri] = None
        self.begun()

    async def _begin(self) -> asyncio.Event:
        if self._news is None:
            self._news = asyncio.Event()
            work = self._requests.listen(self._server, self._uris, self)
            self._listening = asyncio.create_task(work, name="resource updates")
            self._listening.add_done_callback(lambda _: self.begun())
            await self._news.wait()
            self._check()
        return self._news

    async def _next(self) -> str | None:
        news = await self._begin()
        while not self._changed:
            if self._check():
                return None
            news.clear()
            await news.wait()
        uri = next(iter(self._changed))
        del self._changed[uri]
        return uri

    def _check(self) -> bool:
        """Whether the subscription is over; raises what ended it."""
        if self._listening is None or not self._listening.done():
            return False
        if not self._listening.cancelled():
            self._listening.result()
        return True

    async def _end(self) -> None:
        if self._listening and not self._listening.done():
            self._listening.cancel()
            await asyncio.wait({self._listening})


def check_connected(record: ServerView) -> str:
    """The name of a server that can be asked.

    Raises:
        Disconnected: It cannot.
    """
    if record.phase not in UP and record.wanted != "on_demand":
        raise Disconnected(f'the server "{record.name}" is not connected').about(record.name)
    return record.name


class ServerContent(Protocol):
    """Resources and prompts of servers; a part of `Yard` and `AttachedYard`."""

    _loop: YardLoop
    _requests: ContentRequests

    def servers(self, *, tools: bool = True) -> list[ServerView]:
        """Return the records of all servers, sorted by name."""
        ...

    def record(self, ref: str, *, tools: bool = True) -> ServerView:
        """Return the record of one server."""
        ...

    async def list_resources(self, server: str | None = None) -> list[ResourceView]:
        """Return the resources that one server lists, or all servers.

        Raises:
            ServerUnknown: There is no such server.
            Disconnected: The server is not connected.
        """
        return await self._list(server, RESOURCES, resource_views)

    async def list_resource_templates(
        self, server: str | None = None
    ) -> list[ResourceTemplateView]:
        """Return the resource templates of one server, or of all servers."""
        return await self._list(server, TEMPLATES, template_views)

    async def list_prompts(self, server: str | None = None) -> list[PromptView]:
        """Return the prompts of one server, or of all servers."""
        return await self._list(server, PROMPTS, prompt_views)

    async def read_resource(self, uri: str, server: str | None = None) -> ResourceContents:
        """Read a resource.

        Args:
            uri: Its address.
            server: The server that has it; default the server that listed it, or whose template
                fits. A link in the result of a tool belongs to the server that answered.

        Raises:
            CallRefused: No server has it.
            ServerFault: The server cannot be reached.
        """
        name = self._connected(server)
        raw = await self._loop.carry(self._requests.request(name, READ, {"uri": uri}))
        return resource_contents(raw)

    async def get_prompt(
        self, server: str, name: str, arguments: Mapping[str, str] | None = None
    ) -> PromptResult:
        """Return a prompt of a server, filled in with arguments.

        Raises:
            CallRefused: The server has no such prompt, or refuses the arguments.
        """
        params = {"name": name, "arguments": dict(arguments or {})}
        ref = self._connected(server)
        raw = await self._loop.carry(self._requests.request(ref, GET_PROMPT, params))
        return prompt_result(raw)

    def subscribe(self, *uris: str, server: str | None = None) -> ResourceUpdates:
        """Iterate over the changes of resources: `async with yard.subscribe(uri) as updates`."""
        return ResourceUpdates(self._loop, self._requests, self._connected(server), uris)

    def _connected(self, server: str | None) -> str | None:
        """The name of a server that can be asked."""
        if server is None:
            return None
        return check_connected(self.record(server, tools=False))

    async def _list(
        self, server: str | None, method: str, views: Callable[[str, bytes], list[_Item]]
    ) -> list[_Item]:
        name = self._connected(server)
        names = [each.name for each in self.servers(tools=False)] if name is None else [name]
        return await self._loop.carry(self._list_all(names, method, views))

    async def _list_all(
        self, names: Sequence[str], method: str, views: Callable[[str, bytes], list[_Item]]
    ) -> list[_Item]:
        listed: list[_Item] = []
        for name in names:
            # One may have been removed meanwhile.
            with contextlib.suppress(ServerUnknown):
                listed += views(name, await self._requests.request(name, method, {}))
        return listed
