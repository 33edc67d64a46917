"""A call whose head was not parsed again is the same call: its answer, and what is kept of it.

The first one after a head that was parsed goes the usual way; plain ones after it go directly.
"""

import asyncio
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from mcpyard.api.http_server.repeated_heads import Repeated
from mcpyard.asgi_scope import OpenRequest
from mcpyard.domain.callers import Quotas
from mcpyard.domain.stored import CallQuery
from mcpyard.gateway import exchange
from mcpyard.gateway.direct_calls import DirectCall, DirectCalls
from mcpyard.yard.calls.attempt import Attempt
from tests.gateway.raw_caller import END, Caller, Connected, calling
from tests.runtime.waiting import eventually

pytestmark = pytest.mark.real

CALLS: dict[str, dict[str, Any]] = {
    "a result": {"name": "nonce", "arguments": {"text": "hello"}},
    "odd bytes": {"name": "odd", "arguments": {}},
    "no arguments": {"name": "odd"},
    "a long result": {"name": "big", "arguments": {"size": 100_000}},
    "a result that is copied in turns": {"name": "big", "arguments": {"size": 1_200_000}},
    "an unknown tool": {"name": "none", "arguments": {}},
    "no name": {"arguments": {}},
    "arguments that do not fit": {"name": "nonce", "arguments": {"text": 1}},
    "arguments that are no object": {"name": "nonce", "arguments": [1]},
    "no result": {"name": "list", "arguments": {}},
    "a parameter more": {"name": "nonce", "arguments": {"text": "a"}, "x-more": [1]},
    "progress": {"name": "steps", "arguments": {}, "_meta": {"progressToken": "p"}},
    "a notification": {"name": "steps", "arguments": {}},
    "a server that asks": {"name": "ask", "arguments": {}},
    "a timeout": {"name": "hang", "arguments": {}},
}


PLAIN = (
    *("a result", "odd bytes", "no arguments", "a long result", "a result that is copied in turns"),
    *("no result", "a notification", "a server that asks", "a timeout"),
)
"""The calls that need no task to begin with."""


@dataclass(slots=True)
class Ways:
    """The bodies of the requests whose heads were not parsed, and how many of them went directly.

    With `usual` none of them may.
    """

    usual: bool
    bodies: list[bytes] = field(default_factory=list[bytes])
    direct: int = 0


@pytest.fixture(params=[False, True], ids=["direct", "usual"])
def ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Ways:
    ways = Ways(usual=request.param)
    body_of, begin, calls = Repeated.body_of, DirectCall.begin, DirectCalls.__call__

    def noting(head: Repeated, data: bytes) -> bytes | None:
        body = body_of(head, data)
        ways.bodies += [] if body is None else [body]
        return body

    def noting_direct(call: DirectCall, attempt: Attempt) -> None:
        ways.direct += 1
        begin(call, attempt)

    def unless_usual(direct: DirectCalls, open_request: OpenRequest, body: bytes) -> bool:
        return not ways.usual and calls(direct, open_request, body)

    monkeypatch.setattr(Repeated, "body_of", noting)
    monkeypatch.setattr(DirectCall, "begin", noting_direct)
    monkeypatch.setattr(DirectCalls, "__call__", unless_usual)
    return ways


async def answers(caller: Caller, connected: Connected, turns: Iterator[int]) -> list[Any]:
    """What comes back for each call, under the same ids."""
    caller.ids = count(100)
    return [
        await connected.ask(caller.request("tools/call", params, **{"X-Turn": str(next(turns))}))
        for params in CALLS.values()
    ]


async def journal(caller: Caller) -> list[tuple[object, ...]]:
    """What the journal says of all calls, but for their times."""
    calls = caller.served.yard.accounts.journal
    assert calls
    lines = await calls.query(CallQuery())
    return [(each.who, each.tool, each.outcome, each.bytes_in, each.bytes_out) for each in lines]


def account(caller: Caller) -> tuple[int, int, int, int, int]:
    (server,) = caller.served.yard.accounts.by_server.values()
    return server.calls, server.errors, server.refused, server.bytes_in, server.bytes_out


async def test_a_call_with_a_repeated_head_gives_the_same_bytes_journal_lines_and_figures(
    tmp_path: Path, ways: Ways
) -> None:
    async with calling(tmp_path, timeout=1000) as caller, caller.connected() as connected:
        parsed = await answers(caller, connected, count())
        lines, figures = await journal(caller), account(caller)
        assert not ways.bodies
        one = count(7, 0)
        for _ in range(2):
            await connected.ask(caller.request("ping", {}, **{"X-Turn": str(next(one))}))
        assert [_unnumbered(each) for each in await answers(caller, connected, one)] == [
            _unnumbered(each) for each in parsed
        ]
        assert len(ways.bodies) == 1 + len(CALLS)
        assert ways.direct == (0 if ways.usual else len(PLAIN))
        assert await journal(caller) == [*lines, *lines]
        assert account(caller) == tuple(2 * each for each in figures)
        callers = [*caller.served.yard.calls.callers]
        assert [each.calls for each in callers] == [0] * len(callers)


