"""The routes of the REST API and of the page, and what becomes of errors."""

import asyncio
from math import ceil
from typing import Final, cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from mcpyard.api.app import Pages
from mcpyard.api.charts import chart_routes
from mcpyard.api.clients import client_routes
from mcpyard.api.cluster import cluster_routes
from mcpyard.api.connecting import ConnectRoutes
from mcpyard.api.content import content_routes
from mcpyard.api.definitions import EditRoutes
from mcpyard.api.events import EventRoutes
from mcpyard.api.health import probe_routes
from mcpyard.api.journal import JournalRoutes
from mcpyard.api.logs import LogRoutes
from mcpyard.api.metrics import MetricsRoutes
from mcpyard.api.openapi.document import openapi
from mcpyard.api.page_login import LoginRoutes
from mcpyard.api.problems import problem_of, refusal
from mcpyard.api.profiles import ProfileRoutes
from mcpyard.api.projects import ProjectRoutes
from mcpyard.api.requests import BadJson
from mcpyard.api.responses import refuse
from mcpyard.api.secrets import secret_routes
from mcpyard.api.security.incoming import CALLBACK
from mcpyard.api.security.keys import Keys
from mcpyard.api.servers import ServerRoutes
from mcpyard.api.signin import SignInRoutes
from mcpyard.api.sync import sync_routes
from mcpyard.api.tokens import TokenRoutes
from mcpyard.api.workbench import WorkbenchRoutes
from mcpyard.domain.errors import ServerFault, YardError
from mcpyard.yard.yard import YardCore

_WRONG_METHOD: Final = 405

_REFUSALS: Final = {
    404: ("no-route", "there is no such route"),
    _WRONG_METHOD: ("wrong-method", "this route does not support the method"),
    415: ("wrong-media-type", "the body must be application/json"),
}


def rest_app(yard: YardCore, keys: Keys, closing: asyncio.Event, pages: Pages) -> ASGIApp:
    """The application behind every address but those of the gateway."""
    app = Starlette(
        routes=[*routes(yard, closing), *door_routes(yard, keys)],
        exception_handlers={
            YardError: _yard_error,
            BadJson: _bad_json,
            HTTPException: _http_error,
            Exception: _unforeseen,
        },
    )
    app.router.redirect_slashes = False
    app.router.default = LaterRoutes(app.router, pages)
    return app


class LaterRoutes:
    """Adds further routes when the first request comes that no other route answers."""

    def __init__(self, router: Router, more: Pages) -> None:
        self._router = router
        self._more = more
        self._lock = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer by all routes."""
        async with self._lock:
            if self._router.default is self:
                self._router.routes += await self._more()
                self._router.default = self._router.not_found
        await self._router(scope, receive, send)


def routes(yard: YardCore, closing: asyncio.Event) -> list[Route]:
    """Every route of the servers and what they do."""
    servers, logs = ServerRoutes(yard), LogRoutes(yard, closing)
    edits, bench, signs = EditRoutes(yard), WorkbenchRoutes(yard), SignInRoutes(yard)
    one = "/api/mcp/servers/{ref}"
    return [
        *probe_routes(yard, closing),
        Route("/metrics", MetricsRoutes(yard).metrics),
        Route("/api/openapi.json", openapi),
        Route("/api/events", EventRoutes(yard, closing).events),
        *journal_routes(yard),
        Route("/api/mcp/parse", bench.parse, methods=["POST"]),
        Route("/api/mcp/test", bench.test, methods=["POST"]),
        Route("/api/mcp/import", bench.import_text, methods=["POST"]),
        Route("/api/mcp/servers", servers.servers),
        Route("/api/mcp/servers", edits.register, methods=["POST"]),
        Route("/api/mcp/tools", servers.all_tools),
        Route("/api/mcp/tools/{exposed}/call", servers.call_exposed, methods=["POST"]),
        Route(one, servers.server),
        Route(one, edits.change, methods=["PATCH"]),
        Route(one, edits.remove, methods=["DELETE"]),
        Route(f"{one}/reveal", edits.reveal, methods=["POST"]),
        Route(f"{one}/tools", servers.tools),
        Route(f"{one}/tools/{{tool}}", edits.change_tool, methods=["PATCH"]),
        Route(f"{one}/tools/{{tool}}/call", servers.call_tool, methods=["POST"]),
        Route(f"{one}/logs", logs.logs),
        Route(f"{one}/log-level", logs.level),
        Route(f"{one}/log-level", logs.set_level, methods=["PUT"]),
        *content_routes(yard),
        Route(f"{one}/start", servers.start, methods=["POST"]),
        Route(f"{one}/stop", servers.stop, methods=["POST"]),
        Route(f"{one}/restart", servers.restart, methods=["POST"]),
        Route(f"{one}/login", signs.begin, methods=["POST"]),
        Route(f"{one}/logout", signs.end, methods=["POST"]),
        *chart_routes(yard),
        *profile_routes(yard),
        *secret_routes(yard.secrets),
        *client_routes(yard),
        *sync_routes(yard),
        *cluster_routes(yard),
    ]


def journal_routes(yard: YardCore) -> list[Route]:
    """Every route of the calls, and of what is recorded of them."""
    journal = JournalRoutes(yard)
    return [
        Route("/api/mcp/calls", journal.calls),
        Route("/api/mcp/calls", journal.clear, methods=["DELETE"]),
        Route("/api/mcp/calls/{call}", journal.call),
        Route("/api/mcp/recording", journal.recording),
        Route("/api/mcp/recording", journal.record, methods=["PUT"]),
    ]


def profile_routes(yard: YardCore) -> list[Route]:
    """Every route of the gateway's stored selections."""
    profiles, one = ProfileRoutes(yard.profiles), "/api/profiles/{profile}"
    return [
        Route("/api/profiles", profiles.profiles),
        Route("/api/profiles", profiles.create, methods=["POST"]),
        Route(one, profiles.profile),
        Route(one, profiles.replace, methods=["PUT"]),
        Route(one, profiles.remove, methods=["DELETE"]),
    ]


