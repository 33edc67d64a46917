"""What opens a yard: the admin token, call tokens, the cookies of browsers, tickets for streams."""

import hashlib
import hmac
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

from msgspec import Struct, field

from mcpyard.api.security.revocations import Revocations
from mcpyard.domain.node_channel import RevokedKey, owned
from mcpyard.domain.ports import Clock
from mcpyard.domain.repositories import LoginSessions, Tokens
from mcpyard.domain.stored import LoginSession

if TYPE_CHECKING:
    from mcpyard.api.security.other_nodes import OtherNodes

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
    return _digest(secret.encode("utf-8", "surrogatepass"))


def _digest(secret: bytes) -> str:
    return hashlib.sha256(secret).hexdigest()


class AdminKey:
    """The token that opens everything.

    Args:
        token: The token of this home.
        renew: Makes another one; None where it is fixed from outside.
        cluster_hash: The hash of the token that opens every node of the cluster.
    """

    def __init__(
        self,
        token: str,
        renew: Callable[[], str] | None = None,
        cluster_hash: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._token = token.encode()
        self._renew = renew
        self._cluster_hash = cluster_hash

    def fits(self, token: bytes) -> bool:
        """Whether this is the token; an empty one never is."""
        if not token:
            return False
        return hmac.compare_digest(token, self._token) or self._opens_cluster(token)

    @property
    def hash(self) -> str:
        """The hash of this home's token."""
        return _digest(self._token)

    @property
    def is_the_clusters(self) -> bool:
        """Whether the token of this home opens every node of the cluster."""
        return self._opens_cluster(self._token)

    def _opens_cluster(self, token: bytes) -> bool:
        expected = self._cluster_hash()
        return expected is not None and hmac.compare_digest(_digest(token), expected)

    def rotate(self) -> bool:
        """Put a new token in place of this one, where it is not fixed from outside."""
        if self._renew is None:
            return False
        self._token = self._renew().encode()
        return True


class Tickets:
    """Tickets that open one stream each: an EventSource of a browser cannot send a header."""

    def __init__(self, node: str = "") -> None:
        self._node = node
        self._all: dict[str, tuple[str, float]] = {}

    def issue(self, session: LoginSession, now: float) -> str:
        """A ticket for the browser of a session."""
        ticket = owned(self._node, make_secret())
        self.keep(ticket, session, now)
        return ticket

    def keep(self, ticket: str, session: LoginSession, now: float) -> None:
        """Let a ticket open a stream for the browser of a session."""
        while len(self._all) >= _MOST_TICKETS:
            del self._all[next(iter(self._all))]
        self._all[hashed(ticket)] = session.cookie_hash, now + TICKET_LIFE

    def redeem(self, ticket: str, cookie_hash: str, now: float) -> bool:
        """Use a ticket up; whether it was this browser's, unused and in time."""
        holder, expires = self._all.pop(hashed(ticket), ("", 0.0))
        return holder == cookie_hash and now < expires


class Keys(Struct, frozen=True):
    """Everything that opens one yard, and who hears when some of it does not any more."""

    admin: AdminKey
    tokens: Tokens
    sessions: LoginSessions
    clock: Clock
    tickets: Tickets = field(default_factory=Tickets)
    revocations: Revocations = field(default_factory=Revocations)
    other_nodes: "OtherNodes | None" = None

    async def make_link(self) -> str:
        """The secret of a new one-time link."""
        secret = make_secret()
        await self.sessions.add_link(hashed(secret), self.clock.now() + LINK_LIFE)
        return secret

    async def revoked(
        self, who: str, since: float, *, token: UUID | None = None, cookie_hash: str = ""
    ) -> Sequence[str]:
        """End what somebody has open whose key was taken away, on all nodes of a cluster.

        Args:
            who: Whose key it was.
            since: When that was asked for, by the monotonic clock.
            token: The call token that it was.
            cookie_hash: Of the browser that was signed out.

        Returns:
            The names of the nodes that did not confirm it in time.
        """
        self.revocations.dispatch(who)
        if self.other_nodes is None:
            return ()
        key = RevokedKey(who, self.clock.now(), token, cookie_hash)
        return await self.other_nodes.revoke(key, self.clock.monotonic() - since)

    async def rotate_admin(self, who: str) -> Sequence[str] | None:
        """Put a new admin token in the place of the old one, and end what its holders have open.

        The one that opens every node of a cluster is replaced for all of them.

        Returns:
            The names of the nodes that did not confirm it in time; None where the token is fixed.

        Raises:
            StoreAway: The database of the cluster cannot be reached; nothing was changed.
        """
        since = self.clock.monotonic()
        nodes = self.other_nodes if self.admin.is_the_clusters else None
        if nodes:
            # Before anything is changed: does the database take it?
            await nodes.share_admin(self.admin.hash)
        if not self.admin.rotate():
            return None
        if nodes is None:
            self.revocations.dispatch(who)
            return ()
        await nodes.share_admin(self.admin.hash)
        return await self.revoked(who, since)

    async def fetch_ticket(self, ticket: str, session: LoginSession) -> None:
        """Let a ticket that another node issued to a browser open a stream here."""
        if self.other_nodes and await self.other_nodes.redeem(ticket, session.cookie_hash):
            self.tickets.keep(ticket, session, self.clock.monotonic())

    async def renew(self, session: LoginSession) -> None:
        """Let a session last on because it was used; written down once a day at most."""
        expires = self.clock.now() + SESSION_LIFE
        if expires - session.expires >= _RENEWED_AFTER:
            await self.sessions.add(replace(session, expires=expires))
