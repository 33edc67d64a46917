"""How many servers start at once: enough to be quick, not so many that all of them time out.

What limits a start is the processor, and many servers only wait while they start: for the network,
for a lock, for a time. So there are places for parallel starts, and whenever the machine has a
processor to spare, those that wait for a place begin without one.
"""

import asyncio
import heapq
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from itertools import count
from typing import Final

from mcpyard.domain import limits

_CORES: Final = os.cpu_count() or 1
_PLACES: Final = max(16, 2 * _CORES)
_LOOK: Final = 0.02
"""Seconds between two looks at the machine, while a start waits for a place."""


def is_busy() -> bool:
    """Whether every processor has something to do besides this thread.

    True also where the system does not tell; then places alone limit the starts.
    """
    try:
        with open("/proc/loadavg", "rb") as file:  # noqa: PTH123  read fifty times a second
            runnable = int(file.read().split()[3].partition(b"/")[0])
    except (OSError, ValueError, IndexError):
        return True
    return not 1 <= runnable <= _CORES


class Starts:
    """Places for parallel starts; what a person asked for goes first.

    Args:
        places: How many starts may go on at once on a busy machine.
        busy: Whether the machine is busy.
    """

    def __init__(self, places: int | None = None, busy: Callable[[], bool] = is_busy) -> None:
        self._places = places or _PLACES
        self._busy = busy
        self._taken = 0
        self._order = count()
        self._queue: list[tuple[int, int, asyncio.Future[None]]] = []
        self._timer: asyncio.TimerHandle | None = None

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
        if self._taken < self._places:
            self._taken += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._queue, (0 if urgent else 1, next(self._order), turn))
        self._look_later()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._release()
            raise

    def _release(self) -> None:
        self._taken -= 1
        while self._taken < self._places and self._admit():
            """As many as there is room for."""

    def _admit(self) -> bool:
        """Let the first one that waits begin; whether there was one."""
        while self._queue:
            *_, turn = heapq.heappop(self._queue)
            if not turn.done():
                self._taken += 1
                turn.set_result(None)
                return True
        return False

    def _look_later(self) -> None:
        if self._timer is None and self._queue:
            self._timer = asyncio.get_running_loop().call_later(_LOOK, self._look)

    def _look(self) -> None:
        self._timer = None
        if not self._busy():
            for _ in range(_CORES):
                self._admit()
        self._look_later()