def door_routes(yard: YardCore, keys: Keys) -> list[Route]:
    """Every route of who may come in, and what may run."""
    tokens, login = TokenRoutes(keys, yard.profiles), LoginRoutes(keys)
    projects, connecting = ProjectRoutes(yard), ConnectRoutes(yard, keys)
    return [
        Route(CALLBACK, SignInRoutes(yard, keys.other_nodes).callback),
        Route("/login", login.login),
        Route("/logout", login.logout, methods=["POST"]),
        Route("/api/login-links", login.make_link, methods=["POST"]),
        Route("/api/tickets", login.make_ticket, methods=["POST"]),
        Route("/api/tokens", tokens.tokens),
        Route("/api/tokens", tokens.create, methods=["POST"]),
        Route("/api/tokens/rotate", tokens.rotate, methods=["POST"]),
        Route("/api/tokens/{token}", tokens.revoke, methods=["DELETE"]),
        Route("/api/clients/connect", connecting.connect, methods=["POST"]),
        Route("/api/clients/disconnect", connecting.disconnect, methods=["POST"]),
        Route("/api/projects/waiting", projects.waiting),
        Route("/api/projects/approve", projects.approve, methods=["POST"]),
    ]


def _yard_error(_request: Request, error: Exception) -> Response:
    cause = error.cause if isinstance(error, ServerFault) else None
    wait = ceil(cause.retry_after) if cause else 0
    headers = {"Retry-After": str(wait)} if wait else None
    return refuse(problem_of(cast("YardError", error)), headers)


def _bad_json(_request: Request, error: Exception) -> Response:
    return refuse(refusal("bad-json", str(error)))


def _http_error(request: Request, error: Exception) -> Response:
    refused = cast("HTTPException", error)
    slug, reason = _REFUSALS[refused.status_code]
    detail = f"{request.method} {request.scope['path'][:200]}: {reason}"
    headers = _allowed(request) if refused.status_code == _WRONG_METHOD else refused.headers
    return refuse(refusal(slug, detail), headers)


def _allowed(request: Request) -> dict[str, str]:
    """The methods of a path, which may be those of several routes."""
    matching = [each for each in request.app.routes if each.path_regex.match(request.scope["path"])]
    return {"Allow": ", ".join(sorted({method for each in matching for method in each.methods}))}


def _unforeseen(_request: Request, _error: Exception) -> Response:
    return refuse(refusal("internal", "internal error in mcpyard; see its log"))
