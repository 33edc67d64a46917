"""The transport for HTTP servers without a proxy, against servers that speak HTTP by hand."""

import asyncio
from collections.abc import AsyncIterator

import httpx2
import pytest

from mcpyard.wire.remote.direct_transport import DirectTransport
from mcpyard.wire.remote.http11 import HEAD_BYTES, HEAD_FIELDS
from tests.wire.direct_clients import (
    HI,
    OK,
    client_of,
    no_tls,
    open_connections,
    pools,
    says,
    serving,
)
from tests.wire.servers import Talk

pytestmark = pytest.mark.real


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (HI, b"hi"),
        (OK + b"Content-Length: 0\r\n\r\n", b""),
        (
            OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n4;x=y\r\n you\r\n0\r\n\r\n",
            b"hi you",
        ),
        (OK + b"Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n", b""),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", b""),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + HI, b"hi"),
        (b"HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Wait\r\n\r\n" + HI, b"hi"),
    ],
)
@pytest.mark.parametrize("whole", [True, False])
async def test_a_body_is_read_whole_and_its_connection_used_again(
    answer: bytes, body: bytes, whole: bool
) -> None:
    parts = [answer] if whole else [bytes([each]) for each in answer]
    async with client_of(says(*parts)) as (client, server):
        for _ in range(3):
            response = await client.post("", content=b"x")
            assert response.content == body
            assert "link" not in response.headers
        assert server.connections == 1


@pytest.mark.parametrize(
    "head",
    [
        OK,
        b"HTTP/1.0 200 OK\r\n",
        OK + b"Connection: close\r\nTransfer-Encoding: chunked\r\n",
        OK + b"Connection: close\r\nContent-Length: 2\r\n",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n",
    ],
)
async def test_a_body_that_ends_the_connection_is_whole_too(head: bytes) -> None:
    chunked = b"Transfer" in head
    body = b"2\r\nhi\r\n0\r\n\r\n" if chunked else b"hi"
    async with client_of(says(head + b"\r\n" + body, then_cut=True)) as (client, server):
        for _ in range(2):
            assert (await client.get("")).content == b"hi"
        assert server.connections == 2


async def test_parts_of_a_stream_are_read_while_the_rest_is_not_yet_sent() -> None:
    read = asyncio.Event()

    async def script(talk: Talk) -> None:
        await talk.events()
        for number in range(3):
            read.clear()
            await talk.chunk(b"part %d" % number)
            await read.wait()
        await talk.end()

    async with client_of(script) as (client, _), client.stream("GET", "") as response:
        parts: list[bytes] = []
        async for part in response.aiter_bytes():
            parts.append(part)
            read.set()
        assert parts == [b"part 0", b"part 1", b"part 2"]


async def test_a_long_body_waits_in_the_socket_until_it_is_read() -> None:
    size = 32 * 1024 * 1024

    async def script(talk: Talk) -> None:
        await talk.body(200, b"x" * size)

    async with client_of(script) as (client, _), client.stream("GET", "") as response:
        connection = open_connections(client)[0]
        for _ in range(100_000):
            if connection._paused:
                break
            await asyncio.sleep(0)
        assert connection._paused
        assert connection._buffered < 1024 * 1024
        assert sum([len(part) async for part in response.aiter_bytes()]) == size


CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH_9.9\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi",
        OK + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        OK + b"Content-Length: -2\r\n\r\nhi",
        OK + b"Transfer-Encoding: gzip\r\n\r\nhi",
        OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
        CHUNKED + b"zz\r\nhi\r\n0\r\n\r\n",
        OK + b"bad header\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nhi",
        OK + b"X: 1\r\n" * (HEAD_FIELDS + 1) + b"\r\n",
        OK + b"X: " + b"x" * HEAD_BYTES + b"\r\n\r\n",
    ],
)
async def test_an_answer_that_is_not_valid_fails_and_closes_its_connection(answer: bytes) -> None:
    gone = asyncio.Event()

    async def script(talk: Talk) -> None:
        await talk.raw(answer)
        await talk.gone()
        gone.set()

    async with client_of(script) as (client, _):
        with pytest.raises(httpx2.RemoteProtocolError):
            await client.post("", content=b"x")
        await gone.wait()


