"""What the routes answer, on real servers."""

import asyncio

import httpx2
import pytest

from mcpyard.domain.definition.quantities import MAX_TIMEOUT
from tests.api.asgi import YardApi, asked_yard
from tests.cli.commands import echo
from tests.web.test_running_calls import asking

pytestmark = pytest.mark.real

CALL = "/api/mcp/servers/one/tools/echo/call"


def problem(answer: httpx2.Response) -> tuple[int, str]:
    body = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert body["status"] == answer.status_code
    assert body["title"]
    assert body["detail"]
    assert body["hint"]
    return body["status"], body["type"].removeprefix("urn:mcpyard:error:")


async def test_servers_are_shown_with_and_without_their_tools() -> None:
    async with asked_yard(one=echo(), off=echo(enabled=False)) as api:
        off, one = (await api.get("/api/mcp/servers")).json()
        assert (one["name"], one["status"], one["toolCount"]) == ("one", "connected", 7)
        assert one["tools"][0]["name"] == "echo"
        assert (off["status"], off["state"], off["tools"]) == ("disconnected", "stopped", [])
        for brief in (await api.get("/api/mcp/servers?tools=0")).json():
            assert "tools" not in brief
        by_name = (await api.get("/api/mcp/servers/one")).json()
        assert by_name.pop("figures")["rss"] > 0
        assert by_name == one
        by_id = (await api.get(f"/api/mcp/servers/{one['id']}")).json()
        assert by_id.pop("figures")["processes"] == 1
        assert by_id == one
        health = (await api.get("/healthz")).json()
        assert health == {
            "ok": True,
            "servers": {"off": "disconnected", "one": "connected"},
            "problems": [],
        }


async def test_tools_are_shown_of_one_server_and_of_all() -> None:
    async with asked_yard(one=echo(), two=echo()) as api:
        tools = (await api.get("/api/mcp/servers/one/tools")).json()
        assert tools[0]["exposedName"] == "mcp_one_echo"
        assert tools[0]["inputSchema"]["required"] == ["text"]
        everything = (await api.get("/api/mcp/tools")).json()
        assert {each["server"] for each in everything} == {"one", "two"}


async def test_a_tool_is_called_by_its_own_name_and_by_its_exposed_one() -> None:
    async with asked_yard(one=echo()) as api:
        for path in (CALL, "/api/mcp/tools/mcp_one_echo/call"):
            outcome = (await api.post(path, {"arguments": {"text": "hi"}})).json()
            assert outcome["content"] == [{"type": "text", "text": "hi"}]
            assert outcome["structuredContent"] == {"kept": [1, {"x": None}]}
            assert (outcome["yard"]["server"], outcome["yard"]["tool"]) == ("one", "echo")
        assert (await api.client.post("/api/mcp/tools/mcp_one_log/call")).status_code == 200


async def test_names_that_hold_slashes_and_question_marks_are_found() -> None:
    async with asked_yard(**{"@a/b?": echo()}) as api:
        assert (await api.get("/api/mcp/servers/%40a%2Fb%3F")).json()["name"] == "@a/b?"
        called = await api.post("/api/mcp/servers/%40a%2Fb%3F/tools/a%2Fb%3F/call", {})
        assert called.json()["yard"]["tool"] == "a/b?"


async def test_a_tool_that_says_error_is_no_error_of_the_call() -> None:
    async with asked_yard(one=echo()) as api:
        outcome = await api.post("/api/mcp/tools/mcp_one_fail/call", {})
        assert (outcome.status_code, outcome.json()["isError"]) == (200, True)


async def test_each_failure_of_a_call_has_its_problem() -> None:
    async with asked_yard(one=echo()) as api:
        assert problem(await api.post(CALL, {"arguments": {}})) == (422, "invalid-arguments")
        assert problem(await api.post("/api/mcp/tools/no/call", {})) == (404, "tool-unknown")
        nobody = await api.post("/api/mcp/servers/no/tools/echo/call", {})
        assert problem(nobody) == (404, "server-unknown")
        late = await api.post("/api/mcp/tools/mcp_one_hang/call", {"timeoutMs": 50})
        assert problem(late) == (504, "timed-out")
        refused = await api.post("/api/mcp/tools/mcp_one_refuse/call", {})
        assert problem(refused) == (502, "call-refused")
        assert refused.json()["rpc"] == {"code": -32099, "data": {"why": "rain"}}


