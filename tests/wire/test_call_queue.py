"""Calls that wait for a server: callers take turns, and no more wait than may."""

import asyncio

import pytest

from mcpyard.domain.errors import NotHere, ServerBusy
from mcpyard.wire.call_attribution import CallsInFlight
from mcpyard.wire.server_requests import refuse
from tests.wire.fakes import turns

pytestmark = pytest.mark.spec("F2.6")


class Line:
    """A server that runs one call at a time, and notes whose turns come."""

    def __init__(self, queue: int) -> None:
        self.in_flight = CallsInFlight(refuse)
        self.in_flight.limit(1, queue)
        self.order: list[str] = []
        assert self.in_flight.take()

    def wait(self, caller: str) -> asyncio.Task[None]:
        return asyncio.create_task(self._wait(caller))

    async def _wait(self, caller: str) -> None:
        await self.in_flight.wait(caller)
        self.order.append(caller)

    async def serve(self, calls: int) -> list[str]:
        """End the call in flight, and each that follows."""
        for _ in range(calls):
            self.in_flight.leave(None)
            await turns()
        return self.order


async def test_a_thousand_waiting_calls_delay_the_first_of_another_caller_by_one() -> None:
    line = Line(1024)
    busy = [line.wait("busy") for _ in range(1_000)]
    await turns()
    other = line.wait("other")
    await turns()
    assert await line.serve(2) == ["busy", "other"]
    await other
    for each in busy:
        each.cancel()
    await asyncio.wait(busy)


async def test_callers_take_turns() -> None:
    line = Line(1024)
    waiting = [line.wait(each) for each in ("a", "a", "a", "b", "b", "c")]
    await turns()
    assert await line.serve(6) == ["a", "b", "c", "a", "b", "a"]
    await asyncio.gather(*waiting)


async def test_a_call_beyond_the_queue_is_refused() -> None:
    line = Line(2)
    waiting = [line.wait("a"), line.wait("a")]
    await turns()
    with pytest.raises(ServerBusy, match="1 calls are in flight and 2 wait, which is the limit"):
        await line.in_flight.wait("a")
    await line.serve(2)
    await asyncio.gather(*waiting)


async def test_a_server_without_a_queue_refuses_what_it_cannot_run_at_once() -> None:
    line = Line(0)
    with pytest.raises(ServerBusy):
        await line.in_flight.wait("a")


async def test_in_a_full_queue_the_caller_with_the_most_calls_makes_room_for_another() -> None:
    line = Line(3)
    busy = [line.wait("busy") for _ in range(3)]
    await turns()
    other = line.wait("other")
    await turns()
    assert [each.done() for each in busy] == [False, False, True]
    with pytest.raises(ServerBusy, match="1 calls are in flight and 3 wait, which is the limit"):
        await busy[2]
    second = line.wait("other")
    await turns()
    with pytest.raises(ServerBusy):
        await second
    assert await line.serve(3) == ["busy", "other", "busy"]
    await asyncio.gather(other, *busy[:2])


async def test_a_caller_that_goes_away_leaves_its_place_in_the_queue() -> None:
    line = Line(2)
    gone, stays = line.wait("a"), line.wait("b")
    await turns()
    gone.cancel()
    await asyncio.wait([gone])
    third = line.wait("c")
    await turns()
    assert await line.serve(2) == ["b", "c"]
    await asyncio.gather(stays, third)


async def test_a_higher_limit_lets_those_in_who_wait() -> None:
    line = Line(8)
    waiting = [line.wait(each) for each in ("a", "b", "c")]
    await turns()
    line.in_flight.limit(3, 8)
    await turns()
    assert line.order == ["a", "b"]
    await line.serve(1)
    await asyncio.gather(*waiting)


async def test_a_turn_that_is_refused_goes_to_the_next_call() -> None:
    line = Line(8)
    refusals = iter((NotHere("moved"), None))

    def check() -> None:
        if refusal := next(refusals):
            raise refusal

    line.in_flight.on_turn = check
    moved, stays = line.wait("moved"), line.wait("stays")
    await turns()
    assert await line.serve(1) == ["stays"]
    with pytest.raises(NotHere):
        await moved
    await stays
