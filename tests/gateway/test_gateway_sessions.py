"""The handshake era: sessions, streams, and what is told on them."""

import asyncio
import json

import pytest

from mcpyard.gateway.change_notifications import exposed_part
from mcpyard.gateway.exposures import Exposure
from mcpyard.gateway.selection import Selections
from tests.gateway.talking import (
    PREFIX,
    Legacy,
    Talk,
    events,
    heads,
    messages,
    next_of,
    odd_server,
    talking,
    text_of,
)
from tests.runtime.waiting import eventually

pytestmark = pytest.mark.real

OLD = "/mcp/servers/old"


@pytest.mark.parametrize(
    ("requested", "negotiated"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2099-01-01", "2025-11-25"),
    ],
)
async def test_each_revision_is_spoken_and_another_gets_the_newest(
    requested: str, negotiated: str
) -> None:
    async with talking({}) as talk:
        met = await talk.meet(version=requested)
        assert met.initialize_result["protocolVersion"] == negotiated
        assert met.initialize_result["serverInfo"]["instance"] == talk.served.yard.instance
        assert (await met.send(method="notifications/initialized")).status_code == 202
        assert (await met.ask("tools/list"))["result"] == {"tools": []}


async def test_a_batch_is_answered_in_the_one_revision_that_has_them() -> None:
    async with talking({}) as talk:
        batch = [
            {"jsonrpc": "2.0", "id": "a", "method": "ping"},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": "b", "method": "nonsense"},
        ]
        met, newer = await talk.meet(version="2025-03-26"), await talk.meet()
        headers = {"Mcp-Session-Id": met.session}
        first, second = (await talk.post(batch, **headers)).json()
        assert (first["id"], first["result"]) == ("a", {})
        assert (second["id"], second["error"]["code"]) == ("b", -32601)
        assert (await talk.post(batch[1:2], **headers)).status_code == 202
        assert (await talk.post([], **headers)).status_code == 400
        assert (await talk.post(batch, **newer.headers)).status_code == 400


async def test_progress_and_log_messages_come_on_the_stream_of_their_call() -> None:
    async with talking({"old": odd_server()}) as talk:
        met = await talk.meet(OLD)
        params = {"name": "steps", "arguments": {}, "_meta": {"progressToken": "mine"}}
        async with met.streaming(id=1, method="tools/call", params=params) as stream:
            received = [message async for message in messages(stream)]
        progress = [
            each["params"] for each in received if each.get("method", "").endswith("progress")
        ]
        assert progress == [
            {"progressToken": "mine", "progress": step, "total": 3, "message": f"step {step}"}
            for step in range(3)
        ]
        logged = [each for each in received if each.get("method") == "notifications/message"]
        assert [each["params"]["data"] for each in logged] == ["between"]
        assert text_of(received[-1]) == "done"


async def test_a_log_message_below_the_wanted_level_is_not_told() -> None:
    async with talking({"old": odd_server()}) as talk:
        met = await talk.meet(OLD)
        assert (await met.ask("logging/setLevel", level="error"))["result"] == {}
        params = {"name": "steps", "arguments": {}}
        came = await met.send(id=1, method="tools/call", params=params)
        assert came.headers["content-type"] == "application/json"
        assert (await met.ask("logging/setLevel", level="loud"))["error"]["code"] == -32602


async def test_a_server_logs_at_the_most_verbose_level_anybody_wants_for_as_long_as_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with talking({"old": odd_server()}) as talk:
        met = await talk.meet(OLD)
        await met.ask("logging/setLevel", level="error")
        await call_logging(talk, "debug")
        await call_logging(talk, "critical")
        assert await eventually(lambda: levels(talk) == ["error", "debug"], 10)
        monkeypatch.setattr("mcpyard.gateway.era_bridge._LOG_SECONDS", 0.01)
        await call_logging(talk, "debug")
        assert await eventually(lambda: levels(talk) == ["error", "debug", "error"], 10)


