"""Mcpyard for blocking code: the methods of `Yard`, each of which returns when it is done."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from mcpyard.agents.toolbox import AgentToolbox
from mcpyard.domain.definition.merge import Patch
from mcpyard.domain.errors import Problem
from mcpyard.domain.limits import SHUTDOWN
from mcpyard.yard.calls.call_context import Progress
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.edit import Change
from mcpyard.yard.event_loop import YardLoop
from mcpyard.yard.readiness import READY_TIMEOUT, Readiness
from mcpyard.yard.self_control import Steering
from mcpyard.yard.server_content import ResourceUpdate, ResourceUpdates
from mcpyard.yard.toolbox.call_approval import Approve
from mcpyard.yard.toolbox.gathering import Local, Own, Select
from mcpyard.yard.toolbox.tool_search import MAX_TOOLS
from mcpyard.yard.views.calls import CallView
from mcpyard.yard.views.content import (
    PromptResult,
    PromptView,
    ResourceContents,
    ResourceTemplateView,
    ResourceView,
)
from mcpyard.yard.views.servers import ServerView, ToolView


class AwaitedYard(Steering, Protocol):
    """A `Yard`, or an `AttachedYard`."""

    def toolbox(  # noqa: PLR0913  one parameter a choice of the caller's
        self,
        own: Own = (),
        select: Select | None = None,
        *,
        local: Local | None = None,
        read_resource: bool = False,
        approve: Approve | None = None,
        max_tools: int = MAX_TOOLS,
        max_result: int | None = None,
    ) -> AgentToolbox:
        """The tools of one conversation."""
        ...

    async def ready(
        self,
        timeout: float = READY_TIMEOUT,  # noqa: ASYNC109  it raises nothing when it runs out
        *,
        check: bool = False,
    ) -> Readiness:
        """Wait for the servers that should run."""
        ...

    async def settled(self, ref: str) -> ServerView:
        """Wait for one server."""
        ...

    async def call_tool(
        self,
        ref: str,
        tool: str,
        arguments: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  the limit is told to the server as well
    ) -> Outcome:
        """Call a tool by server and own name."""
        ...

    async def list_resources(self, server: str | None = None) -> list[ResourceView]:
        """The resources of servers."""
        ...

    async def list_resource_templates(
        self, server: str | None = None
    ) -> list[ResourceTemplateView]:
        """The resource templates of servers."""
        ...

    async def list_prompts(self, server: str | None = None) -> list[PromptView]:
        """The prompts of servers."""
        ...

    async def read_resource(self, uri: str, server: str | None = None) -> ResourceContents:
        """Read a resource."""
        ...

    async def get_prompt(
        self, server: str, name: str, arguments: Mapping[str, str] | None = None
    ) -> PromptResult:
        """Fill a prompt in."""
        ...

    def subscribe(self, *uris: str, server: str | None = None) -> ResourceUpdates:
        """The changes of resources."""
        ...

    async def start(self, ref: str, *, wait: float = 0) -> ServerView:
        """Start a server."""
        ...

    async def stop(self, ref: str, *, wait: float = 0) -> ServerView:
        """Stop a server."""
        ...

    async def register(self, body: Mapping[str, object], *, wait: float = 0) -> ServerView:
        """Add a server."""
        ...

    async def change(self, ref: str, change: Change | Patch, *, wait: float = 0) -> ServerView:
        """Change a server."""
        ...

    async def remove(self, ref: str, *, wait: float = SHUTDOWN) -> None:
        """Remove a server."""
        ...


class SyncYard:
    """Mcpyard for blocking code; `Yard.open_sync()` and `Yard.attach_sync()` give one.

    It can be used from every thread. Its toolbox has `call_sync()`, and can be awaited as well.

    Attributes:
        awaited: The same for coroutines, on any event loop: a `Yard` or an `AttachedYard`.
    """

    def __init__(self, yard: AwaitedYard) -> None:
        self.awaited = yard
        self._loop = YardLoop()

    def toolbox(  # noqa: PLR0913  one parameter a choice of the caller's
        self,
        own: Own = (),
        select: Select | None = None,
        *,
        local: Local | None = None,
        read_resource: bool = False,
        approve: Approve | None = None,
        max_tools: int = MAX_TOOLS,
        max_result: int | None = None,
    ) -> AgentToolbox:
        """Return the tools of one conversation (see `Yard.toolbox`)."""
        return self.awaited.toolbox(
            own,
            select,
            local=local,
            read_resource=read_resource,
            approve=approve,
            max_tools=max_tools,
            max_result=max_result,
        )

    def ready(self, timeout: float = READY_TIMEOUT, *, check: bool = False) -> Readiness:
        """Wait until the servers that should run are connected (see `Yard.ready`)."""
        return self._loop.wait(self.awaited.ready(timeout, check=check))

    def settled(self, ref: str) -> ServerView:
        """Wait until a server reaches its desired state, or cannot without intervention."""
        return self._loop.wait(self.awaited.settled(ref))

    def servers(self, *, tools: bool = True) -> list[ServerView]:
        """Return the records of all servers, sorted by name."""
        return self.awaited.servers(tools=tools)

    def record(self, ref: str, *, tools: bool = True) -> ServerView:
        """Return the record of one server."""
        return self.awaited.record(ref, tools=tools)

    def tools(self) -> list[ToolView]:
        """Return the tools of all available servers."""
        return self.awaited.tools()

    def problems(self) -> Sequence[Problem]:
        """Return the definitions that were ignored because they are invalid."""
        return self.awaited.problems()

    def call(
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Outcome:
        """Call a tool by its exposed name; `progress` is called in the thread of mcpyard."""
        return self._loop.wait(
            self.awaited.call(name, arguments, timeout=timeout, progress=progress)
        )

    def call_tool(
        self,
        ref: str,
        tool: str,
        arguments: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,
    ) -> Outcome:
        """Call a tool by server and own name, without fallback servers."""
        return self._loop.wait(self.awaited.call_tool(ref, tool, arguments, timeout=timeout))

    def list_resources(self, server: str | None = None) -> list[ResourceView]:
        """Return the resources that one server lists, or all servers."""
        return self._loop.wait(self.awaited.list_resources(server))

    def list_resource_templates(self, server: str | None = None) -> list[ResourceTemplateView]:
        """Return the resource templates of one server, or of all servers."""
        return self._loop.wait(self.awaited.list_resource_templates(server))

    def list_prompts(self, server: str | None = None) -> list[PromptView]:
        """Return the prompts of one server, or of all servers."""
        return self._loop.wait(self.awaited.list_prompts(server))

    def read_resource(self, uri: str, server: str | None = None) -> ResourceContents:
        """Read a resource (see `Yard.read_resource`)."""
        return self._loop.wait(self.awaited.read_resource(uri, server))

    def get_prompt(
        self, server: str, name: str, arguments: Mapping[str, str] | None = None
    ) -> PromptResult:
        """Return a prompt of a server, filled in with arguments."""
        return self._loop.wait(self.awaited.get_prompt(server, name, arguments))

    def subscribe(self, *uris: str, server: str | None = None) -> Iterator[ResourceUpdate]:
        """Iterate over the changes of resources; each step blocks until there is one."""
        updates = self.awaited.subscribe(*uris, server=server)
        try:
            while True:
                try:
                    yield self._loop.wait(updates.__anext__())
                except StopAsyncIteration:
                    return
        finally:
            self._loop.wait(updates.aclose())

    def start(self, ref: str, *, wait: float = 0) -> ServerView:
        """Start a server; does nothing if it runs or is starting."""
        return self._loop.wait(self.awaited.start(ref, wait=wait))

    def stop(self, ref: str, *, wait: float = 0) -> ServerView:
        """Stop a server."""
        return self._loop.wait(self.awaited.stop(ref, wait=wait))

    def restart(self, ref: str, *, wait: float = 0) -> ServerView:
        """Restart a server."""
        return self._loop.wait(self.awaited.restart(ref, wait=wait))

    def register(self, body: Mapping[str, object], *, wait: float = 0) -> ServerView:
        """Add a server; returns its record with warnings."""
        return self._loop.wait(self.awaited.register(body, wait=wait))

    def change(self, ref: str, change: Change | Patch, *, wait: float = 0) -> ServerView:
        """Change a server; returns its record with warnings."""
        return self._loop.wait(self.awaited.change(ref, change, wait=wait))

    def remove(self, ref: str, *, wait: float = SHUTDOWN) -> None:
        """Stop a server if it runs, and remove its definition."""
        self._loop.wait(self.awaited.remove(ref, wait=wait))

    def failed_calls(self, limit: int = 20) -> list[CallView]:
        """Return the last failed calls, newest first."""
        return self._loop.wait(self.awaited.failed_calls(limit))
