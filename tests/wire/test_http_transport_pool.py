"""Connections of the HTTP transport: which are used again, which are closed, what is repeated."""

import asyncio
import socket
import ssl
import threading
from pathlib import Path

import httpx2
import pytest

from mcpyard.wire.remote import http11_pool
from mcpyard.wire.remote.direct_transport import DirectTransport
from mcpyard.wire.remote.http11_pool import KEPT_CONNECTIONS
from mcpyard.wire.remote.tcp_connect import Address, connect_any, interleave
from tests.free_ports import free_port
from tests.wire.certificates import self_signed
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
from tests.wire.servers import Talk, raw_server

pytestmark = pytest.mark.real


async def test_a_connection_that_the_server_closed_while_idle_is_not_used() -> None:
    async with client_of(says(HI, then_cut=True)) as (client, server):
        for _ in range(3):
            assert (await client.post("", content=b"x")).content == b"hi"
            await asyncio.wait([each.lost for each in open_connections(client)])
        assert server.connections == 3


async def test_a_connection_that_was_closed_unnoticed_is_not_used_either() -> None:
    closed, listener = threading.Event(), socket.create_server(("127.0.0.1", 0))
    heard: list[bytes] = []

    def serve() -> None:
        for _ in range(2):
            connection, _address = listener.accept()
            with connection:
                heard.append(connection.recv(4096))
                connection.sendall(HI)
                last.wait()
            closed.set()

    last = threading.Event()
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    transport = DirectTransport(no_tls)
    async with httpx2.AsyncClient(transport=transport) as client:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        await client.post(url, content=b"1")
        last.set()
        # The event loop has no turn in which it could see the end of the connection.
        closed.wait(10)
        assert (await client.post(url, content=b"2")).content == b"hi"
    thread.join(10)
    listener.close()
    assert [each[-1:] for each in heard] == [b"1", b"2"]


@pytest.mark.parametrize(
    ("method", "start", "requests"),
    [("POST", b"", 2), ("DELETE", b"", 2), ("GET", b"", 3), ("GET", b"HTTP/1.1 2", 2)],
)
async def test_only_a_get_without_a_byte_of_an_answer_is_sent_again(
    method: str, start: bytes, requests: int
) -> None:
    async def script(talk: Talk) -> None:
        if len(server.heard) == 2:
            await talk.raw(start)
            await talk.finish()
        else:
            await talk.raw(HI)

    async with client_of(script) as (client, server):
        await client.request(method, "")
        if requests == 3:
            assert (await client.request(method, "")).content == b"hi"
        else:
            with pytest.raises(httpx2.RemoteProtocolError, match="Server disconnected"):
                await client.request(method, "")
        assert (len(server.heard), server.connections) == (requests, requests - 1)


async def test_a_get_is_sent_again_once_and_never_from_a_new_connection() -> None:
    async def script(talk: Talk) -> None:
        await (talk.raw(HI) if len(server.heard) == 1 else talk.finish())

    async with client_of(script) as (client, server):
        await client.get("")
        with pytest.raises(httpx2.RemoteProtocolError):
            await client.get("")
        assert len(server.heard) == 3
        with pytest.raises(httpx2.RemoteProtocolError):
            await client.get("")
        assert len(server.heard) == 4


async def test_no_more_connections_are_kept_than_the_limit() -> None:
    everyone = asyncio.Event()
    count = KEPT_CONNECTIONS + 5

    async def script(talk: Talk) -> None:
        if len(server.heard) == count:
            everyone.set()
        await everyone.wait()
        await talk.raw(HI)

    async with client_of(script) as (client, server):
        await asyncio.gather(*(client.get("") for _ in range(count)))
        assert server.connections == count
        assert len(pools(client)[0]._idle) == KEPT_CONNECTIONS


async def test_an_idle_connection_is_closed_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http11_pool, "KEEP_ALIVE_SECONDS", 0.01)
    async with client_of(says(HI)) as (client, server):
        for connections in (1, 2):
            await client.get("")
            await asyncio.gather(*(each.lost for each in open_connections(client)))
            assert server.connections == connections
            assert pools(client)[0]._idle == []


async def test_a_connection_idle_for_too_long_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http11_pool, "KEEP_ALIVE_SECONDS", 0.0)
    async with client_of(says(HI)) as (client, server):
        await client.get("")
        await client.get("")
        assert server.connections == 2


