"""The palette and the search: everything of a yard by its name, from any screen."""

from collections.abc import Iterator
from typing import Final, NamedTuple
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.model import Wanted
from mcpyard.web.catalogues import Catalogue
from mcpyard.web.filters import url
from mcpyard.web.search import MatchKind, Search, SearchMatch
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.templating import TABS, answer, preferences_of
from mcpyard.yard.views.servers import Picture

_SERVERS: Final = 20
"""Servers that are listed where nothing is looked for yet."""

_ACTED_ON: Final = 3
"""Servers that match whose actions are offered as well."""

_LEAST_OF_VERB: Final = 2
"""Characters of an action's name that call for it; one would be in the way of servers' names."""

_SHOWS: Final = {
    MatchKind.TOOL: "tools",
    MatchKind.PROMPT: "prompts",
    MatchKind.RESOURCE: "resources",
}
_ICONS: Final = {
    MatchKind.TOOL: "tool",
    MatchKind.PROMPT: "paste",
    MatchKind.RESOURCE: "file",
}

_COMMANDS: Final = (
    ("servers.add", "plus", "get", "/ui/servers/add"),
    ("palette.import", "screens", "get", "/ui/servers/add?way=found"),
    ("palette.paste", "paste", "get", "/ui/servers/add?way=paste"),
    ("help.title", "info", "open", "help"),
)


class Option(NamedTuple):
    """Something that can be chosen: `way` says what becomes of the target."""

    icon: str
    text: str
    about: str
    way: str
    target: str
    foreign: bool = False


class PaletteRoutes:
    """Answers what is looked for."""

    def __init__(self, presenter: ServerPresenter) -> None:
        self._presenter = presenter
        self._search = Search(presenter)

    async def palette(self, request: Request) -> Response:
        """What can be gone to, and done."""
        t, word = preferences_of(request).words, request.query_params.get("q", "")
        options = [*self._options(word.strip().lower(), t)]
        return answer(request, "parts/palette.html", {"options": options})

    async def found(self, request: Request) -> Response:
        """The tools, prompts and resources that match; the servers are on the screen already."""
        matches = self._search.find(request.query_params.get("q", ""))
        kinds = [each for each in matches if each.kind is not MatchKind.SERVER]
        links = {match: link_of(match) for each in kinds for match in each.best}
        data = {"kinds": kinds, "links": links, "word": request.query_params.get("q", "")}
        return answer(request, "parts/search.html", data)

    def _options(self, word: str, t: Catalogue) -> Iterator[Option]:
        screens = [
            Option(icon, t(f"tab.{key}"), t("palette.screen"), "href", href)
            for key, href, icon in TABS
        ]
        commands = [
            Option(icon, t(key), t("palette.action"), way, at) for key, icon, way, at in _COMMANDS
        ]
        fixed = [each for each in (*screens, *commands) if word in each.text.lower()]
        first = [each for each in fixed if each.text.lower().startswith(word)]
        yield from first
        matching = self._matching(word, t) if word else self._servers(t)
        yield from dict.fromkeys((*self._called(word, t), *matching))
        yield from (each for each in fixed if each not in first)

    def _servers(self, t: Catalogue) -> Iterator[Option]:
        for picture in self._presenter.tracker.pictures()[:_SERVERS]:
            yield _server(picture, t)

    def _called(self, word: str, t: Catalogue) -> Iterator[Option]:
        """Actions by their own name, and that of a server: `restart`, `stop git`."""
        verb, _, name = word.partition(" ")
        if len(verb) < _LEAST_OF_VERB:
            return
        for picture in self._named(name.strip()):
            yield from (each for each in _actions(picture, t) if each.text.lower().startswith(verb))

    def _named(self, name: str) -> Iterator[Picture]:
        if not name:
            yield from self._presenter.tracker.pictures()[:_SERVERS]
            return
        for result in self._search.find(name):
            for match in result.best if result.kind is MatchKind.SERVER else ():
                if picture := self._presenter.tracker.picture(match.server):
                    yield picture

    def _matching(self, word: str, t: Catalogue) -> Iterator[Option]:
        for result in self._search.find(word):
            for place, match in enumerate(result.best):
                if match.kind is not MatchKind.SERVER:
                    about = f"{t(f'palette.{match.kind}')} · {match.server_name}"
                    icon, link = _ICONS[match.kind], link_of(match)
                    yield Option(icon, match.name, about, "href", link, foreign=True)
                elif picture := self._presenter.tracker.picture(match.server):
                    yield _server(picture, t)
                    yield from _actions(picture, t) if place < _ACTED_ON else ()


def link_of(match: SearchMatch) -> str:
    """Where a tool, a prompt or a resource is shown."""
    word = quote(match.name, safe="")
    return f"{url('servers', match.server)}?show={_SHOWS[match.kind]}&q={word}"


def _server(picture: Picture, t: Catalogue) -> Option:
    server = picture.server
    about = (
        f"{t('palette.server')} · {server.config.title}"
        if server.config.title
        else t("palette.server")
    )
    return Option("stack", server.name, about, "href", url("servers", server.id), foreign=True)


def _actions(picture: Picture, t: Catalogue) -> Iterator[Option]:
    server = picture.server
    for verb, icon in _verbs(server):
        text = f"{t(f'action.{verb}')}: {server.name}"
        yield Option(icon, text, t("palette.action"), "post", url("ui", "servers", server.id, verb))
    yield Option(
        "pulse",
        f"{t('server.log')}: {server.name}",
        t("palette.screen"),
        "href",
        f"{url('servers', server.id)}?show=log",
    )


def _verbs(server: DesiredServer) -> list[tuple[str, str]]:
    """What can be done with a server at the moment, as on its card, with the icons."""
    if not server.config.enabled:
        return [("enable", "off")]
    if server.wanted is Wanted.RUNNING:
        return [("restart", "turn"), ("stop", "square")]
    return [("start", "play")]
