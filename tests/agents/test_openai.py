"""The dictionaries for OpenAI's interfaces, held against the types of its own library."""

from typing import Any

import pytest
from openai.types.chat import (
    ChatCompletionFunctionToolParam,
    ChatCompletionMessageFunctionToolCall,
    ChatCompletionToolMessageParam,
)
from openai.types.chat.chat_completion_message_function_tool_call import Function
from openai.types.responses import FunctionToolParam, ResponseFunctionToolCall
from openai.types.responses.response_input_item_param import FunctionCallOutput
from pydantic import TypeAdapter

from mcpyard.agents.toolbox import AgentToolbox
from tests.agents.boxes import EVERYTHING, FAILING, PAPER, PICTURE, WORDS, FakeTool

LOWERED = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "a path"},
        "config": {"type": "string"},
        "lines": {"type": "integer", "exclusiveMinimum": 0},
    },
    "required": ["path"],
    "additionalProperties": False,
}


def response_call(arguments: str, name: str = "mcp_fs_read_file") -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(
        arguments=arguments, call_id="call_1", name=name, type="function_call"
    )


def chat_call(arguments: str) -> ChatCompletionMessageFunctionToolCall:
    function = Function(name="mcp_fs_read_file", arguments=arguments)
    return ChatCompletionMessageFunctionToolCall(id="call_1", function=function, type="function")


def holds(shape: Any, value: object) -> bool:  # noqa: ANN401  a type of any kind
    """Whether a value has just the members that the library knows, each of its type."""
    return TypeAdapter(shape).validate_python(value) == value


def test_tools_for_responses_are_what_the_library_sends() -> None:
    [tool] = FakeTool().box().to_openai()
    assert holds(FunctionToolParam, tool)
    assert tool == {
        "type": "function",
        "name": "mcp_fs_read_file",
        "description": "Reads a file.",
        "parameters": LOWERED,
        "strict": False,
    }


def test_tools_for_chat_are_what_the_library_sends() -> None:
    [tool] = FakeTool().box().to_openai("chat")
    assert holds(ChatCompletionFunctionToolParam, tool)
    function: Any = tool["function"]
    assert function["parameters"] == LOWERED


def test_a_strict_tool_requires_everything_and_one_that_cannot_be_stays_as_it_is() -> None:
    open_one = FakeTool(name="open", schema={"type": "object", "additionalProperties": True})
    box = AgentToolbox([FakeTool().tool(), open_one.tool()])
    strict, loose = (tool for tool in box.to_openai(strict=True))
    parameters: Any = strict["parameters"]
    assert (strict["strict"], parameters["required"]) == (True, ["path", "config", "lines"])
    assert parameters["properties"]["config"] == {"type": ["string", "null"]}
    assert loose["strict"] is False


async def test_the_nulls_of_a_strict_tool_do_not_reach_it() -> None:
    fake = FakeTool()
    await fake.box().answer_openai(response_call('{"path": "a", "config": null, "lines": null}'))
    assert fake.calls == [{"path": "a"}]


def test_chat_gets_a_description_that_is_cut_and_responses_the_whole() -> None:
    box = FakeTool(description="d" * 2_000).box()
    [chat], [whole] = box.to_openai("chat"), box.to_openai()
    function: Any = chat["function"]
    assert function["description"] == "d" * 1_020 + " ..."
    assert whole.get("description") == "d" * 2_000


async def test_a_call_of_responses_is_answered_with_its_output() -> None:
    answer = await FakeTool().box().answer_openai(response_call('{"path": "a"}'))
    assert holds(FunctionCallOutput, answer)
    assert answer == {"type": "function_call_output", "call_id": "call_1", "output": "done"}


async def test_pictures_and_papers_are_carried_and_the_rest_told() -> None:
    answer = await FakeTool(EVERYTHING).box().answer_openai(response_call('{"path": "a"}'))
    output: Any = answer["output"]
    assert holds(FunctionCallOutput, answer)
    texts = "\n".join(each["text"] for each in output if each["type"] == "input_text")
    assert all(each in texts for each in (*WORDS, "audio/wav"))
    image, paper = (each for each in output if each["type"] != "input_text")
    assert image["image_url"] == f"data:image/png;base64,{PICTURE}"
    assert (paper["filename"], paper["file_data"]) == (
        "a.pdf",
        f"data:application/pdf;base64,{PAPER}",
    )