async def call_logging(talk: Talk, level: str) -> None:
    """A call of the modern era that wants log messages; it is answered after the server knows."""
    params = {"name": "nonce", "arguments": {"text": "x"}}
    body, headers = talk.modern("tools/call", params, **{PREFIX + "logLevel": level})
    assert (await talk.post(body, OLD, **headers)).status_code == 200


def levels(talk: Talk) -> list[str]:
    """The levels that the server was told, in order."""
    lines = [each.text for each in talk.served.yard.log("old")]
    return [line.removeprefix("level ") for line in lines if line.startswith("level ")]


async def test_an_address_that_cannot_be_looked_at_leaves_no_other_without_news(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    exposure = Selections.exposure

    def failing(selections: Selections, path: str) -> Exposure:
        if path == "/mcp":
            raise RuntimeError("a mistake of ours")
        return exposure(selections, path)

    async with talking({"old": odd_server()}) as talk:
        await talk.meet("/mcp")
        met = await talk.meet(OLD)
        monkeypatch.setattr(Selections, "exposure", failing)
        async with met.listening() as stream:
            await talk.call(OLD, "vanish")
            await next_of(stream, "notifications/tools/list_changed")


async def test_a_changed_list_is_told_to_those_whose_list_changed() -> None:
    async with talking({"old": odd_server(), "other": odd_server()}) as talk:
        met, other = await talk.meet("/mcp"), await talk.meet("/mcp/servers/other")
        async with met.listening() as stream, other.listening() as quiet:
            await talk.call(OLD, "vanish")
            await next_of(stream, "notifications/tools/list_changed")
            await talk.call("/mcp/servers/other", "vanish")
            await next_of(quiet, "notifications/tools/list_changed")


@pytest.mark.parametrize("server", ["old", "new"])
async def test_a_changed_resource_is_told_to_all_who_watch_it_until_the_last_one_stops(
    server: str,
) -> None:
    path = f"/mcp/servers/{server}"
    async with talking() as talk:
        met = await talk.meet(path)
        interests = {"resourceSubscriptions": ["odd://thing"]}
        body, headers = talk.modern("subscriptions/listen", {"notifications": interests})
        assert (await met.ask("resources/subscribe", uri="odd://thing"))["result"] == {}
        content = json.dumps(body).encode()
        listen = talk.http.stream("POST", path, content=content, headers=heads(headers))
        async with met.listening() as old, listen as response:
            new = events(response)
            acknowledged = await next_of(new, "notifications/subscriptions/acknowledged")
            assert acknowledged["params"]["notifications"] == interests
            assert text_of(await talk.call(path, "touch")) == '["odd://thing"]'
            update = await next_of(old, "notifications/resources/updated")
            assert update["params"] == {"uri": "odd://thing"}
            tagged = await next_of(new, "notifications/resources/updated")
            assert tagged["params"]["_meta"] == {PREFIX + "subscriptionId": body["id"]}
        await met.ask("resources/unsubscribe", uri="odd://thing")
        assert await watched_by(talk, path) == []


async def test_a_client_hears_of_the_resource_it_watches_and_of_no_other_servers_namesake() -> None:
    async with talking({"old": odd_server(), "other": odd_server()}) as talk:
        met = await talk.meet(OLD)
        await met.ask("resources/subscribe", uri="odd://thing")
        async with met.listening() as stream:
            await talk.call("/mcp/servers/other", "touch")
            await talk.call(OLD, "vanish")
            notifications = messages(stream)
            assert (await anext(notifications))["method"] == "notifications/tools/list_changed"
            await talk.call(OLD, "touch")
            assert (await anext(notifications))["params"] == {"uri": "odd://thing"}


def test_a_part_of_a_watched_resource_concerns_who_watches_it() -> None:
    watched = {"file:///a": "file:///a", "b://c/": "b://server/c/"}
    uris = ["file:///a", "file:///a/b", "b://c/", "b://c/d"]
    exposed = ["file:///a", "file:///a/b", "b://server/c/", "b://server/c/d"]
    unheard = ["file:///ab", "file:///", "b://cd", ""]
    assert [exposed_part(uri, watched) for uri in uris] == exposed
    assert [uri for uri in unheard if exposed_part(uri, watched) is not None] == []


async def watched_by(talk: Talk, path: str) -> list[str]:
    """What a server is asked to tell of, once the streams that ended are known to be over."""
    uris: list[str] = []
    for _ in range(50):
        uris = json.loads(text_of(await talk.call(path, "touch")))
        if not uris:
            break
        await asyncio.sleep(0.05)
    return uris


async def test_a_client_that_lost_its_stream_is_told_what_it_missed() -> None:
    async with talking({"old": odd_server()}) as talk:
        met = await talk.meet("/mcp")
        async with met.listening() as stream:
            primed = await anext(stream)
        assert primed.message is None
        await talk.call(OLD, "vanish")
        async with met.listening(last=primed.id) as stream:
            await next_of(stream, "notifications/tools/list_changed")


async def test_a_call_whose_stream_broke_goes_on_and_its_answer_is_told_later() -> None:
    async with talking({"old": odd_server()}) as talk:
        met = await talk.meet(OLD, capabilities={"elicitation": {}})
        params = {"name": "ask", "arguments": {}}
        async with met.streaming(id=7, method="tools/call", params=params) as stream:
            primed = await anext(stream)
            question = (await anext(stream)).message
            assert question
        async with met.listening(last=primed.id) as stream:
            replies = messages(stream)
            assert await anext(replies) == question
            await met.send(id=question["id"], result={"action": "decline"})
            done = await anext(replies)
        assert (done["id"], json.loads(text_of(done))) == (7, {"action": "decline"})


async def test_events_that_are_not_kept_cannot_be_asked_for() -> None:
    async with talking({}) as talk:
        met = await talk.meet()
        for last in ("9-1", "nonsense", "1-x"):
            headers = {**heads(met.headers), "last-event-id": last}
            assert (await talk.http.get("/mcp", headers=headers)).status_code == 404, last


async def test_a_cancelled_call_is_cancelled_at_its_server_and_gets_no_answer() -> None:
    async with talking({"old": odd_server()}) as talk:
        met = await talk.meet(OLD)
        call = asyncio.create_task(hang(met))
        await talk.until("old", "called hang")
        await met.send(method="notifications/cancelled", params={"requestId": "h"})
        assert await call == []
        await talk.until("old", "cancelled 1")


async def hang(met: Legacy) -> list[object]:
    params = {"name": "hang", "arguments": {}}
    async with met.streaming(id="h", method="tools/call", params=params) as stream:
        return [message async for message in messages(stream)]


async def test_the_end_of_a_session_cancels_what_is_under_way_for_it() -> None:
    async with talking({"old": odd_server()}) as talk:
        met = await talk.meet(OLD)
        call = asyncio.create_task(hang(met))
        await talk.until("old", "called hang")
        await talk.http.delete(OLD, headers=heads(met.headers))
        assert await call == []
        await talk.until("old", "cancelled 1")


async def test_a_session_that_was_silent_too_long_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    async with talking({}) as talk:
        met = await talk.meet()
        monkeypatch.setattr("mcpyard.gateway.sessions.IDLE", -1.0)
        await talk.meet()
        assert (await met.send(id=1, method="ping")).status_code == 404


async def test_a_process_of_its_own_serves_each_client_that_wants_one() -> None:
    async with talking({"old": odd_server(isolation="per-client")}) as talk:
        first, second = await talk.meet(OLD), await talk.meet(OLD)
        await asyncio.gather(first.call("vanish"), second.call("cancelled"))
        listed = await talk.ask_modern("tools/list", OLD)
        assert "odd" in [tool["name"] for tool in listed["result"]["tools"]]
        assert text_of(await second.call("nonce", arguments={"text": "x"})) == "x"
        await pids_end(talk, first)


async def pids_end(talk: Talk, met: Legacy) -> None:
    """The end of a session ends the client's own process."""
    assert (await talk.http.delete(OLD, headers=heads(met.headers))).status_code == 204
