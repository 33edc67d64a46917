"""A chat model of LangChain that checks the messages as services do."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from tests.agents.services.script import FINAL, Script, require


class ScriptedChatModel(BaseChatModel):
    """Makes the calls of a script; refuses messages that no service would take."""

    script: Any
    _said: list[AIMessage] = PrivateAttr(default_factory=list[AIMessage])

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,  # noqa: ANN401  as its base
    ) -> Runnable[LanguageModelInput, AIMessage]:
        del tool_choice
        self.script.tools = [convert_to_openai_tool(each)["function"] for each in tools]
        return self.bind(**kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401  as its base
    ) -> ChatResult:
        del stop, run_manager, kwargs
        return ChatResult(generations=[ChatGeneration(message=self._next(messages))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401  as its base
    ) -> Iterator[ChatGenerationChunk]:
        del stop, run_manager, kwargs
        message = self._next(messages)
        yield ChatGenerationChunk(message=AIMessageChunk(content=message.content, id=message.id))
        for place, call in enumerate([*message.tool_calls]):
            chunk = {"name": call["name"], "id": call["id"], "index": place}
            for part in _halves(self.script.turns[len(self._said) - 1][place].arguments):
                pieces: Any = [{**chunk, "args": part}]
                turn = AIMessageChunk(content="", tool_call_chunks=pieces)
                yield ChatGenerationChunk(message=turn)
                chunk = {"name": None, "id": None, "index": place}

    def _next(self, messages: list[BaseMessage]) -> AIMessage:
        _check(self.script, messages, len(self._said))
        number, calls = self.script.requests, self.script.next()
        turn = AIMessage("" if calls else FINAL)
        for place, call in enumerate(calls):
            made: Any = {"name": call.name, "id": f"call_{number}_{place}"}
            try:
                made |= {"args": call.parsed, "type": "tool_call"}
                turn.tool_calls.append(made)
            except ValueError:
                made |= {"args": call.arguments, "error": None, "type": "invalid_tool_call"}
                turn.invalid_tool_calls.append(made)
        self._said.append(turn)
        return turn


def _halves(text: str) -> tuple[str, str]:
    return text[:3], text[3:]


def _check(script: Script, messages: list[BaseMessage], turns: int) -> None:
    open_calls: list[str] = []
    results: list[Any] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            require(message.tool_call_id in open_calls, "a tool message without its call")
            open_calls.remove(message.tool_call_id)
            results.append({"content": message.content, "status": message.status})
            continue
        require(not open_calls, f"tool calls without results: {open_calls}")
        if isinstance(message, AIMessage):
            calls = [*message.tool_calls, *message.invalid_tool_calls]
            open_calls = [str(each["id"]) for each in calls]
    require(not open_calls, f"tool calls without results: {open_calls}")
    require(sum(isinstance(each, AIMessage) for each in messages) == turns, "a message is missing")
    script.results = results
