"""What a sign-in leaves behind, and where it is kept."""

import time
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final, Protocol

from msgspec import Struct

_EARLY_SECONDS: Final = 5.0
"""A token is renewed this long before it runs out, so that none runs out on its way."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a sign-in left behind. All of it is secret but the first two.

    Attributes:
        issuer: The authorization server.
        resource: The MCP server's address.
        client: Our registration with the issuer, as JSON.
        access_token: Empty when the sign-in is over and only the registration is left.
        refresh_token: Empty when the issuer gave none.
        expires_at: When the access token runs out, in seconds since 1970.
        scope: What the token is good for.
        server_metadata: The issuer's own description, as JSON; says where tokens are renewed.
        resource_metadata: The MCP server's description of its sign-in, as JSON.
    """

    issuer: str
    resource: str
    client: str = field(repr=False)
    access_token: str = field(default="", repr=False)
    refresh_token: str = field(default="", repr=False)
    expires_at: float | None = None
    scope: str = ""
    server_metadata: str = field(default="", repr=False)
    resource_metadata: str = field(default="", repr=False)

    @property
    def usable(self) -> bool:
        """Whether the access token can be sent now."""
        fresh = self.expires_at is None or time.time() < self.expires_at - _EARLY_SECONDS
        return bool(self.access_token) and fresh


class RenewalClaim(Protocol):
    """The only renewal of a sign-in that is under way."""

    @property
    def credentials(self) -> Credentials | None:
        """The sign-in as it is stored; None where there is none."""
        ...

    async def keep(self, renewed: Credentials) -> Credentials | None:
        """Store what came of it; what is stored now, which another sign-in may have replaced."""
        ...


class RenewalClaims(Protocol):
    """Lets one renewal of a sign-in follow the other, on however many machines."""

    def claim(self, resource: str) -> AbstractAsyncContextManager[RenewalClaim]:
        """Renew the sign-in of a resource in the block, once nobody else does.

        Raises:
            YardError: Where it is stored cannot be reached.
            LinkFailed: Somebody else did not finish in time.
        """
        ...


class CredentialStore(Protocol):
    """Where credentials are kept, one set per issuer and resource."""

    async def get(self, resource: str) -> Credentials | None:
        """The set that was put last for a resource."""
        ...

    async def put(self, credentials: Credentials) -> None:
        """Keep a set in place of the one with the same issuer and resource."""
        ...

    async def delete(self, resource: str) -> None:
        """Forget every set of a resource."""
        ...


class _OwnClaim(Struct, frozen=True):
    credentials: Credentials | None
    store: CredentialStore

    async def keep(self, renewed: Credentials) -> Credentials | None:
        # A sign-out, or another sign-in, did not wait for the renewal.
        now = await self.store.get(renewed.resource)
        if now != self.credentials:
            return now
        await self.store.put(renewed)
        return renewed


class OwnClaims:
    """The `RenewalClaims` of a store that nobody else uses."""

    def __init__(self, store: CredentialStore) -> None:
        self._store = store

    @asynccontextmanager
    async def claim(self, resource: str) -> AsyncGenerator[RenewalClaim]:
        """Renew the sign-in of a resource in the block (see `RenewalClaims`)."""
        yield _OwnClaim(await self._store.get(resource), self._store)
