"""The loop that reads what happened in the cluster, whichever node did it."""

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from mcpyard.cluster.history import ClusterHistory
from mcpyard.domain.cluster import LeaseStore
from mcpyard.domain.cluster_history import ClusterEvent, EventKind
from mcpyard.domain.errors import YardError

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)

_LOOK_EVERY: Final = 1.0
_PAUSE: Final = 0.1
"""Between two looks: a hundred moves are a hundred hints."""


class HistoryReader:
    """Reads the events of a cluster as they come.

    Attributes:
        history: What was read.
        on_event: Called with each event that happened since this node began to read.
        takeovers: How many dead nodes this one took over since.
    """

    def __init__(self, name: str, leases: LeaseStore) -> None:
        self.history = ClusterHistory()
        self.on_event: Callable[[ClusterEvent], None] = lambda _: None
        self.takeovers = 0
        self._name = name
        self._leases = leases
        self._hint = asyncio.Event()
        self._has_read = False
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to read."""
        self._task = asyncio.create_task(self._run(), name="cluster history")

    def hint(self) -> None:
        """Something happened: read it now."""
        self._hint.set()

    async def close(self) -> None:
        """Stop reading."""
        if self._task:
            self._task.cancel()
            await asyncio.wait({self._task})

    async def _run(self) -> None:
        while True:
            try:
                await self._read()
            except YardError as error:
                log.debug("the events of the cluster cannot be read: %s", error.message)
            except Exception:
                # One event that fails must not end the others.
                log.exception("an event of the cluster cannot be read")
            await asyncio.sleep(_PAUSE)
            try:
                async with asyncio.timeout(_LOOK_EVERY):
                    await self._hint.wait()
            except TimeoutError:
                continue
            finally:
                self._hint.clear()

    async def _read(self) -> None:
        fresh = self.history.take(await self._leases.events(self.history.newest))
        if not self._has_read:
            # What happened before this node began is history, not news.
            self._has_read = True
            return
        for each in fresh:
            self.takeovers += each.kind is EventKind.LOST and each.by == self._name
            self.on_event(each)
