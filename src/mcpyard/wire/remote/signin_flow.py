"""The OAuth steps of a sign-in, by the SDK's client, over our own HTTP.

The SDK writes its flow as a conversation: it yields a request, and wants the response. Driving that
conversation here lets a sign-in run without any MCP request behind it: the 401 that starts it is
the one the server gave earlier.
"""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from http import HTTPStatus
from typing import Final, Protocol

import httpx2
from mcp.client.auth import (
    OAuthClientProvider,
    OAuthFlowError,
    OAuthRegistrationError,
    OAuthTokenError,
)
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import AnyUrl

from mcpyard.domain.cause import Cause, Code
from mcpyard.wire.link import LinkFailed
from mcpyard.wire.remote.credentials import Credentials
from mcpyard.wire.remote.http_client import parse_url
from mcpyard.wire.remote.http_errors import broken
from mcpyard.wire.remote.issuer_requests import IssuerRefused, ask_issuer
from mcpyard.wire.remote.signin import Identity, SignInFailed

_BASIC: Final = "client_secret_basic"
_POST: Final = "client_secret_post"
_S256: Final = "S256"
_LONG_AGO: Final = 1.0
_VERSION: Final = {"MCP-Protocol-Version": "2025-11-25"}
"""Makes the SDK name the resource in its requests, as every revision since 2025-06-18 wants."""


class Person(Protocol):
    """Who is shown the sign-in page and answers for it."""

    def show(self, url: str) -> None:
        """Take the address of the page."""
        ...

    async def wait(self) -> tuple[str, str, str | None]:
        """Code, state and issuer, as the browser brought them back."""
        ...


class Flow:
    """One sign-in, or one renewal of it."""

    def __init__(self, url: str, identity: Identity, credentials: Credentials | None) -> None:
        self._url = url
        self._server = parse_url(url)
        self._identity = identity
        self._memory = _Memory(credentials, identity)
        self._provider = OAuthClientProvider(
            url,
            OAuthClientMetadata(
                redirect_uris=[AnyUrl(identity.redirect_uri)], client_name=identity.name
            ),
            self._memory,
            client_metadata_url=identity.metadata_url or None,
        )
        if credentials is not None:
            self._recall(credentials)

    async def renew(self, client: httpx2.AsyncClient) -> Credentials | None:
        """New tokens for the old refresh token; None when the issuer takes it no more.

        Raises `LinkFailed` when the issuer could not be asked, which says nothing of the token.
        """
        self._provider.context.token_expiry_time = _LONG_AGO
        request = self._request()
        async with aclosing(self._provider.async_auth_flow(request)) as flow:
            sent = await anext(flow)
            while sent is not request:
                sent = await flow.asend(await self._ask_issuer(client, sent))
        return self._credentials() if self._provider.context.is_token_valid() else None

    async def authorize(
        self, client: httpx2.AsyncClient, challenge: str, person: Person
    ) -> Credentials:
        """Find the issuer, register, let a person sign in, and fetch the tokens."""
        self._let_in(person)
        request = self._request()
        headers = {"WWW-Authenticate": challenge} if challenge else {}
        unauthorized = httpx2.Response(HTTPStatus.UNAUTHORIZED, headers=headers, request=request)
        try:
            async with aclosing(self._provider.async_auth_flow(request)) as flow:
                await anext(flow)
                await self._converse(client, flow, request, unauthorized)
        except (OAuthFlowError, OAuthRegistrationError, OAuthTokenError) as error:
            raise SignInFailed(f"The sign-in failed: {error}") from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise SignInFailed(f"The authorization server cannot be reached: {error}") from error
        except IssuerRefused as error:
            raise SignInFailed(f"The sign-in failed: {error}") from error
        except (ValueError, RecursionError) as error:
            raise SignInFailed("The response of the authorization server is malformed") from error
        return self._credentials()

    async def _converse(
        self,
        client: httpx2.AsyncClient,
        flow: AsyncGenerator[httpx2.Request, httpx2.Response],
        request: httpx2.Request,
        response: httpx2.Response,
    ) -> None:
        # The flow ends by wanting to repeat the request it was started for; there is none.
        while (sent := await flow.asend(response)) is not request:
            response = await ask_issuer(client, sent, self._server)

    async def _ask_issuer(
        self, client: httpx2.AsyncClient, request: httpx2.Request
    ) -> httpx2.Response:
        try:
            response = await ask_issuer(client, request, self._server)
        except httpx2.HTTPError as error:
            raise LinkFailed(broken(error, request.url)) from error
        except IssuerRefused as error:
            message = f"The sign-in was not renewed: {error}"
            raise LinkFailed(Cause(Code.UNREACHABLE, message)) from None
        status = response.status_code
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.TOO_MANY_REQUESTS:
            message = f"The authorization server cannot renew the sign-in now (HTTP {status})"
            raise LinkFailed(Cause(Code.UNREACHABLE, message))
        return response

    def _request(self) -> httpx2.Request:
        return httpx2.Request("POST", self._url, headers=_VERSION)

    def _let_in(self, person: Person) -> None:
        async def show(url: str) -> None:
            _check_pkce(self._provider.context.oauth_metadata)
            person.show(url)

        async def wait() -> AuthorizationCodeResult:
            code, state, issuer = await person.wait()
            self._memory.fit(self._provider.context.oauth_metadata)
            return AuthorizationCodeResult(code=code, state=state, iss=issuer)

        self._provider.context.redirect_handler = show
        self._provider.context.callback_handler = wait

    def _recall(self, credentials: Credentials) -> None:
        context = self._provider.context
        if credentials.server_metadata:
            context.oauth_metadata = OAuthMetadata.model_validate_json(credentials.server_metadata)
            self._memory.fit(context.oauth_metadata)
        if credentials.resource_metadata:
            described = ProtectedResourceMetadata.model_validate_json(credentials.resource_metadata)
            context.protected_resource_metadata = described

    def _credentials(self) -> Credentials:
        context = self._provider.context
        tokens, client = context.current_tokens, context.client_info
        if tokens is None or client is None:
            raise SignInFailed("The authorization server returned no token")
        server, resource = context.oauth_metadata, context.protected_resource_metadata
        expires = None if tokens.expires_in is None else time.time() + tokens.expires_in
        return Credentials(
            issuer=str(server.issuer) if server else context.get_authorization_base_url(self._url),
            resource=self._url,
            client=client.model_dump_json(exclude_none=True),
            access_token=tokens.access_token,
            refresh_token=tokens.refresh_token or "",
            expires_at=expires,
            scope=tokens.scope or "",
            server_metadata=server.model_dump_json(exclude_none=True) if server else "",
            resource_metadata=resource.model_dump_json(exclude_none=True) if resource else "",
        )


