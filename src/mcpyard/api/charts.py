"""The routes of what the charts are drawn from."""

import time
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcpyard.api.responses import answer
from mcpyard.domain.errors import ArgumentsRefused, Problem
from mcpyard.yard.charts import ChartRange, Charts
from mcpyard.yard.token_costs import TokenCosts
from mcpyard.yard.yard import YardCore


class ChartRoutes:
    """Answers with the numbers of charts."""

    def __init__(self, yard: YardCore) -> None:
        self._yard = yard
        self._charts = Charts(yard)
        self._costs = TokenCosts(yard)

    async def calls(self, request: Request) -> Response:
        """Calls and durations over time."""
        server = self._server(request)
        return answer(await self._charts.calls(_range(request), time.time(), server))

    async def usage(self, request: Request) -> Response:
        """Memory and CPU of a server over time."""
        server = self._server(request)
        if server is None:
            raise ArgumentsRefused.of(Problem("server", "is missing"))
        return answer(await self._charts.usage(_range(request), time.time(), server))

    async def tokens(self, request: Request) -> Response:
        """What the lists of tools cost."""
        del request
        return answer(await self._costs.all())

    def _server(self, request: Request) -> UUID | None:
        ref = request.query_params.get("server")
        return None if ref is None else self._yard.server(ref).id


def chart_routes(yard: YardCore) -> list[Route]:
    """Every route of the charts."""
    charts = ChartRoutes(yard)
    return [
        Route("/api/mcp/charts/calls", charts.calls),
        Route("/api/mcp/charts/usage", charts.usage),
        Route("/api/mcp/charts/tokens", charts.tokens),
    ]


def _range(request: Request) -> ChartRange:
    text = request.query_params.get("range", ChartRange.HOUR)
    try:
        return ChartRange(text)
    except ValueError:
        problem = f"must be one of {', '.join(ChartRange)}"
        raise ArgumentsRefused.of(Problem("range", problem)) from None
