"""What the processes of servers use, noted every minute for the charts of the last week."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator
from typing import Final, NamedTuple
from uuid import UUID

from mcpyard.domain.call_history import MINUTE, UsageSample
from mcpyard.domain.call_repositories import CallHistoryStore
from mcpyard.domain.lifecycle import OPEN
from mcpyard.yard.yard import YardCore

log = logging.getLogger(__name__)

EVERY: Final = 30.0
"""Seconds between two looks: a minute has the higher memory of two."""

_LEAST: Final = 1.0


class _Seen(NamedTuple):
    at: float
    cpu_seconds: float


@contextlib.asynccontextmanager
async def sampling(yard: YardCore, history: CallHistoryStore | None) -> AsyncGenerator[None]:
    """Note what servers use while the block lasts, if there is a place for it."""
    if history is None:
        yield
        return
    task = asyncio.create_task(UsageSampler(yard, history).run(), name="usage")
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait({task})


class UsageSampler:
    """Looks at the processes of the servers that run."""

    def __init__(self, yard: YardCore, history: CallHistoryStore) -> None:
        self._yard = yard
        self._history = history
        self._seen: dict[UUID, _Seen] = {}

    async def run(self) -> None:
        """Look every now and then, until this is cancelled."""
        while True:
            await asyncio.sleep(EVERY)
            try:
                await self.sample()
            except Exception:
                # A chart with a gap is no reason to stop.
                log.exception("the usage of the servers cannot be read")

    async def sample(self) -> None:
        """Look once."""
        up = [each.server.id for each in self._yard.pictures() if each.observed.state.phase in OPEN]
        # Of an idle daemon, this is all that happens.
        if samples := await asyncio.to_thread(self._read, up) if up else []:
            self._history.note_usage(samples)

    def _read(self, servers: list[UUID]) -> list[UsageSample]:
        samples: list[UsageSample] = []
        now, seen = time.time(), dict[UUID, _Seen]()
        for server in servers:
            used = self._yard.directory.figures(server)
            if used is None:
                continue
            seen[server] = _Seen(now, used.cpu_seconds)
            cpu = _percent(self._seen.get(server), seen[server])
            samples.append(UsageSample(int(now) // MINUTE * MINUTE, server, used.rss, cpu))
        self._seen = seen
        return samples


def _percent(before: _Seen | None, now: _Seen) -> float:
    """CPU time since the look before, in percent of one core; 0 for processes that are new."""
    if before is None or now.cpu_seconds < before.cpu_seconds:
        return 0.0
    passed = max(now.at - before.at, _LEAST)
    return round(100 * (now.cpu_seconds - before.cpu_seconds) / passed, 2)
