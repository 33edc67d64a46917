"""The shape of the Vercel AI SDK."""

import json
from dataclasses import replace
from typing import Any

import pytest

from mcpyard.agents.toolbox import AgentToolbox
from tests.agents.boxes import EVERYTHING, FAILING, PAPER, PICTURE, SOUND, FakeTool, saying
from tests.agents.fs import PATH
from tests.agents.fs_yard import yard_of_fs

ANSWER = {"type": "object", "properties": {"answer": {"type": "integer"}}}


def shape_of(fake: FakeTool) -> dict[str, Any]:
    return {**fake.box().to_ai_sdk()[fake.name]}


@pytest.mark.real
@pytest.mark.spec("D2.3")
async def test_the_tools_of_a_server_are_a_tool_set() -> None:
    def today() -> str:
        return "Monday"

    async with yard_of_fs() as yard:
        tools: dict[str, Any] = yard.toolbox(own=[today]).to_ai_sdk()
        result = await tools["mcp_fs_show"]["execute"]({})
        own = await tools["today"]["execute"]({})
    assert tools["mcp_fs_read_file"]["description"] == "Reads a text file."
    assert tools["mcp_fs_read_file"]["inputSchema"] == PATH
    assert result["structuredContent"] == {"answer": 42}
    assert tools["today"]["toModelOutput"](own) == {"type": "text", "value": "Monday"}


@pytest.mark.spec("D3.3")
async def test_every_part_of_a_result_becomes_one_that_a_model_reads() -> None:
    shape = shape_of(FakeTool(EVERYTHING))
    output = shape["toModelOutput"](await shape["execute"]({"path": "a"}))
    assert output == {
        "type": "content",
        "value": [
            {"type": "text", "text": "words"},
            {"type": "image-data", "data": PICTURE, "mediaType": "image/png"},
            {"type": "file-data", "data": SOUND, "mediaType": "audio/wav"},
            {"type": "text", "text": "[file:///a.md]\ninner words"},
            {"type": "file-data", "data": PAPER, "mediaType": "application/pdf"},
            {"type": "text", "text": "[link the link] https://example.com/b"},
            {"type": "text", "text": '{"type":"hologram","depth":3}'},
            {"type": "text", "text": '{"answer":42}'},
        ],
    }


async def test_the_output_of_a_tool_with_a_schema_is_what_fits_the_schema() -> None:
    shape = shape_of(FakeTool(saying("42", structuredContent={"answer": 42}), output_schema=ANSWER))
    output = await shape["execute"]({"path": "a"})
    assert shape["outputSchema"] == ANSWER
    assert output == {"answer": 42}
    assert shape["toModelOutput"](output) == {"type": "json", "value": {"answer": 42}}


async def test_a_tool_that_breaks_its_promise_still_gives_what_came() -> None:
    shape = shape_of(FakeTool(saying("42"), output_schema=ANSWER))
    output = await shape["execute"]({"path": "a"})
    assert shape["toModelOutput"](output) == {"type": "text", "value": "42"}


@pytest.mark.parametrize("fake", FAILING)
async def test_a_failure_is_an_output_that_says_so(fake: FakeTool) -> None:
    shape = shape_of(fake)
    output = await shape["execute"]({"path": "a"}, {"toolCallId": "1"})
    assert output["isError"] is True
    assert shape["toModelOutput"](output) == {"type": "error-text", "value": "it went wrong"}


def test_a_title_is_kept() -> None:
    tool = replace(FakeTool().tool(), title="Read a file")
    assert AgentToolbox([tool]).to_ai_sdk()[tool.name].get("title") == "Read a file"


def test_all_but_the_functions_can_be_sent_as_json() -> None:
    shape = shape_of(FakeTool(output_schema=ANSWER))
    sent = {name: value for name, value in shape.items() if not callable(value)}
    assert json.loads(json.dumps(sent)) == sent
