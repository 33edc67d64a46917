"""Many tools and long results: warnings, tools that are found on demand, and reading on."""

from typing import Any

import orjson
import pytest
from agents import FunctionTool, ToolSearchTool
from anthropic.types import ToolSearchToolBm25_20251119Param
from pydantic import TypeAdapter
from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from mcpyard import AgentToolbox, Tool, Yard
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.calls.parts import Image, Text
from mcpyard.yard.toolbox.long_results import LongResults, cutting_results
from tests.agents.boxes import PICTURE, FakeTool, saying
from tests.agents.test_ready import plain

PATH = {"path": "a"}
NAME = "mcp_fs_read_file"


def many(fake: FakeTool, count: int = 300) -> AgentToolbox:
    others = [
        FakeTool(name=f"mcp_fs_other_{number}", description="Does") for number in range(count)
    ]
    return AgentToolbox([fake.tool(), *(each.tool() for each in others)])


@pytest.mark.real
async def test_a_toolbox_warns_of_too_many_tools() -> None:
    async with Yard.open(servers={"a": plain("good")}) as yard:
        await yard.ready(check=True)
        assert yard.toolbox().warnings == ()
        few = yard.toolbox(max_tools=2, max_result=20)
        [warning] = few.warnings
        assert "more than 2" in warning.message
        assert "toolbox.lazy()" in warning.message
        assert few.lazy().warnings == ()
        long = await few.call("mcp_a_echo", {"text": "0123456789" * 3})
        assert long.text.startswith("01234567890123456789\n[cut: characters 0 to 20 of 30")
        rest = await few.call("read_more", {"id": "r1", "offset": 20})
        assert rest.text == "0123456789"


async def test_the_pair_finds_and_calls_tools() -> None:
    fake = FakeTool()
    box = many(fake).lazy(native=False)
    assert [tool.name for tool in box] == ["search_tools", "call_tool"]
    listed = (await box.call("search_tools", {"query": "reads a file"})).structured
    assert isinstance(listed, dict)
    first: Any = listed["tools"][0]
    assert (first["name"], listed["of"]) == (NAME, 301)
    assert first["inputSchema"]["required"] == ["path"]
    outcome = await box.call("call_tool", {"name": NAME, "arguments": PATH})
    assert (outcome.text, outcome.server, fake.calls) == ("done", "fs", [PATH])
    assert (await box.call("call_tool", {"name": "nothing"})).is_error
    assert (await box.call("nothing")).is_error
    for tools in (box.to_anthropic(), box.to_openai(), box.to_openai("chat"), box.to_copilot()):
        assert len(tools) == 2
    assert len(box.to_openai_agents()) == len(box.to_langchain()) == len(box.to_ai_sdk()) == 2
    answer = await box.answer_anthropic(
        {"id": "1", "name": "call_tool", "input": {"name": NAME, "arguments": PATH}}
    )
    assert answer["is_error"] is False


async def test_services_that_defer_tools_get_all_of_them() -> None:
    fake = FakeTool()
    box = many(fake).lazy()
    search, first, *others = box.to_anthropic()
    TypeAdapter(ToolSearchToolBm25_20251119Param).validate_python(search)
    assert (first["name"], len(others)) == (NAME, 300)
    assert all(each.get("defer_loading") for each in (first, *others))
    answer = await box.answer_anthropic({"id": "1", "name": NAME, "input": PATH})
    assert (answer["is_error"], fake.calls) == (False, [PATH])
    search, *tools = box.to_openai()
    assert search == {"type": "tool_search"}
    assert {each.get("defer_loading") for each in tools} == {True}
    assert len(box.to_openai("chat")) == 2
    assert {each.defer for each in box.to_copilot()} == {"auto"}
    searching, *functions = box.to_openai_agents()
    assert isinstance(searching, ToolSearchTool)
    assert all(isinstance(each, FunctionTool) and each.defer_loading for each in functions)
    assert len(box.to_langchain()) == len(box.to_ai_sdk()) == 2


async def test_pydantic_ai_searches_by_its_own_means() -> None:
    fake = FakeTool()
    seen: list[list[str]] = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        seen.append([each.name for each in info.function_tools])
        calls = [
            ToolCallPart("search_tools", {"queries": ["read file"]}),
            ToolCallPart(NAME, PATH),
        ]
        step = len(messages) // 2
        return ModelResponse(parts=[calls[step] if step < 2 else TextPart("finished")])

    agent = Agent(FunctionModel(model), toolsets=[many(fake, 5).lazy().to_pydantic_ai()])
    assert (await agent.run("go")).output == "finished"
    assert NAME not in seen[0]
    assert fake.calls == [PATH]


