"""Tokens, sessions and approvals that last as long as their program: a private yard's."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from mcpyard.domain.errors import NameTaken
from mcpyard.domain.stored import Approval, CallToken, LoginSession


class VolatileCallTokens:
    """Call tokens in memory (see the `Tokens` port)."""

    def __init__(self) -> None:
        self._all: dict[UUID, CallToken] = {}

    def all(self) -> Sequence[CallToken]:
        """Every token, also the revoked ones."""
        return tuple(self._all.values())

    def by_hash(self, token_hash: str) -> CallToken | None:
        """The token with this hash, unless it is revoked."""
        active = (each for each in self._all.values() if each.revoked is None)
        return next((each for each in active if each.hash == token_hash), None)

    async def add(self, token: CallToken) -> None:
        """Keep a token."""
        if any(each.name == token.name and not each.revoked for each in self._all.values()):
            raise NameTaken(f'a token "{token.name}" already exists')
        self._all[token.id] = token

    async def revoke(self, token: UUID, at: datetime) -> CallToken | None:
        """Make a token worthless."""
        stored = self._all.get(token)
        if stored and stored.revoked is None:
            stored = self._all[token] = replace(stored, revoked=at)
        return stored

    def used(self, token: UUID, at: datetime) -> None:
        """Note that a token was used."""
        if stored := self._all.get(token):
            self._all[token] = replace(stored, last_used=at)


class VolatileSessions:
    """Login sessions in memory (see the `LoginSessions` port)."""

    def __init__(self) -> None:
        self._all: dict[str, LoginSession] = {}
        self._links: dict[str, datetime] = {}

    def get(self, cookie_hash: str, now: datetime) -> LoginSession | None:
        """The session of a cookie, unless it has run out."""
        session = self._all.get(cookie_hash)
        return session if session and now < session.expires else None

    async def add(self, session: LoginSession) -> None:
        """Let a browser in, and forget what has run out."""
        self._keep(session)

    async def remove(self, cookie_hash: str) -> None:
        """Shut a browser out."""
        self._all.pop(cookie_hash, None)

    async def add_link(self, link_hash: str, expires: datetime) -> None:
        """Keep a link that lets one browser in, once."""
        self._links[link_hash] = expires

    async def take_link(self, link_hash: str, now: datetime) -> bool:
        """Use a link up; whether it was there, unused and in time."""
        expires = self._links.get(link_hash)
        if expires is None or expires <= now:
            return False
        del self._links[link_hash]
        return True

    def _keep(self, session: LoginSession) -> None:
        now = session.created
        self._all = {key: each for key, each in self._all.items() if each.expires > now}
        self._links = {key: expires for key, expires in self._links.items() if expires > now}
        self._all[session.cookie_hash] = session


class VolatileApprovals:
    """Approvals in memory (see the `Approvals` port)."""

    def __init__(self) -> None:
        self._all: dict[str, Approval] = {}

    def all(self) -> Mapping[str, Approval]:
        """Every approval by its folder."""
        return self._all

    async def set(self, approval: Approval) -> None:
        """Keep an approval in place of the folder's earlier one."""
        self._all[approval.folder] = approval
