"""The capabilities and notifications of servers, and the processes that clients have alone."""

import asyncio
from dataclasses import replace
from uuid import UUID

import msgspec
import pytest

from mcpyard.domain.errors import Disconnected
from mcpyard.domain.lifecycle import Phase
from mcpyard.domain.model import LocalConfig, Wanted
from mcpyard.domain.observed import Capabilities, Items
from mcpyard.domain.ports import CallTerms, NotificationInterest
from tests.runtime.openers import EXITED
from tests.runtime.waiting import eventually
from tests.runtime.watched import ID, TERMS, server, watched

PROMPTS = Capabilities(prompts=Items(({"name": "p"},)))
WANTED = NotificationInterest("debug", frozenset({"a:b"}))
ALONE = LocalConfig(command=["x"], isolation="per-client")


async def test_what_a_server_offers_is_there_when_it_is_connected_and_anew_when_it_changes() -> (
    None
):
    async with watched() as it:
        it.opener.capabilities = PROMPTS
        it.want(server())
        assert (await it.phase(Phase.CONNECTED)).offer == PROMPTS
        it.opener.capabilities = Capabilities()
        it.opener.opened[0].events.on_list_changed("prompts")
        await it.until(lambda seen: seen.offer == Capabilities())


async def test_a_list_that_is_late_does_not_keep_a_server_from_being_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mcpyard.domain.limits.LISTING_GRACE", 0.01)
    async with watched() as it:
        it.opener.capabilities = PROMPTS
        it.opener.listing.clear()
        it.want(server())
        assert (await it.phase(Phase.CONNECTED)).offer == Capabilities()
        it.opener.listing.set()
        await it.until(lambda seen: seen.offer == PROMPTS)


async def test_what_is_wanted_of_a_server_is_asked_for_again_after_its_restart() -> None:
    async with watched() as it:
        it.want(server())
        await it.phase(Phase.CONNECTED)
        it.supervisor.tune(ID, WANTED)
        it.opener.opened[0].events.lost(EXITED)
        await it.until(lambda seen: seen.pid == 101)
        assert [live.tuned for live in it.opener.opened] == [[WANTED], [WANTED]]


class Listener:
    """Collects the notifications of servers."""

    def __init__(self) -> None:
        self.received: list[tuple[UUID, str, bytes]] = []

    def on_notification(self, server: UUID, method: str, params: bytes) -> None:
        self.received.append((server, method, params))


async def test_a_notification_outside_any_call_reaches_the_listener() -> None:
    listener = Listener()
    async with watched() as it:
        it.supervisor.set_listener(listener)
        it.want(server())
        await it.phase(Phase.CONNECTED)
        it.opener.opened[0].events.on_notification("notifications/x", b"{}")
    assert listener.received == [(ID, "notifications/x", b"{}")]


async def test_a_server_that_is_being_closed_notifies_until_it_has_ended() -> None:
    listener = Listener()
    async with watched() as it:
        it.supervisor.set_listener(listener)
        it.want(server())
        await it.phase(Phase.CONNECTED)
        it.opener.closing.clear()
        it.want()
        await it.phase(Phase.STOPPING)
        events = it.opener.opened[0].events
        events.on_notification("notifications/draining", b"{}")
        it.opener.closing.set()
        await it.phase(Phase.STOPPED)
        events.on_notification("notifications/late", b"{}")
    assert [method for _, method, _ in listener.received] == ["notifications/draining"]


async def test_nothing_of_a_lost_session_is_delivered() -> None:
    listener = Listener()
    async with watched() as it:
        it.supervisor.set_listener(listener)
        it.want(server())
        await it.phase(Phase.CONNECTED)
        it.opener.killing.clear()
        first = it.opener.opened[0].events
        first.lost(EXITED)
        await it.phase(Phase.BACKOFF)
        first.on_notification("notifications/dying", b"{}")
        it.opener.killing.set()
        await it.phase(Phase.CONNECTED)
        first.on_notification("notifications/dead", b"{}")
        it.opener.opened[1].events.on_notification("notifications/alive", b"{}")
    assert [method for _, method, _ in listener.received] == ["notifications/alive"]


async def test_the_process_of_one_client_notifies_nobody_else() -> None:
    listener = Listener()
    async with watched() as it:
        it.supervisor.set_listener(listener)
        it.want(server(config=ALONE))
        await it.phase(Phase.CONNECTED)
        await it.call(of_client("a"))
        it.opener.opened[1].events.on_notification("notifications/x", b"{}")
    assert listener.received == []


async def test_any_request_waits_for_a_server_that_is_started_by_it() -> None:
    async with watched() as it:
        it.want(server(Wanted.ON_DEMAND))
        assert await it.supervisor.request(ID, "prompts/get", b"{}", TERMS) == b"prompts/get"


async def test_a_server_on_demand_rests_after_a_while_but_not_while_it_is_watched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mcpyard.domain.limits.ON_DEMAND_IDLE", 0.01)
    async with watched() as it:
        it.want(server(Wanted.ON_DEMAND))
        it.supervisor.tune(ID, WANTED)
        await it.call()
        assert not await eventually(lambda: it.seen.state.phase is Phase.STOPPED, 0.1)
        it.supervisor.tune(ID, NotificationInterest())
        await it.call()
        await it.phase(Phase.STOPPED)


async def test_a_call_that_meets_a_server_on_its_way_to_rest_wakes_it_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mcpyard.domain.limits.ON_DEMAND_IDLE", 0.01)
    async with watched() as it:
        it.opener.closing.clear()
        it.want(server(Wanted.ON_DEMAND))
        await it.call()
        await it.phase(Phase.STOPPING)
        late = asyncio.create_task(it.call())
        await asyncio.sleep(0)
        it.opener.closing.set()
        assert await late == b"t"
        assert len(it.opener.opened) == 2


async def test_no_call_wakes_a_server_that_nobody_desires_any_more() -> None:
    async with watched() as it:
        it.opener.closing.clear()
        it.want(server(Wanted.ON_DEMAND))
        await it.call()
        it.want()
        seen = await it.until(lambda seen: seen.tools.stale)
        assert seen.state.phase is Phase.STOPPING
        with pytest.raises(Disconnected, match="is stopping"):
            await it.call()
        it.opener.closing.set()
        await it.phase(Phase.STOPPED)
        assert len(it.opener.opened) == 1


async def test_a_server_that_from_now_on_runs_on_demand_rests_without_a_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mcpyard.domain.limits.ON_DEMAND_IDLE", 0.01)
    async with watched() as it:
        it.want(server())
        await it.phase(Phase.CONNECTED)
        it.want(replace(server(Wanted.ON_DEMAND), policy_digest="other"))
        await it.phase(Phase.STOPPED)


async def test_each_client_has_a_process_of_its_own_until_it_goes() -> None:
    async with watched() as it:
        it.want(server(config=ALONE))
        await it.phase(Phase.CONNECTED)
        for client_key in ("a", "b", "a", None):
            assert await it.call(of_client(client_key)) == b"t"
        assert len(it.opener.opened) == 3
        it.supervisor.release("a")
        assert await eventually(lambda: it.opener.opened[1].ended == "closed")
        assert it.opener.opened[2].ended == ""
        it.want(replace(server(config=ALONE), launch_digest="other"))
        assert await eventually(lambda: it.opener.opened[2].ended == "closed")


def of_client(client_key: str | None) -> CallTerms:
    return msgspec.structs.replace(TERMS, client_key=client_key)
