"""The toolbox with an adapter for each agent library.

Adapters that need a library are imported on first use: the libraries are large and optional.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Final, TypeAlias, cast

from mcpyard.agents import ai_sdk, anthropic, gemini, openai
from mcpyard.catalog.offered_names import offer
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.toolbox.agent_tool import Tool
from mcpyard.yard.toolbox.model_calls import call_asked
from mcpyard.yard.toolbox.toolbox import Toolbox

if TYPE_CHECKING:
    from agents import FunctionTool
    from copilot.tools import Tool as CopilotTool
    from langchain_core.tools import BaseTool
    from pydantic_ai.toolsets import AbstractToolset

_LIBRARIES: Final = {
    "copilot": "copilot",
    "langchain": "langchain_core",
    "openai_agents": "agents",
    "pydantic_ai": "pydantic_ai",
}
"""The package that each adapter needs; the extra has the name of the adapter."""

_ReadArguments: TypeAlias = Callable[[Tool, object], object]
"""Converts the arguments of a target to those of the tool."""


class AgentToolbox(Toolbox):
    """The tools of one conversation, in the format of any agent library.

    A failure never raises in the agent loop: it is an error result in the library's format.
    """

    @cached_property
    def offered(self) -> Mapping[str, Tool]:
        """The tools by the names that agents see."""
        names = offer(tool.name for tool in self.tools)
        return {names[tool.name]: tool for tool in self.tools}

    def to_copilot(self) -> "list[CopilotTool]":
        """Tools for the GitHub Copilot SDK."""
        return cast("list[CopilotTool]", self._converted("copilot"))

    def to_ai_sdk(self) -> dict[str, ai_sdk.AiTool]:
        """A tool set for the Vercel AI SDK."""
        return ai_sdk.convert(self.offered)

    def to_openai(
        self, api: openai.Api = "responses", *, strict: bool = False
    ) -> list[openai.OpenAiTool]:
        """Tools for OpenAI's Responses or Chat Completions; `answer_openai` answers their calls.

        Args:
            api: `responses` or `chat`.
            strict: Use strict mode for every tool whose schema allows it.
        """
        return openai.convert(self.offered, api, strict=strict)

    def to_openai_agents(self) -> "list[FunctionTool]":
        """Tools for the OpenAI Agents SDK."""
        return cast("list[FunctionTool]", self._converted("openai_agents"))

    def to_anthropic(self) -> list[anthropic.AnthropicTool]:
        """Tools for Anthropic's Messages; `answer_anthropic` answers their calls."""
        return anthropic.convert(self.offered)

    def to_langchain(self) -> "list[BaseTool]":
        """Tools for LangChain."""
        return cast("list[BaseTool]", self._converted("langchain"))

    def to_pydantic_ai(self) -> "AbstractToolset[object]":
        """A toolset for Pydantic AI."""
        return cast("AbstractToolset[object]", self._converted("pydantic_ai"))

    def to_gemini(self) -> list[gemini.GeminiTool]:
        """Tools for Gemini; `answer_gemini` answers their calls."""
        return gemini.convert(self.offered)

    async def answer_openai(self, call: object) -> dict[str, object]:
        """Execute a call that an OpenAI model requests; returns the item or message to send back.

        Args:
            call: A `function_call` item of Responses or a tool call of Chat Completions.

        Raises:
            TypeError: `call` is neither.
        """
        name, arguments, call_id, api = openai.read_call(call)
        outcome = await self._call(name, arguments, openai.own_arguments)
        return openai.answer(outcome, call_id, api)

    async def answer_anthropic(self, call: object) -> dict[str, object]:
        """Execute the call of a `tool_use` block; returns the `tool_result` block to send back.

        Raises:
            TypeError: `call` is not such a block.
        """
        name, arguments, call_id = anthropic.read_call(call)
        outcome = await self._call(name, arguments, anthropic.own_arguments)
        return anthropic.answer(outcome, call_id)

    async def answer_gemini(self, call: object) -> dict[str, object]:
        """Execute a function call of Gemini; returns the part to send back.

        Raises:
            TypeError: `call` is not a function call.
        """
        name, arguments, call_id = gemini.read_call(call)
        outcome = await self._call(name, arguments, gemini.own_arguments)
        return gemini.answer(outcome, name, call_id)

    async def _call(self, name: str, arguments: object, read_arguments: _ReadArguments) -> Outcome:
        tool = self.offered.get(name)
        if tool is None:
            return await self.call(name)
        return await call_asked(tool, read_arguments(tool, arguments))

    def _converted(self, adapter: str) -> object:
        try:
            module = import_module(f"mcpyard.agents.{adapter}")
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != _LIBRARIES[adapter]:
                raise
            extra = adapter.replace("_", "-")
            message = f'its library is not installed: pip install "mcpyard[{extra}]"'
            raise ImportError(message, name=error.name) from error
        convert = cast("Callable[[Mapping[str, Tool]], object]", module.convert)
        return convert(self.offered)
