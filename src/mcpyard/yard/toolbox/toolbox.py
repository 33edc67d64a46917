"""The tools of one conversation: those of the servers, and the application's own.

A toolbox is a snapshot of the available tools, so that an agent's list of tools stays the same
during a conversation. Calls use the connections that exist when the call is made.
"""

from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final, Self, TypeVar

from mcpyard.catalog.ranking import Index, ToolText
from mcpyard.domain.errors import Problem
from mcpyard.yard.calls.call_context import Progress
from mcpyard.yard.calls.outcome import ErrorKind, Outcome
from mcpyard.yard.event_loop import YardLoop, wait_anywhere
from mcpyard.yard.toolbox.agent_tool import OWN, Tool
from mcpyard.yard.toolbox.gathering import Gathered

_Result = TypeVar("_Result")

SEARCH_LIMIT: Final = 10


class Toolbox:
    """The tools of one conversation.

    Attributes:
        tools: All tools, the application's own first.
        warnings: Problems, such as two tools with the same name.
        loop: The event loop that blocking calls run on; None for one of their own.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        *,
        warnings: Iterable[Problem] = (),
        status: Callable[[], Mapping[str, str]] | None = None,
        loop: YardLoop | None = None,
        again: Callable[[], Gathered | None] | None = None,
    ) -> None:
        self.tools = tuple(tools)
        self.warnings = tuple(warnings)
        self._by_name = {tool.name: tool for tool in self.tools}
        self._status = status
        self.loop = loop
        self._again = again

    @classmethod
    def of(cls, gathered: Gathered) -> Self:
        """A toolbox of the gathered tools."""
        return cls(
            gathered.tools,
            warnings=gathered.warnings,
            status=gathered.status,
            loop=gathered.loop,
            again=gathered.again,
        )

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self.tools)

    def get(self, name: str) -> Tool | None:
        """Return the tool of that name, or None."""
        return self._by_name.get(name)

    async def call(
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  the limit is told to the server as well
        progress: Progress | None = None,
    ) -> Outcome:
        """Call a tool by name; a failure is an error outcome and never raises."""
        tool = self._by_name.get(name)
        if tool is None:
            return self._no_tool(name)
        return await tool.calling(arguments, timeout, progress)

    def call_sync(
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,
        progress: Progress | None = None,
    ) -> Outcome:
        """Call a tool by name and block until it is done, from any thread.

        The call runs on the event loop of mcpyard, and so does `progress`.

        Raises:
            RuntimeError: The calling thread runs the event loop that mcpyard was opened on; await
                `call`, or open mcpyard with `Yard.open_sync()`.
        """
        tool = self.get(name)
        if tool is None:
            return self._no_tool(name)
        return tool.call_sync(arguments, timeout=timeout, progress=progress)

    def run_sync(self, work: Coroutine[Any, Any, _Result]) -> _Result:
        """Run a coroutine of this toolbox and block until it is done (see `call_sync`)."""
        return wait_anywhere(self.loop, work)

    def refreshed(self) -> Self:
        """Return a toolbox with the tools that there are now; itself if nothing changed."""
        gathered = self._again() if self._again else None
        return self if gathered is None else self.of(gathered)

    def search(self, query: str, limit: int = SEARCH_LIMIT) -> list[Tool]:
        """Return the tools that match a query in any language, best first."""
        return [self.tools[place] for place in self._index.rank(query)[: max(0, limit)]]

    @cached_property
    def _index(self) -> Index:
        return Index(ToolText(each.name, each.title or "", each.description) for each in self.tools)

    def status(self) -> dict[str, str]:
        """Return the current status of each server, as text for the agent."""
        return dict(self._status()) if self._status else {}

    def _no_tool(self, name: str) -> Outcome:
        near = ", ".join(f'"{tool.name}"' for tool in self.search(name, 3))
        why = f'there is no tool "{name[:80]}"' + (f"; there are {near}" if near else "")
        return Outcome.failed(ErrorKind.VALIDATION, why, server=OWN, tool=name[:80])
