"""The tools of the GitHub Copilot SDK, made from a yard with a real server and from fakes."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest
from copilot.tools import Tool, ToolInvocation, ToolResult
from copilot.tools import tool_result_to_external_tool_text_result_for_llm as sent

from mcpyard.yard.calls.outcome import ErrorKind
from tests.agents.boxes import EVERYTHING, PAPER, PICTURE, SOUND, WORDS, FakeTool, saying
from tests.agents.fs import PATH
from tests.agents.fs_yard import yard_of_fs


async def handled(tool: Tool, arguments: object = None) -> ToolResult:
    """Execute a tool as the SDK does: through its handler."""
    assert tool.handler
    invocation = ToolInvocation(tool_name=tool.name, arguments=arguments)
    return await cast("Awaitable[ToolResult]", tool.handler(invocation))


def attached(result: ToolResult) -> list[tuple[str, str, str]]:
    return [(each.type, each.mime_type, each.data) for each in result.binary_results_for_llm or ()]


@asynccontextmanager
async def tools_of_fs(**policy: object) -> AsyncGenerator[dict[str, Tool]]:
    """The tools of a real server called `fs`, by name."""
    async with yard_of_fs(**policy) as yard:
        yield {tool.name: tool for tool in yard.toolbox().to_copilot()}


@pytest.mark.real
@pytest.mark.spec("A3.1")
async def test_a_servers_tool_becomes_one_of_the_agents() -> None:
    async with tools_of_fs() as tools:
        tool = tools["mcp_fs_read_file"]
    assert isinstance(tool, Tool)
    assert tool.description == "Reads a text file."
    assert tool.parameters == PATH


@pytest.mark.real
@pytest.mark.spec("A3.2")
async def test_executing_it_calls_the_server_and_returns_the_result(tmp_path: Path) -> None:
    note = tmp_path / "note.txt"
    note.write_text("你好, yard")
    async with tools_of_fs() as tools:
        result = await handled(tools["mcp_fs_read_file"], {"path": str(note)})
        show_result = await handled(tools["mcp_fs_show"])
    assert (result.text_result_for_llm, result.result_type) == ("你好, yard", "success")
    assert show_result.text_result_for_llm.split("\n") == [
        "words",
        "[link the link] https://example.com/b",
        "[file:///a.md]",
        "inner words",
        '{"answer":42}',
    ]
    assert attached(show_result) == [
        ("image", "image/png", PICTURE),
        ("resource", "audio/wav", SOUND),
    ]


@pytest.mark.real
@pytest.mark.spec("A3.3")
async def test_a_call_that_fails_or_takes_too_long_is_an_error_result() -> None:
    async with tools_of_fs(timeout=200) as tools:
        late, refused, wrong = await asyncio.gather(
            handled(tools["mcp_fs_hang"]),
            handled(tools["mcp_fs_refuse"]),
            handled(tools["mcp_fs_read_file"], {"path": 3}),
        )
        after = await handled(tools["mcp_fs_show"])
    assert late.result_type == "timeout"
    assert "0.2 s" in late.text_result_for_llm
    assert (refused.result_type, refused.error) == ("failure", "it does not please me")
    assert wrong.result_type == "failure"
    assert wrong.text_result_for_llm.startswith("path: ")
    assert after.result_type == "success"


async def test_nothing_of_a_result_is_dropped() -> None:
    [tool] = FakeTool(EVERYTHING).box().to_copilot()
    result = await handled(tool, {"path": "a"})
    assert all(each in result.text_result_for_llm for each in WORDS)
    assert attached(result) == [
        ("image", "image/png", PICTURE),
        ("resource", "audio/wav", SOUND),
        ("resource", "application/pdf", PAPER),
    ]


async def test_the_sdk_can_send_the_result() -> None:
    [tool] = FakeTool(EVERYTHING).box().to_copilot()
    payload = sent(await handled(tool, {"path": "a"})).to_dict()
    assert payload["resultType"] == "success"
    assert [each["type"] for each in payload["binaryResultsForLlm"]] == [
        "image",
        "resource",
        "resource",
    ]


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (ErrorKind.TIMEOUT, "timeout"),
        (ErrorKind.DISCONNECTED, "failure"),
        (ErrorKind.VALIDATION, "failure"),
        (ErrorKind.PROTOCOL, "failure"),
    ],
)
async def test_a_failure_is_told_as_what_it_is(fault: ErrorKind, kind: str) -> None:
    [tool] = FakeTool(fault=fault).box().to_copilot()
    result = await handled(tool, {"path": "a"})
    assert (result.result_type, result.error) == (kind, "it went wrong")


@pytest.mark.parametrize("arguments", [[], 3, "[]", "no json"])
async def test_arguments_that_are_no_object_are_refused(arguments: object) -> None:
    fake = FakeTool(saying("never"))
    [tool] = fake.box().to_copilot()
    result = await handled(tool, arguments)
    assert result.result_type == "failure"
    assert "not a JSON object" in result.text_result_for_llm
    assert fake.calls == []
