"""The toolbox for the GitHub Copilot SDK: tools for `create_session(tools=...)`."""

from collections.abc import Mapping

from copilot.tools import Tool as CopilotTool
from copilot.tools import ToolBinaryResult, ToolHandler, ToolInvocation, ToolResult, ToolResultType

from mcpyard.catalog.lowering import as_object
from mcpyard.yard.calls.outcome import ErrorKind, Outcome
from mcpyard.yard.toolbox.agent_tool import Tool
from mcpyard.yard.toolbox.model_calls import call_asked
from mcpyard.yard.toolbox.rendering import Media, everything, media, pieces, words


def convert(offered: Mapping[str, Tool]) -> list[CopilotTool]:
    """The tools, with original description and schema, and a handler each."""
    return [
        CopilotTool(
            name=name,
            description=tool.description,
            handler=_handler(tool.approved),
            skip_permission=tool.cleared,
            parameters=as_object(tool.input_schema),
            metadata={"mcpyard": tool.metadata},
        )
        for name, tool in offered.items()
    ]


def result(outcome: Outcome) -> ToolResult:
    """The outcome for the model: images, audio and files as attachments, the rest as text."""
    parts = pieces(outcome, everything)
    text = "\n".join(words(parts))
    return ToolResult(
        text_result_for_llm=text,
        result_type=_type(outcome),
        error=text if outcome.is_error else None,
        binary_results_for_llm=[_attached(each) for each in media(parts)] or None,
    )


def _handler(tool: Tool) -> ToolHandler:
    async def handle(invocation: ToolInvocation) -> ToolResult:
        return result(await call_asked(tool, invocation.arguments))

    return handle


def _type(outcome: Outcome) -> ToolResultType:
    if outcome.error is ErrorKind.TIMEOUT:
        return "timeout"
    return "failure" if outcome.is_error else "success"


def _attached(each: Media) -> ToolBinaryResult:
    return ToolBinaryResult(
        data=each.data,
        mime_type=each.mime,
        type="image" if each.is_image else "resource",
        description=each.uri,
    )