async def test_a_call_of_chat_is_answered_with_words() -> None:
    answer = await FakeTool(EVERYTHING).box().answer_openai(chat_call('{"path": "a"}'))
    assert holds(ChatCompletionToolMessageParam, answer)
    assert answer["tool_call_id"] == "call_1"
    assert all(each in str(answer["content"]) for each in (*WORDS, "image/png", "audio/wav"))


@pytest.mark.parametrize("fake", FAILING)
async def test_a_failure_is_an_answer_that_says_so(fake: FakeTool) -> None:
    box = fake.box()
    chat_reply = await box.answer_openai(chat_call('{"path": "a"}'))
    response_reply = await box.answer_openai(response_call('{"path": "a"}'))
    assert chat_reply["content"] == response_reply["output"] == "Error: it went wrong"


async def test_a_failure_with_a_picture_first_says_so_before_it() -> None:
    failed = EVERYTHING | {"content": EVERYTHING["content"][1:2], "isError": True}
    answer = await FakeTool(failed).box().answer_openai(response_call('{"path": "a"}'))
    output: Any = answer["output"]
    assert [each["type"] for each in output] == ["input_text", "input_image", "input_text"]
    assert output[0]["text"] == "Error:"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (response_call("{broken"), "the arguments are not a JSON object"),
        (response_call("[1]"), "the arguments are not a JSON object"),
        (response_call("{}", name="mcp_fs_write"), 'there is no tool "mcp_fs_write"'),
    ],
)
async def test_a_call_that_cannot_be_made_is_answered_with_an_error(
    call: ResponseFunctionToolCall, message: str
) -> None:
    fake = FakeTool()
    answer = await fake.box().answer_openai(call)
    assert str(answer["output"]).startswith(f"Error: {message}")
    assert fake.calls == []


async def test_no_arguments_are_an_empty_object() -> None:
    fake = FakeTool()
    await fake.box().answer_openai(response_call(""))
    assert fake.calls == [{}]


async def test_a_dictionary_is_as_good_as_an_object_of_the_library() -> None:
    fake = FakeTool()
    box = fake.box()
    await box.answer_openai(response_call('{"path": "a"}').model_dump())
    await box.answer_openai(chat_call('{"path": "b"}').model_dump())
    assert fake.calls == [{"path": "a"}, {"path": "b"}]


@pytest.mark.parametrize("call", [None, {}, {"name": "x"}, {"function": {"name": "x"}}])
async def test_what_is_no_call_is_refused(call: dict[str, object]) -> None:
    with pytest.raises(TypeError, match="not a function call"):
        await FakeTool().box().answer_openai(call)


async def test_a_message_goes_back_to_chat_without_what_the_library_added() -> None:
    call = {
        "id": "call_1",
        "type": "function",
        "index": 0,
        "extra_content": {"google": {"thought_signature": "s"}},
        "function": {
            "name": "mcp_fs_read_file",
            "arguments": '{"path": "a"}',
            "parsed_arguments": {},
        },
    }
    message = {
        "role": "assistant",
        "parsed": None,
        "annotations": [],
        "function_call": None,
        "audio": {"id": "audio_1", "data": "x", "transcript": "y", "expires_at": 1},
        "reasoning_content": "hm",
        "tool_calls": [call],
    }
    returned, answer = await FakeTool().box().answer_openai({"choices": [{"message": message}]})
    function = {"name": "mcp_fs_read_file", "arguments": '{"path": "a"}'}
    assert returned == {
        "role": "assistant",
        "content": None,
        "audio": {"id": "audio_1"},
        "reasoning_content": "hm",
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "extra_content": {"google": {"thought_signature": "s"}},
                "function": function,
            }
        ],
    }
    assert answer["tool_call_id"] == "call_1"