async def test_the_problem_of_a_lost_server_tells_its_cause() -> None:
    async with asked_yard(one=echo()) as api:
        await api.post("/api/mcp/servers/one/stop")
        lost = await api.post(CALL, {"arguments": {"text": "hi"}})
        assert problem(lost) == (502, "disconnected")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b"[]", ""),
        (b'{"arguments": []}', "arguments"),
        (b'{"arguments": null}', "arguments"),
        (b'{"timeoutMs": 0}', "timeoutMs"),
        (b'{"timeoutMs": true}', "timeoutMs"),
        (b'{"timeoutMs": "5"}', "timeoutMs"),
        (b'{"timeoutMs": %d}' % (MAX_TIMEOUT + 1), "timeoutMs"),
        (b'{"timeout": 5}', "timeout"),
    ],
)
async def test_a_body_of_the_wrong_shape_is_refused_with_its_field(body: bytes, field: str) -> None:
    async with asked_yard() as api:
        refused = await api.client.post("/api/mcp/tools/x/call", content=body)
        assert problem(refused) == (422, "invalid-arguments")
        assert [each["field"] for each in refused.json()["problems"]] == [field]


@pytest.mark.parametrize("body", [b"{", b"nonsense", b'{"a": NaN}', b"\xff", b'{"a": "\\ud800"}'])
async def test_a_body_that_is_not_json_is_refused(body: bytes) -> None:
    async with asked_yard() as api:
        refused = await api.client.post("/api/mcp/tools/x/call", content=body)
        assert problem(refused) == (400, "bad-json")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b'{"arguments": {"a": [1, %b]}}', "arguments.a[1]"),
        (b'{"timeoutMs": -%b.5}', "timeoutMs"),
        (b"%b", "body"),
    ],
)
async def test_a_number_that_no_program_can_hold_is_refused_with_its_field(
    body: bytes, field: str
) -> None:
    async with asked_yard() as api:
        digits = body % (b"9" * 10_000)
        refused = await api.client.post("/api/mcp/tools/x/call", content=digits)
        assert problem(refused) == (422, "invalid-arguments")
        [fault] = refused.json()["problems"]
        assert fault == {"field": field, "message": "has more than 308 digits"}


async def test_what_is_no_route_is_a_problem_too() -> None:
    async with asked_yard() as api:
        assert problem(await api.get("/api/mcp/nothing")) == (404, "no-route")
        assert problem(await api.get("/api/mcp/servers/")) == (404, "no-route")
        wrong = await api.client.delete("/api/mcp/servers")
        assert problem(wrong) == (405, "wrong-method")
        assert "GET" in wrong.headers["allow"]


async def test_a_path_that_is_not_utf8_names_nothing() -> None:
    async with asked_yard() as api:
        url = httpx2.URL("http://127.0.0.1", raw_path=b"/api/mcp/servers/%ff")
        assert problem(await api.client.get(url)) == (404, "server-unknown")


async def test_servers_are_stopped_started_and_restarted() -> None:
    async with asked_yard(one=echo(), off=echo(enabled=False)) as api:
        stopped = (await api.post("/api/mcp/servers/one/stop")).json()
        assert (stopped["state"], stopped["pid"]) == ("stopped", None)
        started = (await api.post("/api/mcp/servers/one/start")).json()
        assert started["status"] == "connected"
        again = (await api.post("/api/mcp/servers/one/restart?wait=9.5")).json()
        assert again["pid"] not in {None, started["pid"]}
        assert problem(await api.post("/api/mcp/servers/off/start")) == (409, "disabled")
        assert problem(await api.post("/api/mcp/servers/no/stop")) == (404, "server-unknown")


