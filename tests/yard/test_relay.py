"""What somebody wants to hear of servers, over fakes of the ports."""

from uuid import UUID

import pytest

from mcpyard.domain.ports import Tuning
from mcpyard.testing import FakeServers, ManualClock, VolatileMemory, VolatilePolicies
from mcpyard.yard.relay import Relay
from mcpyard.yard.yard import Ports, YardCore

ID = UUID(int=1)
LOUD, QUIET = Tuning("debug"), Tuning("error")
A, B = Tuning(uris=frozenset({"a:1"})), Tuning(uris=frozenset({"b:1"}))


@pytest.fixture
def servers() -> FakeServers:
    return FakeServers()


@pytest.fixture
def relay(servers: FakeServers) -> Relay:
    ports = Ports(
        sources=(),
        memory=VolatileMemory(),
        policies=VolatilePolicies(),
        servers=servers,
        clock=ManualClock(),
        lookup={}.get,
    )
    return YardCore(ports).relay


def test_a_server_is_told_what_all_want_together(relay: Relay, servers: FakeServers) -> None:
    told: list[Tuning] = []
    for key, wanted in (("x", QUIET), ("y", LOUD), ("z", QUIET), ("y", A), ("x", B)):
        relay.wish(key, ID, wanted)
        told.append(servers.tuned[ID])
    assert told == [QUIET, LOUD, LOUD, Tuning("error", A.uris), Tuning("error", A.uris | B.uris)]


def test_who_goes_takes_its_wishes_along(relay: Relay, servers: FakeServers) -> None:
    for key, wanted in (("x", QUIET), ("y", LOUD), ("z", A)):
        relay.wish(key, ID, wanted)
    told: list[Tuning] = []
    for key in ("y", "z", "x"):
        relay.forget(key)
        told.append(servers.tuned[ID])
    assert told == [Tuning("error", A.uris), QUIET, Tuning()]


def test_a_wish_that_is_taken_back_is_wanted_no_more(relay: Relay, servers: FakeServers) -> None:
    relay.wish("x", ID, LOUD)
    relay.wish("y", ID, QUIET)
    relay.wish("x", ID, Tuning())
    assert servers.tuned[ID] == QUIET


def test_a_server_that_was_added_anew_is_told_again(relay: Relay, servers: FakeServers) -> None:
    relay.wish("x", ID, LOUD)
    relay.wish("x", UUID(int=2), QUIET)
    relay.wish("x", UUID(int=2), Tuning())
    servers.tuned.clear()
    relay.retune()
    assert servers.tuned == {ID: LOUD}
    servers.tuned.clear()
    relay.wish("x", ID, LOUD)
    assert servers.tuned == {ID: LOUD}, "nobody knows here what the server was told before"
