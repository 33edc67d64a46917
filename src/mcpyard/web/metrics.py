"""The figures on the cards: what its processes use, and how long the last calls took.

Nobody is told when that changes, so it is looked up, off the loop, a few servers at a time: the
cost of a look at all of a large yard at once would be felt.
"""

import asyncio
from collections import defaultdict
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from mcpyard.domain.lifecycle import OPEN
from mcpyard.domain.stored import CallQuery, CallRecord
from mcpyard.yard.yard import YardCore

EVERY: Final = 4.5
"""Seconds between two looks; a little less than browsers wait between two questions."""

AT_ONCE: Final = 16
CALLS: Final = 500
POINTS: Final = 24

_STEP: Final = 1 << 20
"""Bytes of memory that make a difference worth telling."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What the processes of a server use, rounded: bytes of memory, percent of one core."""

    rss: int
    cpu: int
    processes: int


@dataclass(frozen=True, slots=True)
class Metric:
    """The figures of one server: its usage, and its last calls, the oldest first."""

    usage: Usage | None = None
    latencies: tuple[float, ...] = ()
    errors: tuple[bool, ...] = ()
    last_call: datetime | None = None


NOTHING: Final = Metric()


class Metrics:
    """Keeps the figures of a yard's servers.

    Attributes:
        round: Grows when any of them changes.
    """

    def __init__(self, yard: YardCore) -> None:
        self._yard = yard
        self._all: dict[UUID, Metric] = {}
        self._touched: dict[UUID, int] = {}
        self._sampled: dict[UUID, float] = {}
        self._next = 0.0
        self._counted = -1
        self._has_history = False
        self.round = 0

    def of(self, server: UUID) -> Metric:
        """The figures of a server, as far as they are known."""
        return self._all.get(server, NOTHING)

    def since(self, round_: int) -> set[UUID]:
        """The servers whose figures are newer than a round."""
        return {each for each, at in self._touched.items() if at > round_}

    async def refresh(self) -> None:
        """Look again, unless that was done just now."""
        now = asyncio.get_running_loop().time()
        if now < self._next:
            return
        self._next = now + EVERY
        fresh = dict(self._all)
        for server, usage in (await self._usages(now)).items():
            before = fresh.get(server, NOTHING)
            fresh[server] = replace(before, usage=usage)
        for server, last in (await self._last_calls()).items():
            fresh[server] = replace(last, usage=fresh.get(server, NOTHING).usage)
        for server, at in (await self._earlier_calls()).items():
            before = fresh.get(server, NOTHING)
            fresh[server] = replace(before, last_call=before.last_call or at)
        self._take(fresh)

    def _take(self, fresh: dict[UUID, Metric]) -> None:
        changed = [each for each in fresh if fresh[each] != self._all.get(each, NOTHING)]
        self._all = {each: fresh[each] for each in fresh if each in self._yard.desired.servers}
        if changed:
            self.round += 1
            self._touched.update(dict.fromkeys(changed, self.round))

    async def _usages(self, now: float) -> dict[UUID, Usage | None]:
        up = {
            each.server.id
            for each in self._yard.pictures()
            if each.observed.state.phase in OPEN and each.observed.pid
        }
        down = {each: None for each in self._all if each not in up and self._all[each].usage}
        turn = sorted(up, key=lambda each: self._sampled.get(each, 0.0))[:AT_ONCE]
        self._sampled = {each: at for each, at in self._sampled.items() if each in up}
        self._sampled.update(dict.fromkeys(turn, now))
        return down | await asyncio.to_thread(lambda: {each: self._usage(each) for each in turn})

    def _usage(self, server: UUID) -> Usage | None:
        used = self._yard.directory.figures(server)
        if used is None:
            return None
        rss = max(1, round(used.rss / _STEP)) * _STEP
        return Usage(rss, round(used.cpu_percent), used.processes)

    async def _earlier_calls(self) -> dict[UUID, datetime]:
        """When servers were last called that are not among the last calls; read once."""
        history = self._yard.accounts.minutes
        if history is None or self._has_history:
            return {}
        self._has_history = True
        minutes = await history.last_calls()
        return {server: datetime.fromtimestamp(at, UTC) for server, at in minutes.items()}

    async def _last_calls(self) -> dict[UUID, Metric]:
        counted = sum(each.calls for each in self._yard.accounts.by_server.values())
        journal = self._yard.accounts.journal
        if journal is None or counted == self._counted:
            return {}
        self._counted = counted
        calls: defaultdict[UUID, list[CallRecord]] = defaultdict(list)
        for call in await journal.query(CallQuery(limit=CALLS)):
            if len(calls[call.server]) < POINTS:
                calls[call.server].append(call)
        return {
            server: Metric(
                latencies=tuple(each.ms for each in reversed(last)),
                errors=tuple(each.outcome != "ok" for each in reversed(last)),
                last_call=last[0].at,
            )
            for server, last in calls.items()
        }
