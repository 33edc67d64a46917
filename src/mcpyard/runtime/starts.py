"""How many servers start at once: enough to be quick, not so many that all of them time out."""

import asyncio
import heapq
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from itertools import count

from mcpyard.domain import limits


class Starts:
    """Places for parallel starts; what a person asked for goes first."""

    def __init__(self, places: int | None = None) -> None:
        self._free = places or 2 * (os.cpu_count() or 1)
        self._order = count()
        self._queue: list[tuple[int, int, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def place(self, *, urgent: bool = False) -> AsyncGenerator[None]:
        """Hold a place while starting, at most for a short while."""
        await self._acquire(urgent=urgent)
        held = True

        def release() -> None:
            nonlocal held
            if held:
                held = False
                self._release()

        timer = asyncio.get_running_loop().call_later(limits.START_SLOT, release)
        try:
            yield
        finally:
            timer.cancel()
            release()

    async def _acquire(self, *, urgent: bool) -> None:
        if self._free > 0:
            self._free -= 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._queue, (0 if urgent else 1, next(self._order), turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._release()
            raise

    def _release(self) -> None:
        while self._queue:
            *_, turn = heapq.heappop(self._queue)
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
