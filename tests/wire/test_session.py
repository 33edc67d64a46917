import asyncio
from typing import Any

import pytest

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.errors import Disconnected, ProtocolBroken
from mcpyard.domain.ports import CallTerms
from mcpyard.wire.eras import ClientFace
from mcpyard.wire.session import Handlers, Opening, ServerSession, open_session
from tests.wire.fakes import FakeLink, RpcFailure, turns

FACE = ClientFace("yard", "1.0")
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s"}}
DISCOVERED = {"supportedVersions": ["2026-07-28"], "capabilities": {}}
LISTENING = {**DISCOVERED, "capabilities": {"tools": {"listChanged": True}, "prompts": {}}}
TERMS = CallTerms(timeout=2)
PREFIX = "io.modelcontextprotocol/"


async def legacy(link: FakeLink, handlers: Handlers | None = None) -> ServerSession:
    link.script["initialize"] = lambda _: HELLO
    return await open_session(link, FACE, Opening(2, "handshake"), handlers)


async def modern(
    link: FakeLink,
    handlers: Handlers | None = None,
    discovered: dict[str, Any] | None = None,
    pause: float = 0.01,
) -> ServerSession:
    link.script["server/discover"] = lambda _: discovered or DISCOVERED
    return await open_session(link, FACE, Opening(2, pause=pause), handlers)


async def test_a_call_in_the_handshake_era_is_bare() -> None:
    link = FakeLink()
    session = await legacy(link)
    link.script["tools/call"] = lambda params: {"echo": params}
    reply = await session.call_tool('do "it"', b'{"a":1}', TERMS)
    assert reply.value == {"echo": {"name": 'do "it"', "arguments": {"a": 1}}}
    assert dict(link.sent[-1].headers) == {}


async def test_a_call_in_the_modern_era_carries_meta_and_headers() -> None:
    link = FakeLink()
    session = await modern(link)
    link.script["tools/call"] = lambda params: params
    reply = await session.call_tool("Größe", {"a": 1}, TERMS)
    assert reply.value == {
        "name": "Größe",
        "arguments": {"a": 1},
        "_meta": {
            PREFIX + "protocolVersion": "2026-07-28",
            PREFIX + "clientCapabilities": {},
            PREFIX + "clientInfo": {"name": "yard", "version": "1.0"},
        },
    }
    assert dict(link.sent[-1].headers) == {
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": "=?base64?R3LDtsOfZQ==?=",
    }


async def test_capabilities_log_level_and_progress_can_be_those_of_one_request() -> None:
    link = FakeLink()
    session = await modern(link)
    link.script["tools/call"] = lambda params: params["_meta"]
    terms = CallTerms(
        timeout=2,
        capabilities=b'{"sampling":{}}',
        log_level="debug",
        progress=lambda _: None,
    )
    meta: Any = (await session.call_tool("t", {}, terms)).value
    assert meta[PREFIX + "clientCapabilities"] == {"sampling": {}}
    assert meta[PREFIX + "logLevel"] == "debug"
    assert meta["progressToken"] == link.sent[-1].id
    assert link.sent[-1].headers["Mcp-Name"] == "t"


async def test_the_callers_own_meta_is_kept_beside_ours() -> None:
    link = FakeLink()
    session = await modern(link)
    link.script["resources/read"] = lambda params: params
    params = b'{"uri":"file:///a","_meta":{"trace":7,"io.modelcontextprotocol/clientInfo":0}}'
    sent: Any = (await session.request("resources/read", params, TERMS)).value
    assert sent["_meta"]["trace"] == 7
    assert sent["_meta"][PREFIX + "clientInfo"]["name"] == "yard"
    assert link.sent[-1].headers["Mcp-Name"] == "file:///a"


async def test_input_required_passes_through_as_the_result() -> None:
    link = FakeLink()
    session = await modern(link)
    result = {"resultType": "input_required", "inputRequests": {"a": {}}, "requestState": "x"}
    link.script["tools/call"] = lambda _: result
    assert (await session.call_tool("t", {}, TERMS)).value == result


async def test_arguments_the_schema_marks_are_repeated_in_headers() -> None:
    link = FakeLink()
    session = await modern(link)
    region = {"type": "string", "x-mcp-header": "Region"}
    schema = {"type": "object", "properties": {"where": region}}
    bad = {"type": "object", "properties": {"n": {"type": "number", "x-mcp-header": "N"}}}
    tools = [
        {"name": "go", "inputSchema": schema, "vendor": [1]},
        {"name": "x", "inputSchema": bad},
    ]
    link.script["tools/list"] = lambda _: {"tools": tools, "ttlMs": 9}
    link.script["tools/call"] = lambda _: {}
    listed = await session.list_tools()
    assert (listed.tools, listed.ttl_ms) == ((tools[0],), 9)
    await session.call_tool("go", b'{"where":"eu west"}', TERMS)
    assert link.sent[-1].headers["Mcp-Param-Region"] == "eu west"
    await session.request("tools/call", {"name": "go", "arguments": {"where": "x"}}, TERMS)
    assert link.sent[-1].headers["Mcp-Param-Region"] == "x"
    await session.call_tool("go", {}, TERMS)
    assert "Mcp-Param-Region" not in link.sent[-1].headers


