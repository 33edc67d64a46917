"""Ends processes that use more than they may, where the kernel does not do it by itself.

The tree of a process is looked at every second. One look over a limit may be a peak; three in a row
end the tree. The limit of memory is left to the kernel where the process has a control group of its
own (see `cgroups`), which needs no looks and lets no peak through.
"""

import asyncio
from collections.abc import Iterable
from typing import NamedTuple

from mcpyard.domain import limits
from mcpyard.runtime.processes.child import ChildProcess, LimitExceeded
from mcpyard.runtime.processes.usage import ProcessSnapshot, memory_of


class _Usage(NamedTuple):
    """What the tree of a process uses."""

    memory: int
    processes: int


class LimitWatch:
    """Compares processes with their limits, as long as any has some."""

    def __init__(self) -> None:
        self._children: dict[int, ChildProcess] = {}
        self._strikes: dict[int, int] = {}
        self._task: asyncio.Task[None] | None = None

    def watch(self, child: ChildProcess) -> None:
        """Look after a process from now on; it may have no limits, or others than before."""
        self._children[child.number] = child
        self._drop_others()
        if self._children and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._run(), name="limits of processes")

    def close(self) -> None:
        """Look no more."""
        self._children.clear()
        if self._task:
            self._task.cancel()

    async def look(self) -> None:
        """Compare every process with its limits once."""
        usages = await asyncio.to_thread(_measure, [*self._children.values()])
        for number, usage in usages.items():
            child = self._children.get(number)
            if child is None:
                continue
            exceeded = _exceeded(child, usage)
            self._strikes[number] = self._strikes.get(number, 0) + 1 if exceeded else 0
            if exceeded and self._strikes[number] >= limits.USAGE_STRIKES:
                child.end_over(exceeded)
        self._drop_others()

    async def _run(self) -> None:
        while self._children:
            await asyncio.sleep(limits.USAGE_EVERY)
            await self.look()

    def _drop_others(self) -> None:
        """Forget the processes that ended or have no limits that need a look."""
        for number, child in [*self._children.items()]:
            memory, processes = _limits(child)
            if child.exited.done() or child.exceeded or (memory is None and processes is None):
                del self._children[number]
                self._strikes.pop(number, None)


def _limits(child: ChildProcess) -> tuple[int | None, int | None]:
    memory = None if child.cgroup else child.limits.memory
    return memory, child.limits.processes


def _measure(children: Iterable[ChildProcess]) -> dict[int, _Usage]:
    snapshot = ProcessSnapshot()
    usages: dict[int, _Usage] = {}
    for child in children:
        rows = snapshot.tree(child.roots)
        usages[child.number] = _Usage(memory_of(rows, child.limits.memory), len(rows))
    return usages


def _exceeded(child: ChildProcess, usage: _Usage) -> LimitExceeded | None:
    memory, processes = _limits(child)
    if memory is not None and usage.memory > memory:
        return LimitExceeded("memory", memory)
    if processes is not None and usage.processes > processes:
        return LimitExceeded("processes", processes)
    return None
