"""A toolbox whose tools are found when they are needed, instead of being listed to the model.

Libraries and services that defer tools themselves get all tools, marked so; their model searches by
the service's own means. All others get two tools, which search and call.
"""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Self, cast

from mcpyard.agents import openai
from mcpyard.agents.toolbox import AgentToolbox
from mcpyard.yard.calls.call_context import Progress
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.toolbox.agent_tool import Tool
from mcpyard.yard.toolbox.tool_search import TOO_MANY, search_and_call
from mcpyard.yard.toolbox.toolbox import SEARCH_LIMIT

if TYPE_CHECKING:
    from agents import FunctionTool
    from agents import Tool as AgentsTool
    from anthropic.types import ToolParam
    from copilot.tools import Tool as CopilotTool
    from pydantic_ai.toolsets import AbstractToolset

_ANTHROPIC_SEARCH: Final = {
    "type": "tool_search_tool_bm25_20251119",
    "name": "tool_search_tool_bm25",
}
_OPENAI_SEARCH: Final = {"type": "tool_search"}
_DEFERRED: Final = {"defer_loading": True}


class LazyToolbox(AgentToolbox):
    """The tools `search_tools` and `call_tool` over another toolbox, all of whose tools it calls.

    Args:
        box: The toolbox.
        native: Whether to use the deferral of libraries and services that have one.
    """

    def __init__(self, box: AgentToolbox, *, native: bool) -> None:
        tools = search_and_call(box, len(box))
        warnings = [each for each in box.warnings if each.field != TOO_MANY]
        super().__init__(tools, warnings=warnings, status=box.status, loop=box.loop)
        self._box = box
        self._native = native

    @property
    def callable_tools(self) -> Mapping[str, Tool]:
        """The tools that a model may call, by the names that agents see."""
        return {**self._box.offered, **self.offered}

    def get(self, name: str) -> Tool | None:
        """Return the tool of that name, or None."""
        return super().get(name) or self._box.get(name)

    def search(self, query: str, limit: int = SEARCH_LIMIT) -> list[Tool]:
        """Return the tools of the toolbox that match a query, best first."""
        return self._box.search(query, limit)

    def refreshed(self) -> Self:
        """Return a toolbox that finds the tools that there are now; itself if nothing changed."""
        box = self._box.refreshed()
        return self if box is self._box else type(self)(box, native=self._native)

    async def call(
        self,
        name: str,
        arguments: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109  the limit is told to the server as well
        progress: Progress | None = None,
    ) -> Outcome:
        """Call one of the two tools, or one of the toolbox."""
        tool = self.get(name)
        if tool is None:
            return await self._box.call(name)
        return await tool.call(arguments, timeout=timeout, progress=progress)

    def to_copilot(self) -> "list[CopilotTool]":
        """Tools for the GitHub Copilot SDK, which its tool search may defer."""
        if not self._native:
            return super().to_copilot()
        tools = self._box.to_copilot()
        for each in tools:
            each.defer = "auto"
        return tools

    def to_openai(self, api: openai.Api = "responses", *, strict: bool = False) -> Any:  # noqa: ANN401  as its base
        """Tools for OpenAI: deferred, with tool search, for Responses; two for Chat Completions."""
        if not self._native or api == "chat":
            return openai.convert(self.offered, api, strict=strict)
        tools = openai.convert(self._box.offered, api, strict=strict)
        return [_OPENAI_SEARCH, *({**each, **_DEFERRED} for each in tools)]

    def to_openai_agents(self) -> "list[AgentsTool]":
        """Tools for the OpenAI Agents SDK: deferred, with tool search."""
        if not self._native:
            return super().to_openai_agents()
        tools = cast("list[FunctionTool]", self._box.to_openai_agents())
        for each in tools:
            each.defer_loading = True
        return [import_module("agents").ToolSearchTool(), *tools]

    def to_anthropic(self) -> "list[ToolParam]":
        """Tools for Anthropic's Messages: deferred, with tool search."""
        if not self._native:
            return super().to_anthropic()
        tools = [{**each, **_DEFERRED} for each in self._box.to_anthropic()]
        return cast("list[ToolParam]", [_ANTHROPIC_SEARCH, *tools])

    def to_pydantic_ai(self) -> "AbstractToolset[object]":
        """A toolset for Pydantic AI, which searches in it by its own means."""
        toolset = self._box.to_pydantic_ai()
        return toolset.defer_loading() if self._native else super().to_pydantic_ai()