async def test_all_pages_are_followed_and_tools_kept_whole() -> None:
    link = FakeLink()
    session = await legacy(link)
    pages: dict[Any, Any] = {
        None: {"tools": [{"name": "a", "future": {"x": 1}}, 5], "nextCursor": "2", "ttlMs": 50},
        "2": {"tools": [{"name": "b"}], "nextCursor": "", "ttlMs": 20},
    }
    link.script["tools/list"] = lambda params: pages[params.get("cursor")]
    listed = await session.list_tools()
    assert listed.tools == ({"name": "a", "future": {"x": 1}}, {"name": "b"})
    assert listed.ttl_ms == 20


@pytest.mark.parametrize(
    ("page", "message"),
    [
        ({"tools": [], "nextCursor": "again"}, "loop"),
        ({"tools": [{}] * 10_001}, "more than 10000"),
        ({"tools": {}}, "no list"),
        ([], "no list"),
    ],
)
async def test_a_hostile_tool_list_is_refused(page: object, message: str) -> None:
    link = FakeLink()
    session = await legacy(link)
    link.script["tools/list"] = lambda _: page
    with pytest.raises(ProtocolBroken, match=message):
        await session.list_tools()


async def test_a_tool_list_without_end_is_refused() -> None:
    link = FakeLink()
    session = await legacy(link)
    link.script["tools/list"] = lambda params: {
        "tools": [],
        "nextCursor": params.get("cursor", "") + "x",
    }
    with pytest.raises(ProtocolBroken, match="more than 200 pages"):
        await session.list_tools()


async def test_a_change_told_by_notification_reaches_its_handler_and_the_rest_the_other() -> None:
    link = FakeLink()
    changes: list[str] = []
    other: list[str] = []
    handlers = Handlers(changes.append, lambda method, *_: other.append(method))
    await legacy(link, handlers)
    for kind in ("tools", "prompts", "resources"):
        link.say({"method": f"notifications/{kind}/list_changed"})
    link.say({"method": "notifications/message", "params": {}})
    await turns()
    assert changes == ["tools", "prompts", "resources"]
    assert other == ["notifications/message"]


async def test_a_modern_server_is_listened_to_and_again_when_the_stream_ends() -> None:
    link = FakeLink()
    changes: list[str] = []
    session = await modern(link, Handlers(changes.append), LISTENING)
    request = await link.until_sent(2)
    assert link.bodies[1]["params"]["notifications"] == {"toolsListChanged": True}
    assert request.headers["Mcp-Method"] == "subscriptions/listen"
    link.say({"method": "notifications/tools/list_changed", "params": {}}, request.id)
    await turns()
    assert changes == ["tools"]
    assert request.id is not None
    link.receiver.failed(request.id, Cause(Code.CLOSED, "cut"))
    again = await link.until_sent(3)
    assert again.method == "subscriptions/listen"
    assert changes == ["tools", "tools"]
    link.answer(again.id, {"resultType": "complete"})
    third = await link.until_sent(4)
    link.say({"method": "notifications/cancelled", "params": {"requestId": third.id}})
    await link.until_sent(5)
    await session.close()
    assert link.methods[2:] == ["subscriptions/listen"] * 3 + ["notifications/cancelled"]


async def test_a_server_that_does_not_offer_listening_is_not_asked_again() -> None:
    link = FakeLink()
    link.script["subscriptions/listen"] = lambda _: RpcFailure(-32601)
    session = await modern(link, None, LISTENING, pause=0)
    await link.until_sent(2)
    await turns(20)
    assert link.methods == ["server/discover", "subscriptions/listen"]
    await session.close()


async def test_loss_ends_the_listening_and_is_told_once() -> None:
    link = FakeLink()
    lost: list[Cause] = []
    session = await modern(link, Handlers(on_lost=lost.append), LISTENING, pause=0)
    await link.until_sent(2)
    cause = Cause(Code.EXITED, "exited")
    link.receiver.lost(cause)
    await turns(20)
    assert lost == [cause]
    with pytest.raises(Disconnected, match="exited"):
        await session.call_tool("t", {}, TERMS)
    await session.close()
    assert len(link.sent) == 2


async def test_closing_fails_the_calls_in_flight() -> None:
    link = FakeLink()
    session = await legacy(link)
    call = asyncio.create_task(session.call_tool("t", {}, TERMS))
    await link.until_sent(3)
    assert session.in_flight == 1
    await session.close()
    with pytest.raises(Disconnected):
        await call
    assert link.closed == 1
