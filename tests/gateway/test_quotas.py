"""What one token uses up is missing to itself, never to another."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import psutil
import pytest
from prometheus_client.parser import text_string_to_metric_families

from mcpyard.domain.callers import Quotas
from mcpyard.domain.lifecycle import Phase
from tests.gateway.talking import ODD_SERVER, Legacy, Message, Talk, heads, odd_server, talking
from tests.gateway.test_revoked import holder_of
from tests.runtime.waiting import eventually
from tests.wire.servers import Script, raw_server
from tests.wire.servers import Talk as ServerTalk

pytestmark = [pytest.mark.real, pytest.mark.spec("F2.6")]

OLD = "/mcp/servers/old"
HOURLY = timedelta(hours=1)
CALL = "/api/mcp/servers/old/tools/nonce/call"


@asynccontextmanager
async def two_tokens(
    quotas: Quotas, isolation: str = "shared"
) -> AsyncGenerator[tuple[Talk, Talk, Talk]]:
    """The owner, and two who hold call tokens."""
    async with talking({"old": odd_server(isolation=isolation)}) as talk:
        talk.served.yard.calls.callers.limit(quotas)
        one, other = await holder_of(talk, "one"), await holder_of(talk, "other")
        try:
            yield talk, one, other
        finally:
            await asyncio.gather(one.http.aclose(), other.http.aclose())


async def counted(talk: Talk, name: str, **labels: str) -> float:
    """A sample of the metrics page; 0 where there is none."""
    page = (await talk.http.get("/metrics", headers=heads({}))).text
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            if sample.name == name and sample.labels.items() >= labels.items():
                return sample.value
    return 0.0


@asynccontextmanager
async def hanging(talk: Talk, calls: int) -> AsyncGenerator[None]:
    """So many calls of a tool that does not answer."""
    tasks = [asyncio.create_task(talk.call(OLD, "hang")) for _ in range(calls)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


async def nonce(talk: Talk) -> Message:
    return await talk.call(OLD, "nonce", arguments={"text": "x"})


async def test_calls_beyond_the_quota_of_a_token_are_refused_and_others_go_on() -> None:
    async with two_tokens(Quotas(calls=3)) as (talk, one, other):
        callers = talk.served.yard.calls.callers
        async with hanging(one, 3):
            assert await eventually(lambda: callers.of("token:one").calls == 3)
            refused = (await nonce(one))["error"]
            assert refused["code"] == -32000
            assert refused["message"] == "3 calls of this token are already in flight"
            assert refused["data"] == {"problem": "over-quota"}
            assert "result" in await nonce(other)
            met = await one.meet(OLD)
            assert (await met.call("nonce", arguments={"text": "x"}))["error"]["code"] == -32000
        assert await eventually(lambda: callers.of("token:one").calls == 0)
        assert "result" in await nonce(one)
        name, labels = "mcpyard_quota_refusals_total", {"caller": "token:one", "quota": "calls"}
        assert await counted(talk, name, **labels) == 2


async def test_a_full_queue_of_a_server_refuses_with_429_and_a_hint() -> None:
    async with talking({"old": odd_server(concurrency=2, queue=1)}) as talk:
        record = talk.served.yard.record("old")
        assert (record.wanted_concurrency, record.queue, record.concurrency) == (2, 1, 2)
        async with hanging(talk, 3):
            callers = talk.served.yard.calls.callers
            assert await eventually(lambda: callers.of("admin").calls == 3)
            await talk.until("old", "called hang")
            body = json.dumps({"arguments": {"text": "x"}}).encode()
            answer = await talk.http.post(CALL, content=body, headers=heads({}))
            problem = answer.json()
            assert (answer.status_code, problem["type"]) == (429, "urn:mcpyard:error:server-busy")
            assert problem["detail"] == (
                'the server "old": 2 calls are in flight and 1 wait, which is the limit'
            )
            assert problem["hint"]
            refused = (await nonce(talk))["error"]
            assert (refused["code"], refused["data"]["problem"]) == (-32000, "server-busy")
        assert await counted(talk, "mcpyard_server_calls_refused_total", server="old") == 2


async def test_a_changed_limit_applies_to_the_open_connection(tmp_path: Path) -> None:
    async with talking({}, tmp_path / "home") as talk:
        yard = talk.served.yard
        definition = {"name": "old", "scope": "user", "start": True, **odd_server()}
        await yard.register(definition)
        await yard.settled("old")
        pid, before = yard.record("old").pid, yard.record("old").concurrency
        await yard.change("old", {"concurrency": 7, "queue": 0})
        assert await eventually(lambda: yard.record("old").concurrency == 7)
        assert (yard.record("old").pid, before) == (pid, 256)


async def test_sessions_beyond_the_quota_end_the_tokens_own_oldest_idle_one() -> None:
    async with two_tokens(Quotas(sessions=3)) as (talk, one, other):
        foreign = await other.meet()
        mine = [await one.meet() for _ in range(3)]
        await mine[0].ask("ping")
        mine.append(await one.meet())
        statuses = [(await each.send(id=1, method="ping")).status_code for each in mine]
        assert statuses == [200, 404, 200, 200], "the one that was silent longest"
        assert "result" in await foreign.ask("ping")
        name, labels = "mcpyard_quota_evictions_total", {"caller": "token:one", "quota": "sessions"}
        assert await counted(talk, name, **labels) == 1


async def test_a_session_is_refused_while_none_of_the_tokens_own_is_idle() -> None:
    async with two_tokens(Quotas(sessions=1)) as (_, one, other):
        met = await one.meet()
        async with met.listening():
            refused = await initialize(one)
            assert refused.status_code == 429
            assert refused.json()["error"]["code"] == -32000
            assert "1 sessions" in refused.json()["error"]["message"]
            await other.meet()
        assert "result" in await met.ask("ping")


async def initialize(talk: Talk, **capabilities: object) -> httpx2.Response:
    params = {"protocolVersion": "2025-11-25", "capabilities": capabilities}
    return await talk.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})


async def test_what_sessions_keep_in_memory_has_a_quota() -> None:
    large = {"elicitation": {"form": {"x": "y" * 300_000}}}
    async with two_tokens(Quotas(memory=1_000_000)) as (talk, one, other):
        foreign = await other.meet(capabilities=large)
        mine = [await one.meet(capabilities=large) for _ in range(10)]
        caller = talk.served.yard.calls.callers.of("token:one")
        assert 0 < caller.kept <= 1_000_000
        lives = [(await each.send(id=1, method="ping")).status_code == 200 for each in mine]
        assert lives == [False] * 7 + [True] * 3
        assert "result" in await foreign.ask("ping")
        alone = {"form": {"x": "y" * 2_000_000}}
        refused = await initialize(one, elicitation=alone)
        assert (refused.status_code, refused.json()["error"]["code"]) == (429, -32000)
        for each in [await one.meet(), await one.meet()]:
            await talk.http.delete("/mcp", headers=one.heads(each.headers))
        assert caller.kept == 0


async def test_streams_beyond_the_quota_are_refused() -> None:
    async with two_tokens(Quotas(streams=2)) as (talk, one, other):
        first, second, third = await one.meet(), await one.meet(), await one.meet()
        async with first.listening(), second.listening():
            assert (await listen(third)).status_code == 429
            body, headers = one.modern("subscriptions/listen", {"notifications": {}})
            refused = (await one.post(body, **headers)).json()["error"]
            assert (refused["code"], refused["data"]) == (-32000, {"problem": "over-quota"})
            async with (await other.meet()).listening(), first.listening():
                pass
        callers = talk.served.yard.calls.callers
        assert await eventually(lambda: callers.of("token:one").streams == 0)
        async with third.listening():
            pass


async def listen(met: Legacy) -> httpx2.Response:
    headers = {**met.talk.heads(met.headers), "accept": "text/event-stream"}
    return await met.talk.http.get(met.path, headers=headers)


async def test_event_streams_of_the_api_count_too() -> None:
    async with talking({}) as talk:
        talk.served.yard.calls.callers.limit(Quotas(streams=1))
        events = talk.http.stream("GET", "/api/events", headers=heads({}))
        async with events as response:
            await anext(response.aiter_lines())
            refused = await talk.http.get("/api/events", headers=heads({}))
            assert refused.status_code == 429
            assert refused.json()["type"] == "urn:mcpyard:error:over-quota"
        callers = talk.served.yard.calls.callers
        assert await eventually(lambda: callers.of("admin").streams == 0)


async def test_a_process_beyond_the_quota_ends_the_tokens_own_oldest_idle_session() -> None:
    async with two_tokens(Quotas(processes=2), isolation="per-client") as (talk, one, other):
        foreign = await other.meet(OLD)
        assert "result" in await foreign.call("nonce", arguments={"text": "x"})
        mine = [await one.meet(OLD) for _ in range(3)]
        for met in mine:
            assert "result" in await met.call("nonce", arguments={"text": "x"})
        statuses = [(await each.send(id=1, method="ping")).status_code for each in mine]
        assert statuses == [404, 200, 200]
        assert "result" in await foreign.call("nonce", arguments={"text": "x"})
        # The server's own process, one of the other token, two of this one.
        assert await eventually(lambda: odd_processes() == 4, 10)
        async with busy(talk, mine[1:]):
            fourth = await one.meet(OLD)
            refused = (await fourth.call("nonce", arguments={"text": "x"}))["error"]
            assert (refused["code"], refused["data"]) == (-32000, {"problem": "over-quota"})
        assert await counted(talk, "mcpyard_quota_evictions_total", quota="processes") == 1


@asynccontextmanager
async def busy(talk: Talk, sessions: list[Legacy]) -> AsyncGenerator[None]:
    """A call of each session that does not end."""
    caller = talk.served.yard.calls.callers.of("token:one")
    tasks = [asyncio.create_task(each.call("hang")) for each in sessions]
    assert await eventually(lambda: caller.calls == len(sessions))
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)


def odd_processes() -> int:
    """How many odd servers run below this process."""
    children = psutil.Process().children(recursive=True)
    return sum(str(ODD_SERVER) in " ".join(_command(each)) for each in children)


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline() if process.status() != psutil.STATUS_ZOMBIE else []
    except psutil.Error:
        return []


def listing(server: ServerTalk) -> dict[str, object]:
    tools = [{"name": "t", "inputSchema": {"type": "object"}}]
    return {"tools": tools} if server.heard.message.get("method") == "tools/list" else {}


async def test_a_remote_server_that_asks_to_wait_is_left_alone_and_the_caller_hears_why() -> None:
    async def script(talk: ServerTalk) -> None:
        if talk.heard.message.get("method") == "tools/call":
            await talk.body(429, headers={"Retry-After": "3000"})
        elif talk.heard.method == "GET":
            await talk.body(405)
        else:
            await talk.answer(listing(talk))

    async with raw_server(speaking(script)) as server:
        definition = {"url": server.url, "wanted": "running"}
        async with talking({"far": definition}) as talk:
            # The stream for notices of the server is opened beside the first requests.
            assert await eventually(lambda: any(each.method == "GET" for each in server.heard))
            refused = (await talk.call("/mcp/servers/far", "t"))["error"]
            before = len(server.heard)
            assert "HTTP 429: the server asks to wait 3000 s (Retry-After)" in refused["message"]
            assert 2_900 < refused["data"]["retryAfter"] <= 3_000
            path = "/api/mcp/servers/far/tools/t/call"
            answer = await talk.http.post(path, content=b"{}", headers=heads({}))
            assert (answer.status_code, answer.json()["cause"]["code"]) == (502, "http_error")
            assert 2_900 < int(answer.headers["retry-after"]) <= 3_000
            yard = talk.served.yard
            # A restart does not go around it.
            await yard.restart("far")
            assert await eventually(lambda: yard.record("far").phase is Phase.BACKOFF)
            record = yard.record("far")
            assert record.error
            assert "(Retry-After)" in record.error.message
            assert record.next_retry_at
            assert datetime.fromisoformat(record.next_retry_at) > datetime.now(UTC) + HOURLY / 2
            assert len(server.heard) == before


def speaking(script: Script) -> Script:
    async def wrapped(talk: ServerTalk) -> None:
        if talk.heard.message.get("method") == "server/discover":
            await talk.body(404)
        elif talk.heard.message.get("method") == "initialize":
            hello = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
            await talk.answer({**hello, "serverInfo": {"name": "far", "version": "1"}})
        else:
            await script(talk)

    return wrapped
