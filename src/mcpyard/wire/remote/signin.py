"""Signing in to a remote server, and staying signed in.

Signing in takes a person: `begin` gives the address to open in a browser, `finish` takes what the
browser brings back. Staying signed in takes nobody: `auth` puts the token on each request, and one
refresh serves every request that waits for it, of whatever connection.

The OAuth itself is the SDK's, which takes half a second to import; it is loaded when somebody
signs in or a token has run out, and never for the servers that need no sign-in. It is not used as
the requests' own `Auth`, because it holds a lock until each answer begins: calls would run one at
a time.
"""

import asyncio
import hmac
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, urldefrag, urlsplit

import httpx2

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.errors import NeedsAuth
from mcpyard.wire.link import LinkFailed
from mcpyard.wire.remote.credentials import Credentials, CredentialStore, OwnClaims
from mcpyard.wire.remote.http_client import new_client, parse_url
from mcpyard.wire.remote.http_errors import Challenge, challenge_of
from mcpyard.wire.remote.post_sender import ReadyAuth
from mcpyard.wire.remote.token_renewal import Renewals

if TYPE_CHECKING:
    from mcpyard.wire.remote.signin_flow import Flow

_ISSUER_SECONDS: Final = 20.0
_RENEWAL_SECONDS: Final = 60.0
_PREPARATION_SECONDS: Final = 30.0
_SIGN_IN_TIMEOUT: Final = 600.0
"""How long a person may take to sign in."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who we are to an authorization server.

    Attributes:
        redirect_uri: Where the browser comes back to.
        name: What the consent page calls us.
        metadata_url: A document on the web that describes us, for servers that read one.
        client_id: The id that was registered by hand, if one was.
        client_secret: The secret that belongs to `client_id`.
    """

    redirect_uri: str
    name: str = "mcpyard"
    metadata_url: str = ""
    client_id: str = ""
    client_secret: str = field(default="", repr=False)


class SignInFailed(NeedsAuth):
    """A sign-in that did not come about."""

    advice = (
        "Check that the authorization server is reachable, then try again; "
        "or set an Authorization header."
    )


