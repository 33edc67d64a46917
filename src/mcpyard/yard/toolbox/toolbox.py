"""The tools of one conversation: those of the servers, and the application's own.

A toolbox is a picture of what could be called when it was made, so that an agent's list of tools
stays the same while it talks. Its calls go through whatever connection stands when they are made.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Final, Self

from mcpyard.catalog.ranking import Index, Known
from mcpyard.domain.errors import Problem
from mcpyard.yard.calls.context import Progress
from mcpyard.yard.calls.outcome import ErrorKind, Outcome
from mcpyard.yard.toolbox.gathering import Gathered
from mcpyard.yard.toolbox.tool import OWN, Tool

SEARCH_LIMIT: Final = 10


class Toolbox:
    """The tools of one conversation.

    Attributes:
        tools: All of them, the application's own first.
        warnings: What is odd about them, such as two of one name.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        *,
        warnings: Iterable[Problem] = (),
        status: Callable[[], Mapping[str, str]] | None = None,
    ) -> None:
        self.tools = tuple(tools)
        self.warnings = tuple(warnings)
        self._by_name = {tool.name: tool for tool in self.tools}
        self._status = status

    @classmethod
    def of(cls, gathered: Gathered) -> Self:
        """The toolbox of what was gathered from a yard."""
        return cls(gathered.tools, warnings=gathered.warnings, status=gathered.status)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self.tools)

    def get(self, name: str) -> Tool | None:
        """The tool of that name."""
        return self._by_name.get(name)

    async def call(
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  the limit is told to the server as well
        progress: Progress | None = None,
    ) -> Outcome:
        """Call a tool by its name; whatever goes wrong is an error outcome."""
        tool = self._by_name.get(name)
        if tool is None:
            return Outcome.failed(
                ErrorKind.VALIDATION, self._no_tool(name), server=OWN, tool=name[:80]
            )
        return await tool.calling(arguments, timeout, progress)

    def search(self, query: str, limit: int = SEARCH_LIMIT) -> list[Tool]:
        """The tools that a query is about, the best first; in any language."""
        return [self.tools[place] for place in self._index.rank(query)[: max(0, limit)]]

    @cached_property
    def _index(self) -> Index:
        return Index(Known(each.name, each.title or "", each.description) for each in self.tools)

    def status(self) -> dict[str, str]:
        """How each server is just now, in words for the agent."""
        return dict(self._status()) if self._status else {}

    def _no_tool(self, name: str) -> str:
        near = ", ".join(f'"{tool.name}"' for tool in self.search(name, 3))
        return f'there is no tool "{name[:80]}"' + (f"; there are {near}" if near else "")
