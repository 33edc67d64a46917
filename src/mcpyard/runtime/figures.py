"""What the processes of servers use: looked up when somebody asks, never in between."""

import time
from collections.abc import Iterable
from typing import Final, NamedTuple
from uuid import UUID

from mcpyard.domain.observed import Figures
from mcpyard.runtime.processes.usage import ProcessKey, ProcessSnapshot, memory_of

_FRESH_SECONDS: Final = 0.25
"""One look at the process table serves whoever asks for all servers one by one."""

_LEAST_SECONDS: Final = 1.0
"""Over less time, the ticks in which the kernel counts make no rate."""


class _Sample(NamedTuple):
    at: float
    cpu_seconds: float
    cpu_percent: float


class UsageMeter:
    """Tells what servers use, and at which rate since it was asked before."""

    def __init__(self) -> None:
        self._snapshot: ProcessSnapshot | None = None
        self._samples: dict[UUID, _Sample] = {}

    def figures(self, server: UUID, roots: Iterable[ProcessKey]) -> Figures | None:
        """What some processes and all below them use; None when they are gone."""
        snapshot = self._look()
        rows = snapshot.tree(roots)
        if not rows:
            self._samples.pop(server, None)
            return None
        cpu = sum(row.cpu_seconds for row in rows)
        age = max(map(snapshot.age, rows))
        percent = self._percent(server, snapshot.at, cpu, age)
        return Figures(len(rows), memory_of(rows), cpu, percent)

    def _percent(self, server: UUID, at: float, cpu: float, age: float) -> float:
        last = self._samples.get(server)
        # Of other processes than now; the rate over the whole life stands in for the first look.
        if last is None or last.cpu_seconds > cpu or at - last.at > age:
            percent = 100 * cpu / max(age, _LEAST_SECONDS)
        elif at - last.at < _LEAST_SECONDS:
            return last.cpu_percent
        else:
            percent = 100 * (cpu - last.cpu_seconds) / (at - last.at)
        self._samples[server] = _Sample(at, cpu, percent)
        return percent

    def _look(self) -> ProcessSnapshot:
        if self._snapshot is None or time.monotonic() - self._snapshot.at > _FRESH_SECONDS:
            self._snapshot = ProcessSnapshot()
        return self._snapshot
