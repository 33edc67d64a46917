"""How the servers are listed: as cards or as rows, in which order and sections, in pages."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple
from uuid import UUID

from mcpyard.web.badges import BAD, BUSY, GOOD, IDLE
from mcpyard.web.server_screens.views import LIST, ROWS

PAGE: Final = 100
"""Servers of one page, and those that are there when the screen is first shown."""

LAYOUTS: Final = ("cards", "list")
SORTS: Final = ("name", "status", "last", "memory")
GROUPS: Final = ("failing", "status", "project", "tag", "none")

LAYOUT_COOKIE: Final = "mcpyard_layout"
SORT_COOKIE: Final = "mcpyard_sort"
GROUP_COOKIE: Final = "mcpyard_group"

CHOICES: Final = (
    ("layout", LAYOUT_COOKIE, LAYOUTS),
    ("sort", SORT_COOKIE, SORTS),
    ("group", GROUP_COOKIE, GROUPS),
)
"""What can be chosen: its name, its cookie, its values."""

_RANKS: Final = {BAD: 0, BUSY: 1, GOOD: 2, IDLE: 3}
_REST: Final = "rest"


@dataclass(frozen=True, slots=True)
class ListChoice:
    """How somebody wants to see the servers."""

    layout: str = LAYOUTS[0]
    sort: str = SORTS[0]
    group: str = GROUPS[0]

    @classmethod
    def of(cls, cookies: Mapping[str, str]) -> "ListChoice":
        """What a browser's cookies say."""
        return cls(
            _one_of(LAYOUTS, cookies.get(LAYOUT_COOKIE)),
            _one_of(SORTS, cookies.get(SORT_COOKIE)),
            _one_of(GROUPS, cookies.get(GROUP_COOKIE)),
        )

    @property
    def view(self) -> str:
        """The view of a browser that looks at this."""
        return ROWS if self.layout == "list" else LIST


class ListedServer(NamedTuple):
    """What decides where a server stands: the folder of its project and its first tag, if any."""

    id: UUID
    name: str
    tone: str
    folder: str = ""
    last_call: float = 0.0
    memory: int = 0
    tag: str = ""


@dataclass(frozen=True, slots=True)
class ListPage:
    """Some servers that stand together, and whether they are there at once or are asked for."""

    servers: list[UUID]
    at_once: bool


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the list, by the key that its servers have in common.

    Attributes:
        named: Whether its name is shown: the servers that do not fail need none by themselves.
    """

    key: str
    count: int
    pages: list[ListPage]
    named: bool


_ORDERS: Final[Mapping[str, Callable[[ListedServer], tuple[object, ...]]]] = {
    "name": lambda each: (each.name,),
    "status": lambda each: (_RANKS[each.tone], each.name),
    "last": lambda each: (-each.last_call, each.name),
    "memory": lambda each: (-each.memory, each.name),
}


def sections_of(servers: Iterable[ListedServer], choice: ListChoice) -> list[Section]:
    """The servers in their sections and order; those with a fixed name are there if empty, too."""
    members: defaultdict[str, list[UUID]] = defaultdict(list)
    for fixed in _fixed_keys(choice.group):
        members[fixed] = []
    for each in sorted(servers, key=_ORDERS[choice.sort]):
        members[_key_of(each, choice.group)].append(each.id)
    keys = _in_order(members, choice.group)
    left, sections = PAGE, list[Section]()
    is_plain = choice.group == "none" or (choice.group == "failing" and not members[BAD])
    for key in keys:
        ids = members[key]
        named = bool(ids) and not is_plain
        sections.append(Section(key, len(ids), [*_pages(ids, left)], named))
        left = max(0, left - len(ids))
    return sections


def _fixed_keys(group: str) -> Iterable[str]:
    if group == "status":
        return _RANKS
    return (BAD, _REST) if group == "failing" else ()


def _key_of(server: ListedServer, group: str) -> str:
    if group == "failing":
        return BAD if server.tone == BAD else _REST
    keys = {"status": server.tone, "project": server.folder, "tag": server.tag, "none": _REST}
    return keys[group]


def _in_order(keys: Iterable[str], group: str) -> list[str]:
    """The sections from top to bottom; what has no tag stands below all that has one."""
    if group == "tag":
        return sorted(keys, key=lambda each: (not each, each))
    return sorted(keys) if group == "project" else [*keys]


def _pages(ids: list[UUID], at_once: int) -> Iterator[ListPage]:
    """Pages of servers; the first so many are there at once."""
    # One page stands in every section, so that there is a place for those that come.
    if at_once or not ids:
        yield ListPage(ids[:at_once], at_once=True)
    for start in range(at_once, len(ids), PAGE):
        yield ListPage(ids[start : start + PAGE], at_once=False)


def _one_of(choices: tuple[str, ...], chosen: str | None) -> str:
    return chosen if chosen in choices else choices[0]
