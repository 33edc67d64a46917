"""How long a call waits for a client that lost its stream."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from starlette.types import Message

from mcpyard.gateway.exchange import Exchange, Watch
from mcpyard.gateway.streams import Stream
from tests.runtime.waiting import eventually

SOON = 0.05


class Call:
    """A call under way whose client has lost the stream of its answer."""

    def __init__(self) -> None:
        self.stream = Stream("s")
        self.over = asyncio.Event()
        self._lost = asyncio.Event()
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        with Exchange(Watch(), self._receive, discard, None, lambda: self.stream) as exchange:
            exchange.send(b"{}")
            exchange.watch()
            await self.over.wait()

    async def _receive(self) -> Message:
        await self._lost.wait()
        return {"type": "http.disconnect"}

    def lose(self) -> None:
        self._lost.set()

    @property
    def ended(self) -> bool:
        return self._task.done()

    @asynccontextmanager
    async def resumed(self) -> AsyncGenerator[None]:
        writing = asyncio.create_task(self.stream.write(discard, after=0))
        await asyncio.sleep(0)
        yield
        writing.cancel()
        await asyncio.wait({writing})

    async def close(self) -> None:
        self.over.set()
        await self._task


async def discard(_message: Message) -> None:
    """Nobody looks at it."""


@asynccontextmanager
async def calling() -> AsyncGenerator[Call]:
    call = Call()
    try:
        assert await eventually(lambda: call.stream.writing)
        yield call
    finally:
        await call.close()


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcpyard.gateway.exchange.RESUME_WITHIN", SOON)


async def test_a_client_that_does_not_come_back_is_left() -> None:
    async with calling() as call:
        call.lose()
        assert await eventually(lambda: call.ended)


async def test_a_client_that_came_back_is_waited_for_and_left_when_it_is_lost_again() -> None:
    async with calling() as call:
        call.lose()
        async with call.resumed():
            assert not await eventually(lambda: call.ended, 4 * SOON)
        assert await eventually(lambda: call.ended)


async def test_a_client_that_is_back_before_its_old_line_is_known_to_be_lost_is_not_left() -> None:
    async with calling() as call, call.resumed():
        call.lose()
        assert not await eventually(lambda: call.ended, 4 * SOON)
        assert call.stream.writing
