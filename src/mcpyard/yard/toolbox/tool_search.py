"""Two tools in the place of many: one finds tools, the other calls them."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Final, Protocol

from pydantic import Field

from mcpyard.domain.errors import Problem
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.toolbox.agent_tool import Tool
from mcpyard.yard.toolbox.gathering import Gathered
from mcpyard.yard.toolbox.own_tools import own_tool

log = logging.getLogger(__name__)

SEARCH_TOOLS: Final = "search_tools"
CALL_TOOL: Final = "call_tool"

MAX_TOOLS: Final = 128
"""Tools over which a toolbox warns: models choose worse among more, and services refuse them."""

TOO_MANY: Final = "tools"
"""The field of the warning."""

_SHOWN: Final = 10


class SearchedTools(Protocol):
    """A toolbox with more tools than a model should see at once."""

    def search(self, query: str, limit: int = _SHOWN) -> list[Tool]:
        """The tools that match a query."""
        ...

    async def call(self, name: str, arguments: Mapping[str, object] | None = None) -> Outcome:
        """Call one of them."""
        ...


def search_and_call(box: SearchedTools, count: int) -> tuple[Tool, Tool]:
    """The tools `search_tools` and `call_tool` over a toolbox."""

    async def search(
        query: Annotated[str, Field(description="What the tool should do, in a few words.")],
        limit: Annotated[int, Field(ge=1, le=50)] = _SHOWN,
    ) -> dict[str, object]:
        tools = [_described(each) for each in box.search(query, limit)]
        return {"tools": tools, "of": count}

    async def call(
        name: Annotated[str, Field(description=f"A name that {SEARCH_TOOLS} returned.")],
        arguments: Annotated[
            dict[str, object] | None, Field(description="Arguments that fit its inputSchema.")
        ] = None,
    ) -> Outcome:
        return await box.call(name, arguments)

    about = f"Search among {count} tools by what they do; returns names, descriptions and schemas."
    how = f"Call a tool that {SEARCH_TOOLS} returned."
    searching = own_tool(
        search, name=SEARCH_TOOLS, description=about, annotations={"readOnlyHint": True}
    )
    return searching, own_tool(call, name=CALL_TOOL, description=how)


def with_limit(gathered: Gathered, most: int) -> Gathered:
    """What a toolbox is made of, with a warning for more tools than a model should see at once."""

    def again() -> Gathered | None:
        fresh = gathered.again()
        return None if fresh is None else with_limit(fresh, most)

    limited = replace(gathered, again=again)
    tools = gathered.tools
    if len(tools) <= most:
        return limited
    tokens = sum(each.tokens for each in tools)
    advice = "select fewer, or use toolbox.lazy()"
    text = f"{len(tools)} tools (about {tokens} tokens) are more than {most}; {advice}"
    log.warning("%s", text)
    return replace(limited, warnings=(*gathered.warnings, Problem(TOO_MANY, text)))


def _described(tool: Tool) -> dict[str, object]:
    return {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "annotations": dict(tool.annotations),
    }
