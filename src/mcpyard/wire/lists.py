"""All pages of a server's lists, within bounds a hostile server cannot move."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec
import orjson
from msgspec import Raw, Struct

from mcpyard.domain.errors import Problem, ProtocolBroken
from mcpyard.domain.narrowing import is_array, is_object
from mcpyard.wire.eras import reply_members, ttl_of
from mcpyard.wire.jsonrpc import Reply

MOST_TOOLS: Final = 10_000
MOST_PAGES: Final = 200

_raw_members = msgspec.json.Decoder(dict[str, Raw])
_raw_items = msgspec.json.Decoder(list[Raw])

Ask = Callable[[dict[str, Any]], Awaitable[Reply]]


class ToolList(Struct, frozen=True):
    """What a server offers, each tool whole, as it came.

    Attributes:
        tools: The tools, in the server's order.
        ttl_ms: How long the list may be kept: the least of its pages; None when nothing was said.
        public: Whether every page says that it is the same for everybody.
        problems: The items that cannot be read and are left out.
    """

    tools: tuple[dict[str, Any], ...]
    ttl_ms: int | None = None
    public: bool = False
    problems: tuple[Problem, ...] = ()


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
    problems: list[Problem] = []
    for _ in range(MOST_PAGES):
        page = _page_of(await ask(params), member, problems)
        tools += _items_of(page, member)
        public = public and page.get("cacheScope") == "public"
        if (ttl := ttl_of(page)) is not None:
            ttls.append(ttl)
        if len(tools) > MOST_TOOLS:
            raise ProtocolBroken(f"the server lists more than {MOST_TOOLS} {member}")
        cursor = page.get("nextCursor")
        if not isinstance(cursor, str) or not cursor:
            return ToolList(tuple(tools), min(ttls, default=None), public, tuple(problems))
        if cursor in cursors:
            raise ProtocolBroken(f"the pages of the server's list of {member} form a loop")
        cursors.add(cursor)
        params = {"cursor": cursor}
    raise ProtocolBroken(f"the server's list of {member} has more than {MOST_PAGES} pages")


def _page_of(reply: Reply, member: str, problems: list[Problem]) -> dict[str, Any]:
    """A page; where it cannot be decoded as a whole, with the items that can be by themselves."""
    try:
        return reply_members(reply)
    except (ValueError, RecursionError):
        """An item that cannot be decoded must not cost the others."""
    try:
        raw = _raw_members.decode(reply.result)
        items = _raw_items.decode(raw.pop(member, b"null"))
    except (ValueError, RecursionError):
        raise ProtocolBroken(f"the server's list of {member} is not valid JSON") from None
    page: dict[str, Any] = {name: value for name, text in raw.items() if (value := _read(text))}
    page[member] = []
    for index, text in enumerate(items):
        item = _read(text)
        if item is None:
            name = _name_in(text)
            where = f"{member}[{index}]"
            problems.append(Problem(where, f"{name}cannot be read as JSON and is left out"))
        else:
            page[member].append(item)
    return page


def _read(text: Raw) -> object:
    try:
        return orjson.loads(bytes(text))
    except ValueError:
        return None


def _name_in(text: Raw) -> str:
    try:
        name: object = _read(_raw_members.decode(text)["name"])
    except (ValueError, RecursionError, KeyError):
        return ""
    return f'("{name[:80]}") ' if isinstance(name, str) else ""


def _items_of(page: dict[str, Any], member: str) -> list[dict[str, Any]]:
    listed = page.get(member)
    if not is_array(listed):
        raise ProtocolBroken(f"the server's answer has no list of {member}")
    return [item for item in listed if is_object(item)]
