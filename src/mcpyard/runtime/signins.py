"""Sign-ins at remote servers: the tokens each connection sends, and the ways there and back.

A way back is known by its `state`, which is good for one time. Everything that speaks HTTP is
imported when the first remote server is.
"""

from typing import TYPE_CHECKING
from urllib.parse import urldefrag
from uuid import UUID

from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import Conflict, InputError, Problem
from mcpyard.domain.launch import RemoteLaunch

if TYPE_CHECKING:
    import httpx2

    from mcpyard.wire.signin import Credentials, SignIn, TokenStore


class VolatileTokens:
    """Tokens for as long as the program runs (see `TokenStore`)."""

    def __init__(self) -> None:
        self._kept: dict[str, Credentials] = {}

    async def get(self, resource: str) -> "Credentials | None":
        """The set that was put last for a resource."""
        return self._kept.get(resource)

    async def put(self, credentials: "Credentials") -> None:
        """Keep a set."""
        self._kept[credentials.resource] = credentials


class SignIns:
    """The sign-ins of a yard."""

    def __init__(self, tokens: "TokenStore") -> None:
        self._tokens = tokens
        self._under_way: dict[str, tuple[UUID, SignIn]] = {}

    def auth(self, launch: RemoteLaunch) -> "httpx2.Auth | None":
        """What gives a connection its token; None where the definition brings its own."""
        if any(name.lower() == "authorization" for name in launch.headers):
            return None
        return self._sign_in(launch.url, "").auth

    async def begin(self, server: DesiredServer, redirect_uri: str) -> str:
        """The address to open in a browser; the browser comes back to `redirect_uri`.

        Raises:
            Conflict: The server has no sign-in.
            NeedsAuth: The authorization server cannot be used.
        """
        if not isinstance(server.launch, RemoteLaunch):
            raise Conflict(f'the server "{server.name}" is not a remote one: it has no sign-in')
        sign_in = self._sign_in(server.launch.url, redirect_uri)
        address = await sign_in.begin()
        self._under_way[sign_in.state or ""] = (server.id, sign_in)
        return address

    async def finish(self, answer: "dict[str, str]") -> UUID:
        """Take what the browser brought back; which server is signed in now.

        Raises:
            InputError: No sign-in waits for this answer.
            NeedsAuth: It was refused.
        """
        state = answer.get("state", "")
        found = self._under_way.pop(state, None)
        if found is None:
            message = "belongs to no sign-in that is under way; begin anew"
            raise InputError.of(Problem("state", message))
        server, sign_in = found
        if "code" in answer:
            await sign_in.finish(answer["code"], state, answer.get("iss"))
        else:
            reason = answer.get("error_description") or answer.get("error") or "no code came back"
            await sign_in.decline(state, reason[:200])
        return server

    async def close(self) -> None:
        """Give up what is under way."""
        for _, sign_in in self._under_way.values():
            await sign_in.close()
        self._under_way.clear()

    def _sign_in(self, url: str, redirect_uri: str) -> "SignIn":
        from mcpyard.wire.signin import Identity, SignIn  # noqa: PLC0415  see the docstring

        return SignIn(urldefrag(url).url, self._tokens, Identity(redirect_uri))
