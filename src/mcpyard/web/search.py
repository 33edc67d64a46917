"""What can be looked for on every screen: servers, and their tools, prompts and resources."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from operator import is_
from typing import Final, NamedTuple
from uuid import UUID

from mcpyard.domain.observed import Observed
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.yard.views.servers import Picture

MOST: Final = 8
"""Matches of one kind that are shown; how many more there are is told."""

_LONGEST: Final = 200
"""Characters of a text that are looked through, and of what is looked for."""


class MatchKind(StrEnum):
    """What was found."""

    SERVER = "server"
    TOOL = "tool"
    PROMPT = "prompt"
    RESOURCE = "resource"


class SearchMatch(NamedTuple):
    """Something by its name, with the server that has it."""

    kind: MatchKind
    name: str
    about: str
    server: UUID
    server_name: str


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The best matches of a kind, of so many."""

    kind: MatchKind
    best: list[SearchMatch]
    total: int


class _Entry(NamedTuple):
    match: SearchMatch
    name: str
    text: str


class _Page(NamedTuple):
    made_from: tuple[object, ...]
    entries: list[_Entry]


class Search:
    """Looks for a word; what a server offers is read once, until it changes."""

    def __init__(self, presenter: ServerPresenter) -> None:
        self._presenter = presenter
        self._pages: dict[UUID, _Page] = {}

    def find(self, word: str, most: int = MOST) -> list[SearchResult]:
        """What has a word in its name or description, by kind; names that begin so come first."""
        needle = word.strip().lower()[:_LONGEST]
        if not needle:
            return []
        ranked: dict[MatchKind, list[tuple[int, str, SearchMatch]]] = {
            kind: [] for kind in MatchKind
        }
        for entry in self._entries():
            if needle in entry.text:
                rank = _rank(needle, entry.name)
                ranked[entry.match.kind].append((rank, entry.name, entry.match))
        return [
            SearchResult(kind, [match for *_, match in sorted(each)[:most]], len(each))
            for kind, each in ranked.items()
            if each
        ]

    def _entries(self) -> Iterator[_Entry]:
        pictures = self._presenter.tracker.pictures()
        pages: dict[UUID, _Page] = {}
        for picture in pictures:
            server, observed = picture
            made_from = (server, observed.tools.definitions, observed.offer)
            page = self._pages.get(server.id)
            # Compared by identity: what a server offers may be long.
            if page is None or not all(map(is_, page.made_from, made_from)):
                page = _Page(made_from, [*map(_entry, _matches(picture))])
            pages[server.id] = page
            yield from page.entries
        self._pages = pages


def _matches(picture: Picture) -> Iterator[SearchMatch]:
    server, observed = picture
    config = server.config
    about = _joined((config.title, *config.tags, config.description))
    yield SearchMatch(MatchKind.SERVER, server.name, about, server.id, server.name)
    for tool in observed.tools.definitions:
        text = tool.description or tool.title or ""
        yield SearchMatch(MatchKind.TOOL, tool.name, text, server.id, server.name)
    for kind, name, text in _offered(observed):
        yield SearchMatch(kind, name, text, server.id, server.name)


def _offered(observed: Observed) -> Iterator[tuple[MatchKind, str, str]]:
    offer = observed.offer
    for item in offer.prompts.items:
        yield MatchKind.PROMPT, _text(item, ("name",)), _text(item, ("title", "description"))
    for item in (*offer.resources.items, *offer.templates.items):
        address = _text(item, ("uri", "uriTemplate"))
        yield MatchKind.RESOURCE, address, _text(item, ("title", "name", "description"))


def _text(item: Mapping[str, object], names: Iterable[str]) -> str:
    return _joined(item.get(name) for name in names)


def _joined(texts: Iterable[object]) -> str:
    return " · ".join(each for each in texts if isinstance(each, str) and each)[: 4 * _LONGEST]


def _entry(match: SearchMatch) -> _Entry:
    name = match.name.lower()[:_LONGEST]
    return _Entry(match, name, f"{name}\n{match.about.lower()[: 4 * _LONGEST]}")


def _rank(needle: str, name: str) -> int:
    if name.startswith(needle):
        return 0 if name == needle else 1
    return 2 if needle in name else 3
