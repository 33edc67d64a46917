"""What opens a yard: the admin token, call tokens, the cookies of browsers, tickets for streams."""

import hashlib
import hmac
import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Final

from msgspec import Struct, field

from mcpyard.api.security.revocations import Revocations
from mcpyard.domain.ports import Clock
from mcpyard.domain.repositories import LoginSessions, Tokens
from mcpyard.domain.stored import LoginSession

SESSION_LIFE: Final = timedelta(days=30)
"""How long a browser that does not come by stays signed in."""

LINK_LIFE: Final = timedelta(minutes=10)

TICKET_LIFE: Final = 30.0
"""Seconds in which a stream must be opened."""

PREFIX: Final = "mcpyard_"
"""Begins every call token, so that scanners of leaked secrets can know one."""

_RENEWED_AFTER: Final = timedelta(days=1)
_MOST_TICKETS: Final = 256
_RANDOM_BYTES: Final = 32


def make_secret() -> str:
    """A new secret."""
    return secrets.token_urlsafe(_RANDOM_BYTES)


def hashed(secret: str) -> str:
    """What is kept of a secret."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


class AdminKey:
    """The token that opens everything."""

    def __init__(self, token: str, renew: Callable[[], str] | None = None) -> None:
        self._token = token.encode()
        self._renew = renew

    def fits(self, token: bytes) -> bool:
        """Whether this is the token; an empty one never is."""
        return bool(token) and hmac.compare_digest(token, self._token)

    def rotate(self) -> bool:
        """Put a new token in place of this one, where it is not fixed from outside."""
        if self._renew is None:
            return False
        self._token = self._renew().encode()
        return True


class Tickets:
    """Tickets that open one stream each: an EventSource of a browser cannot send a header."""

    def __init__(self) -> None:
        self._all: dict[str, tuple[LoginSession, float]] = {}

    def issue(self, session: LoginSession, now: float) -> str:
        """A ticket for the browser of a session."""
        while len(self._all) >= _MOST_TICKETS:
            del self._all[next(iter(self._all))]
        ticket = make_secret()
        self._all[hashed(ticket)] = session, now + TICKET_LIFE
        return ticket

    def redeem(self, ticket: str, session: LoginSession, now: float) -> bool:
        """Use a ticket up; whether it was this browser's, unused and in time."""
        holder, expires = self._all.pop(hashed(ticket), (None, 0.0))
        return holder is not None and holder.cookie_hash == session.cookie_hash and now < expires


class Keys(Struct, frozen=True):
    """Everything that opens one yard, and who hears when some of it does not any more."""

    admin: AdminKey
    tokens: Tokens
    sessions: LoginSessions
    clock: Clock
    tickets: Tickets = field(default_factory=Tickets)
    revocations: Revocations = field(default_factory=Revocations)

    async def make_link(self) -> str:
        """The secret of a new one-time link."""
        secret = make_secret()
        await self.sessions.add_link(hashed(secret), self.clock.now() + LINK_LIFE)
        return secret

    async def renew(self, session: LoginSession) -> None:
        """Let a session last on because it was used; written down once a day at most."""
        expires = self.clock.now() + SESSION_LIFE
        if expires - session.expires >= _RENEWED_AFTER:
            await self.sessions.add(replace(session, expires=expires))
