"""The toolbox with an adapter for each agent library.

Adapters that need a library are imported on first use: the libraries are large and optional.
"""

from asyncio import gather
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast, overload

from mcpyard.agents import ai_sdk, anthropic, gemini, openai
from mcpyard.catalog.offered_names import offer
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.toolbox.agent_tool import Tool
from mcpyard.yard.toolbox.model_calls import call_asked
from mcpyard.yard.toolbox.toolbox import Toolbox

if TYPE_CHECKING:
    from agents import Tool as AgentsTool
    from anthropic.types import (
        Message,
        MessageParam,
        ToolParam,
        ToolResultBlockParam,
        ToolUseBlock,
    )
    from copilot.tools import Tool as CopilotTool
    from google.genai.types import (
        Content,
        FunctionCall,
        GenerateContentResponse,
        PartDict,
        ToolListUnion,
    )
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.tools import BaseTool
    from openai.types.chat import (
        ChatCompletion,
        ChatCompletionFunctionToolParam,
        ChatCompletionMessageParam,
        ChatCompletionMessageToolCallUnion,
        ChatCompletionToolMessageParam,
    )
    from openai.types.responses import (
        FunctionToolParam,
        Response,
        ResponseFunctionToolCall,
        ResponseInputParam,
    )
    from openai.types.responses.response_input_param import FunctionCallOutput
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

    @property
    def callable_tools(self) -> Mapping[str, Tool]:
        """The tools that a model may call, by the names that agents see."""
        return self.offered

    def lazy(self, *, native: bool = True) -> "AgentToolbox":
        """Return a toolbox that finds its tools when they are needed, for many tools.

        It has two tools, `search_tools` and `call_tool`. Anthropic, OpenAI Responses, the OpenAI
        Agents SDK, Pydantic AI and Copilot defer tools themselves and get all of them, deferred.

        Args:
            native: Whether to use the deferral of libraries and services; it needs a model that
                supports it. False for the two tools everywhere.
        """
        lazy_toolbox = import_module("mcpyard.agents.lazy_toolbox").LazyToolbox
        return cast("AgentToolbox", lazy_toolbox(self, native=native))

    def to_copilot(self) -> "list[CopilotTool]":
        """Tools for the GitHub Copilot SDK."""
        return cast("list[CopilotTool]", self._converted("copilot"))

    def to_ai_sdk(self) -> dict[str, ai_sdk.AiTool]:
        """A tool set for the Vercel AI SDK."""
        return ai_sdk.convert(self.offered)

    @overload
    def to_openai(
        self, api: Literal["responses"] = "responses", *, strict: bool = False
    ) -> "list[FunctionToolParam]": ...
    @overload
    def to_openai(
        self, api: Literal["chat"], *, strict: bool = False
    ) -> "list[ChatCompletionFunctionToolParam]": ...
    def to_openai(self, api: openai.Api = "responses", *, strict: bool = False) -> Any:
        """Tools for OpenAI's Responses or Chat Completions; `answer_openai` answers their calls.

        Args:
            api: `responses` or `chat`.
            strict: Use strict mode for every tool whose schema allows it.
        """
        return openai.convert(self.offered, api, strict=strict)

    def to_openai_agents(self) -> "list[AgentsTool]":
        """Tools for the OpenAI Agents SDK."""
        return cast("list[AgentsTool]", self._converted("openai_agents"))

    def to_anthropic(self) -> "list[ToolParam]":
        """Tools for Anthropic's Messages; `answer_anthropic` answers their calls."""
        return cast("list[ToolParam]", anthropic.convert(self.offered))

    def to_langchain(self) -> "list[BaseTool]":
        """Tools for LangChain; `answer_langchain` answers their calls, unless an agent does."""
        return cast("list[BaseTool]", self._converted("langchain"))

    def to_pydantic_ai(self) -> "AbstractToolset[object]":
        """A toolset for Pydantic AI; each run sees the tools that there are then."""
        latest = self

        def offered() -> Mapping[str, Tool]:
            nonlocal latest
            latest = latest.refreshed()
            return latest.offered

        return cast("AbstractToolset[object]", self._converted("pydantic_ai", offered))

    def to_gemini(self) -> "ToolListUnion":
        """Tools for Gemini; `answer_gemini` answers their calls."""
        return cast("ToolListUnion", gemini.convert(self.offered))

    @overload
    async def answer_openai(self, response: "Response") -> "ResponseInputParam": ...
    @overload
    async def answer_openai(
        self, response: "ChatCompletion"
    ) -> "list[ChatCompletionMessageParam]": ...
    @overload
    async def answer_openai(self, response: "ResponseFunctionToolCall") -> "FunctionCallOutput": ...
    @overload
    async def answer_openai(
        self, response: "ChatCompletionMessageToolCallUnion"
    ) -> "ChatCompletionToolMessageParam": ...
    @overload
    async def answer_openai(self, response: Mapping[str, object]) -> Any: ...  # noqa: ANN401  as its kind
    async def answer_openai(self, response: object) -> object:
        """Execute all calls in a response of OpenAI, in parallel; returns what to add to the input.

        That is what the model said, with its reasoning, and the results; nothing if it asked for
        no calls.

        Args:
            response: A response of Responses or Chat Completions; or one `function_call` item or
                tool call, of which only the result is returned.

        Raises:
            TypeError: `response` is none of these.
        """
        turn = openai.turn_of(response)
        if turn is None:
            return await self._answer_openai(response)
        answers = await gather(*(self._answer_openai(each) for each in turn.calls))
        return [*turn.items, *answers] if answers else []

    @overload
    async def answer_anthropic(self, message: "Message") -> "list[MessageParam]": ...
    @overload
    async def answer_anthropic(self, message: "ToolUseBlock") -> "ToolResultBlockParam": ...
    @overload
    async def answer_anthropic(self, message: Mapping[str, object]) -> Any: ...  # noqa: ANN401  as its kind
    async def answer_anthropic(self, message: object) -> object:
        """Execute all calls in a message of Anthropic, in parallel; returns the messages to add.

        These are the model's own and one with all results; none if it asked for no calls. A turn
        that the service paused goes back as it is, so that it continues.

        Args:
            message: The message; or one `tool_use` block, of which only the `tool_result` block is
                returned.

        Raises:
            TypeError: `message` is neither.
        """
        calls = anthropic.calls_of(message)
        if calls is None:
            return await self._answer_anthropic(message)
        results = await gather(*(self._answer_anthropic(each) for each in calls))
        return anthropic.exchange(message, results)

    @overload
    async def answer_gemini(
        self, response: "GenerateContentResponse | Sequence[GenerateContentResponse]"
    ) -> "list[Content]": ...
    @overload
    async def answer_gemini(self, response: "FunctionCall") -> "PartDict": ...
    @overload
    async def answer_gemini(self, response: Mapping[str, object]) -> Any: ...  # noqa: ANN401  as its kind
    async def answer_gemini(self, response: object) -> object:
        """Execute all calls in a response of Gemini, in parallel; returns the contents to add.

        These are the model's own, with its signatures, and one with all results; none if it asked
        for no calls.

        Args:
            response: A response, or all parts of a stream; or one function call, of which only the
                part with the result is returned.

        Raises:
            TypeError: `response` is none of these.
        """
        contents = gemini.contents_of(response)
        if contents is None:
            return await self._answer_gemini(response)
        calls = gemini.calls_of(contents)
        answers = await gather(*(self._answer_gemini(each) for each in calls))
        return gemini.exchange(contents, answers) if answers else []

    async def answer_langchain(self, message: "AIMessage") -> "list[BaseMessage]":
        """Execute all calls in a message of LangChain, in parallel; returns the messages to add.

        These are the model's own and one for each call; none if it asked for no calls.
        """
        calls = [*message.tool_calls, *message.invalid_tool_calls]
        answers = await gather(*(self._answer_langchain(each) for each in calls))
        return [message, *answers] if answers else []

    async def _answer_openai(self, call: object) -> dict[str, object]:
        name, arguments, call_id, api = openai.read_call(call)
        outcome = await self._call(name, arguments, openai.own_arguments)
        return openai.answer(outcome, call_id, api)

    async def _answer_anthropic(self, call: object) -> dict[str, object]:
        name, arguments, call_id = anthropic.read_call(call)
        outcome = await self._call(name, arguments, anthropic.own_arguments)
        return anthropic.answer(outcome, call_id)

    async def _answer_gemini(self, call: object) -> dict[str, object]:
        name, arguments, call_id = gemini.read_call(call)
        outcome = await self._call(name, arguments, gemini.own_arguments)
        return gemini.answer(outcome, name, call_id)

    async def _answer_langchain(self, call: Mapping[str, object]) -> "BaseMessage":
        message = import_module("mcpyard.agents.langchain").message
        name, call_id = str(call.get("name") or ""), str(call.get("id") or "")
        outcome = await self._call(name, call.get("args"), _as_they_are)
        return cast("BaseMessage", message(outcome, name, call_id))

    async def _call(self, name: str, arguments: object, read_arguments: _ReadArguments) -> Outcome:
        tool = self.callable_tools.get(name)
        if tool is None:
            return await self.call(name)
        return await call_asked(tool, read_arguments(tool, arguments))

    def _converted(self, adapter: str, offered: object = None) -> object:
        try:
            module = import_module(f"mcpyard.agents.{adapter}")
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] != _LIBRARIES[adapter]:
                raise
            extra = adapter.replace("_", "-")
            message = f'its library is not installed: pip install "mcpyard[{extra}]"'
            raise ImportError(message, name=error.name) from error
        convert = cast("Callable[[object], object]", module.convert)
        return convert(offered or self.offered)


def _as_they_are(_tool: Tool, arguments: object) -> object:
    return arguments
