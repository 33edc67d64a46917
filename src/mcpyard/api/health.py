"""The routes of probes: whether mcpyard lives, serves calls, and what does not work."""

import asyncio
from typing import Final

from msgspec import UNSET, UnsetType
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp

from mcpyard.api.problems import problem_of
from mcpyard.api.responses import answer
from mcpyard.asgi_scope import is_owner
from mcpyard.domain.degradation import Degradation
from mcpyard.domain.status import Status, public_words
from mcpyard.yard.views.base import PlacedProblem, view_of
from mcpyard.yard.views.problems import (
    AliveView,
    DegradationView,
    HealthyView,
    ReadinessView,
    UnhealthyView,
)
from mcpyard.yard.yard import YardCore

_UNAVAILABLE: Final = 503


class HealthRoutes:
    """Answers of one yard; details are for those alone who may see everything."""

    def __init__(self, yard: YardCore, closing: asyncio.Event) -> None:
        self._yard = yard
        self._closing = closing

    async def livez(self, _request: Request) -> Response:
        """That the event loop runs: a loop that is stuck does not answer."""
        return answer(AliveView())

    async def readyz(self, request: Request) -> Response:
        """Whether calls are served; what else does not work only degrades."""
        if self._closing.is_set() or self._yard.cluster.leaving:
            return answer(ReadinessView(ok=False, status="stopping"), _UNAVAILABLE)
        if self._yard.cluster.isolated:
            return answer(ReadinessView(ok=False, status="isolated"), _UNAVAILABLE)
        degradations = await self._yard.checks.degradations()
        status = "degraded" if degradations else "ready"
        details = _details(request, degradations)
        return answer(ReadinessView(ok=True, status=status, degraded=details))

    async def healthz(self, request: Request) -> Response:
        """Whether the yard works; with the token also how servers and definitions are."""
        fault, admin = self._yard.fault(), is_owner(request.scope)
        degradations = await self._yard.checks.degradations()
        details = _details(request, degradations)
        servers = self._statuses() if admin else UNSET
        problems = view_of(list[PlacedProblem], self._yard.desired.problems) if admin else UNSET
        if fault is None:
            status = "degraded" if degradations else UNSET
            health = HealthyView(
                status=status, degraded=details, servers=servers, problems=problems
            )
            return answer(health)
        problem = problem_of(fault)
        health = UnhealthyView(
            type=problem.type,
            title=problem.title,
            status=problem.status,
            # It names the home, which is not for everybody.
            detail=problem.detail if admin else UNSET,
            hint=problem.hint,
            degraded=details,
            servers=servers,
            problems=problems,
        )
        return answer(health, problem.status)

    def _statuses(self) -> dict[str, Status]:
        return {
            server.name: public_words(observed.state).status
            for server, observed in self._yard.pictures()
        }


def probe_routes(yard: YardCore, closing: asyncio.Event) -> list[Route]:
    """Every route of the probes."""
    health = HealthRoutes(yard, closing)
    return [
        Route("/livez", health.livez),
        Route("/readyz", health.readyz),
        Route("/healthz", health.healthz),
    ]


def probe_app(yard: YardCore, closing: asyncio.Event) -> ASGIApp:
    """The probes alone, for as long as nobody needs the other routes."""
    return Router(probe_routes(yard, closing))


def _details(
    request: Request, degradations: list[Degradation]
) -> list[DegradationView] | UnsetType:
    if not degradations or not is_owner(request.scope):
        return UNSET
    return view_of(list[DegradationView], degradations)
