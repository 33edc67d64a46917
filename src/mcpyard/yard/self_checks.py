"""Runs the checks of mcpyard itself.

Anybody may ask for the result, so a check runs at most once a second whoever asks, and one that
hangs is not started a second time.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

from mcpyard.domain.degradation import Degradation, SelfCheck
from mcpyard.domain.errors import YardError

_FRESH: Final = 1.0
"""Seconds for which a result is good."""

_WAIT: Final = 0.5
"""Seconds to wait for a result: probes wait a second by default, and calls are served anyway."""

_TIMEOUT: Final = 3.0
"""Seconds after which a check hangs; until then, the last result is the answer."""

_HINT: Final = "Check the disk, and the log of mcpyard."


class SelfChecks:
    """The checks of one yard, and their last results."""

    def __init__(self, checks: Iterable[SelfCheck]) -> None:
        self._probes = [_Probe(each) for each in checks]

    async def degradations(self) -> list[Degradation]:
        """What does not work."""
        results = await asyncio.gather(*(each.result() for each in self._probes))
        return [each for each in results if each]


def reconciler_check(task: Callable[[], asyncio.Task[None] | None]) -> SelfCheck:
    """The check of the task that applies the definitions."""

    async def run() -> Degradation | None:
        running = task()
        if running is None or not running.done():
            return None
        detail = "changes of definitions are no longer applied"
        return Degradation("reconciler", detail, "Check the log, and restart mcpyard.")

    return SelfCheck("reconciler", run)


class _Probe:
    def __init__(self, check: SelfCheck) -> None:
        self._check = check
        self._task: asyncio.Task[Degradation | None] | None = None
        self._began = 0.0
        self._last: Degradation | None = None

    async def result(self) -> Degradation | None:
        loop = asyncio.get_running_loop()
        if self._task is None or (self._task.done() and loop.time() - self._began >= _FRESH):
            self._began = loop.time()
            self._task = asyncio.create_task(self._run(), name=f"check {self._check.component}")
        await asyncio.wait({self._task}, timeout=_WAIT)
        seconds = loop.time() - self._began
        if self._task.done():
            self._last = self._task.result()
        elif seconds >= _TIMEOUT:
            detail = f"no response for {seconds:.0f} s"
            self._last = Degradation(self._check.component, detail, _HINT)
        return self._last

    async def _run(self) -> Degradation | None:
        try:
            return await self._check.run()
        except YardError as error:
            return Degradation.of(self._check.component, error)
