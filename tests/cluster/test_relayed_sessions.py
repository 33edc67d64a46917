"""Sessions and pending calls of one node, used through another."""

import asyncio
import contextlib
import json
import signal
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import httpx2
import pytest

from tests.cli.commands import mcpyard
from tests.cluster.nodes import TOKEN, ClusterOfNodes, RunningNode, cluster_of, place_on
from tests.gateway.talking import (
    ASKS,
    Event,
    Legacy,
    Message,
    Talk,
    messages,
    next_of,
    odd_server,
    text_of,
)
from tests.gateway.test_gateway_asking import ANSWER, retry
from tests.runtime.waiting import eventually

if TYPE_CHECKING:
    from tests.gateway.serving import Served

pytestmark = [pytest.mark.real, pytest.mark.timeout(120)]

ODD = "/mcp/servers/odd"
HANGING: Message = {
    "id": "h",
    "method": "tools/call",
    "params": {"name": "hang", "arguments": {}},
}


def talk_to(node: RunningNode, key: str = f"Bearer {TOKEN}") -> Talk:
    """Somebody who talks to a node."""
    http = httpx2.AsyncClient(base_url=node.up.url, timeout=20)
    return Talk(cast("Served", None), http, key=key)


@asynccontextmanager
async def talks(
    cluster: ClusterOfNodes, key: str = f"Bearer {TOKEN}"
) -> AsyncGenerator[list[Talk]]:
    """Somebody at each node."""
    async with AsyncExitStack() as stack:
        each = [talk_to(node, key) for node in cluster.nodes.values()]
        for talk in each:
            await stack.enter_async_context(talk.http)
        yield each


def bearer(node: RunningNode, name: str, **terms: object) -> str:
    """The header of a new token."""
    return f"Bearer {node.post('/api/tokens', {'name': name, **terms}, 201)['token']}"


def through(talk: Talk, session: Legacy) -> Legacy:
    """The same session, through another node."""
    return Legacy(talk, session.path, session.session, session.initialize_result)


def wrote(node: RunningNode, line: str) -> bool:
    """Whether the server wrote a line to its standard error."""
    return line in node.client.get("/api/mcp/servers/odd/logs").text


@pytest.mark.spec("F8.3")
async def test_a_session_goes_on_through_another_node_with_all_that_belongs_to_it(
    tmp_path: Path, dsn: str
) -> None:
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2") as cluster:
        first, second = cluster.nodes.values()
        first.register("odd", odd_server())
        place_on(cluster, "n2", "odd")
        intruder = talk_to(second, bearer(first, "other"))
        async with talks(cluster) as (near, far), intruder.http:
            met = await near.meet(ODD, capabilities=ASKS)
            assert met.session.startswith("n1~")
            session = through(far, met)
            assert text_of(await session.call("nonce", arguments={"text": "x"})) == "x"
            big = await session.call("big", arguments={"size": 5_000_000})
            assert text_of(big) == "x" * 5_000_000
            await _is_asked_in_mid_call(session)
            await _cancels(session, first)
            await _hears_of_changes_and_comes_back(session, met)
            assert (await through(intruder, met).send(id=1, method="ping")).status_code == 404
            await _is_answered_later(near, far, intruder)
            ended = await far.http.delete(ODD, headers=far.heads(session.headers))
            assert ended.status_code == 204
            for each in (met, session):
                assert (await each.send(id=1, method="ping")).status_code == 404


async def _is_asked_in_mid_call(session: Legacy) -> None:
    call = {"id": "a", "method": "tools/call", "params": {"name": "ask", "arguments": {}}}
    async with session.streaming(**call) as stream:
        question = await next_of(stream, "elicitation/create")
        assert (await session.send(id=question["id"], result=ANSWER)).status_code == 202
        done = await anext(messages(stream))
    assert json.loads(text_of(done)) == ANSWER
    steps = {"id": "s", "method": "tools/call", "params": {"name": "steps", "arguments": {}}}
    steps["params"] = {**cast("Message", steps["params"]), "_meta": {"progressToken": 7}}
    async with session.streaming(**steps) as stream:
        came = [each async for each in messages(stream)]
    assert [each["params"]["progress"] for each in came[:3]] == [0, 1, 2]
    assert text_of(came[-1]) == "done"


async def _cancels(session: Legacy, node: RunningNode) -> None:
    async with session.streaming(**HANGING) as stream:
        assert (await anext(stream)).message is None
        await session.send(method="notifications/cancelled", params={"requestId": "h"})
        assert [each async for each in messages(stream)] == []
    assert await eventually(lambda: wrote(node, "cancelled 1"), 10)


async def _hears_of_changes_and_comes_back(session: Legacy, direct: Legacy) -> None:
    await session.ask("resources/subscribe", uri="odd://thing")
    updated = "notifications/resources/updated"
    async with session.listening() as stream:
        first = await anext(stream)
        await session.call("touch")
        await next_of(stream, updated)
    # What happens while nobody listens is told to who comes back, through whichever node.
    await session.call("touch")
    for each in (session, direct):
        async with each.listening(last=first.id) as stream:
            for _ in range(2):
                await next_of(stream, updated)


async def _is_answered_later(near: Talk, far: Talk, intruder: Talk) -> None:
    """A call of the stateless protocol, whose client answers through another node."""
    question = await near.call(ODD, "ask", ASKS)
    assert question["result"]["requestState"].startswith("mcpyard.n1~")
    refused = await intruder.call(ODD, "ask", ASKS, **retry(question))
    assert "does not belong" in refused["error"]["message"]
    done = await far.call(ODD, "ask", ASKS, **retry(question))
    assert json.loads(text_of(done)) == ANSWER
    again = await far.call(ODD, "ask", ASKS, **retry(question))
    assert "no longer pending" in again["error"]["message"]