@pytest.mark.parametrize("wait", ["-1", "nan", "inf", "soon", "601"])
async def test_a_wait_that_is_no_time_is_refused(wait: str) -> None:
    async with asked_yard() as api:
        refused = await api.post(f"/api/mcp/servers/one/start?wait={wait}")
        assert problem(refused) == (422, "invalid-arguments")


async def test_a_mistake_of_ours_is_a_problem_without_its_details(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with asked_yard() as api:
        monkeypatch.setattr(api.yard, "pictures", None)
        answer = await api.get("/api/mcp/servers")
        assert problem(answer) == (500, "internal")
        assert "NoneType" not in answer.text


async def test_logs_are_shown_as_numbered_lines() -> None:
    async with asked_yard(one=echo()) as api:
        await say(api, "a first line")
        lines = (await api.get("/api/mcp/servers/one/logs")).json()
        assert [each["number"] for each in lines] == [1, 2]
        assert lines[1]["text"] == "a first line"
        assert problem(await api.get("/api/mcp/servers/no/logs")) == (404, "server-unknown")


@pytest.mark.spec("F6.3")
async def test_prompts_and_resources_are_listed_filled_in_and_read() -> None:
    one = "/api/mcp/servers/asking"
    async with asked_yard(asking=asking()) as api:
        (notes, _) = (await api.get(f"{one}/resources")).json()
        assert (notes["uri"], notes["mimeType"]) == ("test://notes.md", "text/markdown")
        (template,) = (await api.get(f"{one}/resources/templates")).json()
        assert template["uriTemplate"] == "test://city/{name}{?year}"
        (part,) = (await api.get(f"{one}/resources/read?uri=test://notes.md")).json()["contents"]
        assert part["text"].startswith("# Notes")
        assert problem(await api.get(f"{one}/resources/read")) == (422, "invalid-arguments")
        missing = await api.get(f"{one}/resources/read?uri=a:b")
        assert problem(missing) == (422, "invalid-arguments")
        greet, _ = (await api.get(f"{one}/prompts")).json()
        assert greet["arguments"] == [
            {"name": "city", "description": "Which one", "required": True}
        ]
        body = {"arguments": {"city": "Oslo"}}
        prompt = (await api.post(f"{one}/prompts/greet/get", body)).json()
        assert prompt["messages"][0]["content"]["text"] == "Greet **Oslo** warmly."
        wrong = await api.post(f"{one}/prompts/greet/get", {"arguments": {"city": 5}})
        assert problem(wrong) == (422, "invalid-arguments")
        begun = {"prompt": "greet", "argument": "city", "value": "pa"}
        values = (await api.post(f"{one}/complete", begun)).json()
        assert values == {"values": ["Paris"], "total": 1, "hasMore": False}
        both = await api.post(f"{one}/complete", {**begun, "template": "x"})
        assert problem(both) == (422, "invalid-arguments")


@pytest.mark.spec("F6.3")
async def test_log_messages_are_filtered_by_source_and_level() -> None:
    one = "/api/mcp/servers/asking"
    async with asked_yard(asking=asking()) as api:
        await api.post(f"{one}/tools/log/call", {"arguments": {"text": "x"}})
        levels = [each["level"] for each in (await api.get(f"{one}/logs")).json()]
        assert levels == ["debug", "error"]
        severe = (await api.get(f"{one}/logs?source=mcp&level=warning")).json()
        assert [(each["level"], each["logger"]) for each in severe] == [("error", "db")]
        assert (await api.get(f"{one}/logs?source=stderr")).json() == []
        assert problem(await api.get(f"{one}/logs?level=loud")) == (422, "invalid-arguments")
        set_level = await api.client.put(f"{one}/log-level", json={"level": "error"})
        assert set_level.json() == (await api.get(f"{one}/log-level")).json() == {"level": "error"}
        wrong = await api.client.put(f"{one}/log-level", json={"level": "loud"})
        assert problem(wrong) == (422, "invalid-arguments")


async def say(api: YardApi, line: str) -> None:
    await api.post("/api/mcp/tools/mcp_one_log/call", {"arguments": {"line": line}})
    async with asyncio.timeout(5):
        while line not in (await api.get("/api/mcp/servers/one/logs")).text:
            """It comes by another pipe than the answer, and may be later."""
