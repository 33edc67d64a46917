"""Sign-ins at remote servers: the tokens each connection sends, and the ways there and back.

A way back is known by its `state`, which is good for one time, and in a cluster has the name of
the node that waits for it. Everything that speaks HTTP is imported when the first remote server is.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl, urldefrag, urlencode, urlsplit, urlunsplit
from uuid import UUID

from mcpyard.domain.definition.launch import RemoteLaunch, Unlaunchable
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import DefinitionError, NeedsAuth, NoSignIn, Problem, SignInUnknown
from mcpyard.domain.node_channel import owned
from mcpyard.runtime.remote_parts import load_remote_parts
from mcpyard.wire.remote.token_renewal import Renewals

if TYPE_CHECKING:
    import httpx2

    from mcpyard.wire.remote.credentials import Credentials, CredentialStore, RenewalClaims
    from mcpyard.wire.remote.signin import SignIn

_NOWHERE: Final = "http://127.0.0.1/oauth/callback"
"""A connection sends nobody to a sign-in page; renewing a token wants a way back all the same."""

_LONGEST_REASON: Final = 200


class VolatileCredentials:
    """Credentials for as long as the program runs (see `CredentialStore`)."""

    def __init__(self) -> None:
        self._sets: dict[str, Credentials] = {}

    async def get(self, resource: str) -> "Credentials | None":
        """The set that was put last for a resource."""
        return self._sets.get(resource)

    async def put(self, credentials: "Credentials") -> None:
        """Keep a set."""
        self._sets[credentials.resource] = credentials

    async def delete(self, resource: str) -> None:
        """Forget every set of a resource."""
        self._sets.pop(resource, None)


class SignInManager:
    """The sign-ins of a yard."""

    def __init__(
        self, credentials: "CredentialStore", node: str = "", claims: "RenewalClaims | None" = None
    ) -> None:
        self._credentials = credentials
        self._node = node
        self._renewals = Renewals(claims)
        self._connected: dict[str, SignIn] = {}
        self._pending: dict[str, tuple[UUID, SignIn]] = {}

    def auth(self, launch: RemoteLaunch) -> "httpx2.Auth | None":
        """What gives a connection its token; None where the definition brings its own."""
        if launch.brings_token:
            return None
        sign_in = self._connected[launch.url] = self._sign_in(launch, _NOWHERE)
        return sign_in.auth

    async def begin(self, server: DesiredServer, redirect_uri: str) -> str:
        """The address to open in a browser (see `SignIns` of the ports)."""
        launch = _signable(server)
        await load_remote_parts()
        await self._give_up(server.id)
        sign_in = self._sign_in(launch, redirect_uri)
        connection = self._connected.get(launch.url)
        address = await sign_in.begin(connection.challenge if connection else None)
        state = owned(self._node, sign_in.state or "")
        self._pending[state] = (server.id, sign_in)
        return with_state(address, state) if self._node else address

    async def finish(self, answer: Mapping[str, str]) -> UUID:
        """Take what the browser brought back (see `SignIns` of the ports)."""
        state = answer.get("state", "")
        server, sign_in = self._pending.pop(state, (None, None))
        own = state.removeprefix(owned(self._node, ""))
        if server is None or sign_in is None or sign_in.state != own:
            message = "does not match a pending sign-in; start again"
            raise SignInUnknown.of(Problem("state", message))
        if "code" not in answer:
            reason = (
                answer.get("error_description") or answer.get("error") or "no code was returned"
            )
            await sign_in.decline(own, reason)
            raise NeedsAuth(f"The sign-in was refused: {reason[:_LONGEST_REASON]}")
        await sign_in.finish(answer["code"], own, answer.get("iss"))
        return server

    async def end(self, server: DesiredServer) -> None:
        """Delete the tokens of a server (see `SignIns` of the ports)."""
        launch = _signable(server)
        await load_remote_parts()
        await self._give_up(server.id)
        sign_in = self._connected.get(launch.url) or self._sign_in(launch, _NOWHERE)
        await sign_in.forget()

    def signed_in(self, server: DesiredServer) -> bool:
        """Whether a connection of a server sends a token of a sign-in."""
        launch = server.launch
        if not isinstance(launch, RemoteLaunch) or launch.brings_token:
            return False
        sign_in = self._connected.get(launch.url)
        return sign_in is not None and sign_in.signed_in

    async def close(self) -> None:
        """Give up what is under way, except what ends within a moment."""
        for server, _ in [*self._pending.values()]:
            await self._give_up(server)
        await self._renewals.close()

    async def _give_up(self, server: UUID) -> None:
        """Drop the sign-ins of a server, and those that nobody finished in time."""
        for state, (owner, sign_in) in [*self._pending.items()]:
            if owner == server or sign_in.state is None:
                self._pending.pop(state, None)
                await sign_in.close()

    def _sign_in(self, launch: RemoteLaunch, redirect_uri: str) -> "SignIn":
        from mcpyard.wire.remote.signin import Identity, SignIn  # noqa: PLC0415  see the docstring

        oauth = launch.oauth
        identity = Identity(
            redirect_uri,
            metadata_url=oauth.metadata_url,
            client_id=oauth.client_id,
            client_secret=oauth.client_secret,
        )
        return SignIn(urldefrag(launch.url).url, self._credentials, identity, self._renewals)


def with_state(address: str, state: str) -> str:
    """The address of a sign-in page with another state, which comes back with the browser."""
    parts = urlsplit(address)
    query = [
        (name, state if name == "state" else value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
    ]
    return urlunsplit(parts._replace(query=urlencode(query)))


def _signable(server: DesiredServer) -> RemoteLaunch:
    launch = server.launch
    if isinstance(launch, Unlaunchable):
        raise DefinitionError.of(*launch.problems)
    if not isinstance(launch, RemoteLaunch):
        raise NoSignIn(f'the server "{server.name}" is not remote and has no sign-in')
    if launch.brings_token:
        raise NoSignIn(f'the server "{server.name}" has its own Authorization header')
    return launch
