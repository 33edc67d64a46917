"""What mcpyard keeps in the ASGI scope of a request, for the server, the guard and the routes.

The keys are defined here and nowhere else. Code that runs for every call reads them directly,
because an accessor would cost it a function call each; everything else uses the accessors.
"""

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any, Final, Protocol, Self

from msgspec import Struct
from starlette.types import Receive, Send

from mcpyard.domain.stored import CallToken, LoginSession

Scope = MutableMapping[str, Any]
Headers = tuple[tuple[bytes, bytes], ...]


class SendWhole(Protocol):
    """Sends a complete response for programs."""

    def __call__(self, status: int, headers: Headers, /, *body: bytes) -> bool:
        """Send a status, headers without the length, and a body, which may be in pieces.

        False when that is not possible: the client does not read, or a part of a response was sent
        already. The usual way then waits, or complains.
        """
        ...


Application = Callable[[Scope, Receive, Send], Awaitable[None]]
"""An ASGI application."""


class OpenRequest(Protocol):
    """A request to the gateway that no task looks after yet."""

    def send_whole(self, status: int, headers: Headers, /, *body: bytes) -> bool:
        """Send a complete response (see `SendWhole`)."""
        ...

    def go_on(self, app: Application) -> None:
        """Have an application answer it, in a task."""
        ...


class KnownHead(Protocol):
    """A head that came before on this connection.

    Attributes:
        answer: Answers a request with this head and the given body, without a task; False, with
            nothing done, where the request has to go the usual way.
    """

    answer: Callable[[OpenRequest, bytes], bool] | None


BODY: Final = "mcpyard.body"
"""The whole body, as bytes, if it is there already."""

SEND_WHOLE: Final = "mcpyard.send_whole"
"""The request's `SendWhole`, if it came over our own web server."""

KNOWN_HEAD: Final = "mcpyard.known_head"
"""The `KnownHead` of the request (`api/security/known_heads.py`), if it came before."""

HEADERS: Final = "mcpyard.headers"
"""The headers by name, with or without the length; of one that came twice the last."""

PRINCIPAL: Final = "mcpyard.principal"
"""The `Principal` who sent the request; None on a public route."""


class Principal(Struct, frozen=True):
    """Somebody who was recognised.

    Attributes:
        name: For the audit log and the journal.
        token: The call token it came with.
        session: The browser's session it came with.
    """

    name: str
    token: CallToken | None = None
    session: LoginSession | None = None

    @classmethod
    def holding(cls, token: CallToken) -> Self:
        """Whoever holds a call token."""
        return cls(f"token:{token.name}", token=token)

    @property
    def is_owner(self) -> bool:
        """Whether it may see everything."""
        return self.token is None


def annotate(
    scope: Scope, path: str, headers: Mapping[bytes, bytes], principal: Principal | None
) -> Scope:
    """Note what the guard found out; in place, since nobody else looks at the scope any more."""
    scope["path"] = path
    scope[HEADERS] = headers
    scope[PRINCIPAL] = principal
    return scope


def principal_of(scope: Scope) -> Principal | None:
    """Who sent the request; None on a public route, and where there is no guard."""
    principal: Principal | None = scope.get(PRINCIPAL)
    return principal


def caller_name(scope: Scope, default: str) -> str:
    """Who sent the request, as the journal names callers."""
    principal = principal_of(scope)
    return principal.name if principal else default


def is_owner(scope: Scope) -> bool:
    """Whether the sender may see everything."""
    principal = principal_of(scope)
    return principal is not None and principal.is_owner
