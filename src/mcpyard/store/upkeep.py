"""What a store needs from time to time: old lines of the journal removed, a backup taken."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Final

from mcpyard.domain.errors import YardError
from mcpyard.store.sqlite.store import Store

log = logging.getLogger(__name__)

_EVERY: Final = 3600.0
"""Seconds: of a day, a backup lacks at most the last hour."""


_SETTLING: Final = 3.0
"""Seconds in which the servers start: a backup would take the disk and the processor from them."""


_AGAIN: Final = 10.0
"""Seconds until a backup that failed is tried again: what was in its way may be gone any time."""


class Upkeep:
    """Looks after one store while it is open.

    Attributes:
        fault: Why the last backup failed, if it did.
    """

    def __init__(
        self,
        store: Store,
        now: Callable[[], datetime],
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.fault: YardError | None = None
        self._store = store
        self._now = now
        self._pause = pause

    async def run(self) -> None:
        """Do what is due, soon and every hour, until this is cancelled."""
        await self._pause(_SETTLING)
        while True:
            try:
                await self.expire()
                await self.take_snapshot()
                while self.fault:
                    await self._pause(_AGAIN)
                    await self.take_snapshot()
            except Exception:
                # The next hour may do better.
                log.exception("the upkeep of the storage failed")
            await self._pause(_EVERY)

    async def expire(self) -> None:
        """Remove the lines of the journal that are too old."""
        try:
            await self._store.journal.expire(self._now())
        except YardError as error:
            log.warning("old calls cannot be removed from the journal: %s", error)

    async def take_snapshot(self) -> None:
        """Take a backup if the state changed; may be called after the store was closed."""
        if self._store.fault():
            # What is at the path now is not the state of this store.
            return
        try:
            await asyncio.to_thread(self._store.snapshots.take, self._now())
        except YardError as error:
            if str(error) != str(self.fault):
                log.warning("no backup: %s", error)
            self.fault = error
        else:
            self.fault = None
