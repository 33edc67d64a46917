"""The toolbox for OpenAI's Responses and Chat Completions: plain dictionaries, no library."""

from collections.abc import Callable, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

from mcpyard.catalog.lowering import COMMON, lower
from mcpyard.catalog.strict import drop_nulls, tighten
from mcpyard.domain.narrowing import mapping_of
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.toolbox.agent_tool import Tool
from mcpyard.yard.toolbox.model_calls import items_of, member_of, read_arguments
from mcpyard.yard.toolbox.rendering import (
    Piece,
    flagged,
    nothing,
    pictures_and_pdf,
    text_or_items,
    words,
)


class Turn(NamedTuple):
    """What a model said, and the calls in it."""

    items: list[object]
    calls: list[object]


Api: TypeAlias = Literal["responses", "chat"]
OpenAiTool: TypeAlias = dict[str, object]

MAX_CHAT_DESCRIPTION: Final = 1024
"""Chat Completions refuses a request with a longer one; Responses takes any."""

_CUT: Final = " ..."
_ONLY_SAID: Final = frozenset(("parsed", "annotations"))


def convert(
    offered: Mapping[str, Tool], api: Api = "responses", *, strict: bool = False
) -> list[OpenAiTool]:
    """The tools in the format of one of the two APIs.

    Args:
        offered: The tools by the name to offer them by.
        api: Which interface.
        strict: Ask for arguments that fit for certain, of every tool whose schema can say so.
    """
    shape = _SHAPES[api]
    return [shape(name, tool, _parameters(tool, strict=strict)) for name, tool in offered.items()]


def answer(outcome: Outcome, call_id: str, api: Api = "responses") -> dict[str, object]:
    """The outcome of a call, as the message that answers it."""
    if api == "chat":
        text = "\n".join(words(flagged(outcome, nothing)))
        return {"role": "tool", "tool_call_id": call_id, "content": text}
    output = text_or_items(flagged(outcome, pictures_and_pdf), _item)
    return {"type": "function_call_output", "call_id": call_id, "output": output}


def own_arguments(tool: Tool, arguments: object) -> object:
    """The arguments of a call, without the nulls that stand for omitted ones in strict mode."""
    return drop_nulls(read_arguments(arguments), lower(tool.input_schema, COMMON))


def read_call(call: object) -> tuple[str, object, str, Api]:
    """Name, arguments, id and API of a call, an object of the library or a dictionary.

    Raises:
        TypeError: It is not a call of a function.
    """
    function = member_of(call, "function")
    api: Api = "responses" if function is None else "chat"
    source, id_key = (call, "call_id") if function is None else (function, "id")
    name, call_id = member_of(source, "name"), member_of(call, id_key)
    if not isinstance(name, str) or not isinstance(call_id, str):
        raise TypeError(f"not a function call of OpenAI's: {type(call).__name__}")
    return name, member_of(source, "arguments"), call_id, api


def turn_of(response: object) -> Turn | None:
    """What a model said in a whole response of either API; None where it is a single call.

    Everything that it said goes back to it: a function call without the reasoning before it is
    refused.
    """
    if (items := items_of(response, "output")) is not None:
        calls = [each for each in items if member_of(each, "type") == "function_call"]
        return Turn(items, calls)
    if choices := items_of(response, "choices"):
        message = member_of(choices[0], "message")
        calls = items_of(message, "tool_calls") or []
        returned = _assistant_message(message)
        return Turn([returned], [each for each in calls if member_of(each, "function")])
    return None


def _assistant_message(message: object) -> dict[str, object]:
    """A message of the model as Chat Completions takes it back.

    The library adds what it parsed, and the place in a stream, which the service refuses. Members
    of compatible services, such as reasoning or signatures, have to go back.
    """
    members = {key: value for key, value in _members(message).items() if value is not None}
    members = {key: value for key, value in members.items() if key not in _ONLY_SAID}
    if audio_id := member_of(members.get("audio"), "id"):
        members["audio"] = {"id": audio_id}
    if calls := items_of(members, "tool_calls"):
        members["tool_calls"] = [_call_said(each) for each in calls]
    return {"content": None, **members}


def _call_said(call: object) -> dict[str, object]:
    members = {key: value for key, value in _members(call).items() if key != "index"}
    if (function := members.get("function")) is not None:
        plain = {key: each for key, each in _members(function).items() if key != "parsed_arguments"}
        members["function"] = plain
    return members


def _members(source: object) -> dict[str, object]:
    """The members of an object of the library, or of a dictionary."""
    dump: Callable[..., dict[str, object]] | None = getattr(source, "model_dump", None)
    if dump is not None:
        return dump(mode="json", exclude_unset=True)
    return dict(mapping_of(source))


def _responses(name: str, tool: Tool, parameters: dict[str, object]) -> OpenAiTool:
    return {"type": "function", "name": name, "description": tool.description, **parameters}


def _chat(name: str, tool: Tool, parameters: dict[str, object]) -> OpenAiTool:
    described = {"name": name, "description": _cut(tool.description)}
    return {"type": "function", "function": {**described, **parameters}}


_SHAPES: Final[Mapping[Api, Callable[[str, Tool, dict[str, object]], OpenAiTool]]] = {
    "responses": _responses,
    "chat": _chat,
}


def _parameters(tool: Tool, *, strict: bool) -> dict[str, object]:
    lowered = lower(tool.input_schema, COMMON)
    tight = tighten(lowered) if strict else None
    return {"parameters": lowered if tight is None else tight, "strict": tight is not None}


def _item(each: Piece) -> dict[str, object]:
    if isinstance(each, str):
        return {"type": "input_text", "text": each}
    if each.is_image:
        return {"type": "input_image", "image_url": each.url, "detail": "auto"}
    return {"type": "input_file", "filename": each.filename, "file_data": each.url}


def _cut(description: str) -> str:
    if len(description) <= MAX_CHAT_DESCRIPTION:
        return description
    return description[: MAX_CHAT_DESCRIPTION - len(_CUT)] + _CUT
