"""Waiting for the next change of something."""

import asyncio
from math import inf


class ChangeSignal:
    """Wakes everybody who waits whenever something changed."""

    def __init__(self) -> None:
        self._waiters: set[asyncio.Future[None]] = set()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiters)

    def happened(self) -> None:
        """Something changed."""
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def wait(self, within: float) -> None:
        """Return at the next change.

        Raises:
            TimeoutError: There was none for so many seconds.
        """
        change: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.add(change)
        try:
            async with asyncio.timeout(None if within == inf else max(0, within)):
                await change
        finally:
            self._waiters.discard(change)
