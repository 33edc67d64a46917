"""What the streamable HTTP link sends, takes and lets go of."""

import asyncio

import pytest

from mcpyard.domain.cause import Code
from mcpyard.wire.link import Busy
from mcpyard.wire.remote.http_client import MAX_IN_FLIGHT
from mcpyard.wire.remote.streamable_http import HttpLink
from tests.wire.http_scripts import answer, handshake, linked, refuse, served, with_session
from tests.wire.servers import (
    Signal,
    Talk,
    call,
    initialize,
    notice,
    raw_server,
    rpc_answer,
)

pytestmark = pytest.mark.real


async def test_a_json_answer_reaches_the_receiver_byte_for_byte() -> None:
    body = b'{ "jsonrpc":"2.0", "result":{"x-unknown": 1.50}, "id":1 }'

    async def script(talk: Talk) -> None:
        await talk.body(200, body, "application/json; charset=utf-8")

    async with served(script) as (link, recorder, server):
        link.send(call(1, **{"Mcp-Method": "tools/list"}))
        await recorder.answer(1)
        assert recorder.frames == [body]
        assert recorder.messages[0][1] == 1
        assert server.heard[0].headers["accept"] == "application/json, text/event-stream"
        assert server.heard[0].headers["content-type"] == "application/json"
        assert server.heard[0].headers["mcp-method"] == "tools/list"


async def test_every_message_of_an_answer_stream_names_its_request() -> None:
    async def script(talk: Talk) -> None:
        await talk.events()
        await talk.event(b'{"jsonrpc":"2.0","method":"notifications/progress","params":{}}')
        await talk.event(b'{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}')
        await talk.event(rpc_answer(talk.heard.id))
        await talk.end()

    async with served(script) as (link, recorder, _):
        link.send(call(1))
        await recorder.answer(1)
        assert [stream for _, stream in recorder.messages] == [1, 1, 1]
        assert recorder.failures == {}


async def test_a_stream_read_to_its_end_gives_its_connection_to_the_next_call() -> None:
    async def script(talk: Talk) -> None:
        await talk.events()
        await talk.event(rpc_answer(talk.heard.id))
        await talk.end()

    async with served(script) as (link, recorder, server):
        for number in range(1, 6):
            link.send(call(number))
            await recorder.answer(number)
            await asyncio.gather(*link._outbox._tasks)
        assert server.connections == 1


async def test_the_session_id_and_version_go_with_everything_after_initialize() -> None:
    async with served(with_session(answer)) as (link, recorder, server):
        await handshake(link, recorder)
        link.send(call(1))
        await recorder.answer(1)
        link.send(initialize(2))
        await recorder.answer(2)
        first, _, last, again = server.heard
        for request in (first, again):
            assert "mcp-session-id" not in request.headers
            assert "mcp-protocol-version" not in request.headers
        assert last.headers["mcp-session-id"] == "abc"
        assert last.headers["mcp-protocol-version"] == "2025-11-25"


async def test_trailers_of_an_answer_never_become_headers() -> None:
    async def script(talk: Talk) -> None:
        if talk.heard.message.get("method") != "initialize":
            await talk.answer()
            return
        head = {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}
        await talk.head(200, head)
        body = rpc_answer(talk.heard.id).replace(b", ", b",\n")
        await talk.raw(b"%x\r\n%b\r\n0\r\nMcp-Session-Id: late\r\n\r\n" % (len(body), body))

    async with served(script) as (link, recorder, server):
        link.send(initialize(1))
        await recorder.answer(1)
        link.send(call(2))
        await recorder.answer(2)
        assert [each for each in server.heard if "mcp-session-id" in each.headers] == []


async def test_a_request_waits_until_the_server_has_taken_initialized() -> None:
    async def script(talk: Talk) -> None:
        if talk.heard.message["method"] == "notifications/initialized":
            await asyncio.sleep(0.05)
            taken.append("initialized")
            await talk.body(202)
        else:
            taken.append("request")
            await talk.answer()

    taken: list[str] = []
    async with served(script) as (link, recorder, _):
        link.send(notice("notifications/initialized"))
        link.send(call(1))
        await recorder.answer(1)
    assert taken == ["initialized", "request"]


async def test_closing_ends_the_session_at_the_server() -> None:
    async with raw_server(with_session(answer)) as server:
        async with linked(server.url) as (link, recorder):
            await handshake(link, recorder)
        goodbye = await server.hears("DELETE")
        assert goodbye.headers["mcp-session-id"] == "abc"


async def test_closing_twice_is_harmless_and_says_nothing() -> None:
    async with served(answer) as (link, recorder, _):
        await link.close()
        await link.close()
        assert recorder.order == []


