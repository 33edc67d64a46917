"""The processes that clients have for themselves: nothing is left of one that ended."""

import asyncio

from mcpyard.domain.lifecycle import Phase
from mcpyard.runtime.client_connections import ClientConnections
from mcpyard.runtime.clock import SystemClock
from mcpyard.runtime.session_runner import RuntimeDeps
from mcpyard.runtime.starts import Starts
from mcpyard.store.memory import VolatileMemory
from tests.runtime.openers import FakeOpener
from tests.runtime.waiting import eventually
from tests.runtime.watched import ID, QUICK, TERMS, server


def connections_over(opener: FakeOpener) -> ClientConnections:
    return ClientConnections(RuntimeDeps(opener, Starts(4), VolatileMemory(), SystemClock(), QUICK))


async def test_a_connection_is_held_until_it_has_ended_and_no_longer() -> None:
    opener = FakeOpener()
    connections = connections_over(opener)
    ended, active = connections.of(server(), "a"), connections.of(server(), "b")
    await asyncio.gather(ended.call("t", b"{}", TERMS), active.call("t", b"{}", TERMS))
    connections.end(client_key="a")
    assert {*connections.all()} == {ended, active}, "it is still there to be hurried"
    assert await eventually(lambda: [*connections.all()] == [active])
    assert ended.phase is Phase.STOPPED
    connections.end()
    assert await eventually(lambda: not [*connections.all()])


async def test_a_connection_that_never_came_up_is_let_go_of_too() -> None:
    opener = FakeOpener()
    opener.gate.clear()
    connections = connections_over(opener)
    connections.of(server(), "a")
    assert await eventually(lambda: opener.tries == 1)
    connections.end(server=ID)
    assert await eventually(lambda: not [*connections.all()])
    assert opener.cancelled == 1