class SignIn:
    """The sign-in of one server.

    Attributes:
        auth: Puts the token on each request.
        challenge: What the server said when it last asked for a sign-in; None while it has not.

    Args:
        url: The server's address.
        store: Where its tokens are kept.
        identity: Who we are to whom it sends us.
        renewals: Those of all who use the store.
    """

    def __init__(
        self,
        url: str,
        store: CredentialStore,
        identity: Identity,
        renewals: Renewals | None = None,
    ) -> None:
        self._url = urldefrag(url).url
        self._store = store
        self._identity = identity
        self._credentials: Credentials | None = None
        self._loaded = False
        self._renewals = renewals or Renewals()
        self._attempt: _Attempt | None = None
        self.auth: httpx2.Auth = _Bearer(self)
        self.challenge: Challenge | None = None

    @property
    def state(self) -> str | None:
        """What the browser must bring back; tells whose sign-in a callback belongs to."""
        return self._attempt.state if self._attempt else None

    async def begin(self, challenge: Challenge | None = None) -> str:
        """Start a sign-in and give the address to open; one that was under way is given up.

        Args:
            challenge: What the server said when it asked for a sign-in.
        """
        await self.close()
        credentials = await self._current()
        flow = _flow(self._url, self._identity, _without_tokens(credentials))
        attempt = _Attempt(asyncio.get_running_loop())
        attempt.task = asyncio.create_task(self._authorize(flow, attempt, challenge))
        attempt.task.add_done_callback(self._ended)
        try:
            async with asyncio.timeout(_PREPARATION_SECONDS):
                await asyncio.wait({attempt.task, attempt.address}, return_when="FIRST_COMPLETED")
        except TimeoutError:
            attempt.task.cancel()
            raise SignInFailed("The authorization server does not respond") from None
        except asyncio.CancelledError:
            attempt.task.cancel()
            raise
        if not attempt.address.done():
            await attempt.task
            raise SignInFailed("The authorization server did not start a sign-in")
        self._attempt = attempt
        return attempt.url

    async def finish(self, code: str, state: str, issuer: str | None = None) -> None:
        """Take what the browser brought back; `state` is good for one time.

        Args:
            code: The authorization code.
            state: The state that came with it.
            issuer: The `iss` that came with it, if one did.
        """
        attempt = self._claim(state)
        attempt.answer.set_result((code, state, issuer))
        if attempt.task is not None:
            await attempt.task

    async def decline(self, state: str, reason: str) -> None:
        """Take the browser's word that the person, or the server, said no."""
        attempt = self._claim(state)
        attempt.answer.set_exception(SignInFailed(f"The sign-in was refused: {reason}"))
        if attempt.task is not None:
            await asyncio.wait([attempt.task])

    async def close(self) -> None:
        """Give up a sign-in that is under way; tokens stay as they are."""
        attempt, self._attempt = self._attempt, None
        if attempt is not None and attempt.task is not None:
            attempt.task.cancel()
            await asyncio.wait([attempt.task])

    def ready_token(self) -> str | None:
        """What `token` gives, if that is known without waiting; None otherwise."""
        credentials = self._credentials
        if credentials is None or not credentials.access_token:
            return "" if self._loaded else None
        return credentials.access_token if credentials.usable else None

    async def forget(self) -> None:
        """Delete the tokens and our registration; a sign-in that is under way is given up."""
        await self.close()
        self._credentials, self._loaded = None, True
        await self._store.delete(self._url)

    @property
    def signed_in(self) -> bool:
        """Whether a token is known."""
        return self._credentials is not None and bool(self._credentials.access_token)

    async def token(self) -> str:
        """The token to send, renewed when it has run out; empty when nobody is signed in."""
        credentials = await self._current()
        if credentials is None or not credentials.access_token:
            return ""
        if credentials.usable:
            return credentials.access_token
        return await self.renewed(credentials.access_token)

    async def renewed(self, rejected: str) -> str:
        """A token other than the one a server rejected; empty when there is none to be had."""
        credentials = await self._renewals.share(self._url, rejected, lambda: self._renew(rejected))
        self._credentials = credentials
        return credentials.access_token if credentials else ""

    async def _renew(self, rejected: str) -> Credentials | None:
        claims = self._renewals.claims or OwnClaims(self._store)
        async with claims.claim(self._url) as claim:
            # Whoever waited for his turn, and whoever shares the store, finds the work done.
            stored = claim.credentials
            if stored is not None and stored.usable and stored.access_token != rejected:
                return stored
            renewed = await self._ask_anew(stored) if stored and stored.refresh_token else None
            # Known before it is stored: a disk that refuses must not cost the sign-in.
            self._credentials = credentials = renewed or _without_tokens(stored)
            if credentials is not None:
                self._credentials = await claim.keep(credentials)
            return self._credentials

    async def _ask_anew(self, credentials: Credentials) -> Credentials | None:
        flow = _flow(self._url, self._identity, credentials)
        url = parse_url(self._url)
        try:
            async with (
                asyncio.timeout(_RENEWAL_SECONDS),
                new_client(url, {}, read_timeout=_ISSUER_SECONDS) as client,
            ):
                return await flow.renew(client)
        except TimeoutError:
            message = f"The sign-in was not renewed within {_RENEWAL_SECONDS:g} s"
            raise LinkFailed(Cause(Code.UNREACHABLE, message)) from None

    async def _current(self) -> Credentials | None:
        if not self._loaded:
            self._credentials = await self._store.get(self._url)
            self._loaded = True
        return self._credentials

    def _ended(self, task: asyncio.Task[None]) -> None:
        if self._attempt is not None and self._attempt.task is task:
            self._attempt = None
        if not task.cancelled():
            # Looked at, or the loop would report it when nobody came back to finish.
            task.exception()

    def _claim(self, state: str) -> "_Attempt":
        attempt = self._attempt
        if attempt is None or not hmac.compare_digest(attempt.state.encode(), state.encode()):
            raise SignInFailed("This sign-in is unknown or already finished")
        self._attempt = None
        return attempt

    async def _authorize(
        self, flow: "Flow", attempt: "_Attempt", challenge: Challenge | None
    ) -> None:
        try:
            async with (
                asyncio.timeout(_SIGN_IN_TIMEOUT),
                new_client(parse_url(self._url), {}, read_timeout=_ISSUER_SECONDS) as client,
            ):
                granted = self._credentials.scope if self._credentials else ""
                header = challenge.widened(granted) if challenge else ""
                self._credentials = await flow.authorize(client, header, attempt)
                self._loaded = True
                await self._store.put(self._credentials)
        except TimeoutError:
            raise SignInFailed("The sign-in was not completed in time") from None


class _Attempt:
    """A sign-in between `begin` and `finish`."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.address: asyncio.Future[str] = loop.create_future()
        self.answer: asyncio.Future[tuple[str, str, str | None]] = loop.create_future()
        self.task: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        return self.address.result()

    @property
    def state(self) -> str:
        return parse_qs(urlsplit(self.url).query).get("state", [""])[0]

    def show(self, url: str) -> None:
        self.address.set_result(url)

    async def wait(self) -> tuple[str, str, str | None]:
        return await self.answer


class _Bearer(ReadyAuth):
    def __init__(self, sign_in: SignIn) -> None:
        self._sign_in = sign_in

    def ready_token(self) -> str | None:
        return self._sign_in.ready_token()

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        token = await self._sign_in.token()
        if token:
            request.headers["Authorization"] = f"Bearer {token}"
        response = yield request
        challenge = challenge_of(response)
        if challenge is None:
            return
        self._sign_in.challenge = challenge
        if response.status_code != HTTPStatus.UNAUTHORIZED:
            return
        # A 401 means that the request was not taken, so sending it again is safe.
        if token and (fresh := await self._sign_in.renewed(token)):
            request.headers["Authorization"] = f"Bearer {fresh}"
            yield request


def _without_tokens(credentials: Credentials | None) -> Credentials | None:
    """The same registration without its tokens."""
    if credentials is None:
        return None
    return replace(credentials, access_token="", refresh_token="", expires_at=None)


def _flow(url: str, identity: Identity, credentials: Credentials | None) -> "Flow":
    # Half a second of CPU and 65 MB, for the few servers that want a sign-in.
    from mcpyard.wire.remote.signin_flow import Flow  # noqa: PLC0415

    return Flow(url, identity, credentials)
