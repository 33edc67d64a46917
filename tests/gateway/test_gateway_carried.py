"""Only what the gateway carries is offered, to servers and to clients."""

from typing import Any

import orjson
import pytest

from mcpyard.domain.errors import ProtocolBroken
from mcpyard.gateway.abilities import carried
from mcpyard.gateway.exposures import without_tasks
from mcpyard.gateway.translating import without_task
from mcpyard.yard.calls.results import check_result
from tests.gateway.scripts import scripted, sent
from tests.gateway.talking import PREFIX, next_of, odd_server, talking

pytestmark = pytest.mark.real

UI = {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}
ALL: dict[str, Any] = {
    "sampling": {"context": {}, "tools": {}, "other": {}},
    "elicitation": {"form": {}, "url": {}},
    "roots": {"listChanged": True},
    "tasks": {"list": {}, "cancel": {}, "requests": {"sampling": {"createMessage": {}}}},
    "experimental": {"x": {}},
    "extensions": {"io.modelcontextprotocol/tasks": {}, **UI},
    "unknown": {},
}
CARRIED = {
    "sampling": {"context": {}, "tools": {}},
    "elicitation": {"form": {}, "url": {}},
    "roots": {},
    "extensions": UI,
}
TASK = {"taskId": "t-1", "status": "working", "ttl": 1000}
AS_TASK = {
    "legacy": {"task": TASK},
    "modern": {"resultType": "task", "task": TASK, **TASK},
}


def server(era: str, result: dict[str, Any]) -> dict[str, Any]:
    tools = [
        {
            "name": "plain",
            "inputSchema": {"type": "object"},
            "execution": {"taskSupport": "optional", "x": 1},
        }
    ]
    tasks = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
    offered = {"tasks": tasks, "extensions": {"io.modelcontextprotocol/tasks": {}}}
    answers = {"tools/list": tools, "tools/call plain": result, "capabilities": offered}
    return scripted(answers, era)


@pytest.mark.spec("F4.2")
@pytest.mark.parametrize("client", ["handshake", "modern"])
async def test_a_server_is_told_of_what_the_client_can_do_and_the_gateway_carries(
    client: str,
) -> None:
    async with talking({"one": server("modern", {"content": []})}) as talk:
        if client == "modern":
            answer = await talk.call("/mcp", "mcp_one_plain", ALL)
        else:
            answer = await (await talk.meet(capabilities=ALL)).call("mcp_one_plain")
        assert answer["result"]["content"] == []
        await talk.served.yard.stop("one", wait=5)
        (params,) = sent(talk, "one", "tools/call")
        assert params["_meta"][PREFIX + "clientCapabilities"] == CARRIED


@pytest.mark.spec("F4.2")
@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_a_server_that_answers_with_a_task_all_the_same_is_an_error(era: str) -> None:
    async with talking({"one": server(era, AS_TASK[era])}) as talk:
        met = await talk.meet(capabilities=ALL)
        for answer in (
            await talk.call("/mcp", "mcp_one_plain", ALL),
            await met.call("mcp_one_plain"),
            await met.call("mcp_one_plain", task={"ttl": 1000}),
        ):
            assert answer["error"]["data"]["problem"] == "protocol-broken"
            assert "task" in answer["error"]["message"]
        (account,) = talk.served.yard.accounts.by_server.values()
        assert account.errors == account.calls == 3
        await talk.served.yard.stop("one", wait=5)
        assert all("task" not in params for params in sent(talk, "one", "tools/call"))


@pytest.mark.spec("F4.2")
async def test_a_task_is_an_error_outside_the_gateway_too() -> None:
    async with talking({"one": server("legacy", AS_TASK["legacy"])}) as talk:
        with pytest.raises(ProtocolBroken, match="a task, which mcpyard does not support"):
            await talk.served.yard.call("mcp_one_plain")


@pytest.mark.spec("F4.2")
@pytest.mark.parametrize("path", ["/mcp/servers/old", "/mcp/servers/new"])
async def test_a_client_is_asked_for_an_answer_and_never_for_a_task(path: str) -> None:
    elicits = {"elicitation": {"form": {}}, "tasks": {"requests": {"elicitation": {"create": {}}}}}
    async with talking() as talk:
        met = await talk.meet(path, capabilities=elicits)
        asking = {"id": 1, "method": "tools/call", "params": {"name": "ask", "arguments": {}}}
        async with met.streaming(**asking) as stream:
            question = await next_of(stream, "elicitation/create")
            assert question["params"].keys() >= {"message", "requestedSchema"}
            assert "task" not in question["params"]


