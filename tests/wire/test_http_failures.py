"""Servers that refuse, break off, talk nonsense or are not there."""

import asyncio
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mcpyard.domain.cause import Code
from mcpyard.wire.link import LinkFailed
from mcpyard.wire.remote.http_errors import looks_like_sse_only
from mcpyard.wire.remote.streamable_http import HttpLink
from tests.free_ports import free_port
from tests.wire.certificates import self_signed
from tests.wire.http_scripts import answer, linked, refuse, served
from tests.wire.servers import Recorder, Script, Talk, call, notice, rpc_answer

pytestmark = pytest.mark.real


@pytest.mark.parametrize("number", ["1", "null", '"server-error"'])
async def test_a_json_rpc_error_in_a_refusal_answers_the_request(number: str) -> None:
    body = '{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"old","data":{"a":[]}}}'
    async with served(refuse(400, (body % number).encode())) as (link, recorder, _):
        link.send(call(1))
        response = await recorder.answer(1)
        assert response["error"] == {"code": -32022, "message": "old", "data": {"a": []}}
        assert recorder.failures == {}


async def test_a_server_error_fails_that_request_only_and_shows_the_body() -> None:
    async def script(talk: Talk) -> None:
        if talk.heard.id == 1:
            await talk.body(500, b"<h1>Boom</h1>\n" + b"x" * 1000, "text/html")
        else:
            await talk.answer()

    async with served(script) as (link, recorder, _):
        link.send(call(1))
        cause = await recorder.failure(1)
        assert (cause.code, len(cause.message)) == (Code.HTTP_ERROR, len("HTTP 500: ") + 200)
        assert cause.message.startswith("HTTP 500: <h1>Boom</h1> xxx")
        link.send(call(2))
        await recorder.answer(2)


async def test_a_refused_notification_is_noise() -> None:
    async with served(refuse(500, b"no")) as (link, recorder, _):
        link.send(notice("notifications/cancelled"))
        await recorder.until(lambda: recorder.noises)
        assert recorder.noises == [("HTTP 500: no", b"no")]


async def test_a_401_loses_the_link_and_keeps_where_to_sign_in() -> None:
    header = 'Bearer error="invalid_token", resource_metadata="https://a.example/m", scope="r w"'
    async with served(refuse(401, WWW_Authenticate=header)) as (link, recorder, _):
        link.send(call(1))
        assert (await recorder.loss()).code is Code.NEEDS_AUTH
        assert recorder.failures[1].code is Code.NEEDS_AUTH
        assert link.challenge is not None
        assert link.challenge.resource_metadata == "https://a.example/m"
        assert link.challenge.scope == "r w"
        assert link.challenge.header == header


async def test_a_403_at_the_start_is_for_good() -> None:
    async with served(refuse(403)) as (link, recorder, _):
        link.send(call(1))
        assert (await recorder.loss()).fatal


async def test_a_403_on_a_link_that_has_worked_fails_one_request() -> None:
    async def script(talk: Talk) -> None:
        await (talk.answer() if talk.heard.id == 1 else talk.body(403, b"firewall"))

    async with served(script) as (link, recorder, _):
        link.send(call(1))
        await recorder.answer(1)
        link.send(call(2))
        assert (await recorder.failure(2)).code is Code.FORBIDDEN
        assert recorder.losses == []


async def test_a_port_where_nothing_listens_loses_the_link() -> None:
    async with linked(f"http://127.0.0.1:{free_port()}/mcp?key=secret") as (link, recorder):
        link.send(call(1))
        cause = await recorder.loss()
        assert cause.code is Code.UNREACHABLE
        assert cause.message.startswith("Connection refused: http://127.0.0.1:")
        assert "secret" not in cause.message
        assert recorder.order == ["failed", "lost"]


async def test_a_host_without_an_address_loses_the_link() -> None:
    async with linked("http://no-such-host.invalid/mcp") as (link, recorder):
        link.send(call(1))
        assert "no-such-host.invalid" in (await recorder.loss()).message


@asynccontextmanager
async def tls_server(context: ssl.SSLContext | None) -> AsyncGenerator[str]:
    async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0, ssl=context)
    async with server:
        yield f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/"


async def test_tls_with_a_server_that_speaks_none_loses_the_link() -> None:
    async with tls_server(None) as url, linked(url) as (link, recorder):
        link.send(call(1))
        assert (await recorder.loss()).code is Code.UNREACHABLE


async def test_a_certificate_that_nobody_vouches_for_is_named_as_the_cause(tmp_path: Path) -> None:
    async with tls_server(self_signed(tmp_path)) as url, linked(url) as (link, recorder):
        link.send(call(1))
        cause = await recorder.loss()
        assert cause.message.startswith("TLS certificate of 127.0.0.1 is not trusted: ")
        assert "SSL_CERT_FILE" in cause.hint


async def test_a_message_that_cannot_be_sent_fails_by_itself() -> None:
    async with served(answer) as (link, recorder, _):
        link.send(call(1, **{"Mcp-Name": "žluť"}))
        await recorder.failure(1)
        link.send(call(2, **{"Mcp-Name": "a\nb"}))
        assert (await recorder.failure(2)).code is Code.HTTP_ERROR
        link.send(call(3))
        await recorder.answer(3)


async def test_a_dead_link_takes_messages_and_says_nothing_more() -> None:
    async with linked(f"http://127.0.0.1:{free_port()}/") as (link, recorder):
        link.send(call(1))
        await recorder.loss()
        link.send(call(2))
        link.open_get_stream()
        assert recorder.order == ["failed", "lost"]