@pytest.mark.parametrize(
    ("start", "more"),
    [
        (OK + b"X: ", b"x" * 1000),
        (OK + b"X", b"x" * 1000),
        (b"HTTP/1.1 200 ", b"x" * 1000),
        (b"", b"HTTP/1.1 102 Wait\r\nX-Padding: %b\r\n\r\n" % (b"x" * 1000)),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        (CHUNKED + b"2\r\nhi\r\n2;x=", b"x" * 1000),
        (CHUNKED + b"2\r\nhi\r\n0\r\nX: ", b"x" * 1000),
        (CHUNKED + b"2\r\nhi\r\n0\r\n", b"X: 1\r\n" * 100),
    ],
)
async def test_an_endless_head_or_trailer_is_given_up(start: bytes, more: bytes) -> None:
    gone = asyncio.Event()

    async def script(talk: Talk) -> None:
        await talk.raw(start)
        try:
            while True:
                await talk.raw(more)
        except ConnectionError:
            gone.set()
            raise

    async with client_of(script) as (client, _):
        with pytest.raises(httpx2.RemoteProtocolError, match="larger than"):
            await client.post("", content=b"x")
        await gone.wait()


async def test_a_stream_of_any_length_is_not_taken_for_a_head() -> None:
    async def script(talk: Talk) -> None:
        await talk.events()
        for _ in range(20):
            await talk.raw(b"1\r\nx\r\n" * 4000)
        await talk.end()

    async with client_of(script) as (client, _):
        assert (await client.get("")).content == b"x" * 80_000


async def test_trailers_do_not_become_headers() -> None:
    trailers = b"Mcp-Session-Id: forged\r\nSet-Cookie: a=b\r\n"
    answer = CHUNKED + b"2\r\nhi\r\n0\r\n" + trailers + b"\r\n"
    async with client_of(says(answer)) as (client, server):
        for _ in range(2):
            response = await client.post("", content=b"x")
            assert response.content == b"hi"
            assert [*response.headers] == ["transfer-encoding"]
        assert not client.cookies
        assert server.connections == 1


@pytest.mark.parametrize("extra", [HI, b"HTTP/1.1 2", b"garbage"])
async def test_more_than_was_asked_for_is_never_taken_for_the_next_answer(extra: bytes) -> None:
    async with client_of(says(HI + extra)) as (client, server):
        for _ in range(2):
            assert (await client.post("", content=b"x")).content == b"hi"
        assert server.connections == 2


async def test_data_on_an_idle_connection_closes_it() -> None:
    idle, gone = asyncio.Event(), asyncio.Event()

    async def script(talk: Talk) -> None:
        await talk.raw(HI)
        await idle.wait()
        await talk.raw(b"HTTP/1.1 408 Request Timeout\r\n\r\n")
        await talk.gone()
        gone.set()

    async with client_of(script) as (client, server):
        await client.post("", content=b"x")
        idle.set()
        await gone.wait()
        assert (await client.post("", content=b"x")).content == b"hi"
        assert server.connections == 2


async def test_requests_at_one_time_have_connections_of_their_own() -> None:
    everyone = asyncio.Event()

    async def script(talk: Talk) -> None:
        if len(server.heard) == 5:
            everyone.set()
        await everyone.wait()
        await talk.raw(HI)

    async with client_of(script) as (client, server):
        answers = await asyncio.gather(*(client.post("", content=b"x") for _ in range(5)))
        assert [each.content for each in answers] == [b"hi"] * 5
        assert server.connections == 5


@pytest.mark.parametrize(
    ("headers", "method"),
    [
        ({"X": "a\nb"}, "POST"),
        ({"X": "a\x00b"}, "POST"),
        ({"X Y": "a"}, "POST"),
        ({"Transfer-Encoding": "chunked"}, "POST"),
        ({"Content-Length": "7"}, "POST"),
        ({}, "HEAD"),
    ],
)
async def test_a_request_that_cannot_be_sent_is_not(headers: dict[str, str], method: str) -> None:
    async with client_of(says(HI)) as (client, server):
        with pytest.raises(httpx2.LocalProtocolError):
            await client.request(method, "", content=b"x", headers=headers)
        assert server.connections == 0


async def test_a_body_that_is_made_while_it_is_sent_is_refused() -> None:
    async def parts() -> AsyncIterator[bytes]:
        yield b"x"

    async with client_of(says(HI)) as (client, _):
        with pytest.raises(httpx2.LocalProtocolError):
            await client.post("", content=parts())


async def test_another_scheme_is_refused() -> None:
    async with client_of(says(HI)) as (client, _):
        with pytest.raises(httpx2.UnsupportedProtocol):
            await client.get("ftp://127.0.0.1/")


async def test_an_answer_that_comes_before_the_request_is_read_is_taken() -> None:
    async def early(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
        await writer.drain()
        await finished.wait()

    finished = asyncio.Event()
    transport = DirectTransport(no_tls)
    async with serving(early) as port, httpx2.AsyncClient(transport=transport) as client:
        body = b"x" * 32 * 1024 * 1024
        response = await client.post(f"http://127.0.0.1:{port}/", content=body)
        assert (response.status_code, response.content) == (413, b"no")
        # Half of the old request may still be on its way: the next one must not follow it.
        assert pools(client)[0]._idle == []
        finished.set()
