"""The HTTP face: the table of its routes, and what becomes of errors."""

import asyncio
from collections.abc import Iterable
from typing import Final, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from mcpyard.api.answers import refuse
from mcpyard.api.asking import BadJson
from mcpyard.api.guard import Guard
from mcpyard.api.logs import LogRoutes
from mcpyard.api.problems import problem, problem_of
from mcpyard.api.servers import ServerRoutes
from mcpyard.domain.errors import YardError
from mcpyard.yard.yard import YardCore

_REFUSALS: Final = {
    404: ("no-route", "there is no such route"),
    405: ("wrong-method", "the route does not know this method"),
}


def build(yard: YardCore, *, token: str, hosts: Iterable[str], closing: asyncio.Event) -> ASGIApp:
    """The application.

    Args:
        yard: What it shows.
        token: The admin token.
        hosts: The names it may be called by, besides those of loopback.
        closing: Set when streams should end.
    """
    app = Starlette(
        routes=routes(yard, closing),
        exception_handlers={
            YardError: _yard_error,
            BadJson: _bad_json,
            HTTPException: _http_error,
            Exception: _unforeseen,
        },
    )
    app.router.redirect_slashes = False
    return Guard(app, token, hosts)


def routes(yard: YardCore, closing: asyncio.Event) -> list[Route]:
    """Every route there is."""
    servers, logs = ServerRoutes(yard), LogRoutes(yard, closing)
    one = "/api/mcp/servers/{ref}"
    return [
        Route("/healthz", servers.health),
        Route("/api/mcp/servers", servers.servers),
        Route("/api/mcp/tools", servers.all_tools),
        Route("/api/mcp/tools/{exposed}/call", servers.call_exposed, methods=["POST"]),
        Route(one, servers.server),
        Route(f"{one}/tools", servers.tools),
        Route(f"{one}/tools/{{tool}}/call", servers.call_tool, methods=["POST"]),
        Route(f"{one}/logs", logs.logs),
        Route(f"{one}/start", servers.start, methods=["POST"]),
        Route(f"{one}/stop", servers.stop, methods=["POST"]),
        Route(f"{one}/restart", servers.restart, methods=["POST"]),
    ]


def _yard_error(_request: Request, error: Exception) -> Response:
    return refuse(problem_of(cast("YardError", error)))


def _bad_json(_request: Request, error: Exception) -> Response:
    return refuse(problem(400, "bad-json", str(error)))


def _http_error(request: Request, error: Exception) -> Response:
    refused = cast("HTTPException", error)
    slug, reason = _REFUSALS.get(refused.status_code, ("refused", refused.detail))
    detail = f"{request.method} {request.scope['path'][:200]}: {reason}"
    return refuse(problem(refused.status_code, slug, detail), refused.headers)


def _unforeseen(_request: Request, _error: Exception) -> Response:
    return refuse(problem(500, "internal", "an error of mcpyard itself; its log says more"))
