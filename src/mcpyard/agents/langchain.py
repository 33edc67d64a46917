"""The toolbox for LangChain: tools for `bind_tools` and for agents that run them."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, ToolException
from pydantic import PrivateAttr

from mcpyard.agents.langgraph_interrupts import decide
from mcpyard.catalog.lowering import as_object
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.toolbox.agent_tool import Tool
from mcpyard.yard.toolbox.model_calls import call_asked
from mcpyard.yard.toolbox.rendering import (
    Piece,
    nothing,
    pictures,
    pieces,
    text_or_items,
)

Content: TypeAlias = str | list[str | dict[Any, Any]]
Artifact: TypeAlias = dict[str, object]


def convert(offered: Mapping[str, Tool]) -> list[BaseTool]:
    """The tools; the artifact of a message is the whole outcome of its call, as JSON values.

    Checkpoints of LangGraph store messages, and refuse objects that they do not know.
    """
    return [YardTool.of(name, tool) for name, tool in offered.items()]


def content(outcome: Outcome) -> Content:
    """The outcome for the model: images unchanged, the rest as text.

    Services refuse errors with images, so these have notes of them.
    """
    return text_or_items(pieces(outcome, nothing if outcome.is_error else pictures), _block)


def message(outcome: Outcome, name: str, call_id: str) -> ToolMessage:
    """The message that answers a call; its artifact is the whole outcome."""
    status = "error" if outcome.is_error else "success"
    return ToolMessage(
        content(outcome), name=name, tool_call_id=call_id, status=status, artifact=outcome.to_dict()
    )


class YardTool(BaseTool):
    """A tool for LangChain.

    Not a `StructuredTool`: that one takes arguments called `config` for its own.
    """

    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    _tool: Tool = PrivateAttr()

    @classmethod
    def of(cls, name: str, tool: Tool) -> "YardTool":
        """A tool under its exposed name."""
        made = cls(
            name=name,
            description=tool.description,
            args_schema=as_object(tool.input_schema),
            handle_tool_error=_error_content,
            metadata=tool.metadata,
        )
        made._tool = tool
        return made

    def _run(self, /, **arguments: object) -> tuple[Content, Artifact]:
        decision = decide(self._tool, self.name, arguments)
        return _checked(decision.outcome or decision.tool.call_sync(decision.arguments))

    async def _arun(self, /, **arguments: object) -> tuple[Content, Artifact]:
        decision = decide(self._tool, self.name, arguments)
        return _checked(decision.outcome or await call_asked(decision.tool, decision.arguments))


class _Failed(ToolException):
    """A failure of a LangChain tool; it becomes a message with status `error`."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.text)
        self.outcome = outcome


def _checked(outcome: Outcome) -> tuple[Content, Artifact]:
    if outcome.is_error:
        raise _Failed(outcome)
    return content(outcome), outcome.to_dict()


def _error_content(error: ToolException) -> Content:
    return content(error.outcome) if isinstance(error, _Failed) else str(error)


def _block(each: Piece) -> str | dict[Any, Any]:
    if isinstance(each, str):
        return {"type": "text", "text": each}
    return {"type": "image", "base64": each.data, "mime_type": each.mime}
