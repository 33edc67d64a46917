"""What somebody wants to receive from servers, over fakes of the ports."""

from uuid import UUID

import pytest

from mcpyard.domain.ports import NotificationInterest
from mcpyard.testing import FakeServers, ManualClock, VolatileMemory, VolatilePolicies
from mcpyard.yard.notifications import Notifications
from mcpyard.yard.yard import Ports, YardCore

ID = UUID(int=1)
LOUD, QUIET = NotificationInterest("debug"), NotificationInterest("error")
A, B = NotificationInterest(uris=frozenset({"a:1"})), NotificationInterest(uris=frozenset({"b:1"}))


@pytest.fixture
def servers() -> FakeServers:
    return FakeServers()


@pytest.fixture
def notifications(servers: FakeServers) -> Notifications:
    ports = Ports(
        sources=(),
        memory=VolatileMemory(),
        policies=VolatilePolicies(),
        servers=servers,
        clock=ManualClock(),
        lookup={}.get,
    )
    return YardCore(ports).notifications


def test_a_server_is_told_what_all_want_together(
    notifications: Notifications, servers: FakeServers
) -> None:
    interests: list[NotificationInterest] = []
    for key, interest in (("x", QUIET), ("y", LOUD), ("z", QUIET), ("y", A), ("x", B)):
        notifications.set_interest(key, ID, interest)
        interests.append(servers.tuned[ID])
    assert interests == [
        QUIET,
        LOUD,
        LOUD,
        NotificationInterest("error", A.uris),
        NotificationInterest("error", A.uris | B.uris),
    ]


def test_who_goes_takes_its_interests_along(
    notifications: Notifications, servers: FakeServers
) -> None:
    for key, interest in (("x", QUIET), ("y", LOUD), ("z", A)):
        notifications.set_interest(key, ID, interest)
    interests: list[NotificationInterest] = []
    for key in ("y", "z", "x"):
        notifications.drop_interests(key)
        interests.append(servers.tuned[ID])
    assert interests == [NotificationInterest("error", A.uris), QUIET, NotificationInterest()]


def test_an_interest_that_is_dropped_counts_no_more(
    notifications: Notifications, servers: FakeServers
) -> None:
    notifications.set_interest("x", ID, LOUD)
    notifications.set_interest("y", ID, QUIET)
    notifications.set_interest("x", ID, NotificationInterest())
    assert servers.tuned[ID] == QUIET


def test_a_server_that_was_added_anew_is_told_again(
    notifications: Notifications, servers: FakeServers
) -> None:
    notifications.set_interest("x", ID, LOUD)
    notifications.set_interest("x", UUID(int=2), QUIET)
    notifications.set_interest("x", UUID(int=2), NotificationInterest())
    servers.tuned.clear()
    notifications.resend()
    assert servers.tuned == {ID: LOUD}
    servers.tuned.clear()
    notifications.set_interest("x", ID, LOUD)
    assert servers.tuned == {ID: LOUD}, "nobody knows here what the server was told before"
