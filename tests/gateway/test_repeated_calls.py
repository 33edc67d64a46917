"""A call whose head was not parsed again is the same call: its answer, and what is kept of it."""

import asyncio
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from mcpyard.api.http_server.repeated_heads import Repeated
from mcpyard.domain.stored import CallQuery
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
    "a server that asks": {"name": "ask", "arguments": {}},
    "a timeout": {"name": "hang", "arguments": {}},
}


@pytest.fixture
def repeated(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The bodies of the requests whose heads were not parsed."""
    bodies: list[bytes] = []
    scope_of = Repeated.scope_of

    def noting(head: Repeated, body: bytes) -> dict[str, Any]:
        bodies.append(body)
        return scope_of(head, body)

    monkeypatch.setattr(Repeated, "scope_of", noting)
    return bodies


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
    tmp_path: Path, repeated: list[bytes]
) -> None:
    async with calling(tmp_path, timeout=1000) as caller, caller.connected() as connected:
        parsed = await answers(caller, connected, count())
        lines, figures = await journal(caller), account(caller)
        assert not repeated
        one = count(7, 0)
        await connected.ask(caller.request("ping", {}, **{"X-Turn": str(next(one))}))
        assert [_unnumbered(each) for each in await answers(caller, connected, one)] == [
            _unnumbered(each) for each in parsed
        ]
        assert len(repeated) == len(CALLS)
        assert await journal(caller) == [*lines, *lines]
        assert account(caller) == tuple(2 * each for each in figures)
        callers = [*caller.served.yard.calls.callers]
        assert [each.calls for each in callers] == [0] * len(callers)


def _unnumbered(answer: tuple[int, bytes]) -> tuple[int, bytes]:
    """An answer without the ids of the events of its stream, which no two streams share."""
    status, body = answer
    return status, re.sub(rb"id: \d+-", b"id: ", body)


async def hanging(caller: Caller, connected: Connected) -> None:
    """Have a call with a repeated head under way, whose id is 500."""
    await connected.ask(caller.request("ping", {}))
    caller.ids = count(500)
    connected.writer.write(caller.request("tools/call", CALLS["a timeout"]))
    calls = caller.served.yard.calls.callers.of("admin")
    assert await eventually(lambda: calls.calls == 1, 10)


async def cancelled(caller: Caller) -> bool:
    log = caller.served.yard.log
    return await eventually(lambda: any(each.text == "cancelled 1" for each in log("one")), 10)


async def test_a_call_with_a_repeated_head_is_cancelled_by_its_client(
    repeated: list[bytes],
) -> None:
    async with calling() as caller, caller.connected() as one, caller.connected() as other:
        await hanging(caller, one)
        status, _ = await other.ask(
            caller.request("notifications/cancelled", {"requestId": 500, "reason": "enough"})
        )
        assert status == 202
        assert await cancelled(caller)
        assert len(repeated) == 1


async def test_a_call_with_a_repeated_head_ends_when_its_client_hangs_up(
    repeated: list[bytes],
) -> None:
    async with calling() as caller:
        async with caller.connected() as connected:
            await hanging(caller, connected)
        assert await cancelled(caller)
        assert len(repeated) == 1


async def test_a_call_with_a_repeated_head_fails_with_its_server(repeated: list[bytes]) -> None:
    async with calling() as caller, caller.connected() as one, caller.connected() as other:
        await hanging(caller, one)
        await other.ask(caller.request("tools/call", {"name": "die", "arguments": {}}))
        async with asyncio.timeout(10):
            head = await one.reader.readuntil(END)
        assert head.startswith(b"HTTP/1.1 200")
        assert len(repeated) == 1
