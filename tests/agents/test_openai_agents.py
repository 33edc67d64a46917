"""The tools of the OpenAI Agents SDK, run by its own runner with a scripted model."""

from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from agents import (
    Agent,
    FunctionTool,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    ToolOutputFileContent,
    ToolOutputImage,
    Usage,
)
from agents.tool_context import ToolContext
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from tests.agents.boxes import EVERYTHING, FAILING, PICTURE, WORDS, FakeTool

ARGUMENTS = '{"path": "a"}'


class Scripted(Model):
    """A model that calls the first tool once, and then is done; remembers what it was told."""

    def __init__(self, arguments: str = ARGUMENTS) -> None:
        self.arguments = arguments
        self.items: list[Any] = []

    async def get_response(self, *args: Any, **more: Any) -> ModelResponse:  # noqa: ANN401  its shape
        del args
        items, tools = more["input"], more["tools"]
        self.items = [] if isinstance(items, str) else list(items)
        outputs = [each for each in self.items if each.get("type") == "function_call_output"]
        reply = _message("finished") if outputs else self._call(tools[0])
        return ModelResponse(output=[reply], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **more: Any) -> AsyncIterator[Any]:  # noqa: ANN401  its shape
        raise AssertionError("these runs are not streamed", args, more)

    def _call(self, tool: FunctionTool) -> ResponseFunctionToolCall:
        return ResponseFunctionToolCall(
            arguments=self.arguments, call_id="call_1", name=tool.name, type="function_call"
        )


def _message(text: str) -> ResponseOutputMessage:
    content = ResponseOutputText(annotations=[], text=text, type="output_text")
    return ResponseOutputMessage(
        id="msg_1", content=[content], role="assistant", status="completed", type="message"
    )


async def run(fake: FakeTool, model: Scripted) -> object:
    """What the model was told of its call, after a whole run."""
    agent = Agent("tester", model=model, tools=[*fake.box().to_openai_agents()])
    result = await Runner.run(agent, "go", run_config=RunConfig(tracing_disabled=True))
    assert result.final_output == "finished"
    [output] = (each for each in model.items if each.get("type") == "function_call_output")
    return output["output"]


async def invoked(fake: FakeTool, arguments: str = ARGUMENTS) -> Any:  # noqa: ANN401  as the library
    [tool] = fake.box().to_openai_agents()
    assert isinstance(tool, FunctionTool)
    context = ToolContext(None, tool_name=tool.name, tool_call_id="1", tool_arguments=arguments)
    return await tool.on_invoke_tool(cast("ToolContext[Any]", context), arguments)


def test_a_tool_has_a_schema_that_the_service_takes() -> None:
    [tool] = FakeTool().box().to_openai_agents()
    assert isinstance(tool, FunctionTool)
    assert (tool.name, tool.description) == ("mcp_fs_read_file", "Reads a file.")
    assert tool.params_json_schema["required"] == ["path"]
    assert "$ref" not in str(tool.params_json_schema)


async def test_a_run_calls_the_tool_and_tells_the_model() -> None:
    fake = FakeTool()
    assert await run(fake, Scripted()) == "done"
    assert fake.calls == [{"path": "a"}]


async def test_a_run_tells_the_model_all_that_came() -> None:
    output: Any = await run(FakeTool(EVERYTHING), Scripted())
    texts = "\n".join(each["text"] for each in output if each["type"] == "input_text")
    assert all(each in texts for each in (*WORDS, "audio/wav"))
    kinds = [each["type"] for each in output if each["type"] != "input_text"]
    assert kinds == ["input_image", "input_file"]


async def test_pictures_and_papers_are_carried() -> None:
    parts = await invoked(FakeTool(EVERYTHING))
    [image] = (each for each in parts if isinstance(each, ToolOutputImage))
    [paper] = (each for each in parts if isinstance(each, ToolOutputFileContent))
    assert image.image_url == f"data:image/png;base64,{PICTURE}"
    assert paper.filename == "a.pdf"


@pytest.mark.parametrize("fake", FAILING)
async def test_a_failure_is_told_and_the_run_goes_on(fake: FakeTool) -> None:
    assert await run(fake, Scripted()) == "Error: it went wrong"


async def test_arguments_that_are_not_json_are_refused_and_the_run_goes_on() -> None:
    fake = FakeTool()
    text = str(await invoked(fake, "{broken"))
    assert text.startswith("Error: the arguments are not a JSON object")
    assert fake.calls == []
