"""Login sessions on a disk that may refuse: people come in all the same.

A disk without room is when the page is needed most. What cannot be written is held in memory, and
lasts as long as the program.
"""

import logging
from datetime import UTC, datetime
from typing import Final

from mcpyard.domain.errors import StateGone, StorageFull, StoreAway
from mcpyard.domain.repositories import LoginSessions
from mcpyard.domain.stored import LoginSession
from mcpyard.store.volatile import VolatileSessions

log = logging.getLogger(__name__)

_REFUSALS: Final = (StorageFull, StateGone, StoreAway)
_BEGINNING: Final = datetime.min.replace(tzinfo=UTC)
"""A time at which nothing has run out."""


class LenientSessions:
    """Sessions that the disk keeps, and those that it refused (see the `LoginSessions` port)."""

    def __init__(self, stored: LoginSessions) -> None:
        self._kept = stored
        self._refused = VolatileSessions()

    def get(self, cookie_hash: str, now: datetime) -> LoginSession | None:
        """The session of a cookie, unless it has run out."""
        return self._refused.get(cookie_hash, now) or self._kept.get(cookie_hash, now)

    async def add(self, session: LoginSession) -> None:
        """Let a browser in, or one that is in stay longer; what has run out is forgotten."""
        try:
            await self._kept.add(session)
        except _REFUSALS as error:
            log.warning("browser sessions are lost when mcpyard stops: %s", error)
            await self._refused.add(session)
        else:
            await self._refused.remove(session.cookie_hash)

    async def remove(self, cookie_hash: str) -> None:
        """Shut a browser out."""
        await self._refused.remove(cookie_hash)
        if self._kept.get(cookie_hash, _BEGINNING):
            await self._kept.remove(cookie_hash)

    async def add_link(self, link_hash: str, expires: datetime) -> None:
        """Keep a link that lets one browser in, once."""
        try:
            await self._kept.add_link(link_hash, expires)
        except _REFUSALS as error:
            log.warning("login links are lost when mcpyard stops: %s", error)
            await self._refused.add_link(link_hash, expires)

    async def take_link(self, link_hash: str, now: datetime) -> bool:
        """Use a link up; whether it was there, unused and in time."""
        refused = await self._refused.take_link(link_hash, now)
        return refused or await self._kept.take_link(link_hash, now)
