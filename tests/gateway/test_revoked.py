"""A key that is taken away ends what was opened with it."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import httpx2
import psutil
import pytest

from tests.gateway.talking import (
    ASKS,
    ODD_SERVER,
    Event,
    Legacy,
    Talk,
    events,
    heads,
    messages,
    odd_server,
    talking,
    text_of,
)
from tests.runtime.waiting import eventually

pytestmark = pytest.mark.real

LISTEN = "subscriptions/listen"
WANTED = {"notifications": {"toolsListChanged": True}}


async def holder_of(talk: Talk, name: str, **terms: object) -> Talk:
    """Somebody who holds a call token of that name."""
    made = await talk.post({"name": name, **terms}, "/api/tokens")
    token = made.json()["token"]
    http = httpx2.AsyncClient(base_url=talk.served.url, timeout=20)
    return Talk(talk.served, http, key=f"Bearer {token}")


async def revoke(talk: Talk, name: str) -> None:
    assert (await talk.http.delete(f"/api/tokens/{name}", headers=heads({}))).status_code == 204


async def rest(stream: AsyncIterator[Event]) -> list[str]:
    """The methods of what comes until the stream ends."""
    async with asyncio.timeout(10):
        return [each.get("method", "answer") async for each in messages(stream)]


async def test_the_stream_of_a_session_ends_with_its_token_and_others_go_on() -> None:
    async with talking() as talk:
        lost, valid = await holder_of(talk, "lost"), await holder_of(talk, "kept")
        ended, going_on = await lost.meet(), await valid.meet()
        async with ended.listening() as stream, going_on.listening():
            await revoke(talk, "lost")
            assert await rest(stream) == []
        assert (await ended.send(id=1, method="ping")).status_code == 401
        assert await going_on.ask("ping")
        taken_over = Legacy(valid, ended.path, ended.session, {})
        assert (await taken_over.send(id=1, method="ping")).status_code == 404
        await asyncio.gather(lost.http.aclose(), valid.http.aclose())


async def test_sessions_and_streams_end_when_their_token_expires() -> None:
    async with talking() as talk:
        expires = (datetime.now(UTC) + timedelta(seconds=1)).isoformat()
        lost, valid = await holder_of(talk, "short", expires=expires), await holder_of(talk, "kept")
        ended, going_on = await lost.meet(), await valid.meet()
        async with ended.listening() as stream, going_on.listening():
            assert await rest(stream) == []
        refused = await ended.send(id=1, method="ping")
        assert refused.status_code == 401
        assert refused.json()["detail"].startswith('the token "short" expired at')
        assert await going_on.ask("ping")
        taken_over = Legacy(valid, ended.path, ended.session, {})
        assert (await taken_over.send(id=1, method="ping")).status_code == 404
        await asyncio.gather(lost.http.aclose(), valid.http.aclose())


async def test_a_stream_of_the_modern_era_ends_with_its_token() -> None:
    async with talking() as talk:
        lost = await holder_of(talk, "lost")
        body, headers = lost.modern(LISTEN, WANTED)
        request = lost.http.stream("POST", "/mcp", json=body, headers=lost.heads(headers))
        async with request as response:
            stream = events(response)
            first = await anext(messages(stream))
            assert first["method"] == "notifications/subscriptions/acknowledged"
            await revoke(talk, "lost")
            assert await rest(stream) == ["answer"]
        await lost.http.aclose()


async def test_a_call_that_waits_for_the_holder_of_a_lost_token_is_cancelled_upstream() -> None:
    async with talking() as talk:
        lost = await holder_of(talk, "lost")
        reply = await lost.call("/mcp/servers/old", "ask", ASKS)
        assert reply["result"]["resultType"] == "input_required"
        await revoke(talk, "lost")
        await talk.until("old", "cancelled 1")
        await lost.http.aclose()


async def test_the_process_that_a_client_has_alone_ends_with_its_token() -> None:
    async with talking({"old": odd_server(isolation="per-client")}) as talk:
        lost = await holder_of(talk, "lost")
        answer = await lost.call("/mcp/servers/old", "nonce", arguments={"text": "x"})
        assert text_of(answer) == "x"
        assert len(odd_servers()) == 2
        await revoke(talk, "lost")
        assert await eventually(lambda: len(odd_servers()) == 1, 10)
        await lost.http.aclose()


def odd_servers() -> list[int]:
    """The processes of the server that this yard has."""
    mine = psutil.Process().children(recursive=True)
    return [each.pid for each in mine if str(ODD_SERVER) in command(each)]


def command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


async def test_a_new_admin_token_ends_the_streams_of_the_old_one() -> None:
    async with talking() as talk:
        legacy = await talk.meet()
        async with legacy.listening() as stream:
            rotated = await talk.post(b"", "/api/tokens/rotate")
            assert rotated.status_code == 204, rotated.text
            assert await rest(stream) == []


async def test_a_new_admin_token_ends_the_events_of_the_old_one() -> None:
    async with (
        talking() as talk,
        talk.http.stream("GET", "/api/events", headers=heads({})) as response,
    ):
        lines = response.aiter_lines()
        assert await anext(lines)
        assert (await talk.post(b"", "/api/tokens/rotate")).status_code == 204
        async with asyncio.timeout(10):
            assert [line async for line in lines if line.startswith("event: status")] == []
