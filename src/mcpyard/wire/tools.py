"""All pages of a server's tool list, within bounds a hostile server cannot move."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, cast

from mcpyard.domain.errors import ProtocolBroken
from mcpyard.wire.eras import reply_members, ttl_of
from mcpyard.wire.messages import Reply

MOST_TOOLS: Final = 10_000
MOST_PAGES: Final = 200

Ask = Callable[[dict[str, Any]], Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class ToolList:
    """What a server offers, each tool whole, as it came.

    Attributes:
        tools: The tools, in the server's order.
        ttl_ms: How long the list may be kept: the least of its pages; None when nothing was said.
    """

    tools: tuple[dict[str, Any], ...]
    ttl_ms: int | None = None


async def all_pages(ask: Ask) -> ToolList:
    """Follow the pages to their end.

    Raises:
        ProtocolBroken: The list is no list, has no end, or goes in a circle.
    """
    tools: list[dict[str, Any]] = []
    seen: set[str] = set()
    ttls: list[int] = []
    params: dict[str, Any] = {}
    for _ in range(MOST_PAGES):
        page = reply_members(await ask(params))
        tools += _tools_of(page)
        if (ttl := ttl_of(page)) is not None:
            ttls.append(ttl)
        if len(tools) > MOST_TOOLS:
            raise ProtocolBroken(f"the server lists more than {MOST_TOOLS} tools")
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str) or not cursor:
            return ToolList(tuple(tools), min(ttls, default=None))
        if cursor in seen:
            raise ProtocolBroken("the pages of the server's tool list go in a circle")
        seen.add(cursor)
        params = {"cursor": cursor}
    raise ProtocolBroken(f"the server's tool list has more than {MOST_PAGES} pages")


def _tools_of(page: dict[str, Any]) -> list[dict[str, Any]]:
    tools = page.get("tools")
    if not isinstance(tools, list):
        raise ProtocolBroken("the server's answer to tools/list has no list of tools")
    items = cast("list[object]", tools)
    return [cast("dict[str, Any]", tool) for tool in items if isinstance(tool, dict)]