async def cut_before_the_head(talk: Talk) -> None:
    talk.cut()


async def cut_within_the_head(talk: Talk) -> None:
    await talk.raw(b"HTTP/1.1 200 OK\r\nContent-Type: appl")
    talk.cut()


async def cut_within_the_json(talk: Talk) -> None:
    await talk.head(200, {"Content-Type": "application/json", "Content-Length": "500"})
    await talk.raw(b'{"jsonrpc":')
    talk.cut()


async def cut_within_the_stream(talk: Talk) -> None:
    await talk.events()
    await talk.event(b'{"jsonrpc":"2.0","method":"notifications/progress","params":{}}')
    talk.cut()


async def end_unanswered(talk: Talk) -> None:
    await talk.events()
    await talk.end()


async def no_http(talk: Talk) -> None:
    await talk.raw(b"SSH-2.0-OpenSSH_9.9\r\n\r\n")


@pytest.mark.parametrize(
    "script",
    [
        cut_before_the_head,
        cut_within_the_head,
        cut_within_the_json,
        cut_within_the_stream,
        end_unanswered,
        no_http,
    ],
)
async def test_a_broken_exchange_fails_its_request_and_no_other(script: Script) -> None:
    async def choose(talk: Talk) -> None:
        await (script(talk) if talk.heard.id == 1 else answer(talk))

    async with served(choose) as (link, recorder, _):
        link.send(call(1))
        assert (await recorder.failure(1)).code is Code.CLOSED
        link.send(call(2))
        await recorder.answer(2)
        assert recorder.losses == []


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("text/html", b"<html>"),
        ("application/json", b"not json"),
        ("application/json", b'{"jsonrpc":"2.0","id":9,"result":{}}'),
        ("application/json", b'{"jsonrpc":"2.0","id":1,"result":"\xff"}'),
        ("application/json", b"[" * 5000),
        ("application/json", b""),
    ],
)
async def test_an_answer_that_is_none_fails_its_request(kind: str, body: bytes) -> None:
    async def script(talk: Talk) -> None:
        await talk.body(200, body, kind)

    async with served(script) as (link, recorder, _):
        link.send(call(1))
        assert (await recorder.failure(1)).code is Code.GARBAGE


async def test_a_request_that_is_only_accepted_fails() -> None:
    async def script(talk: Talk) -> None:
        await talk.body(202)

    async with served(script) as (link, recorder, _):
        link.send(call(1))
        assert (await recorder.failure(1)).code is Code.GARBAGE


async def test_an_answer_in_a_batch_is_an_answer() -> None:
    async def script(talk: Talk) -> None:
        await talk.body(200, b"[%b]" % rpc_answer(1))

    async with served(script) as (link, recorder, _):
        link.send(call(1))
        await recorder.answer(1)


async def huge_json(talk: Talk) -> None:
    await talk.body(200, rpc_answer(1, "x" * 5000))


async def huge_json_of_unknown_length(talk: Talk) -> None:
    await talk.head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
    await talk.chunk(b'{"a":"')
    for _ in range(10):
        await talk.chunk(b"x" * 500)
    await talk.end()


async def huge_event(talk: Talk) -> None:
    await talk.events()
    await talk.event(rpc_answer(1, "x" * 5000))
    await talk.end()


async def endless_event(talk: Talk) -> None:
    await talk.events()
    await talk.chunk(b"data: ")
    for _ in range(10):
        await talk.chunk(b"x" * 500)
    await talk.gone()


@pytest.mark.parametrize(
    "script", [huge_json, huge_json_of_unknown_length, huge_event, endless_event]
)
async def test_an_answer_over_the_limit_fails_its_request_and_no_other(script: Script) -> None:
    async def choose(talk: Talk) -> None:
        await (script(talk) if talk.heard.id == 1 else answer(talk))

    async with served(choose, limit=2000) as (link, recorder, _):
        link.send(call(1))
        cause = await recorder.failure(1)
        assert cause.message == "The response is larger than 2000 bytes"
        link.send(call(2))
        await recorder.answer(2)


@pytest.mark.parametrize("url", ["", "ftp://host/", "http://", "http://a:b/"])
async def test_an_address_that_is_none_cannot_be_opened(url: str) -> None:
    with pytest.raises(LinkFailed) as failure:
        await HttpLink(url).open(Recorder())
    assert failure.value.cause.code is Code.INVALID_DEFINITION


@pytest.mark.parametrize("headers", [{"X": "a\nb"}, {"X": "žluť"}, {"": "secret"}])
async def test_a_header_that_cannot_be_sent_is_named_without_its_value(
    headers: dict[str, str],
) -> None:
    with pytest.raises(LinkFailed) as failure:
        await HttpLink("http://127.0.0.1/", headers).open(Recorder())
    assert failure.value.cause.fatal
    assert all(value not in failure.value.cause.message for value in headers.values())


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [(404, b"", True), (405, b"", True), (400, b"no", True), (500, b"", False), (401, b"", False)],
)
async def test_a_plain_refusal_of_the_first_post_looks_like_sse_only(
    status: int, body: bytes, expected: bool
) -> None:
    async with served(refuse(status, body)) as (link, recorder, _):
        link.send(call(1))
        assert looks_like_sse_only(await recorder.failure(1)) is expected
