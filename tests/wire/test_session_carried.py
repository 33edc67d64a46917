"""What a session carries besides calls: clocks that stand still, notices, subscriptions, lists."""

import asyncio

import pytest

from mcpyard.domain.errors import ProtocolBroken, TimedOut
from mcpyard.domain.ports import CallTerms
from mcpyard.wire.eras import ANSWERABLE, ClientFace
from mcpyard.wire.session import Handlers, Opening, ServerSession, open_session
from tests.wire.fakes import FakeLink, RpcFailure, turns

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}}
DISCOVERED = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": True}}}
FACE = ClientFace("yard", "1", declared=ANSWERABLE)
BEGUN = 2
LOGGED = {"method": "notifications/message", "params": {"level": "info", "data": "x"}}


async def legacy(link: FakeLink, handlers: Handlers | None = None) -> ServerSession:
    link.script["initialize"] = lambda _: HELLO
    return await open_session(link, FACE, Opening(2, "handshake"), handlers)


async def modern(link: FakeLink, handlers: Handlers | None = None) -> ServerSession:
    link.script["server/discover"] = lambda _: DISCOVERED
    return await open_session(link, FACE, Opening(2), handlers)


async def test_what_clients_may_answer_is_declared_once_and_never_to_a_modern_server() -> None:
    old, new = FakeLink(), FakeLink()
    await legacy(old)
    await (await modern(new)).close()
    assert old.bodies[0]["params"]["capabilities"] == ANSWERABLE
    meta = new.bodies[0]["params"]["_meta"]
    assert meta["io.modelcontextprotocol/clientCapabilities"] == {}


async def test_the_clock_of_a_call_stands_still_while_its_client_is_asked() -> None:
    link, thinking = FakeLink(), asyncio.Event()
    loop = asyncio.get_running_loop()

    async def answer(_method: str, _params: bytes) -> bytes:
        await thinking.wait()
        return b"{}"

    session = await legacy(link)
    started = loop.time()
    terms = CallTerms(timeout=0.2, on_request=answer)
    task = asyncio.create_task(session.call_tool("t", {}, terms))
    await link.until_sent(BEGUN + 1)
    link.say({"id": "q", "method": "elicitation/create", "params": {}})
    loop.call_later(0.3, thinking.set)
    with pytest.raises(TimedOut):
        await task
    assert loop.time() - started > 0.45


async def test_a_log_message_goes_to_the_only_call_in_flight_and_else_to_everybody() -> None:
    link = FakeLink()
    everybody: list[str] = []
    mine: list[bytes] = []
    handlers = Handlers(on_notification=lambda method, _params: everybody.append(method))
    session = await legacy(link, handlers)
    terms = CallTerms(timeout=2, on_notification=lambda _method, params: mine.append(params))
    link.say(LOGGED)
    await turns()
    first = asyncio.create_task(session.call_tool("t", {}, terms))
    sent = await link.until_sent(BEGUN + 1)
    link.say(LOGGED)
    link.say({"method": "notifications/resources/updated", "params": {"uri": "a:b"}})
    await turns()
    second = asyncio.create_task(session.call_tool("t", {}, CallTerms(timeout=2)))
    other = await link.until_sent(BEGUN + 2)
    link.say(LOGGED)
    link.say(LOGGED, sent.id)
    await turns()
    assert len(mine) == 2
    assert everybody == [
        "notifications/message",
        "notifications/resources/updated",
        "notifications/message",
    ]
    link.answer(sent.id, {})
    link.answer(other.id, {})
    await asyncio.gather(first, second)


async def test_an_old_server_is_told_only_of_resources_that_come_and_go() -> None:
    link = FakeLink()
    link.script["resources/subscribe"] = lambda _: RpcFailure(-32601)
    session = await legacy(link)
    session.watch(frozenset({"a:1", "a:2"}))
    session.watch(frozenset({"a:2", "a:3"}))
    await turns()
    requests = [(each["method"], each["params"]["uri"]) for each in link.bodies[BEGUN:]]
    assert sorted(requests[:2]) == [("resources/subscribe", "a:1"), ("resources/subscribe", "a:2")]
    assert requests[2:] == [("resources/subscribe", "a:3"), ("resources/unsubscribe", "a:1")]


async def test_a_modern_server_is_listened_to_anew_for_other_resources() -> None:
    link = FakeLink()
    changes: list[str] = []
    session = await modern(link, Handlers(changes.append))
    first = await link.until_sent(2)
    session.watch(frozenset({"a:1"}))
    await link.until_sent(3)
    interests = {"toolsListChanged": True, "resourceSubscriptions": ["a:1"]}
    assert link.bodies[2]["params"]["notifications"] == interests
    assert link.abandoned == [first.id]
    assert changes == []
    await session.close()


async def test_all_pages_of_any_list_are_followed() -> None:
    link = FakeLink()
    pages = {
        None: {"prompts": [{"name": "a"}], "nextCursor": "2"},
        "2": {"prompts": [{"name": "b"}]},
    }
    link.script["prompts/list"] = lambda params: pages[params.get("cursor")]
    link.script["resources/list"] = lambda _: {"tools": []}
    session = await legacy(link)
    listed = await session.list_items("prompts/list", "prompts")
    assert [each["name"] for each in listed.tools] == ["a", "b"]
    with pytest.raises(ProtocolBroken, match="resources"):
        await session.list_items("resources/list", "resources")


async def test_listening_ends_even_when_what_is_watched_changes_in_the_same_moment() -> None:
    link = FakeLink()
    session = await modern(link)
    await link.until_sent(2)

    async def change_and_close() -> None:
        session.watch(frozenset({"a://1"}))
        await session.close()

    async with asyncio.timeout(2):
        await change_and_close()
