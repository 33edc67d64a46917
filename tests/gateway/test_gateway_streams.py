"""Streams that nobody reads, and what they may cost."""

import asyncio
import json

import psutil
import pytest
from starlette.types import Message as Sent

from mcpyard.domain.callers import Callers, Quotas
from mcpyard.gateway.streams import KEPT_EVENTS, UNREAD_LIMIT, Stream, framed
from tests.gateway.talking import BEARER, BOTH, PREFIX, Talk, odd_server, talking, text_of
from tests.runtime.waiting import eventually

MEGABYTE = 1024 * 1024


async def test_a_stream_that_nobody_reads_ends_at_its_limit() -> None:
    stream = Stream()
    message = b"x" * MEGABYTE
    for _ in range(2 * UNREAD_LIMIT // MEGABYTE):
        stream.put(message)
    assert stream.broken
    assert stream.finished


async def test_what_was_read_is_forgotten_but_for_what_may_be_asked_for_again() -> None:
    plain, resumable = Stream(), Stream("s")
    for stream in (plain, resumable):
        events = await read(stream, [b"%d" % number for number in range(2 * KEPT_EVENTS)])
        assert events == 2 * KEPT_EVENTS
    assert await read(resumable, [], after=0) == KEPT_EVENTS
    assert await read(plain, [], after=0) == 0


@pytest.mark.spec("F2.6")
async def test_what_streams_hold_counts_for_their_caller_until_it_is_forgotten() -> None:
    callers = Callers()
    callers.limit(Quotas(memory=3 * MEGABYTE))
    caller = callers.of("one")
    first, second = Stream("1", caller), Stream("2", caller)
    first.put(b"x" * MEGABYTE)
    second.put(b"x" * MEGABYTE)
    assert caller.kept > 2 * MEGABYTE
    second.put(b"x" * MEGABYTE)
    assert (second.broken, first.broken, caller.refused) == (True, False, {"memory": 1})
    assert MEGABYTE < caller.kept < 2 * MEGABYTE
    first.put(b"x" * 3 * MEGABYTE, last=True)
    assert not first.broken, "an answer always finds room"
    first.release()
    first.release()
    assert caller.kept == 0


@pytest.mark.spec("F2.6")
async def test_idle_sessions_make_room_for_what_a_stream_has_to_tell() -> None:
    callers = Callers()
    callers.limit(Quotas(memory=3 * MEGABYTE))
    caller = callers.of("one")
    idle, stream = Stream("1", caller), Stream("2", caller)
    idle.put(b"x" * 2 * MEGABYTE)

    def evict(quota: str) -> bool:
        idle.release()
        return quota == "memory"

    caller.evict = evict
    stream.put(b"x" * 2 * MEGABYTE)
    assert not stream.broken
    assert 2 * MEGABYTE < caller.kept < 3 * MEGABYTE


async def read(stream: Stream, put: list[bytes], after: int | None = None) -> int:
    """How many events somebody is told."""
    chunks: list[bytes] = []

    async def send(message: Sent) -> None:
        chunks.append(message["body"])

    for message in put:
        stream.put(message)
    writing = asyncio.create_task(stream.write(send, after=after))
    await asyncio.sleep(0)
    writing.cancel()
    await asyncio.wait({writing})
    return b"".join(chunks).count(b"event: message")


def test_a_message_with_line_breaks_stays_one_event() -> None:
    message = b'{\n  "a": 1,\r\n  "b": "\\n"\r}'
    lines = framed(message, b"1").decode().splitlines()
    data = "\n".join(line.removeprefix("data: ") for line in lines if line.startswith("data: "))
    assert json.loads(data) == json.loads(message)
    assert framed(message, b"1").count(b"\n\n") == 1


@pytest.mark.real
async def test_a_client_that_never_reads_its_stream_is_cut_off_and_costs_little(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "mcpyard.api.http_server.connection_limits.BoundedProtocol.stalled_seconds", 1.0
    )
    async with talking({"old": odd_server()}) as talk:
        me = psutil.Process()
        before = me.memory_info().rss
        writer = await flooded(talk, count=400)
        try:
            await talk.until("old", "cancelled 1")
            assert await eventually(lambda: not connected(writer), 10)
            grown = (me.memory_info().rss - before) / MEGABYTE
            assert grown < 60
            answer = await talk.call("/mcp/servers/old", "nonce", arguments={"text": "alive"})
            assert text_of(answer) == "alive"
        finally:
            writer.close()


def connected(writer: asyncio.StreamWriter) -> bool:
    """Whether our side still holds the line of a client."""
    client = writer.get_extra_info("sockname")
    return any(each.raddr == client for each in psutil.Process().net_connections("tcp"))


async def flooded(talk: Talk, count: int) -> asyncio.StreamWriter:
    """Ask for a flood of log messages, and read none of them."""
    params = {"name": "flood", "arguments": {"count": count}}
    body, headers = talk.modern("tools/call", params, None, **{PREFIX + "logLevel": "debug"})
    content = json.dumps(body).encode()
    address = talk.served.url.removeprefix("http://")
    host, _, port = address.partition(":")
    lines = [f"POST /mcp/servers/old HTTP/1.1\r\nHost: {address}\r\nAuthorization: {BEARER}"]
    lines += [f"Content-Type: application/json\r\nAccept: {BOTH}\r\nContent-Length: {len(content)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    _, writer = await asyncio.open_connection(host, int(port), limit=1024)
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content)
    await writer.drain()
    return writer
