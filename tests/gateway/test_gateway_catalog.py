"""What each address shows: lists come from the catalog, whatever the servers do."""

from urllib.parse import quote

import pytest

from tests.gateway.serving import BEARER
from tests.gateway.talking import ASKS, Message, Talk, heads, odd_server, talking, text_of
from tests.runtime.waiting import eventually

pytestmark = pytest.mark.real


async def names(talk: Talk, path: str = "/mcp") -> set[str]:
    listed = await talk.ask_modern("tools/list", path)
    return {tool["name"] for tool in listed["result"]["tools"]}


async def test_a_server_that_somebody_stopped_is_not_listed_and_not_started_by_a_call() -> None:
    async with talking({"old": odd_server()}) as talk:
        assert "mcp_old_odd" in await names(talk)
        await talk.served.yard.stop("old", wait=5)
        assert await names(talk) == set()
        answer = await talk.call("/mcp", "mcp_old_odd")
        assert "mcp_old_odd" in answer["error"]["message"]
        assert talk.served.yard.record("old").status == "disconnected"


async def test_a_server_on_demand_rests_when_idle_stays_listed_and_is_started_by_a_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mcpyard.domain.limits.ON_DEMAND_IDLE", 0.05)
    async with talking({"old": odd_server()}) as talk:
        yard = talk.served.yard
        yard.code.remove("old")
        yard.code.add("old", odd_server(wanted="on_demand"))
        before = await names(talk)
        for words in ("first", "again"):
            answer = await talk.call("/mcp", "mcp_old_nonce", arguments={"text": words})
            assert text_of(answer) == words
            rests = await eventually(lambda: yard.record("old").state == "stopped", 10)
            assert rests
            assert await names(talk) == before


async def test_a_profile_shows_what_it_selects_under_its_names() -> None:
    async with talking() as talk:
        tools = {
            "odd": {"name": "strange", "description": "Says odd things."},
            "hang": {"enabled": False},
        }
        body = {"name": "mine", "servers": ["o*"], "tools": {"old": tools}}
        await talk.served.yard.profiles.create(body)
        tool_names = await names(talk, "/mcp/mine")
        assert "strange" in tool_names
        assert not tool_names & {"mcp_old_odd", "mcp_old_hang", "mcp_new_odd"}
        listed = await talk.ask_modern("tools/list", "/mcp/mine")
        (odd_one,) = [tool for tool in listed["result"]["tools"] if tool["name"] == "strange"]
        assert odd_one["description"] == "Says odd things."
        assert (await talk.call("/mcp/mine", "strange"))["result"]["x-vendor"]
        hidden = await talk.call("/mcp/mine", "mcp_old_hang")
        assert hidden["error"]["code"] == -32602


async def test_a_call_stands_in_the_journal_under_the_name_of_its_caller() -> None:
    async with talking({"old": odd_server()}) as talk:
        await talk.call("/mcp", "mcp_old_nonce", arguments={"text": "x"})
        await talk.call("/mcp", "mcp_old_nonce", arguments={"text": 1})
        (account,) = talk.served.yard.accounts.by_server.values()
        assert (account.calls, account.errors) == (1, 0)


async def test_a_call_token_opens_the_gateway_and_one_of_a_profile_that_profile_alone() -> None:
    async with talking({"old": odd_server()}) as talk:
        await talk.served.yard.profiles.create({"name": "mine"})
        every = await token(talk, {"name": "every"})
        one = await token(talk, {"name": "one", "profile": "mine"})
        reached = {
            (who, path): await status(talk, path, bearer)
            for who, bearer in (("every", every), ("one", one))
            for path in ("/mcp", "/mcp/mine", "/mcp/servers/old", "/api/mcp/servers")
        }
        assert reached == {
            ("every", "/mcp"): 200,
            ("every", "/mcp/mine"): 200,
            ("every", "/mcp/servers/old"): 200,
            ("every", "/api/mcp/servers"): 403,
            ("one", "/mcp"): 403,
            ("one", "/mcp/mine"): 200,
            ("one", "/mcp/servers/old"): 403,
            ("one", "/api/mcp/servers"): 403,
        }


async def test_a_session_is_of_the_token_that_began_it() -> None:
    async with talking({}) as talk:
        met = await talk.meet()
        mine = met.headers
        other = {"Authorization": f"Bearer {await token(talk, {'name': 'other'})}"}
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        assert (await talk.post(ping, **mine, **other)).status_code == 404
        for method in ("GET", "DELETE"):
            headers = heads({**mine, **other})
            assert (await talk.http.request(method, "/mcp", headers=headers)).status_code == 404
        assert (await met.ask("ping"))["result"] == {}


async def token(talk: Talk, body: Message) -> str:
    made = await talk.http.post("/api/tokens", json=body, headers=heads({}))
    return made.json()["token"]


async def status(talk: Talk, path: str, bearer: str) -> int:
    body, headers = talk.modern("tools/list", {})
    came = await talk.post(body, path, Authorization=f"Bearer {bearer}", **headers)
    return came.status_code


async def test_the_own_names_of_one_server_work_at_its_address_alone() -> None:
    async with talking() as talk:
        assert "nonce" in await names(talk, "/mcp/servers/new")
        by_id = str(talk.served.yard.server("new").id)
        answer = await talk.call(f"/mcp/servers/{by_id}", "nonce", arguments={"text": "x"})
        assert text_of(answer) == "x"
        assert (await talk.call("/mcp", "nonce", arguments={"text": "x"}))["error"]


@pytest.mark.parametrize("name", ["two words", "a/b", "50%41", "文件"])
async def test_a_server_of_any_name_has_an_address_of_its_own(name: str) -> None:
    async with talking({name: odd_server()}) as talk:
        assert "nonce" in await names(talk, f"/mcp/servers/{quote(name, safe='')}")


async def test_a_yard_behind_a_yard_is_reached_and_its_hops_are_counted() -> None:
    async with talking({"old": odd_server()}) as inner:
        url = inner.served.gateway("/servers/old")
        remote = {"url": url, "headers": {"Authorization": BEARER}, "wanted": "running"}
        async with talking({"far": remote}) as outer:
            words = {"name": "mcp_far_nonce", "arguments": {"text": "through"}}
            body, headers = outer.modern("tools/call", words, **{"mcpyard/hops": 2})
            assert text_of((await outer.post(body, **headers)).json()) == "through"
            body, headers = outer.modern("tools/call", words, **{"mcpyard/hops": 3})
            refused = (await outer.post(body, **headers)).json()
            assert "gateways" in refused["error"]["message"]
            result = (await outer.call("/mcp", "mcp_far_ask", ASKS))["result"]
            answers = {
                "inputResponses": {key: {"action": "x"} for key in result["inputRequests"]},
                "requestState": result["requestState"],
            }
            done = await outer.call("/mcp", "mcp_far_ask", ASKS, **answers)
            assert text_of(done) == '{"action": "x"}'