def _check_pkce(issuer: OAuthMetadata | None) -> None:
    """Refuse an issuer without PKCE by S256; one that describes nothing is sent it all the same."""
    if issuer and _S256 not in (issuer.code_challenge_methods_supported or ()):
        message = "the authorization server does not support PKCE with S256"
        raise IssuerRefused(f"{message}, which a sign-in requires")


class _Memory:
    """The SDK's storage for as long as one flow lasts; what comes of it is kept elsewhere."""

    def __init__(self, credentials: Credentials | None, identity: Identity) -> None:
        self._tokens = _tokens_of(credentials)
        self._client = _ours(credentials, identity)

    async def get_tokens(self) -> OAuthToken | None:
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._client = client_info

    def fit(self, issuer: OAuthMetadata | None) -> None:
        """Show a secret that was registered by hand in the way in which the issuer takes it."""
        ways = issuer.token_endpoint_auth_methods_supported if issuer else None
        client = self._client
        if client and client.client_secret and ways and _BASIC not in ways and _POST in ways:
            client.token_endpoint_auth_method = _POST


def _tokens_of(credentials: Credentials | None) -> OAuthToken | None:
    if credentials is None or not credentials.access_token:
        return None
    return OAuthToken(
        access_token=credentials.access_token,
        refresh_token=credentials.refresh_token or None,
        scope=credentials.scope or None,
    )


def _ours(credentials: Credentials | None, identity: Identity) -> OAuthClientInformationFull | None:
    mine, stored = _registered(identity), _client_of(credentials, identity)
    # Tokens are renewed as the client that got them, whatever the definition says by now.
    bound = credentials and credentials.access_token and stored
    return stored if bound and mine and bound.client_id != mine.client_id else mine or stored


def _registered(identity: Identity) -> OAuthClientInformationFull | None:
    if not identity.client_id:
        return None
    return OAuthClientInformationFull(
        client_id=identity.client_id,
        client_secret=identity.client_secret or None,
        token_endpoint_auth_method=_BASIC if identity.client_secret else "none",
        redirect_uris=[AnyUrl(identity.redirect_uri)],
    )


def _client_of(
    credentials: Credentials | None, identity: Identity
) -> OAuthClientInformationFull | None:
    if credentials is None:
        return None
    client = OAuthClientInformationFull.model_validate_json(credentials.client)
    # A new sign-in from another address of ours than the registered one would be turned away.
    redirects = [str(uri) for uri in client.redirect_uris or []]
    fits = str(AnyUrl(identity.redirect_uri)) in redirects
    return client if fits or credentials.access_token else None
