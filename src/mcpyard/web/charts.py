"""The parts of a screen's charts that no script draws; the others come from the API."""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.templating import answer
from mcpyard.yard.token_costs import TokenCosts

SHOWN: Final = 20
"""Bars of one kind that are shown at once."""


class ChartPages:
    """Shows what is drawn without a script."""

    def __init__(self, presenter: ServerPresenter) -> None:
        self._yard = presenter.yard
        self._costs = TokenCosts(presenter.yard)

    async def tokens(self, request: Request) -> Response:
        """What the lists of tools cost, as bars."""
        costs = await self._costs.all()
        server = request.query_params.get("server")
        paid = [each for each in costs.servers if each.tokens]
        groups = [("servers", paid), ("profiles", costs.profiles)]
        groups.append(("clients", costs.clients))
        if server:
            own = [each for each in costs.servers if each.id == server]
            groups = [("servers", own)]
        data = {"groups": groups, "all": costs.all, "shown": SHOWN, "alone": bool(server)}
        return answer(request, "parts/token_costs.html", data)