def _unnumbered(answer: tuple[int, bytes]) -> tuple[int, bytes]:
    """An answer without what no two streams share: the ids of their events, and their chunks."""
    status, body = answer
    if body.endswith(END):
        body = re.sub(rb"(?:^|\r\n)[0-9a-f]+\r\n", b"", body)
    return status, re.sub(rb"id: \d+-", b"id: ", body)


async def hanging(caller: Caller, connected: Connected) -> None:
    """Have a call with a repeated head under way, whose id is 500."""
    for _ in range(2):
        await connected.ask(caller.request("ping", {}))
    caller.ids = count(500)
    connected.writer.write(caller.request("tools/call", CALLS["a timeout"]))
    calls = caller.served.yard.calls.callers.of("admin")
    assert await eventually(lambda: calls.calls == 1, 10)


async def cancelled(caller: Caller) -> bool:
    log = caller.served.yard.log
    return await eventually(lambda: any(each.text == "cancelled 1" for each in log("one")), 10)


async def test_a_call_with_a_repeated_head_is_cancelled_by_its_client(
    ways: Ways,
) -> None:
    async with calling() as caller, caller.connected() as one, caller.connected() as other:
        await hanging(caller, one)
        status, _ = await other.ask(
            caller.request("notifications/cancelled", {"requestId": 500, "reason": "enough"})
        )
        assert status == 202
        assert await cancelled(caller)
        assert (len(ways.bodies), ways.direct) == (2, not ways.usual)


async def test_a_call_with_a_repeated_head_ends_when_its_client_hangs_up(
    ways: Ways,
) -> None:
    async with calling() as caller:
        async with caller.connected() as connected:
            await hanging(caller, connected)
        assert await cancelled(caller)
        assert (len(ways.bodies), ways.direct) == (2, not ways.usual)


async def test_a_late_call_with_a_repeated_head_gets_its_answer_by_a_stream(
    tmp_path: Path, ways: Ways, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "WATCH_AFTER", 0.02)
    monkeypatch.setattr(exchange, "STREAM_AFTER", 0.04)
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    async with calling() as caller, caller.connected() as connected:
        for _ in range(2):
            await connected.ask(caller.request("ping", {}))
        late = {"name": "gate", "arguments": {"path": str(gate)}}
        connected.writer.write(caller.request("tools/call", late))
        async with asyncio.timeout(10):
            head = await connected.reader.readuntil(END)
            assert b"text/event-stream" in head
            await asyncio.to_thread(gate.write_text, "open")
            assert b'"open"' in await connected.reader.readuntil(b"0" + END)
        assert ways.direct == (not ways.usual)
        assert (await connected.ask(caller.request("ping", {})))[0] == 200


async def test_a_call_in_an_unknown_version_is_refused_however_often_it_comes(ways: Ways) -> None:
    async with calling() as caller, caller.connected() as connected:
        caller.headers["MCP-Protocol-Version"] = "1999-01-01"
        for _ in range(4):
            status, _ = await connected.ask(caller.request("tools/call", CALLS["a result"]))
            assert status == 400
        assert ways.direct == 0


async def test_a_call_with_a_repeated_head_is_refused_beyond_the_quota(ways: Ways) -> None:
    async with calling() as caller, caller.connected() as one, caller.connected() as other:
        caller.served.yard.calls.callers.limit(Quotas(calls=1))
        await hanging(caller, one)
        for _ in range(2):
            await other.ask(caller.request("ping", {}))
        _, body = await other.ask(caller.request("tools/call", CALLS["a result"]))
        assert b"already in flight" in body
        assert ways.direct == (not ways.usual)
        assert caller.served.yard.calls.callers.of("admin").refused["calls"] == 1


async def test_a_call_with_a_repeated_head_fails_with_its_server(ways: Ways) -> None:
    async with calling() as caller, caller.connected() as one, caller.connected() as other:
        await hanging(caller, one)
        await other.ask(caller.request("tools/call", {"name": "die", "arguments": {}}))
        async with asyncio.timeout(10):
            head = await one.reader.readuntil(END)
        assert head.startswith(b"HTTP/1.1 200")
        assert (len(ways.bodies), ways.direct) == (2, not ways.usual)
