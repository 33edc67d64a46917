"""Who asked: the requests of a handshake-era server and the calls they belong to."""

import asyncio

import pytest

from mcpyard.domain.errors import TimedOut
from mcpyard.domain.ports import CallTerms, RequestHandler
from mcpyard.wire.call_attribution import CallsInFlight
from mcpyard.wire.eras import ClientFace
from mcpyard.wire.jsonrpc import Reply
from mcpyard.wire.server_requests import refuse
from mcpyard.wire.session import Handlers, Opening, ServerSession, open_session
from tests.conftest import FULL
from tests.wire.fakes import FakeLink, turns

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {}}
BEGUN = 2
ASK = {"id": "q", "method": "elicitation/create", "params": {"message": "sure?"}}


async def session_on(link: FakeLink, handlers: Handlers | None = None) -> ServerSession:
    link.script["initialize"] = lambda _: HELLO
    return await open_session(link, ClientFace("yard", "1"), Opening(2, "handshake"), handlers)


def says(word: str) -> RequestHandler:
    async def answer(method: str, params: bytes) -> bytes:
        return b'{"who":"%b","method":"%b","got":%b}' % (word.encode(), method.encode(), params)

    return answer


def call(
    session: ServerSession, handler: RequestHandler | None, timeout: float = 2
) -> asyncio.Task[Reply]:
    return asyncio.create_task(
        session.call_tool("t", {}, CallTerms(timeout=timeout, on_request=handler))
    )


async def test_the_only_call_in_flight_is_asked() -> None:
    link = FakeLink()
    task = call(await session_on(link), says("me"))
    await link.until_sent(BEGUN + 1)
    link.say(ASK)
    await link.until_sent(BEGUN + 2)
    assert link.bodies[-1] == {
        "jsonrpc": "2.0",
        "id": "q",
        "result": {"who": "me", "method": "elicitation/create", "got": {"message": "sure?"}},
    }
    link.answer(link.sent[BEGUN].id, {})
    await task


async def test_the_stream_tells_whose_request_it_is() -> None:
    link = FakeLink()
    session = await session_on(link)
    tasks = [call(session, says("first")), call(session, says("second"))]
    await link.until_sent(BEGUN + 2)
    link.say(ASK, stream=link.sent[BEGUN + 1].id)
    await link.until_sent(BEGUN + 3)
    assert link.bodies[-1]["result"]["who"] == "second"
    assert session.concurrency is None
    for message in link.sent[BEGUN : BEGUN + 2]:
        link.answer(message.id, {})
    await asyncio.gather(*tasks)


async def test_a_doubt_is_refused_and_calls_run_singly_from_then_on() -> None:
    link = FakeLink()
    session = await session_on(link)
    first, second = call(session, says("first")), call(session, says("second"))
    await link.until_sent(BEGUN + 2)
    link.say(ASK)
    await link.until_sent(BEGUN + 3)
    assert link.bodies[-1]["error"]["code"] == -32600
    assert session.concurrency == 1
    third, fourth = call(session, says("third")), call(session, says("fourth"))
    await turns()
    assert len(link.sent) == BEGUN + 3
    link.answer(link.sent[BEGUN].id, {})
    await first
    await turns()
    assert len(link.sent) == BEGUN + 3
    link.answer(link.sent[BEGUN + 1].id, {})
    await second
    await link.until_sent(BEGUN + 4)
    await turns()
    assert len(link.sent) == BEGUN + 4
    link.say(ASK)
    await link.until_sent(BEGUN + 5)
    assert link.bodies[-1]["result"]["who"] == "third"
    link.answer(link.sent[BEGUN + 3].id, {})
    await third
    link.answer((await link.until_sent(BEGUN + 6)).id, {})
    await fourth


async def test_as_many_calls_are_in_flight_as_the_user_allows() -> None:
    link = FakeLink()
    session = await session_on(link)
    session.limit_calls(2, 1024)
    tasks = [call(session, None) for _ in range(4)]
    await link.until_sent(BEGUN + 2)
    await turns()
    assert (len(link.sent), session.concurrency) == (BEGUN + 2, 2)
    link.answer(link.sent[BEGUN + 1].id, {})
    await link.until_sent(BEGUN + 3)
    await turns()
    assert len(link.sent) == BEGUN + 3, "one ended, so one began"
    for message in (link.sent[BEGUN], link.sent[BEGUN + 2]):
        link.answer(message.id, {})
    link.answer((await link.until_sent(BEGUN + 4)).id, {})
    await asyncio.gather(*tasks)


