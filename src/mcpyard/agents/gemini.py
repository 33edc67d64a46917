"""The toolbox for Gemini: plain dictionaries for `google-genai` and the REST service."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import orjson

from mcpyard.catalog.lowering import GEMINI, lower
from mcpyard.catalog.offered_members import offer_members, own_members
from mcpyard.domain.narrowing import is_sequence
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.toolbox.agent_tool import Tool
from mcpyard.yard.toolbox.model_calls import items_of, member_of
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


def contents_of(response: object) -> list[object] | None:
    """What a model said: in a response, or in all parts of a stream; None for a single call."""
    chunks = [*response] if is_sequence(response) else [response]
    candidates = [items_of(each, "candidates") for each in chunks]
    if all(each is None for each in candidates):
        return None
    contents = [member_of(each[0], "content") for each in candidates if each]
    return [each for each in contents if items_of(each, "parts")]


def calls_of(contents: Sequence[object]) -> list[object]:
    """The function calls in what a model said."""
    calls = (_call_in(part) for each in contents for part in items_of(each, "parts") or ())
    return [each for each in calls if each is not None]


def exchange(contents: Sequence[object], answers: Sequence[object]) -> list[object]:
    """What the model said, unchanged for its signatures, and the content that answers it."""
    answer: dict[str, object] = {"role": "user", "parts": [*answers]}
    parts = [part for each in contents for part in items_of(each, "parts") or ()]
    kind: Any = type(contents[0])
    if isinstance(contents[0], Mapping):
        return [{"role": "model", "parts": parts}, answer]
    # The library's own class, which need not be imported for that.
    return [kind(role="model", parts=parts), kind.model_validate_json(orjson.dumps(answer))]


def _call_in(part: object) -> object:
    call = member_of(part, "function_call")
    return member_of(part, "functionCall") if call is None else call


def _carried(each: Media) -> bool:
    return each.mime in _MEDIA


def _part(each: Media) -> dict[str, object]:
    return {"inlineData": {"mimeType": each.mime, "data": each.data}}
