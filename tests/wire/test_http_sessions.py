"""Sessions, the GET stream and resumption: what only the handshake era has."""

import json
from collections.abc import Awaitable, Callable

import pytest

from mcpyard.domain.cause import Code
from mcpyard.wire.remote.http_errors import HttpCause
from tests.wire.http_scripts import answer, handshake, linked, refuse, served, with_session
from tests.wire.servers import (
    Script,
    Talk,
    call,
    raw_server,
    rpc_answer,
)

pytestmark = pytest.mark.real


async def test_a_session_the_server_forgot_fails_its_requests_and_loses_the_link() -> None:
    async def script(talk: Talk) -> None:
        if talk.heard.id == 1:
            await talk.events()
            await talk.gone()
        else:
            await talk.body(404, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32001}}')

    async with served(with_session(script)) as (link, recorder, server):
        await handshake(link, recorder)
        link.send(call(1))
        await server.hears("POST", 3)
        link.send(call(2))
        await recorder.failure(1)
        assert recorder.failures[2] == HttpCause(
            Code.CLOSED, "The server ended the session", untaken=True, status=404
        )
        assert recorder.failures[1].code is Code.CLOSED
        assert (await recorder.loss()).code is Code.CLOSED
        assert link.session_id is None
        assert recorder.order[-2:] == ["failed", "lost"]


async def test_an_unknown_method_in_a_session_is_an_error_and_no_end_of_it() -> None:
    error = b'{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}'
    async with served(with_session(refuse(404, error))) as (link, recorder, _):
        await handshake(link, recorder)
        link.send(call(1))
        assert (await recorder.answer(1))["error"]["code"] == -32601
        assert link.session_id == "abc"


Get = Callable[[Talk, int], Awaitable[None]]


def with_get(get: Get) -> Script:
    """A session whose GETs are answered by a script that knows how many came before."""
    gets: list[Talk] = []

    async def script(talk: Talk) -> None:
        if talk.heard.method == "GET":
            gets.append(talk)
            await get(talk, len(gets))
        else:
            await with_session(answer)(talk)

    return script


def change(number: int) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": "changed", "params": {"n": number}}).encode()


async def test_the_get_stream_is_resumed_where_it_was_cut() -> None:
    async def get(talk: Talk, number: int) -> None:
        await talk.events()
        await talk.event(change(number), id=f"e{number}", retry="1")
        if number < 3:
            talk.cut()
        else:
            await talk.gone()

    async with served(with_get(get)) as (link, recorder, server):
        await handshake(link, recorder)
        link.open_get_stream()
        await recorder.until(lambda: len(recorder.messages) == 4)
        assert [stream for _, stream in recorder.messages[1:]] == [None, None, None]
        third = await server.hears("GET", 3)
        assert third.headers["last-event-id"] == "e2"
        assert third.headers["mcp-session-id"] == "abc"


async def test_a_server_without_a_get_stream_is_asked_once() -> None:
    async def get(talk: Talk, _number: int) -> None:
        await talk.body(405)

    async with served(with_get(get)) as (link, recorder, server):
        await handshake(link, recorder)
        link.open_get_stream()
        listening = link._listening
        assert listening is not None
        await listening
        assert sum(request.method == "GET" for request in server.heard) == 1
        assert recorder.noises == []
        assert recorder.losses == []


async def test_a_get_that_is_not_found_does_not_end_the_session() -> None:
    async def get(talk: Talk, _number: int) -> None:
        await talk.body(404)

    async with served(with_get(get)) as (link, recorder, _):
        await handshake(link, recorder)
        link.open_get_stream()
        await recorder.until(lambda: recorder.noises)
        link.send(call(1))
        await recorder.answer(1)
        assert link.session_id == "abc"


async def test_a_proxy_error_on_the_get_stream_is_tried_again() -> None:
    async def get(talk: Talk, number: int) -> None:
        if number == 1:
            await talk.events()
            await talk.event(change(1), retry="1")
            talk.cut()
        elif number == 2:
            await talk.body(502)
        else:
            await talk.events()
            await talk.event(change(3))
            await talk.gone()

    async with served(with_get(get)) as (link, recorder, _):
        await handshake(link, recorder)
        link.open_get_stream()
        await recorder.until(lambda: len(recorder.messages) == 3)


async def test_an_idle_link_notices_by_its_get_stream_that_the_server_died() -> None:
    async def get(talk: Talk, _number: int) -> None:
        await talk.events()
        await talk.event(change(1), retry="1")
        await talk.gone()

    async with raw_server(with_get(get)) as server, linked(server.url) as (link, recorder):
        await handshake(link, recorder)
        link.open_get_stream()
        await recorder.until(lambda: len(recorder.messages) == 2)
        await server.stop()
        assert (await recorder.loss()).code is Code.UNREACHABLE


def polled(get: Get) -> Script:
    """A session that answers requests with a numbered stream that ends before the answer."""
    gets: list[Talk] = []

    async def script(talk: Talk) -> None:
        if talk.heard.method == "GET":
            gets.append(talk)
            await get(talk, len(gets))
        else:
            await talk.events()
            await talk.chunk(b"id: p1\nretry: 1\ndata:\n\n")
            await talk.end()

    return with_get_or(script)


def with_get_or(script: Script) -> Script:
    async def choose(talk: Talk) -> None:
        await (script(talk) if talk.heard.method == "GET" else with_session(script)(talk))

    return choose


async def test_a_cut_answer_is_resumed_where_the_server_numbers_its_events() -> None:
    async def get(talk: Talk, number: int) -> None:
        await talk.events()
        if number == 1:
            await talk.event(change(1), id="p2")
            talk.cut()
        else:
            await talk.event(rpc_answer(1), id="p3")
            await talk.end()

    async with served(polled(get)) as (link, recorder, server):
        await handshake(link, recorder)
        link.send(call(1))
        await recorder.answer(1)
        assert [stream for _, stream in recorder.messages[1:]] == [1, 1]
        ids = [h.headers["last-event-id"] for h in server.heard if h.method == "GET"]
        assert ids == ["p1", "p2"]
        assert recorder.failures == {}


async def test_a_resumption_that_is_refused_fails_the_request() -> None:
    async def get(talk: Talk, _number: int) -> None:
        await talk.body(405)

    async with served(polled(get)) as (link, recorder, _):
        await handshake(link, recorder)
        link.send(call(1))
        assert (await recorder.failure(1)).message == "HTTP 405"


async def test_the_modern_era_does_not_resume() -> None:
    async def get(talk: Talk, _number: int) -> None:
        await talk.body(500)

    async with served(polled(get)) as (link, recorder, server):
        link.modern = True
        link.send(call(1))
        assert (await recorder.failure(1)).code is Code.CLOSED
        assert all(request.method == "POST" for request in server.heard)
