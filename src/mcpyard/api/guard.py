"""The outermost layer: nothing reaches a route that does not name this yard and hold its token.

The Host check keeps a web page from reaching the yard under a name of its own (DNS rebinding). The
path is given on as it was sent, still quoted, because names may hold a slash.
"""

import hmac
from collections.abc import Iterable
from typing import Final

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mcpyard.api.answers import refuse
from mcpyard.api.problems import problem, problem_of
from mcpyard.domain.errors import TooLarge

BODY_LIMIT: Final = 4 * 1024 * 1024

LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})

_PUBLIC: Final = frozenset({("GET", "/healthz"), ("HEAD", "/healthz")})
_TOO_LARGE: Final = f"the body is larger than {BODY_LIMIT} bytes"


class Guard:
    """Lets through what may pass, and notes in the scope whether it came with the token."""

    def __init__(self, app: ASGIApp, token: str, hosts: Iterable[str]) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = LOOPBACK | {each.lower() for each in hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            return
        headers: dict[bytes, bytes] = dict(scope["headers"])
        admin = self._holds_token(headers)
        if refusal := self._refusal(scope, headers, admin=admin):
            await refusal(scope, receive, send)
            return
        passed = {**scope, "path": scope["raw_path"].decode("latin-1"), "admin": admin}
        await self._app(passed, _limited(receive), send)

    def _refusal(
        self, scope: Scope, headers: dict[bytes, bytes], *, admin: bool
    ) -> Response | None:
        host = host_name(headers.get(b"host", b"").decode("latin-1"))
        if host not in self._hosts:
            return refuse(problem(421, "wrong-host", f'this yard is not called "{host[:80]}"'))
        if not admin and (scope["method"], scope["path"]) not in _PUBLIC:
            needed = problem(401, "unauthorized", "the admin token is needed as a bearer token")
            return refuse(needed, {"WWW-Authenticate": "Bearer"})
        if int(headers.get(b"content-length", b"0")) > BODY_LIMIT:
            return refuse(problem_of(TooLarge(_TOO_LARGE)))
        return None

    def _holds_token(self, headers: dict[bytes, bytes]) -> bool:
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token, self._token)


def host_name(header: str) -> str:
    """The name in a Host header, without port and brackets."""
    if header.startswith("["):
        return header[1:].split("]", 1)[0].lower()
    return header.rsplit(":", 1)[0].lower() if ":" in header else header.lower()


def _limited(receive: Receive) -> Receive:
    """A body that does not say its length is counted as it comes."""
    taken = 0

    async def counted() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > BODY_LIMIT:
            raise TooLarge(_TOO_LARGE)
        return message

    return counted
