"""The tools of LangChain, run the way its agents run them."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from tests.agents.boxes import EVERYTHING, FAILING, PICTURE, SCHEMA, WORDS, FakeTool


async def ran(fake: FakeTool, arguments: dict[str, object]) -> ToolMessage:
    [tool] = fake.box().to_langchain()
    call = {"type": "tool_call", "id": "call_1", "name": tool.name, "args": arguments}
    message = await tool.ainvoke(call)
    assert isinstance(message, ToolMessage)
    return message


def test_a_tool_has_name_description_and_schema_as_they_came() -> None:
    [tool] = FakeTool().box().to_langchain()
    assert isinstance(tool, BaseTool)
    assert (tool.name, tool.description) == ("mcp_fs_read_file", "Reads a file.")
    assert tool.args_schema == SCHEMA
    assert tool.metadata == FakeTool().tool().metadata


def test_the_library_can_bind_it() -> None:
    [tool] = FakeTool().box().to_langchain()
    function = convert_to_openai_tool(tool)["function"]
    assert function["name"] == "mcp_fs_read_file"
    assert function["parameters"]["required"] == ["path"]


async def test_a_call_gives_a_message_with_the_whole_outcome_as_its_artifact() -> None:
    message = await ran(FakeTool(), {"path": "a"})
    assert (message.content, message.status) == ("done", "success")
    assert message.artifact["yard"]["server"] == "fs"


async def test_arguments_reach_the_tool_whatever_they_are_called() -> None:
    arguments: dict[str, object] = {
        "path": "a",
        "config": "b",
        "self": "c",
        "run_manager": "d",
        "callbacks": "e",
    }
    fake = FakeTool()
    await ran(fake, arguments)
    assert fake.calls == [arguments]


async def test_a_picture_is_carried_and_the_rest_told() -> None:
    blocks: Any = (await ran(FakeTool(EVERYTHING), {"path": "a"})).content
    texts = "\n".join(each["text"] for each in blocks if each["type"] == "text")
    assert all(each in texts for each in (*WORDS, "audio/wav", "application/pdf"))
    [image] = (each for each in blocks if each["type"] == "image")
    assert image == {"type": "image", "base64": PICTURE, "mime_type": "image/png"}


@pytest.mark.parametrize("fake", FAILING)
async def test_a_failure_is_a_message_that_says_so(fake: FakeTool) -> None:
    message = await ran(fake, {"path": "a"})
    assert (message.content, message.status) == ("it went wrong", "error")


async def test_a_failure_with_a_picture_has_a_note_of_it_because_services_refuse_it() -> None:
    picture = {"type": "image", "data": PICTURE, "mimeType": "image/png"}
    failed = {"content": [{"type": "text", "text": "it broke"}, picture], "isError": True}
    message = await ran(FakeTool(failed), {"path": "a"})
    assert message.status == "error"
    assert str(message.content).startswith("it broke\n[image/png, about")


def test_a_tool_can_be_invoked_without_an_event_loop() -> None:
    fake = FakeTool()
    [tool] = fake.box().to_langchain()
    assert tool.invoke({"path": "a"}) == "done"
    assert fake.calls == [{"path": "a"}]


@pytest.mark.parametrize("fake", FAILING)
def test_a_failure_of_a_tool_that_is_invoked_is_told(fake: FakeTool) -> None:
    [tool] = fake.box().to_langchain()
    call = {"type": "tool_call", "name": tool.name, "args": {"path": "a"}, "id": "1"}
    message = tool.invoke(call)
    assert (message.status, message.content) == ("error", "it went wrong")


async def test_all_calls_of_a_message_are_answered_even_those_that_cannot_be_made() -> None:
    box = FakeTool().box()
    turn = AIMessage(
        "",
        tool_calls=[
            {"name": "mcp_fs_read_file", "args": {"path": "a"}, "id": "1"},
            {"name": "nothing", "args": {}, "id": "2"},
        ],
        invalid_tool_calls=[
            {
                "type": "invalid_tool_call",
                "name": "mcp_fs_read_file",
                "args": "{broken",
                "id": "3",
                "error": None,
            }
        ],
    )
    first, *answers = await box.answer_langchain(turn)
    assert first is turn
    assert [getattr(each, "status", "") for each in answers] == ["success", "error", "error"]
    assert "there is no tool" in answers[1].text
    assert "not a JSON object" in answers[2].text
    assert await box.answer_langchain(AIMessage("done")) == []
