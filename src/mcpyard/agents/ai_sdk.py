"""The toolbox for the Vercel AI SDK: a tool set of plain dictionaries.

`execute` and `toModelOutput` are Python functions; everything else can be sent as JSON to a
program that uses the SDK itself.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import NotRequired, TypeAlias, TypedDict

import orjson

from mcpyard.catalog.lowering import as_object
from mcpyard.domain.narrowing import object_of
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.toolbox.agent_tool import Tool
from mcpyard.yard.toolbox.model_calls import call_asked
from mcpyard.yard.toolbox.rendering import Media, Piece, as_text, everything, pieces

Execute: TypeAlias = Callable[..., Awaitable[object]]


class AiTool(TypedDict):
    """A tool of the SDK, under the names that the SDK has for its members."""

    description: str
    inputSchema: dict[str, object]
    execute: Execute
    toModelOutput: Callable[[object], dict[str, object]]
    metadata: dict[str, object]
    title: NotRequired[str]
    outputSchema: NotRequired[dict[str, object]]
    needsApproval: NotRequired[bool]


def convert(offered: Mapping[str, Tool]) -> dict[str, AiTool]:
    """The tools by name, each with `description`, `inputSchema`, `outputSchema` and `execute`."""
    return {name: _tool(tool) for name, tool in offered.items()}


def model_output(output: object) -> dict[str, object]:
    """The result of `execute`, as the SDK passes it to a model."""
    result = object_of(output)
    if not isinstance(result.get("content"), list):
        return {"type": "json", "value": output}
    outcome = Outcome(orjson.dumps(result), server="", tool="", ms=0.0)
    if outcome.is_error:
        return {"type": "error-text", "value": as_text(outcome)}
    parts = pieces(outcome, everything)
    if any(isinstance(each, Media) for each in parts):
        return {"type": "content", "value": [_content(each) for each in parts]}
    return {"type": "text", "value": as_text(outcome)}


def _tool(tool: Tool) -> AiTool:
    shape: AiTool = {
        "description": tool.description,
        "inputSchema": as_object(tool.input_schema),
        "execute": _execute(tool.approved),
        "toModelOutput": model_output,
        "metadata": tool.metadata,
    }
    if tool.needs_approval:
        shape["needsApproval"] = True
    if tool.title:
        shape["title"] = tool.title
    if tool.output_schema is not None:
        shape["outputSchema"] = dict(tool.output_schema)
    return shape


def _execute(tool: Tool) -> Execute:
    async def execute(arguments: object = None, _options: object = None) -> object:
        """Call the tool; a failure is a result with `isError`, never raised."""
        outcome = await call_asked(tool, arguments)
        # `outputSchema` is the schema of what `execute` gives.
        if tool.output_schema is not None and not outcome.is_error:
            return outcome.to_dict() if outcome.structured is None else outcome.structured
        return outcome.to_dict()

    return execute


def _content(each: Piece) -> dict[str, object]:
    if isinstance(each, str):
        return {"type": "text", "text": each}
    kind = "image-data" if each.is_image else "file-data"
    return {"type": kind, "data": each.data, "mediaType": each.mime}