async def test_a_link_that_was_never_opened_can_be_closed() -> None:
    await HttpLink("http://127.0.0.1/").close()


async def test_a_server_that_never_answers_does_not_hold_up_the_close() -> None:
    async def script(talk: Talk) -> None:
        await talk.gone()

    async with raw_server(script) as server:
        async with linked(server.url) as (link, recorder):
            link.send(call(1))
            await server.hears("POST")
        assert recorder.order == []


async def test_a_redirect_to_another_origin_is_not_followed() -> None:
    async with raw_server(answer) as other:
        script = refuse(307, Location=other.url + "?state=secret")
        async with served(script, headers={"Authorization": "Bearer s"}) as (link, recorder, _):
            link.send(call(1))
            cause = await recorder.failure(1)
            assert other.heard == []
            assert f"redirects to {other.url}, " in cause.message


@pytest.mark.parametrize(("status", "followed"), [(307, True), (308, True), (302, False)])
async def test_a_redirect_within_the_origin_is_followed_with_its_body(
    status: int, followed: bool
) -> None:
    async def script(talk: Talk) -> None:
        if talk.heard.path == "/mcp":
            await talk.body(status, headers={"Location": "/mcp/"})
        else:
            await talk.answer()

    async with served(script, headers={"X-Key": "1"}) as (link, recorder, server):
        link.send(call(1))
        if followed:
            await recorder.answer(1)
            assert server.heard[1].headers["x-key"] == "1"
            assert server.heard[1].body == server.heard[0].body
        else:
            assert (await recorder.failure(1)).code is Code.HTTP_ERROR


async def test_a_redirect_that_turns_in_a_circle_is_given_up() -> None:
    async with served(refuse(307, Location="/mcp")) as (link, recorder, server):
        link.send(call(1))
        await recorder.failure(1)
        assert len(server.heard) == 6


async def test_a_cookie_is_kept_for_the_life_of_the_link() -> None:
    async def script(talk: Talk) -> None:
        await talk.answer({}, {"Set-Cookie": "node=7; Path=/"})

    async with served(script) as (link, recorder, server):
        for number in (1, 2):
            link.send(call(number))
            await recorder.answer(number)
        assert "cookie" not in server.heard[0].headers
        assert server.heard[1].headers["cookie"] == "node=7"


@pytest.mark.parametrize("modern", [True, False])
async def test_abandoning_a_request_closes_its_stream_and_tells_nobody(modern: bool) -> None:
    gone = Signal()
    closed: list[int | None] = []

    async def script(talk: Talk) -> None:
        await talk.events()
        await talk.gone()
        closed.append(talk.heard.id)
        gone.note()

    async with served(script) as (link, recorder, server):
        link.modern = modern
        assert link.cancels_by_closing is modern
        link.send(call(1))
        await server.hears("POST")
        link.abandon(1)
        await gone.until(lambda: closed)
        assert closed == [1]
        assert recorder.order == []


async def test_abandoning_before_the_headers_came_closes_the_connection_too() -> None:
    gone = Signal()
    closed: list[int | None] = []

    async def script(talk: Talk) -> None:
        await talk.raw(b"HTTP/1.1 200 OK\r\n")
        await talk.gone()
        closed.append(talk.heard.id)
        gone.note()

    async with served(script) as (link, recorder, server):
        link.send(call(1))
        await server.hears("POST")
        link.abandon(1)
        await gone.until(lambda: closed)
        assert recorder.order == []


async def test_abandoning_what_is_unknown_is_harmless() -> None:
    async with served(answer) as (link, recorder, _):
        link.abandon(5)
        link.send(call(1))
        await recorder.answer(1)


async def test_a_hundred_streams_run_at_once() -> None:
    waiting = Signal()
    open_now: list[int | None] = []

    async def script(talk: Talk) -> None:
        await talk.events()
        open_now.append(talk.heard.id)
        waiting.note()
        await everyone.wait()
        await talk.event(rpc_answer(talk.heard.id))
        await talk.end()

    everyone = asyncio.Event()
    async with served(script) as (link, recorder, _):
        for number in range(150):
            link.send(call(number))
        await waiting.until(lambda: len(open_now) == 150)
        everyone.set()
        await recorder.until(lambda: len(recorder.messages) == 150)


async def test_more_than_the_limit_of_messages_under_way_is_busy() -> None:
    async with linked("http://127.0.0.1:1/") as (link, _):
        for number in range(MAX_IN_FLIGHT):
            link.send(call(number))
        with pytest.raises(Busy):
            link.send(call(MAX_IN_FLIGHT))
