"""The link of the old HTTP+SSE transport."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from mcpyard.domain.cause import Code
from mcpyard.wire.link import LinkFailed
from mcpyard.wire.remote.eventstream import DEFAULT_LIMIT
from mcpyard.wire.remote.sse import HEARTBEAT_SECONDS, SseLink
from tests.free_ports import free_port
from tests.wire.servers import (
    RawServer,
    Recorder,
    Script,
    Talk,
    call,
    notice,
    raw_server,
    rpc_answer,
)

pytestmark = pytest.mark.real


class Old:
    """A server of the old kind: posts are put on the stream by a script."""

    def __init__(self, post: Callable[["Old", Talk], Awaitable[None]] | None = None) -> None:
        self.endpoint = b"/messages?session=1"
        self.stream: Talk | None = None
        self.post = post

    async def __call__(self, talk: Talk) -> None:
        if talk.heard.method == "GET":
            await talk.events()
            await talk.event(self.endpoint, event="endpoint")
            self.stream = talk
            await talk.gone()
        elif self.post:
            await self.post(self, talk)
        else:
            await talk.body(202)
            if talk.heard.id is not None:
                await self.say(rpc_answer(talk.heard.id))

    async def say(self, data: bytes) -> None:
        assert self.stream is not None
        await self.stream.event(data)


@asynccontextmanager
async def served(
    script: Script, *, limit: int = DEFAULT_LIMIT, heartbeat: float = HEARTBEAT_SECONDS
) -> AsyncGenerator[tuple[SseLink, Recorder, RawServer]]:
    async with raw_server(script) as server:
        link, recorder = (
            SseLink(server.url, {"X-Key": "1"}, limit=limit, heartbeat=heartbeat),
            Recorder(),
        )
        await link.open(recorder)
        try:
            yield link, recorder, server
        finally:
            await link.close()


async def open_fails(script: Script) -> LinkFailed:
    async with raw_server(script) as server:
        link = SseLink(server.url)
        link.endpoint_timeout = 0.2
        with pytest.raises(LinkFailed) as failure:
            await link.open(Recorder())
        await link.close()
        return failure.value


async def test_posts_go_to_the_named_address_and_answers_come_on_the_stream() -> None:
    async with served(Old()) as (link, recorder, server):
        link.send(notice("notifications/initialized"))
        link.send(call(1))
        await recorder.answer(1)
        assert recorder.messages[0][1] is None
        assert [request.path for request in server.heard[1:]] == ["/messages?session=1"] * 2
        assert server.heard[1].headers["x-key"] == "1"
        assert not link.cancels_by_closing


@pytest.mark.parametrize("named", [b"messages", b"/messages", None])
async def test_the_address_may_be_relative_or_whole(named: bytes | None) -> None:
    old = Old()
    async with raw_server(old) as server:
        old.endpoint = named or server.url.replace("/mcp", "/messages").encode()
        link, recorder = SseLink(server.url), Recorder()
        await link.open(recorder)
        link.send(call(1))
        await recorder.answer(1)
        assert server.heard[1].path == "/messages"
        await link.close()


@pytest.mark.parametrize("named", [b"http://127.0.0.1:1/messages", b"//other/x", b"https://[x"])
async def test_an_address_elsewhere_is_refused(named: bytes) -> None:
    old = Old()
    old.endpoint = named
    assert (await open_fails(old)).cause.code is Code.GARBAGE


async def test_a_server_that_names_no_address_cannot_be_opened() -> None:
    async def script(talk: Talk) -> None:
        await talk.events()
        await talk.gone()

    assert (await open_fails(script)).cause.code is Code.UNRESPONSIVE


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (404, "text/plain", Code.HTTP_ERROR),
        (401, "text/plain", Code.NEEDS_AUTH),
        (403, "text/plain", Code.FORBIDDEN),
        (200, "text/html", Code.GARBAGE),
        (307, "text/plain", Code.HTTP_ERROR),
    ],
)
async def test_a_refusal_of_the_stream_is_why_the_link_cannot_be_opened(
    status: int, kind: str, code: Code
) -> None:
    async def script(talk: Talk) -> None:
        location = {"Location": "http://127.0.0.1:1/"} if status == 307 else {}
        await talk.body(status, b"no", kind, location)

    assert (await open_fails(script)).cause.code is code


async def test_a_port_where_nothing_listens_cannot_be_opened() -> None:
    with pytest.raises(LinkFailed) as failure:
        await SseLink(f"http://127.0.0.1:{free_port()}/sse").open(Recorder())
    assert failure.value.cause.code is Code.UNREACHABLE


async def test_an_open_that_is_cancelled_leaves_nothing_behind() -> None:
    async def script(talk: Talk) -> None:
        await talk.events()
        await talk.gone()

    async with raw_server(script) as server:
        link = SseLink(server.url)
        opening = asyncio.create_task(link.open(Recorder()))
        await server.hears("GET")
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
        assert link._reading is not None
        assert link._reading.done()


@pytest.mark.parametrize("cut", [True, False])
async def test_the_end_of_the_stream_loses_the_link(cut: bool) -> None:
    async def end(old: Old, talk: Talk) -> None:
        assert old.stream is not None
        await talk.body(202)
        if cut:
            old.stream.cut()
        else:
            await old.stream.end()

    async with served(Old(end)) as (link, recorder, _):
        link.send(call(1))
        assert (await recorder.loss()).code is Code.CLOSED


async def test_a_refused_post_fails_that_request_only() -> None:
    async def refuse(old: Old, talk: Talk) -> None:
        await talk.body(500 if talk.heard.id == 1 else 200, b"why")
        if talk.heard.id != 1:
            await old.say(rpc_answer(talk.heard.id))

    async with served(Old(refuse)) as (link, recorder, _):
        link.send(call(1))
        assert (await recorder.failure(1)).message == "HTTP 500: why"
        link.send(call(2))
        await recorder.answer(2)


@pytest.mark.parametrize("first", [True, False])
async def test_an_answer_over_the_limit_fails_the_request_it_names(first: bool) -> None:
    async def huge(old: Old, talk: Talk) -> None:
        await talk.body(202)
        filler = {"result": {"id": 77, "text": "x" * 20_000}}
        number = {"id": talk.heard.id}
        message = {**number, **filler} if first else {**filler, **number}
        await old.say(json.dumps(message).encode())
        await old.say(rpc_answer(2))

    async with served(Old(huge), limit=10_000) as (link, recorder, _):
        link.send(call(1))
        assert "larger than" in (await recorder.failure(1)).message
        await recorder.answer(2)


async def test_an_oversized_message_that_answers_nothing_is_noise() -> None:
    async def huge(old: Old, talk: Talk) -> None:
        await talk.body(202)
        await old.say(
            b'{"jsonrpc":"2.0","method":"m","params":{"id":1,"x":"%b"}}' % (b"x" * 20_000)
        )

    async with served(Old(huge), limit=10_000) as (link, recorder, _):
        link.send(call(1))
        await recorder.until(lambda: recorder.noises)
        assert recorder.failures == {}


@pytest.mark.parametrize("beat", [b": ping\n\n", b"event: ping\ndata: 1\n\n"])
async def test_heartbeats_that_stop_lose_the_link(beat: bytes) -> None:
    async def breathe(old: Old, talk: Talk) -> None:
        assert old.stream is not None
        await talk.body(202)
        await old.stream.chunk(beat)

    async with served(Old(breathe), heartbeat=0.05) as (link, recorder, _):
        link.send(notice("hello"))
        cause = await recorder.loss()
        assert cause.code is Code.UNRESPONSIVE
        assert recorder.messages == []


async def test_a_server_without_heartbeats_may_be_silent() -> None:
    async def wait(old: Old, talk: Talk) -> None:
        await talk.body(202)
        await asyncio.sleep(0.2)
        await old.say(rpc_answer(talk.heard.id))

    async with served(Old(wait), heartbeat=0.05) as (link, recorder, _):
        link.send(call(1))
        await recorder.answer(1)
        assert recorder.losses == []


async def test_closing_ends_the_stream_and_says_nothing() -> None:
    old = Old()
    async with served(old) as (link, recorder, _):
        link.send(call(1))
        await recorder.answer(1)
        await link.close()
        await link.close()
        link.send(call(2))
        assert recorder.order == ["message"]
