"""What a sign-in leaves behind, and where it is kept."""

import time
from dataclasses import dataclass, field
from typing import Final, Protocol

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
