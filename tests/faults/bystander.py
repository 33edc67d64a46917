"""A yard with one odd server and a healthy bystander that is called all the while."""

import asyncio
import itertools
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from mcpyard import Yard
from tests.conftest import FULL
from tests.faults.watching import connected, zoo

SLOWEST = 1.0
"""Seconds a bystander's call may take on a busy machine; a stalled loop takes far longer."""


class Bystander:
    """Calls the bystander on and on."""

    def __init__(self, yard: Yard) -> None:
        self.times: list[float] = []
        self._yard = yard
        self._task = asyncio.create_task(self._call_on_and_on())

    async def answered_once_more(self) -> None:
        before = len(self.times)
        while len(self.times) == before:
            assert not self._task.done(), self._task.exception()
            await asyncio.sleep(0.005)

    async def rest(self) -> None:
        self._task.cancel()
        await asyncio.wait({self._task})

    async def _call_on_and_on(self) -> None:
        for number in itertools.count():
            began = time.monotonic()
            outcome = await self._yard.call_tool("bystander", "echo", {"text": f"call {number}"})
            assert outcome.text == f"call {number}"
            self.times.append(time.monotonic() - began)
            # A bystander, not a load test: it leaves the machine to the odd one.
            await asyncio.sleep(0.005)


@asynccontextmanager
async def yard_with(mode: str, **policy: object) -> AsyncGenerator[Yard]:
    """The yard; the bystander's calls must all have been answered rightly and soon."""
    async with Yard.open(servers={"bystander": zoo("good")}) as yard:
        await connected(yard, "bystander")
        pid = yard.record("bystander").pid
        bystander = Bystander(yard)
        try:
            await bystander.answered_once_more()
            yard.code.add("odd", zoo(mode, **policy))
            yield yard
            await bystander.answered_once_more()
        finally:
            await bystander.rest()
        assert yard.record("bystander").pid == pid
    assert max(bystander.times) < SLOWEST or not FULL
