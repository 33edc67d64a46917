"""All pages of a server's lists, within bounds a hostile server cannot move."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from mcpyard.domain.errors import ProtocolBroken
from mcpyard.domain.narrowing import is_array, is_object
from mcpyard.wire.eras import reply_members, ttl_of
from mcpyard.wire.jsonrpc import Reply

MOST_TOOLS: Final = 10_000
MOST_PAGES: Final = 200

Ask = Callable[[dict[str, Any]], Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class ToolList:
    """What a server offers, each tool whole, as it came.

    Attributes:
        tools: The tools, in the server's order.
        ttl_ms: How long the list may be kept: the least of its pages; None when nothing was said.
        public: Whether every page says that it is the same for everybody.
    """

    tools: tuple[dict[str, Any], ...]
    ttl_ms: int | None = None
    public: bool = False


async def all_pages(ask: Ask, member: str = "tools") -> ToolList:
    """Follow the pages to their end.

    Args:
        ask: Gives the page that parameters ask for.
        member: Where in a page the items stand.

    Raises:
        ProtocolBroken: The list is no list, has no end, or goes in a circle.
    """
    tools: list[dict[str, Any]] = []
    cursors: set[str] = set()
    ttls: list[int] = []
    public = True
    params: dict[str, Any] = {}
    for _ in range(MOST_PAGES):
        page = reply_members(await ask(params))
        tools += _items_of(page, member)
        public = public and page.get("cacheScope") == "public"
        if (ttl := ttl_of(page)) is not None:
            ttls.append(ttl)
        if len(tools) > MOST_TOOLS:
            raise ProtocolBroken(f"the server lists more than {MOST_TOOLS} {member}")
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str) or not cursor:
            return ToolList(tuple(tools), min(ttls, default=None), public)
        if cursor in cursors:
            raise ProtocolBroken(f"the pages of the server's list of {member} form a loop")
        cursors.add(cursor)
        params = {"cursor": cursor}
    raise ProtocolBroken(f"the server's list of {member} has more than {MOST_PAGES} pages")


def _items_of(page: dict[str, Any], member: str) -> list[dict[str, Any]]:
    listed = page.get(member)
    if not is_array(listed):
        raise ProtocolBroken(f"the server's answer has no list of {member}")
    return [item for item in listed if is_object(item)]
