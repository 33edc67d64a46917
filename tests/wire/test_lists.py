"""Lists of a server in which one item is broken."""

from typing import Any

import pytest

from mcpyard.domain.errors import ProtocolBroken
from mcpyard.domain.tool import read_tools
from mcpyard.wire.jsonrpc import Reply
from mcpyard.wire.lists import ToolList, all_pages

HUGE = b"9" * 5000


async def listing(page: bytes) -> ToolList:
    async def ask(_params: dict[str, Any]) -> Reply:
        return Reply(page)

    return await all_pages(ask)


async def test_a_tool_with_a_number_that_nobody_can_read_is_left_out_alone() -> None:
    tools = b'{"name": "a"}, {"name": "b", "n": %b}, {"n": %b}, {"name": "c"}' % (HUGE, HUGE)
    tool_list = await listing(b'{"tools": [%b], "ttlMs": 5, "x": %b}' % (tools, HUGE))
    assert [each["name"] for each in tool_list.tools] == ["a", "c"]
    assert tool_list.ttl_ms == 5
    assert [str(each) for each in tool_list.problems] == [
        'tools[1]: ("b") cannot be read as JSON and is left out',
        "tools[2]: cannot be read as JSON and is left out",
    ]


@pytest.mark.parametrize("page", [b'{"tools": %b}', b'{"x": %b}', b"[%b]"])
async def test_a_page_without_a_list_is_refused(page: bytes) -> None:
    with pytest.raises(ProtocolBroken):
        await listing(page % HUGE)


def test_a_tool_whose_schema_is_too_deep_is_left_out_alone() -> None:
    schema: dict[str, Any] = {}
    for _ in range(200):
        schema = {"type": "object", "properties": {"a": schema}, "examples": [[]]}
    deep = {"name": "deep", "inputSchema": schema}
    tools, problems = read_tools([deep, {"name": "good", "inputSchema": {}}])
    assert [each.name for each in tools] == ["good"]
    assert [str(each) for each in problems] == [
        'tools[0]: ("deep") is nested more than 128 levels deep and is left out'
    ]