async def narrowed(link: FakeLink) -> tuple[ServerSession, asyncio.Task[Reply]]:
    """A session whose calls run singly, with one of them in flight."""
    session = await session_on(link)
    first, second = call(session, says("first")), call(session, says("second"))
    await link.until_sent(BEGUN + 2)
    link.say(ASK)
    await link.until_sent(BEGUN + 3)
    link.answer(link.sent[BEGUN].id, {})
    await first
    return session, second


async def test_waiting_for_a_turn_counts_against_the_time_out() -> None:
    link = FakeLink()
    session, running = await narrowed(link)
    with pytest.raises(TimedOut, match="the limit of calls in flight is 1"):
        await call(session, None, timeout=0.02)
    link.answer(link.sent[BEGUN + 1].id, {})
    await running
    task = call(session, None)
    link.answer((await link.until_sent(BEGUN + 4)).id, "free")
    assert (await task).value == "free"


async def test_a_call_that_waited_has_only_the_rest_of_its_time() -> None:
    link = FakeLink()
    session, running = await narrowed(link)
    loop = asyncio.get_running_loop()
    loop.call_later(0.2, link.answer, link.sent[BEGUN + 1].id, {})
    started = loop.time()
    with pytest.raises(TimedOut, match="tools/call"):
        await call(session, None, timeout=0.3)
    assert loop.time() - started < (0.45 if FULL else 5)
    await running


async def test_a_caller_that_goes_away_while_waiting_does_not_block_the_others() -> None:
    link = FakeLink()
    session, running = await narrowed(link)
    gone, next_one = call(session, None), call(session, None)
    await turns()
    gone.cancel()
    await asyncio.wait([gone])
    link.answer(link.sent[BEGUN + 1].id, {})
    await running
    link.answer((await link.until_sent(BEGUN + 4)).id, "mine")
    assert (await next_one).value == "mine"


async def test_a_caller_that_goes_away_as_its_turn_comes_passes_it_on() -> None:
    in_flight = CallsInFlight(refuse)
    in_flight.concurrency = 1
    assert in_flight.take()
    assert not in_flight.take()
    gone, next_one = asyncio.create_task(in_flight.wait()), asyncio.create_task(in_flight.wait())
    await turns()
    in_flight.leave(None)
    gone.cancel()
    await next_one
    assert gone.cancelled()


async def test_a_call_without_a_handler_refuses_and_limits_nothing() -> None:
    link = FakeLink()
    session = await session_on(link)
    tasks = [call(session, None), call(session, None)]
    await link.until_sent(BEGUN + 2)
    link.say(ASK)
    await link.until_sent(BEGUN + 3)
    assert link.bodies[-1]["error"]["code"] == -32601
    assert session.concurrency is None
    for message in link.sent[BEGUN : BEGUN + 2]:
        link.answer(message.id, {})
    await asyncio.gather(*tasks)


async def test_what_is_asked_outside_any_call_goes_to_the_sessions_handler() -> None:
    link = FakeLink()

    async def roots(method: str, _params: bytes, _stream: int | None) -> bytes:
        return b'{"roots":[],"asked":"%b"}' % method.encode()

    await session_on(link, Handlers(on_request=roots))
    link.say({"id": 1, "method": "roots/list"})
    await link.until_sent(BEGUN + 1)
    assert link.bodies[-1]["result"] == {"roots": [], "asked": "roots/list"}


async def test_a_question_that_nobody_answers_does_not_keep_the_others_waiting_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mcpyard.wire.call_attribution.QUESTION_LIMIT", 0.01)
    link = FakeLink()
    session = await session_on(link)
    session.limit_calls(1, 1024)
    asking = call(session, unanswered)
    await link.until_sent(BEGUN + 1)
    link.say(ASK)
    await turns()
    assert len(link.sent) == BEGUN + 1, "alone it may take its time"
    waiting = call(session, says("second"))
    await link.until_sent(BEGUN + 2)
    assert link.bodies[-1]["id"] == "q"
    assert "other calls are waiting" in link.bodies[-1]["error"]["message"]
    link.answer(link.sent[BEGUN].id, {})
    await asking
    await link.until_sent(BEGUN + 3)
    link.answer(link.sent[BEGUN + 2].id, {})
    await waiting


async def unanswered(method: str, params: bytes) -> bytes:
    del method, params
    return await asyncio.get_running_loop().create_future()
