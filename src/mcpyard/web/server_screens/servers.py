"""The Servers screen, and what its cards can be asked to do."""

from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.errors import NoSignIn
from mcpyard.web import requests
from mcpyard.web.server_screens.listing import PAGE
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.server_screens.views import ONE, ROWS
from mcpyard.web.templating import answer, preferences_of
from mcpyard.yard.edit import Change
from mcpyard.yard.edit_note import EditNote
from mcpyard.yard.views.servers import ServerView

TOOLS_ON_A_CARD: Final = 100
CALLBACK: Final = "/oauth/callback"

_BY_FIGURES: Final = {"last", "memory"}


class ServersRoutes:
    """Shows a yard's servers."""

    def __init__(self, presenter: ServerPresenter) -> None:
        self._presenter = presenter
        self._tracker = presenter.tracker
        self._yard = presenter.yard

    async def screen(self, request: Request) -> Response:
        """All servers; of many, the first page, and what the others are asked for by."""
        choice = preferences_of(request).listing
        if choice.sort in _BY_FIGURES:
            await self._tracker.metrics.refresh()
        data = {
            "tab": "servers",
            "view": choice.view,
            "tag": self._tracker.tag(),
            "tiles": self._presenter.tiles(),
            "problems": self._presenter.problems(),
            "clustered": self._yard.cluster.exists,
        }
        return answer(request, "screens/servers.html", data | self._presenter.listing(choice))

    async def page(self, request: Request) -> Response:
        """Some servers of the list, by their ids."""
        ids = request.query_params.get("ids", "").split()[:PAGE]
        cards = self._presenter.cards(each for each in map(_uuid, ids) if each)
        rows = request.query_params.get("view") == ROWS
        return answer(request, "parts/page.html", {"cards": cards, "rows": rows})

    async def start(self, request: Request) -> Response:
        """Want a server to run."""
        return await self._want(request, self._yard.start)

    async def stop(self, request: Request) -> Response:
        """Want a server to be stopped."""
        return await self._want(request, self._yard.stop)

    async def restart(self, request: Request) -> Response:
        """Stop a server and start it again."""
        server = self._yard.server(requests.part(request, "ref"))
        if picture := self._tracker.picture(server.id):
            self._tracker.restarting(picture)
        return await self._want(request, self._yard.restart)

    async def enable(self, request: Request) -> Response:
        """Switch a server on."""
        change = Change({"enabled": True}, note=EditNote(requests.caller(request), "toggle"))
        return await self._want(request, lambda ref: self._yard.change(ref, change))

    async def login(self, request: Request) -> Response:
        """Begin a sign-in; the page opens the address it is told."""
        back = f"{request.scope['scheme']}://{request.headers['host']}{CALLBACK}"
        address = await self._yard.login(requests.part(request, "ref"), back)
        if urlsplit(address).scheme not in {"http", "https"}:
            raise NoSignIn("the server returned a sign-in URL that is not http or https")
        return answer(request, "parts/sign_in.html", {"address": address})

    async def logout(self, request: Request) -> Response:
        """Delete the tokens of a server."""
        return await self._want(request, self._yard.logout)

    async def tools(self, request: Request) -> Response:
        """The names and descriptions of a server's tools."""
        tools = self._yard.tools(requests.part(request, "ref"))
        data = {"tools": tools[:TOOLS_ON_A_CARD], "more": max(0, len(tools) - TOOLS_ON_A_CARD)}
        return answer(request, "parts/tool_list.html", data)

    async def _want(
        self, request: Request, step: Callable[[str], Awaitable[ServerView]]
    ) -> Response:
        server = await step(requests.part(request, "ref"))
        return self._card(request, server.id)

    def _card(self, request: Request, ref: str) -> Response:
        picture = self._tracker.picture(self._yard.server(ref).id)
        card = self._presenter.card(picture) if picture else None
        view = request.query_params.get("view", "")
        data = {"card": card, "wide": view.startswith(ONE), "rows": view == ROWS}
        return answer(request, "parts/card_answer.html", data)


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
