"""The dictionaries for Anthropic's Messages, held against the types of its own library."""

from typing import Any

import pytest
from anthropic.types import ToolParam, ToolResultBlockParam, ToolUseBlock
from anthropic.types.tool_result_block_param import Content
from pydantic import TypeAdapter

from tests.agents.boxes import EVERYTHING, FAILING, PAPER, PICTURE, WORDS, FakeTool, saying


def use(arguments: dict[str, object]) -> ToolUseBlock:
    return ToolUseBlock(id="toolu_1", name="mcp_fs_read_file", input=arguments, type="tool_use")


def test_a_tool_is_what_the_library_sends() -> None:
    [tool] = FakeTool().box().to_anthropic()
    assert TypeAdapter(ToolParam).validate_python(tool) == tool
    assert "$ref" not in str(tool)
    assert (tool["name"], tool.get("description")) == ("mcp_fs_read_file", "Reads a file.")


def test_a_choice_at_the_root_of_a_schema_is_resolved() -> None:
    either = {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}
    [tool] = FakeTool(schema=either).box().to_anthropic()
    assert tool["input_schema"] == {"type": "object", "properties": {}}


async def test_a_call_is_answered_with_all_that_came() -> None:
    fake = FakeTool(EVERYTHING)
    answer = await fake.box().answer_anthropic(use({"path": "a"}))
    TypeAdapter(ToolResultBlockParam).validate_python(answer)
    content: Any = answer.get("content")
    assert [TypeAdapter(Content).validate_python(each) for each in content] == content
    texts = "\n".join(each["text"] for each in content if each["type"] == "text")
    assert all(each in texts for each in (*WORDS, "audio/wav"))
    media = [(each["type"], each["source"]) for each in content if each["type"] != "text"]
    assert media == [
        ("image", {"type": "base64", "media_type": "image/png", "data": PICTURE}),
        ("document", {"type": "base64", "media_type": "application/pdf", "data": PAPER}),
    ]
    assert (answer["tool_use_id"], answer.get("is_error")) == ("toolu_1", False)
    assert fake.calls == [{"path": "a"}]


@pytest.mark.parametrize("fake", FAILING)
async def test_a_failure_is_marked_as_one(fake: FakeTool) -> None:
    answer = await fake.box().answer_anthropic(use({"path": "a"}).model_dump())
    assert answer["is_error"] is True
    assert answer["content"] == [{"type": "text", "text": "it went wrong"}]


async def test_a_failure_with_a_picture_is_told_in_words_because_the_service_refuses_it() -> None:
    picture = {"type": "image", "data": PICTURE, "mimeType": "image/png"}
    failed = {"content": [{"type": "text", "text": "it broke"}, picture], "isError": True}
    answer = await FakeTool(failed).box().answer_anthropic(use({"path": "a"}))
    content: Any = answer.get("content")
    assert answer.get("is_error") is False
    assert [each.get("text") for each in content] == ["Error: it broke", None]


async def test_a_blank_text_is_told_because_it_is_refused() -> None:
    answer = await FakeTool(saying(" \n")).box().answer_anthropic(use({"path": "a"}))
    assert answer.get("content") == [
        {"type": "text", "text": "(the tool answered with blank text)"}
    ]


@pytest.mark.parametrize("result", [{}, {"content": []}, saying("")])
async def test_an_empty_result_is_told_because_empty_text_is_refused(
    result: dict[str, object],
) -> None:
    answer = await FakeTool(result).box().answer_anthropic(use({"path": "a"}))
    assert answer.get("content") == [
        {"type": "text", "text": "(the tool answered with no content)"}
    ]


async def test_arguments_with_names_that_are_refused_are_offered_by_others() -> None:
    schema = {
        "type": "object",
        "properties": {"$filter": {"type": "string"}, "top": {"type": "integer"}},
        "required": ["$filter"],
    }
    fake = FakeTool(schema=schema)
    [tool] = fake.box().to_anthropic()
    await fake.box().answer_anthropic(use({"filter": "a", "top": 3}))
    assert tool["input_schema"] == {
        "type": "object",
        "properties": {"filter": {"type": "string"}, "top": {"type": "integer"}},
        "required": ["filter"],
    }
    assert fake.calls == [{"$filter": "a", "top": 3}]


@pytest.mark.parametrize("call", [None, {}, {"name": "x"}])
async def test_what_is_no_call_is_refused(call: dict[str, object]) -> None:
    with pytest.raises(TypeError, match="not a tool_use block"):
        await FakeTool().box().answer_anthropic(call)


async def test_a_turn_that_the_service_paused_goes_back_to_be_continued() -> None:
    message = {"content": [{"type": "text", "text": "Let me search."}], "stop_reason": "pause_turn"}
    (turn,) = await FakeTool().box().answer_anthropic(message)
    assert turn == {"role": "assistant", "content": message["content"]}
    assert await FakeTool().box().answer_anthropic({**message, "stop_reason": "end_turn"}) == []
