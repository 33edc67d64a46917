"""The dictionaries for Gemini, held against the types of its own library."""

import base64
from typing import Any, cast

import pytest
from google.genai import types

from mcpyard.agents.toolbox import AgentToolbox
from tests.agents.boxes import EVERYTHING, FAILING, PAPER, PICTURE, WORDS, FakeTool


def call(arguments: dict[str, object]) -> types.FunctionCall:
    return types.FunctionCall(id="call_1", name="mcp_fs_read_file", args=arguments)


async def answered(
    fake: FakeTool, function_call: types.FunctionCall | dict[str, Any]
) -> types.FunctionResponse:
    part = types.Part.model_validate(
        await fake.box().answer_gemini(cast("types.FunctionCall", function_call))
    )
    assert part.function_response
    return part.function_response


def test_a_tool_is_what_the_library_takes() -> None:
    [tool] = FakeTool().box().to_gemini()
    [declared] = types.Tool.model_validate(tool).function_declarations or []
    assert (declared.name, declared.description) == ("mcp_fs_read_file", "Reads a file.")
    assert declared.parameters_json_schema == {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "a path"},
            "config": {"type": "string"},
            "lines": {"type": "integer", "minimum": 0},
        },
        "required": ["path"],
        "additionalProperties": False,
    }


def test_the_library_takes_the_tools_in_a_configuration() -> None:
    tools = FakeTool().box().to_gemini()
    config = types.GenerateContentConfig.model_validate({"tools": tools})
    assert len(config.tools or ()) == 1


def test_no_tools_are_no_tool() -> None:
    assert AgentToolbox([]).to_gemini() == []


async def test_a_call_is_answered_with_all_that_came() -> None:
    fake = FakeTool(EVERYTHING)
    response = await answered(fake, call({"path": "a"}))
    assert (response.id, response.name) == ("call_1", "mcp_fs_read_file")
    assert response.response
    assert all(each in response.response["output"] for each in (*WORDS, "audio/wav"))
    blobs = [each.inline_data for each in response.parts or ()]
    assert [(each.mime_type, each.data) for each in blobs if each] == [
        ("image/png", base64.b64decode(PICTURE)),
        ("application/pdf", base64.b64decode(PAPER)),
    ]
    assert fake.calls == [{"path": "a"}]


async def test_a_result_without_words_points_to_its_media() -> None:
    response = await answered(FakeTool({"content": EVERYTHING["content"][1:2]}), call({}))
    assert response.response == {"output": "see the attached media"}


@pytest.mark.parametrize("fake", FAILING)
async def test_a_failure_is_told_as_an_error(fake: FakeTool) -> None:
    response = await answered(fake, {"name": "mcp_fs_read_file", "args": {"path": "a"}})
    assert (response.response, response.id) == ({"error": "it went wrong"}, None)


async def test_a_picture_that_is_not_base64_is_told_instead() -> None:
    broken = {"content": [{"type": "image", "data": "***", "mimeType": "image/png"}]}
    response = await answered(FakeTool(broken), call({}))
    assert response.response == {"output": "[image/png, about 2 bytes, cannot be shown here]"}


async def test_a_name_that_gemini_refuses_is_offered_by_another() -> None:
    fake = FakeTool(name="3d.view")
    [tool] = fake.box().to_gemini()
    [declared] = types.Tool.model_validate(tool).function_declarations or []
    response = await answered(fake, {"name": declared.name})
    assert (declared.name, response.name) == ("_3d_view", "_3d_view")
    assert fake.calls == [None]


async def test_arguments_with_names_that_are_refused_are_offered_by_others() -> None:
    fake = FakeTool(schema={"type": "object", "properties": {"@type": {"type": "string"}}})
    [tool] = fake.box().to_gemini()
    [declared] = types.Tool.model_validate(tool).function_declarations or []
    schema = declared.parameters_json_schema or {}
    assert schema["properties"] == {"type": {"type": "string"}}
    await answered(fake, call({"type": "a"}))
    assert fake.calls == [{"@type": "a"}]


async def test_what_is_no_call_is_refused() -> None:
    with pytest.raises(TypeError, match="not a function call"):
        await FakeTool().box().answer_gemini({})