@pytest.mark.spec("F4.2")
async def test_a_result_that_asks_on_behalf_of_a_server_asks_for_no_task() -> None:
    async with talking({"old": odd_server()}) as talk:
        response = await talk.call("/mcp/servers/old", "ask", ALL)
        (question,) = response["result"]["inputRequests"].values()
        assert "task" not in question["params"]


@pytest.mark.spec("F4.2")
@pytest.mark.parametrize("path", ["/mcp", "/mcp/servers/one"])
async def test_tasks_are_not_offered_to_clients(path: str) -> None:
    async with talking({"one": server("legacy", {"content": []})}) as talk:
        offered = (await talk.meet(path)).initialize_result["capabilities"]
        capabilities = (await talk.ask_modern("server/discover", path))["result"]["capabilities"]
        assert capabilities == offered
        assert offered.keys() <= {"tools", "resources", "prompts", "completions", "logging"}
        listed = (await talk.ask_modern("tools/list", path))["result"]["tools"]
        assert [tool["execution"] for tool in listed] == [{"x": 1}]
        for method in ("tasks/get", "tasks/list", "tasks/cancel", "tasks/result"):
            refused = await talk.ask_modern(method, path, taskId="t-1")
            assert refused["error"]["code"] == -32601


@pytest.mark.spec("F4.2")
async def test_one_server_offers_subscriptions_only_if_it_has_them() -> None:
    silent = scripted({"capabilities": {"resources": {}}})
    async with talking({"silent": silent, "old": odd_server()}) as talk:
        offered = (await talk.meet("/mcp/servers/silent")).initialize_result["capabilities"]
        assert offered["resources"] == {"listChanged": True}
        offered = (await talk.meet("/mcp/servers/old")).initialize_result["capabilities"]
        assert offered["resources"] == {"listChanged": True, "subscribe": True}


@pytest.mark.parametrize(
    ("capabilities", "expected"),
    [
        (None, {}),
        ([], {}),
        ({}, {}),
        ({"sampling": True, "elicitation": None, "roots": {}}, {"roots": {}}),
        ({"extensions": {"x": {}}}, {}),
        ({"extensions": 1}, {}),
        (ALL, CARRIED),
    ],
)
def test_capabilities_of_any_shape_are_cut_to_what_is_carried(
    capabilities: object, expected: object
) -> None:
    assert orjson.loads(carried(capabilities)) == expected


@pytest.mark.parametrize(
    ("execution", "expected"),
    [({"taskSupport": "required"}, None), ({"x": 1}, {"x": 1}), ("odd", "odd")],
)
def test_only_the_support_of_tasks_is_left_out_of_a_tool(
    execution: object, expected: object
) -> None:
    assert without_tasks({"name": "t", "execution": execution}).get("execution") == expected


@pytest.mark.parametrize(
    "raw",
    [
        b'{"resultType":"task","taskId":"t"}',
        b'{"resultType":"task","task":"t"}',
        b'{"task":{"taskId":"t","status":"working"},"_meta":{}}',
        b'{"task":{"taskId":"t","statusMessage":"' + b"t" * 70_000 + b'"}}',
    ],
)
def test_a_task_is_known_in_either_spelling(raw: bytes) -> None:
    with pytest.raises(ProtocolBroken, match="task"):
        check_result(raw)


@pytest.mark.parametrize("params", [b"{}", b'["task"]', b'{"x":{"task":1}}'])
def test_a_question_that_asks_for_no_task_stays_as_it_is(params: bytes) -> None:
    assert without_task(params) is params


@pytest.mark.parametrize(
    "raw",
    [
        b'{"content":[],"task":{"taskId":"t"}}',
        b'{"structuredContent":{"task":{"taskId":"t"}},"resultType":"complete"}',
        b'{"content":[{"type":"text","text":"task"}],"x":"task"}',
        b'{"task":"tidy up"}',
        b'{"task":{"taskId":"' + b"t" * 1_100_000 + b'"}}',
    ],
)
def test_a_result_that_speaks_of_tasks_is_a_result(raw: bytes) -> None:
    check_result(raw)
