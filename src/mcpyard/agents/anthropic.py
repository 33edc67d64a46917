"""The toolbox for Anthropic's Messages: plain dictionaries, no library."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from mcpyard.catalog.lowering import COMMON, lower
from mcpyard.catalog.offered_members import offer_members, own_members
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.toolbox.agent_tool import Tool
from mcpyard.yard.toolbox.model_calls import items_of, member_of
from mcpyard.yard.toolbox.rendering import (
    Piece,
    flagged,
    media,
    pictures_and_pdf,
    pieces,
)

AnthropicTool: TypeAlias = dict[str, object]
Block: TypeAlias = dict[str, object]


def convert(offered: Mapping[str, Tool]) -> list[AnthropicTool]:
    """The tools for `messages.create(tools=...)`."""
    return [
        {
            "name": name,
            "description": tool.description,
            "input_schema": offer_members(lower(tool.input_schema, COMMON)),
        }
        for name, tool in offered.items()
    ]


def answer(outcome: Outcome, call_id: str) -> Block:
    """The outcome of a call, as the `tool_result` block that answers it.

    The service refuses errors with media: of these the words say that they are errors.
    """
    parts = pieces(outcome, pictures_and_pdf)
    in_words = outcome.is_error and any(media(parts))
    if in_words:
        parts = flagged(outcome, pictures_and_pdf)
    return {
        "type": "tool_result",
        "tool_use_id": call_id,
        "content": [_block(each) for each in parts],
        "is_error": outcome.is_error and not in_words,
    }


def own_arguments(tool: Tool, arguments: object) -> object:
    """The arguments of a call under the tool's own names."""
    return own_members(arguments, lower(tool.input_schema, COMMON))


def read_call(call: object) -> tuple[str, object, str]:
    """Name, arguments and id of a `tool_use` block, an object of the library or a dictionary.

    Raises:
        TypeError: It is not a call of a tool.
    """
    name, call_id = member_of(call, "name"), member_of(call, "id")
    if not isinstance(name, str) or not isinstance(call_id, str):
        raise TypeError(f"not a tool_use block of Anthropic's: {type(call).__name__}")
    return name, member_of(call, "input"), call_id


def calls_of(message: object) -> list[object] | None:
    """The calls in a whole message of a model; None where it is a single block."""
    blocks = items_of(message, "content")
    if blocks is None:
        return None
    return [each for each in blocks if member_of(each, "type") == "tool_use"]


def exchange(message: object, results: Sequence[Block]) -> list[dict[str, object]]:
    """The message of the model and the one that answers it: one, however many calls there were.

    Without calls there is nothing to add, unless the service paused its own work, such as a search
    for deferred tools: then it wants its message back to go on.
    """
    turn = {"role": "assistant", "content": member_of(message, "content")}
    if results:
        return [turn, {"role": "user", "content": [*results]}]
    return [turn] if member_of(message, "stop_reason") == "pause_turn" else []


def _block(each: Piece) -> Block:
    if isinstance(each, str):
        return {"type": "text", "text": each}
    source = {"type": "base64", "media_type": each.mime, "data": each.data}
    return {"type": "image" if each.is_image else "document", "source": source}
