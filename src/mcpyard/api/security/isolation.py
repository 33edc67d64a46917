"""A node that lost its cluster answers programs on its own machine only.

Whatever it knows may be old, and another node may answer for the same servers by now. Programs on
the same machine have nobody else to ask.
"""

from collections.abc import Awaitable, Callable
from ipaddress import ip_address
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from mcpyard.api.problems import problem_of
from mcpyard.api.responses import refuse
from mcpyard.domain.errors import Isolated

_ALIVE: Final = "/livez"
_REFUSED: Final = "this node reaches neither the database nor another node of its cluster"


class IsolationGuard:
    """Refuses other machines while the node is isolated; stands before every route of a node."""

    def __init__(self, app: ASGIApp, is_isolated: Callable[[], bool]) -> None:
        self._app = app
        self._is_isolated = is_isolated

    def __call__(self, scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http" and self._is_isolated() and _from_elsewhere(scope):
            return refuse(problem_of(Isolated(_REFUSED)))(scope, receive, send)
        return self._app(scope, receive, send)


def _from_elsewhere(scope: Scope) -> bool:
    address, _ = scope.get("client") or ("127.0.0.1", 0)
    try:
        return scope["path"] != _ALIVE and not ip_address(address).is_loopback
    except ValueError:
        # A unix socket has no address.
        return False
