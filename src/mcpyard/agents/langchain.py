"""The toolbox for LangChain: tools for `bind_tools` and for agents that run them."""

from collections.abc import Mapping
from typing import Any, Literal, NoReturn, TypeAlias

from langchain_core.tools import BaseTool, ToolException
from pydantic import PrivateAttr

from mcpyard.catalog.lowering import as_object
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.toolbox.agent_tool import Tool
from mcpyard.yard.toolbox.model_calls import call_asked
from mcpyard.yard.toolbox.rendering import Piece, pictures, pieces, text_or_items

Content: TypeAlias = str | list[str | dict[Any, Any]]


def convert(offered: Mapping[str, Tool]) -> list[BaseTool]:
    """The tools; the artifact of a message is the whole outcome of its call."""
    return [YardTool.of(name, tool) for name, tool in offered.items()]


def content(outcome: Outcome) -> Content:
    """The outcome for the model: images unchanged, the rest as text."""
    return text_or_items(pieces(outcome, pictures), _block)


class YardTool(BaseTool):
    """A tool for LangChain; only the async interface works.

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
            metadata={"server": tool.origin, "stale": tool.stale},
        )
        made._tool = tool
        return made

    def _run(self, /, **_arguments: object) -> NoReturn:
        # What LangChain's own tools raise that can only be awaited; its agents know it.
        raise NotImplementedError(f"{self.name} is to be awaited: use ainvoke")

    async def _arun(self, /, **arguments: object) -> tuple[Content, Outcome]:
        outcome = await call_asked(self._tool, arguments)
        if outcome.is_error:
            raise _Failed(outcome)
        return content(outcome), outcome


class _Failed(ToolException):
    """A failure of a LangChain tool; it becomes a message with status `error`."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.text)
        self.outcome = outcome


def _error_content(error: ToolException) -> Content:
    return content(error.outcome) if isinstance(error, _Failed) else str(error)


def _block(each: Piece) -> str | dict[Any, Any]:
    if isinstance(each, str):
        return {"type": "text", "text": each}
    return {"type": "image", "base64": each.data, "mime_type": each.mime}
