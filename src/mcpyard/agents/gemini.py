"""The toolbox for Gemini: plain dictionaries for `google-genai` and the REST service."""

from collections.abc import Mapping
from typing import Final, TypeAlias

from mcpyard.catalog.lowering import GEMINI, lower
from mcpyard.catalog.offered_members import offer_members, own_members
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.toolbox.agent_tool import Tool
from mcpyard.yard.toolbox.model_calls import member_of
from mcpyard.yard.toolbox.rendering import Media, media, pieces, words

GeminiTool: TypeAlias = dict[str, object]

_MEDIA: Final = frozenset({"image/png", "image/jpeg", "image/webp", "application/pdf"})


def convert(offered: Mapping[str, Tool]) -> list[GeminiTool]:
    """The tools for `GenerateContentConfig(tools=...)`: one tool that declares all functions."""
    declared = [
        {
            "name": name,
            "description": tool.description,
            "parametersJsonSchema": offer_members(lower(tool.input_schema, GEMINI)),
        }
        for name, tool in offered.items()
    ]
    return [{"functionDeclarations": declared}] if declared else []


def answer(outcome: Outcome, name: str, call_id: str | None) -> dict[str, object]:
    """The outcome of a call, as the part of a message that answers it."""
    parts = pieces(outcome, _carried)
    key = "error" if outcome.is_error else "output"
    response: dict[str, object] = {
        "name": name,
        "response": {key: "\n".join(words(parts)) or "see the attached media"},
    }
    if call_id:
        response["id"] = call_id
    if attached := [_part(each) for each in media(parts)]:
        response["parts"] = attached
    return {"functionResponse": response}


def own_arguments(tool: Tool, arguments: object) -> object:
    """The arguments of a call under the tool's own names."""
    return own_members(arguments, lower(tool.input_schema, GEMINI))


def read_call(call: object) -> tuple[str, object, str | None]:
    """Name, arguments and id of a function call, an object of the library or a dictionary.

    Raises:
        TypeError: It is not a call of a function.
    """
    name, call_id = member_of(call, "name"), member_of(call, "id")
    if not isinstance(name, str):
        raise TypeError(f"not a function call of Gemini's: {type(call).__name__}")
    return name, member_of(call, "args"), call_id if isinstance(call_id, str) else None


def _carried(each: Media) -> bool:
    return each.mime in _MEDIA


def _part(each: Media) -> dict[str, object]:
    return {"inlineData": {"mimeType": each.mime, "data": each.data}}