async def test_closing_the_client_closes_idle_connections_and_those_in_use() -> None:
    gone: list[str] = []

    async def script(talk: Talk) -> None:
        await (talk.events() if talk.heard.method == "GET" else talk.raw(HI))
        await talk.gone()
        gone.append(talk.heard.method)
        server.signal.note()

    async with raw_server(script) as server:
        transport = DirectTransport(no_tls)
        client = httpx2.AsyncClient(base_url=server.url, transport=transport)
        async with client.stream("GET", "") as response:
            await client.post("", content=b"x")
            await client.aclose()
            with pytest.raises(httpx2.ReadError):
                await response.aread()
        await server.signal.until(lambda: len(gone) == 2)
        assert transport.pool(httpx2.URL(server.url))._open == set()


@pytest.mark.parametrize("start", [b"", b"HTTP/1.1 200", OK + b"Content-Length: 9\r\n\r\nhi"])
async def test_a_request_that_is_cancelled_closes_its_connection(start: bytes) -> None:
    gone = asyncio.Event()

    async def script(talk: Talk) -> None:
        if len(server.heard) == 1:
            await talk.raw(start)
            await talk.gone()
            gone.set()
        else:
            await talk.raw(HI)

    async with client_of(script) as (client, server):
        task = asyncio.create_task(client.post("", content=b"x"))
        await server.hears("POST")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await gone.wait()
        assert (await client.post("", content=b"x")).content == b"hi"


async def test_an_answer_closed_before_its_end_closes_its_connection() -> None:
    gone = asyncio.Event()

    async def script(talk: Talk) -> None:
        await talk.events()
        await talk.chunk(b"x")
        await talk.gone()
        gone.set()

    async with client_of(script) as (client, _):
        async with client.stream("GET", "") as response:
            async for _ in response.aiter_bytes():
                break
        await gone.wait()


async def test_a_complete_answer_need_not_be_read_for_its_connection_to_be_used_again() -> None:
    async with client_of(says(HI)) as (client, server):
        for _ in range(3):
            async with client.stream("POST", "", content=b"x"):
                pass
        assert server.connections == 1


@pytest.mark.parametrize("start", [b"", OK + b"Content-Length: 9\r\n\r\nhi"])
async def test_a_server_that_is_silent_for_too_long_is_given_up(start: bytes) -> None:
    gone = asyncio.Event()

    async def script(talk: Talk) -> None:
        await talk.raw(start)
        await talk.gone()
        gone.set()

    async with client_of(script, httpx2.Timeout(None, read=0.02)) as (client, _):
        with pytest.raises(httpx2.ReadTimeout):
            await client.get("")
        await gone.wait()


async def say_nothing(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def test_a_handshake_that_takes_too_long_is_a_connect_time_out() -> None:
    timeout = httpx2.Timeout(None, connect=0.02)
    transport = DirectTransport(ssl.create_default_context)
    async with (
        serving(say_nothing) as port,
        httpx2.AsyncClient(transport=transport, timeout=timeout) as client,
    ):
        with pytest.raises(httpx2.ConnectTimeout):
            await client.get(f"https://127.0.0.1:{port}/")


async def test_tls_works_and_its_connections_are_used_again(tmp_path: Path) -> None:
    server_side = self_signed(tmp_path)
    connections = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        while await reader.readuntil(b"\r\n\r\n"):
            writer.write(OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n")

    def trusting() -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(tmp_path / "server.pem"))

    async with (
        serving(serve, server_side) as port,
        httpx2.AsyncClient(transport=DirectTransport(trusting)) as client,
    ):
        for _ in range(3):
            response = await client.get(f"https://127.0.0.1:{port}/")
            assert response.content == b"hi"
    assert connections == 1


async def test_the_addresses_of_a_host_are_tried_by_turns_of_their_families() -> None:
    six, four = socket.AF_INET6, socket.AF_INET
    addresses = [Address(six, (1,)), Address(six, (2,)), Address(four, (3,)), Address(six, (4,))]
    assert [each.place[0] for each in interleave(addresses)] == [1, 3, 2, 4]


async def test_an_address_that_refuses_gives_way_to_the_next() -> None:
    async with serving(say_nothing) as port:
        places = [("127.0.0.1", free_port()), ("127.0.0.1", port)]
        connected = await connect_any([Address(socket.AF_INET, each) for each in places])
        assert connected.getpeername() == places[1]
        connected.close()


async def test_when_every_address_refuses_each_refusal_is_in_the_error() -> None:
    places = [("127.0.0.1", free_port()), ("127.0.0.1", free_port())]
    with pytest.raises(OSError, match="Connect call failed") as failure:
        await connect_any([Address(socket.AF_INET, each) for each in places])
    group = failure.value.__cause__
    assert isinstance(group, ExceptionGroup)
    assert [type(each) for each in group.exceptions] == [ConnectionRefusedError] * 2
