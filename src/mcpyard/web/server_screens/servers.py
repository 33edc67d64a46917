"""The Servers screen, and what its cards can be asked to do."""

from collections.abc import Awaitable, Callable
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.errors import NoSignIn
from mcpyard.web import requests
from mcpyard.web.server_screens.presenters import LIST, ONE, ServerPresenter
from mcpyard.web.templating import answer
from mcpyard.yard.edit import Change
from mcpyard.yard.views.servers import ServerView

TOOLS_ON_A_CARD: Final = 100
CALLBACK: Final = "/oauth/callback"


class ServersRoutes:
    """Shows a yard's servers."""

    def __init__(self, presenter: ServerPresenter) -> None:
        self._presenter = presenter
        self._tracker = presenter.tracker
        self._yard = presenter.yard

    async def screen(self, request: Request) -> Response:
        """All servers."""
        data = {
            "tab": "servers",
            "view": LIST,
            "tag": self._tracker.tag(),
            "cards": self._presenter.cards(),
            "tiles": self._presenter.tiles(),
            "problems": self._presenter.problems(),
        }
        return answer(request, "screens/servers.html", data)

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
        return await self._want(
            request, lambda ref: self._yard.change(ref, Change({"enabled": True}))
        )

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
        one = request.query_params.get("view", "").startswith(ONE)
        return answer(request, "parts/card_answer.html", {"card": card, "wide": one})
