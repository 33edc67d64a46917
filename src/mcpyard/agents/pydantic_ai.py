"""The toolbox for Pydantic AI: a toolset for `Agent(toolsets=[...])`."""

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from pydantic_ai import ApprovalRequired, BinaryContent, RunContext, ToolFailed, ToolReturn
from pydantic_ai.tools import ToolDefinition
from pydantic_ai.toolsets import AbstractToolset, ToolsetTool
from pydantic_core import SchemaValidator, core_schema

from mcpyard.catalog.lowering import as_object
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.toolbox.agent_tool import Tool
from mcpyard.yard.toolbox.model_calls import call_asked
from mcpyard.yard.toolbox.rendering import Piece, as_text, pictures, pieces, text_or_items

# The yard itself checks arguments against the tool's schema, and says what is wrong with them.
_ANY_OBJECT: Final = SchemaValidator(core_schema.dict_schema(core_schema.str_schema()))


Offered: TypeAlias = Callable[[], Mapping[str, Tool]]
"""The tools that there are now, by the names that agents see; the same object while they last."""


def convert(offered: Offered) -> "YardToolset":
    """The tools as one toolset."""
    return YardToolset(offered)


def returned(outcome: Outcome) -> ToolReturn:
    """The outcome for the model: images unchanged, the rest as text.

    The application finds the whole outcome in the metadata.
    """
    value = text_or_items(pieces(outcome, pictures), _item)
    return ToolReturn(value, metadata=outcome.to_dict())


class YardToolset(AbstractToolset[Any]):
    """The tools of a toolbox; a failed call is a failed result that the model sees.

    The library asks for the tools before each step, so tools that came meanwhile are among them.
    """

    def __init__(self, offered: Offered) -> None:
        self._latest = offered
        self._offered: Mapping[str, Tool] = {}
        self._definitions: list[ToolDefinition] = []

    @property
    def id(self) -> str | None:
        """None: the id matters for durable execution only."""
        return None

    async def get_tools(self, ctx: RunContext[Any]) -> dict[str, ToolsetTool[Any]]:
        """The tools, in the format of the library, for each step."""
        offered = self._latest()
        if offered is not self._offered:
            self._offered = offered
            self._definitions = [_definition(name, tool) for name, tool in offered.items()]
        return {
            each.name: ToolsetTool(
                toolset=self,
                tool_def=each,
                max_retries=ctx.max_retries,
                args_validator=_ANY_OBJECT,
            )
            for each in self._definitions
        }

    async def call_tool(
        self, name: str, tool_args: dict[str, Any], ctx: RunContext[Any], tool: ToolsetTool[Any]
    ) -> ToolReturn:
        """Call a tool.

        Raises:
            ToolFailed: The call failed; the library tells the model, and the run goes on.
            ApprovalRequired: The call needs approval; the library asks for it.
        """
        del tool
        offered = self._offered[name]
        if offered.needs_approval and not ctx.tool_call_approved:
            raise ApprovalRequired
        outcome = await call_asked(offered.approved, tool_args)
        if outcome.is_error:
            raise ToolFailed(as_text(outcome))
        return returned(outcome)


def _definition(name: str, tool: Tool) -> ToolDefinition:
    return ToolDefinition(
        name=name,
        description=tool.description,
        parameters_json_schema=as_object(tool.input_schema),
        metadata=tool.metadata,
    )


def _item(each: Piece) -> str | BinaryContent:
    if isinstance(each, str):
        return each
    return BinaryContent(each.decoded() or b"", media_type=each.mime)
