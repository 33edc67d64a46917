"""What the gateway refuses, and in which words."""

import asyncio
import json
from collections.abc import AsyncGenerator

import httpx2
import pytest

from tests.gateway.talking import MODERN, PREFIX, Talk, heads, odd_server, talking, text_of

pytestmark = pytest.mark.real

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


async def refused(
    talk: Talk, body: bytes | object, path: str = "/mcp", **headers: str
) -> tuple[int, int]:
    """The HTTP status and the error code of a refusal."""
    came = await talk.post(body, path, **headers)
    return came.status_code, came.json()["error"]["code"]


async def test_a_post_must_bring_json_and_take_both_kinds_of_answer() -> None:
    async with talking({}) as talk:
        plain = await talk.post(PING, **{"Content-Type": "text/plain"})
        narrow = await talk.post(PING, Accept="application/json")
        assert (plain.status_code, narrow.status_code) == (415, 406)
        wide = await talk.post(PING, Accept="*/*")
        assert wide.status_code == 400
        assert "initialize" in wide.json()["error"]["message"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"[" + json.dumps(PING).encode() + b"]", -32600),
        (b"{", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping\xff"}', -32700),
        (b"", -32700),
        (b"[" * 5000, -32600),
        (b'"text"', -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600),
    ],
)
async def test_what_is_no_message_is_refused_with_a_reason(body: bytes, code: int) -> None:
    async with talking({}) as talk:
        assert await refused(talk, body) == (400, code)


@pytest.mark.parametrize("number", [10**30, -(10**30), 2**63, "\u2028"])
async def test_an_id_comes_back_as_it_was_sent_whatever_its_size(number: int | str) -> None:
    async with talking({}) as talk:
        came = await (await talk.meet()).send(id=number, method="ping")
        assert came.json() == {"jsonrpc": "2.0", "id": number, "result": {}}
        body, headers = talk.modern("nonsense", {})
        assert (await talk.post({**body, "id": number}, **headers)).json()["id"] == number


async def test_a_body_over_the_limit_is_refused_before_it_is_read() -> None:
    async with talking({}) as talk:
        large = await talk.post(b" " * 5_000_000)
        assert large.status_code == 413


async def test_a_body_that_says_no_length_is_counted_as_it_comes() -> None:
    async def endless() -> AsyncGenerator[bytes]:
        for _ in range(50):
            yield b" " * 100_000

    async with talking({}) as talk:
        came = await talk.http.post("/mcp", content=endless(), headers=heads({}))
        assert came.status_code == 413


async def test_unknown_addresses_are_not_found() -> None:
    async with talking({}) as talk:
        for path in ("/mcp/nobody", "/mcp/servers/nobody", "/mcp/a/b/c", "/mcp/servers"):
            body, headers = talk.modern("tools/list", {})
            assert (await talk.post(body, path, **headers)).status_code == 404, path


async def test_headers_that_differ_from_the_body_are_refused() -> None:
    async with talking({}) as talk:
        body, headers = talk.modern("tools/list", {})
        wrong = [
            {**headers, "Mcp-Method": "tools/call"},
            {key: headers[key] for key in headers if key != "Mcp-Method"},
            {**headers, "MCP-Protocol-Version": "2099-01-01"},
        ]
        assert [await refused(talk, body, **each) for each in wrong] == [(400, -32020)] * 3
        called, named = talk.modern("tools/call", {"name": "x", "arguments": {}})
        assert await refused(talk, called, **{**named, "Mcp-Name": "y"}) == (400, -32020)
        encoded = {**named, "Mcp-Name": "=?base64?eA==?="}
        assert await refused(talk, called, **encoded) == (400, -32602)


async def test_a_header_that_comes_twice_is_refused() -> None:
    async with talking({}) as talk:
        body, headers = talk.modern("tools/list", {})
        twice = [*heads(headers).items(), ("mcp-method", "tools/list")]
        raw = [(name.encode(), value.encode()) for name, value in twice]
        came = await talk.http.post("/mcp", content=json.dumps(body).encode(), headers=raw)
        assert (came.status_code, came.json()["error"]["code"]) == (400, -32020)


async def test_a_revision_that_is_not_spoken_is_refused_with_those_that_are() -> None:
    async with talking({}) as talk:
        body, headers = talk.modern("tools/list", {})
        body["params"]["_meta"][PREFIX + "protocolVersion"] = "2099-01-01"
        came = await talk.post(body, **{**headers, "MCP-Protocol-Version": "2099-01-01"})
        assert (came.status_code, came.json()["error"]["code"]) == (400, -32022)
        assert came.json()["error"]["data"]["supported"][0] == MODERN


