"""The toolbox for the OpenAI Agents SDK: tools for `Agent(tools=...)`."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from agents import FunctionTool, ToolOutputFileContent, ToolOutputImage, ToolOutputText
from agents.tool import FunctionToolCustomDataContext
from agents.tool_context import ToolContext

from mcpyard.catalog.lowering import COMMON, lower
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.toolbox.agent_tool import Tool
from mcpyard.yard.toolbox.model_calls import call_asked
from mcpyard.yard.toolbox.rendering import Piece, flagged, pictures_and_pdf, text_or_items

Output: TypeAlias = ToolOutputText | ToolOutputImage | ToolOutputFileContent


def convert(offered: Mapping[str, Tool]) -> list[FunctionTool]:
    """The tools; a failed call returns a text for the model, and the run continues."""
    return [
        FunctionTool(
            name=name,
            description=tool.description,
            params_json_schema=lower(tool.input_schema, COMMON),
            on_invoke_tool=_invoke(tool.approved),
            needs_approval=tool.needs_approval,
            # Strict, the library would change what is optional and then pass nulls on.
            strict_json_schema=False,
            custom_data_extractor=_about(tool),
        )
        for name, tool in offered.items()
    ]


def output(outcome: Outcome) -> str | list[Output]:
    """The outcome for the model: images and PDF files unchanged, the rest as text."""
    return text_or_items(flagged(outcome, pictures_and_pdf), _item)


def _invoke(tool: Tool) -> Callable[[ToolContext[Any], str], Awaitable[str | list[Output]]]:
    async def invoke(_context: ToolContext[Any], arguments: str) -> str | list[Output]:
        return output(await call_asked(tool, arguments))

    return invoke


def _about(tool: Tool) -> Callable[[FunctionToolCustomDataContext], dict[str, Any]]:
    """Tells the application, not the model, which server a result is of."""
    return lambda _context: {"mcpyard": tool.metadata}


def _item(each: Piece) -> Output:
    if isinstance(each, str):
        return ToolOutputText(text=each)
    if each.is_image:
        return ToolOutputImage(image_url=each.url)
    return ToolOutputFileContent(file_data=each.url, filename=each.filename)