def cut(result: dict[str, Any], limit: int) -> AgentToolbox:
    return AgentToolbox(cutting_results(limit)((FakeTool(result).tool(),)))


async def test_a_long_result_is_cut_visibly_and_read_on() -> None:
    text = "".join(map(str, range(1000)))
    image = {"type": "image", "data": PICTURE, "mimeType": "image/png"}
    result = {"content": [{"type": "text", "text": text}, image], "structuredContent": {"a": text}}
    box = cut(result, 1000)
    outcome = await box.call(NAME, PATH)
    first, picture = outcome.parts
    assert isinstance(first, Text)
    assert isinstance(picture, Image)
    whole, offset = first.text.partition("\n[cut:")[0], 1000
    assert 'id "r1" and offset 1000' in first.text
    while True:
        piece = (await box.call("read_more", {"id": "r1", "offset": offset})).text
        excerpt, cut_here, _ = piece.partition("\n[cut:")
        whole, offset = whole + excerpt, offset + len(excerpt)
        if not cut_here:
            break
    assert whole == text + "\n" + orjson.dumps({"a": text}).decode()
    assert (await box.call("read_more", {"id": "r1", "offset": 99999})).is_error
    unknown = await box.call("read_more", {"id": "r9", "offset": 0})
    assert "is not kept any more" in unknown.text
    assert outcome.attribution.source == "fs"


async def test_short_results_and_pictures_stay_as_they_are() -> None:
    image = {"type": "image", "data": PICTURE * 500, "mimeType": "image/png"}
    for result in (saying("short"), {"content": [image]}):
        outcome = await cut(result, 1000).call(NAME, PATH)
        assert orjson.loads(outcome.raw) == result
    failed = await cut(saying("x" * 5000, isError=True), 1000).call(NAME, PATH)
    assert failed.is_error


async def test_what_is_kept_is_bounded() -> None:
    sizes = iter([3000, 3000, 9000])

    async def calling(*_: object) -> Outcome:
        return Outcome(orjson.dumps(saying("x" * next(sizes))), "fs", "t", 1.0)

    results = LongResults(1000, most=5000)
    tool, reading = results.cutting(Tool("t", "", {}, calling)), results.tool()
    for name in ("r1", "r2"):
        assert f'"{name}"' in (await tool.call()).text
    assert (await reading.call({"id": "r1", "offset": 1000})).is_error
    assert not (await reading.call({"id": "r2", "offset": 1000})).is_error
    assert "too long to be kept" in (await tool.call()).text


@pytest.mark.parametrize("limit", [0, -5])
async def test_results_without_a_character_are_refused(limit: int) -> None:
    async with Yard.open() as yard:
        with pytest.raises(ValueError, match=f"max_result: expected at least 1, found {limit}"):
            yard.toolbox(max_result=limit)


@pytest.mark.real
async def test_a_refreshed_toolbox_still_warns_and_a_lazy_one_finds_new_tools() -> None:
    async with Yard.open(servers={"a": plain("good")}) as yard:
        await yard.ready(check=True)
        box = yard.toolbox(max_tools=2)
        lazy = box.lazy(native=False)
        assert lazy.refreshed() is lazy
        yard.code.add("b", plain("good"))
        await yard.start("b", wait=10)
        await yard.ready(check=True)
        assert [each.field for each in box.refreshed().warnings] == ["tools"]
        newer = lazy.refreshed()
        assert [tool.name for tool in newer] == ["search_tools", "call_tool"]
        arguments = {"name": "mcp_b_echo", "arguments": {"text": "hi"}}
        assert (await newer.call("call_tool", arguments)).text == "hi"
        assert (await lazy.call("call_tool", arguments)).is_error
        assert newer.search("echo")[0].native == "echo"


def test_blocking_calls_reach_every_tool_of_a_lazy_toolbox() -> None:
    fake = FakeTool()
    box = many(fake).lazy()
    outcome = box.call_sync("mcp_fs_read_file", {"path": "a"})
    assert not outcome.is_error
    assert len(fake.calls) == 1