async def test_a_request_that_does_not_say_who_asks_is_refused() -> None:
    async with talking({}) as talk:
        body, headers = talk.modern("tools/list", {})
        del body["params"]["_meta"][PREFIX + "clientCapabilities"]
        assert await refused(talk, body, **headers) == (400, -32602)


async def test_methods_that_the_modern_era_gave_up_are_not_known_in_it() -> None:
    async with talking({}) as talk:
        for method in ("ping", "logging/setLevel", "resources/subscribe", "initialize", "nonsense"):
            body, headers = talk.modern(method, {})
            assert await refused(talk, body, **headers) == (404, -32601), method
        got = await talk.http.get("/mcp", headers=heads({"MCP-Protocol-Version": MODERN}))
        assert got.status_code == 405


async def test_a_session_that_is_unknown_over_or_somebody_elses_is_not_found() -> None:
    async with talking({}) as talk:
        met = await talk.meet()
        assert (await talk.post(PING, **{"Mcp-Session-Id": "made-up"})).status_code == 404
        assert (await talk.post(PING)).status_code == 400
        assert (await met.ask("ping"))["result"] == {}
        gone = await talk.http.delete("/mcp", headers=heads(met.headers))
        assert gone.status_code == 204
        assert (await met.send(**PING)).status_code == 404
        other = await talk.meet("/mcp")
        elsewhere = await talk.post(PING, "/mcp/", **other.headers)
        assert elsewhere.status_code == 404


async def test_an_id_that_is_in_use_is_refused_and_the_first_call_goes_on() -> None:
    async with talking({"old": odd_server()}) as talk:
        met = await talk.meet("/mcp/servers/old")
        params = {"name": "hang", "arguments": {}}
        first = asyncio.create_task(met.send(id="a", method="tools/call", params=params))
        await talk.until("old", "called hang")
        second = await met.send(id="a", method="ping")
        assert (second.status_code, second.json()["error"]["code"]) == (400, -32600)
        await met.send(method="notifications/cancelled", params={"requestId": "a"})
        await first
        assert text_of(await met.call("cancelled")) == "1"


async def test_a_tool_that_vanished_since_it_was_listed_is_unknown() -> None:
    async with talking({"old": odd_server()}) as talk:
        events = talk.served.yard.events()
        await talk.call("/mcp", "mcp_old_vanish")
        async for event in events:
            if event.kind == "tools":
                break
        answer = await talk.call("/mcp", "mcp_old_odd")
        assert answer["error"]["code"] == -32602
        assert "mcp_old_odd" in answer["error"]["message"]


async def test_arguments_that_break_the_schema_never_reach_the_server() -> None:
    async with talking({"old": odd_server()}) as talk:
        path = "/mcp/servers/old"
        modern = await talk.call(path, "nonce", arguments={"text": 7})
        assert modern["result"]["isError"] is True
        newest = await (await talk.meet(path)).call("nonce", arguments={"text": 7})
        assert newest["result"]["isError"] is True
        oldest = await (await talk.meet(path, "2024-11-05")).call("nonce", arguments={"text": 7})
        assert oldest["error"]["code"] == -32602
        no_object = await talk.call(path, "nonce", arguments=[1])
        assert no_object["result"]["isError"] is True


async def test_a_client_that_goes_away_cancels_its_call_at_the_server() -> None:
    async with talking() as talk:
        for server in ("old", "new"):
            body, headers = talk.modern("tools/call", {"name": "hang", "arguments": {}})
            async with httpx2.AsyncClient(base_url=talk.served.url, timeout=20) as other:
                content = json.dumps(body).encode()
                leaving = asyncio.create_task(
                    other.post(f"/mcp/servers/{server}", content=content, headers=heads(headers))
                )
                await talk.until(server, "called hang")
                leaving.cancel()
                await asyncio.wait({leaving})
            await talk.until(server, "cancelled 1")
            assert text_of(await talk.call(f"/mcp/servers/{server}", "cancelled")) == "1"


async def test_a_request_that_went_through_too_many_yards_is_refused() -> None:
    async with talking({"old": odd_server()}) as talk:
        params = {"name": "nonce", "arguments": {"text": "x"}}
        for hops, code in ((3, None), (4, -32600), (-1, -32600), ("x", -32600)):
            body, headers = talk.modern("tools/call", params, **{"mcpyard/hops": hops})
            came = (await talk.post(body, "/mcp/servers/old", **headers)).json()
            assert came.get("error", {}).get("code") == code, hops


async def test_an_error_says_which_server_it_is_about() -> None:
    async with talking() as talk:
        answer = await talk.call("/mcp", "mcp_old_die")
        assert answer["error"]["message"].startswith('the server "old": the process exited')
