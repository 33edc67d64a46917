"""The toolset of Pydantic AI, run by its own agent with a scripted model."""

from typing import Any

import pytest
from pydantic_ai import (
    Agent,
    BinaryContent,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from tests.agents.boxes import EVERYTHING, FAILING, SCHEMA, WORDS, FakeTool


def scripted(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """A model that calls the first tool once, and then is done."""
    if len(messages) == 1:
        tool = info.function_tools[0]
        return ModelResponse(parts=[ToolCallPart(tool.name, '{"path": "a"}')])
    return ModelResponse(parts=[TextPart("finished")])


async def run(fake: FakeTool) -> ToolReturnPart:
    """What the model was told of its call, after a whole run."""
    agent = Agent(FunctionModel(scripted), toolsets=[fake.box().to_pydantic_ai()])
    result = await agent.run("go")
    assert result.output == "finished"
    [part] = (
        part
        for message in result.all_messages()
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, ToolReturnPart)
    )
    return part


async def test_the_model_is_offered_the_tools_as_they_came() -> None:
    model = TestModel(call_tools=[])
    agent = Agent(model, toolsets=[FakeTool().box().to_pydantic_ai()])
    await agent.run("go")
    assert model.last_model_request_parameters
    [tool] = model.last_model_request_parameters.function_tools
    assert (tool.name, tool.description) == ("mcp_fs_read_file", "Reads a file.")
    assert tool.parameters_json_schema == SCHEMA
    assert tool.metadata == FakeTool().tool().metadata


async def test_a_run_calls_the_tool_and_tells_the_model() -> None:
    fake = FakeTool()
    part = await run(fake)
    assert (part.content, part.outcome) == ("done", "success")
    assert fake.calls == [{"path": "a"}]
    metadata: Any = part.metadata
    assert metadata["yard"]["server"] == "fs"


async def test_a_picture_is_carried_and_the_rest_told() -> None:
    content: Any = (await run(FakeTool(EVERYTHING))).content
    texts = "\n".join(each for each in content if isinstance(each, str))
    assert all(each in texts for each in (*WORDS, "audio/wav", "application/pdf"))
    [image] = (each for each in content if isinstance(each, BinaryContent))
    assert image.media_type == "image/png"


@pytest.mark.parametrize("fake", FAILING)
async def test_a_failure_is_told_and_the_run_goes_on(fake: FakeTool) -> None:
    part = await run(fake)
    assert (part.content, part.outcome) == ("it went wrong", "failed")


def test_the_toolset_needs_no_id() -> None:
    assert FakeTool().box().to_pydantic_ai().id is None