@pytest.mark.spec("F8.3")
async def test_what_a_killed_node_held_is_over_at_once_and_never_run_again(
    tmp_path: Path, dsn: str
) -> None:
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2") as cluster:
        first, second = cluster.nodes.values()
        first.register("odd", odd_server())
        place_on(cluster, "n2", "odd")
        async with talks(cluster) as (near, far):
            pending = await near.call(ODD, "ask", ASKS)
            session = through(far, await near.meet(ODD))
            async with session.streaming(**HANGING) as stream, session.listening() as pushed:
                assert (await anext(stream)).message is None
                assert (await anext(pushed)).message is None
                assert await eventually(lambda: wrote(second, "called hang"), 10)
                calls = _calls(second)
                first.kill()
                # Every call gets an answer.
                (ended,) = [each async for each in messages(stream)]
                assert (ended["id"], "n1" in ended["error"]["message"]) == ("h", True)
                assert [each async for each in messages(pushed)] == []
            assert await _seconds_to_refusal(session) < 5
            expired = await far.call(ODD, "ask", ASKS, **retry(pending))
            assert expired["error"]["data"] == {"problem": "request-state"}
            assert "call again" in expired["error"]["message"]
            assert await _seconds_to_refusal(session) < 2, "nobody waits for a node that is gone"
            anew = await far.meet(ODD)
            assert anew.session.startswith("n2~")
            assert text_of(await anew.call("nonce", arguments={"text": "x"})) == "x"
            assert _calls(second) == calls


@pytest.mark.spec("F8.3")
async def test_a_session_goes_on_while_the_node_that_relays_it_is_killed_and_replaced(
    tmp_path: Path, dsn: str
) -> None:
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2") as cluster:
        first, second = cluster.nodes.values()
        first.register("odd", odd_server())
        place_on(cluster, "n1", "odd")
        async with talks(cluster) as (near, far):
            met = await near.meet(ODD)
            session = through(far, met)
            async with session.listening() as stream:
                event = await anext(stream)
                second.kill()
                await _read_to_the_end(stream)
        replaced = talk_to(cluster.start("n2"))
        async with replaced.http:
            # At once, although the nodes may not be linked yet.
            session = through(replaced, met)
            assert text_of(await session.call("nonce", arguments={"text": "x"})) == "x"
            await session.ask("resources/subscribe", uri="odd://thing")
            began = time.monotonic()
            async with session.listening(last=event.id) as stream:
                assert time.monotonic() - began < 5, (
                    "a stream begins before there is anything in it"
                )
                await session.call("touch")
                await next_of(stream, "notifications/resources/updated")


async def _read_to_the_end(stream: AsyncIterator[Event]) -> None:
    """Read until the connection breaks."""
    with contextlib.suppress(httpx2.HTTPError):
        async for _ in stream:
            pass


async def _seconds_to_refusal(session: Legacy) -> float:
    began = time.monotonic()
    refused = await session.send(id=1, method="ping")
    assert (refused.status_code, refused.json()["id"]) == (404, 1)
    return time.monotonic() - began


def _calls(node: RunningNode) -> int:
    """How often the server was called for something that hangs or asks."""
    log = node.client.get("/api/mcp/servers/odd/logs").text
    return log.count("called hang") + log.count("called ask")


@pytest.mark.spec("F8.3")
async def test_a_revocation_is_confirmed_by_every_node_or_names_it(
    tmp_path: Path, dsn: str
) -> None:
    with cluster_of(tmp_path / "cluster", dsn, "n1", "n2", "n3", ttl=20.0) as cluster:
        first, second, third = cluster.nodes.values()
        first.post("/api/profiles", {"name": "some", "servers": ["*"]}, 201)
        keys = [bearer(first, name, profile="some") for name in ("one", "two", "three")]
        for node in (second, third):
            node.until(lambda node=node: opens(node, keys[0]) and opens(node, keys[1]))
            assert node.client.post("/mcp", headers={"Authorization": keys[0]}).status_code == 403
        async with talks(cluster, keys[0]) as (near, far, _):
            session = await far.meet("/mcp/some")
            async with session.listening() as own, through(near, session).listening() as relayed:
                await anext(relayed)
                assert first.client.delete("/api/tokens/one").status_code == 204
                # Effective everywhere once it is answered: no waiting here.
                assert not any(opens(node, keys[0]) for node in cluster.nodes.values())
                assert await _is_over(own)
                assert await _is_over(relayed)
        processes = third.signal_all(signal.SIGSTOP)
        try:
            began = time.monotonic()
            partly = first.client.delete("/api/tokens/two")
            assert (partly.status_code, partly.json()) == (202, {"unconfirmed": ["n3"]})
            assert 1.5 < time.monotonic() - began < 5
            done = mcpyard(
                "token", "revoke", "three", home=cluster.folder / "n1", MCPYARD_TOKEN=TOKEN
            )
            assert (done.returncode, "n3" in done.stderr) == (1, True)
            assert not any(opens(node, keys[1]) for node in (first, second))
        finally:
            for each in processes:
                each.send_signal(signal.SIGCONT)
        third.until(lambda: not opens(third, keys[1]))


def opens(node: RunningNode, key: str) -> bool:
    """Whether a token opens its profile."""
    status = node.client.get("/mcp/some", headers={"Authorization": key}).status_code
    assert status in {400, 401, 406}
    return status != 401


async def _is_over(stream: Any) -> bool:  # noqa: ANN401  an iterator over events
    async with asyncio.timeout(5):
        rest: list[Event] = [each async for each in stream]
    return all(each.message is None for each in rest)
