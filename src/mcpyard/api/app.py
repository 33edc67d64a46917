"""The HTTP face: the gateway and the REST API, behind one guard.

Most yards are started by a client that only speaks MCP. So whatever else they answer is loaded when
somebody asks for it first, in a thread: calls go on meanwhile. The probes are loaded by themselves,
since a monitor that asks for them should not wait for all the rest.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Final

from mcpyard.api.audit import Audit
from mcpyard.api.security.guard import Guard
from mcpyard.api.security.incoming import GATEWAY, PROBES
from mcpyard.api.security.keys import Keys
from mcpyard.yard.yard import YardCore

if TYPE_CHECKING:
    from starlette.routing import Route
    from starlette.types import ASGIApp, Receive, Scope, Send

Pages = Callable[[], "Awaitable[Iterable[Route]]"]
"""Loads the routes of the page."""

_INSIDE_GATEWAY: Final = f"{GATEWAY}/"
_READING: Final = frozenset({"GET", "HEAD"})


async def no_pages() -> "Iterable[Route]":
    """For an application without a page."""
    return ()


def build(  # noqa: PLR0913  one parameter a part of the whole
    yard: YardCore,
    *,
    keys: Keys,
    hosts: Iterable[str],
    closing: asyncio.Event,
    audit: Audit | None = None,
    pages: Pages = no_pages,
    gateway: "ASGIApp | None" = None,
) -> "ASGIApp":
    """The application.

    `hosts` are the names it may be called by besides those of loopback. Its streams end when
    `closing` is set, and `gateway` answers under `/mcp`.
    """

    async def load() -> "ASGIApp":
        rest_app = await asyncio.to_thread(_load_rest)
        return rest_app(yard, keys, closing, pages)

    async def load_probes() -> "ASGIApp":
        probe_app = await asyncio.to_thread(_load_probes)
        return probe_app(yard, closing)

    app = ProbesFirst(LaterApp(load_probes), LaterApp(load))
    return Guard(_beside(gateway, app) if gateway else app, keys, hosts, audit)


def _load_rest() -> "Callable[[YardCore, Keys, asyncio.Event, Pages], ASGIApp]":
    from mcpyard.api.rest import rest_app  # noqa: PLC0415  see the docstring

    return rest_app


def _load_probes() -> "Callable[[YardCore, asyncio.Event], ASGIApp]":
    from mcpyard.api.health import probe_app  # noqa: PLC0415  see the docstring

    return probe_app


class LaterApp:
    """An application that is loaded when it is first asked."""

    def __init__(self, load: "Callable[[], Awaitable[ASGIApp]]") -> None:
        self._load = load
        self._lock = asyncio.Lock()
        self._app: ASGIApp | None = None

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer a request."""
        if self._app is None:
            async with self._lock:
                self._app = self._app or await self._load()
        await self._app(scope, receive, send)


class ProbesFirst:
    """Gives what reads a probe to one application, and everything else to another.

    Attributes:
        rest: The other one.
    """

    def __init__(self, probes: "ASGIApp", rest: "ASGIApp") -> None:
        self._probes = probes
        self.rest = rest

    def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> Awaitable[None]:
        """Answer a request."""
        is_probe = scope["path"] in PROBES and scope["method"] in _READING
        return (self._probes if is_probe else self.rest)(scope, receive, send)


def _beside(gateway: "ASGIApp", app: "ASGIApp") -> "ASGIApp":
    """Both, each under its paths; the gateway's way is the hot one, so no router is on it."""

    def either(scope: "Scope", receive: "Receive", send: "Send") -> Awaitable[None]:
        path: str = scope["path"]
        inside = path == GATEWAY or path.startswith(_INSIDE_GATEWAY)
        return (gateway if inside else app)(scope, receive, send)

    return either
