"""The processes that clients have for themselves: nothing is left of one that ended."""

import asyncio

from mcpyard.domain.lifecycle import Phase
from mcpyard.runtime.client_lanes import ClientLanes
from mcpyard.runtime.clock import SystemClock
from mcpyard.runtime.session_runner import RuntimeDeps
from mcpyard.runtime.starts import Starts
from mcpyard.store.memory import VolatileMemory
from tests.runtime.openers import FakeOpener
from tests.runtime.waiting import eventually
from tests.runtime.watched import ID, QUICK, TERMS, server


def lanes_over(opener: FakeOpener) -> ClientLanes:
    return ClientLanes(RuntimeDeps(opener, Starts(4), VolatileMemory(), SystemClock(), QUICK))


async def test_a_connection_is_held_until_it_has_ended_and_no_longer() -> None:
    opener = FakeOpener()
    lanes = lanes_over(opener)
    ended, kept = lanes.of(server(), "a"), lanes.of(server(), "b")
    await asyncio.gather(ended.call("t", b"{}", TERMS), kept.call("t", b"{}", TERMS))
    lanes.end(lane="a")
    assert {*lanes.all()} == {ended, kept}, "it is still there to be hurried"
    assert await eventually(lambda: [*lanes.all()] == [kept])
    assert ended.phase is Phase.STOPPED
    lanes.end()
    assert await eventually(lambda: not [*lanes.all()])


async def test_a_connection_that_never_came_up_is_let_go_of_too() -> None:
    opener = FakeOpener()
    opener.gate.clear()
    lanes = lanes_over(opener)
    lanes.of(server(), "a")
    assert await eventually(lambda: opener.tries == 1)
    lanes.end(server=ID)
    assert await eventually(lambda: not [*lanes.all()])
    assert opener.cancelled == 1
