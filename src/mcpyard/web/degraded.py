"""What does not work of mcpyard itself, on every screen for as long as that is so."""

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.web.templating import answer
from mcpyard.yard.yard import YardCore


class DegradedRoutes:
    """Tells browsers how one yard is."""

    def __init__(self, yard: YardCore) -> None:
        self._yard = yard

    async def banner(self, request: Request) -> Response:
        """The banner; empty while everything works."""
        degradations = await self._yard.checks.degradations()
        data = {"degradations": degradations, "isolated": self._yard.cluster.isolated}
        return answer(request, "parts/degraded.html", data)
