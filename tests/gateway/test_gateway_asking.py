"""Questions of a server in the middle of a call, whatever the eras of the two ends."""

import json
from typing import Any

import pytest

from tests.gateway.talking import ASKS, Message, Talk, messages, odd_server, talking, text_of

pytestmark = pytest.mark.real

OLD, NEW = "/mcp/servers/old", "/mcp/servers/new"
ANSWER = {"action": "accept", "content": {"name": "Ada"}}


def retry(response: Message, **answers: object) -> dict[str, Any]:
    """The members of a retry that answers what was asked."""
    result = response["result"]
    keys = answers or dict.fromkeys(result["inputRequests"], ANSWER)
    return {"inputResponses": keys, "requestState": result["requestState"]}


async def parked(talk: Talk) -> Message:
    """A call that waits for its client."""
    response = await talk.call(OLD, "ask", ASKS)
    assert response["result"]["resultType"] == "input_required"
    return response


async def test_a_question_of_an_old_server_becomes_a_result_that_asks() -> None:
    async with talking() as talk:
        response = await parked(talk)
        (question,) = response["result"]["inputRequests"].values()
        assert question["method"] == "elicitation/create"
        assert question["params"]["message"] == "who?"
        done = await talk.call(OLD, "ask", ASKS, **retry(response))
        assert json.loads(text_of(done)) == ANSWER
        assert done["result"]["resultType"] == "complete"


async def test_a_retry_that_answers_nothing_is_asked_again() -> None:
    async with talking() as talk:
        response = await parked(talk)
        again = await talk.call(OLD, "ask", ASKS, **retry(response, other=ANSWER))
        assert again["result"]["inputRequests"] == response["result"]["inputRequests"]
        done = await talk.call(OLD, "ask", ASKS, **retry(again))
        assert json.loads(text_of(done)) == ANSWER


async def test_answers_that_cannot_be_read_leave_the_call_waiting_for_others() -> None:
    async with talking({"old": odd_server()}) as talk:
        response = await parked(talk)
        state = response["result"]["requestState"]
        for wrong in (5, [ANSWER], "Ada"):
            members = {"inputResponses": wrong, "requestState": state}
            refused = (await talk.call(OLD, "ask", ASKS, **members))["error"]
            assert refused["message"] == "inputResponses must be an object"
        done = await talk.call(OLD, "ask", ASKS, **retry(response))
        assert json.loads(text_of(done)) == ANSWER


async def test_a_state_is_good_once_for_the_very_call_it_was_made_for() -> None:
    async with talking() as talk:
        response = await parked(talk)
        answers = retry(response)
        state = answers["requestState"]
        tampered = [state[:-2] + "xx", state.replace(".", ".0", 2), "mcpyard.", state + ".1"]
        for each in tampered:
            refused = await talk.call(OLD, "ask", ASKS, **{**answers, "requestState": each})
            assert refused["error"]["data"]["problem"] == "request-state", each
        other = await talk.call(OLD, "ask", ASKS, **{**answers, "arguments": {"x": 1}})
        assert "does not belong" in other["error"]["message"]
        done = await talk.call(OLD, "ask", ASKS, **answers)
        assert json.loads(text_of(done)) == ANSWER
        twice = await talk.call(OLD, "ask", ASKS, **answers)
        assert "no longer pending" in twice["error"]["message"]


async def test_a_state_of_an_earlier_yard_says_that_the_yard_was_restarted() -> None:
    async with talking() as talk:
        answers = retry(await parked(talk))
    async with talking() as anew:
        refused = await anew.call(OLD, "ask", ASKS, **answers)
        assert "restarted" in refused["error"]["message"]


async def test_an_answer_that_comes_too_late_finds_the_call_cancelled_at_its_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("mcpyard.gateway.pending_input.LONGEST", 0.2)
    async with talking() as talk:
        answers = retry(await parked(talk))
        await talk.until("old", "cancelled 1")
        refused = await talk.call(OLD, "ask", ASKS, **answers)
        assert refused["error"]["data"]["problem"] == "request-state"


async def test_the_clock_of_a_call_stands_still_while_it_is_parked() -> None:
    servers = {"old": odd_server(timeout=200), "other": odd_server(timeout=200)}
    async with talking(servers) as talk:
        response = await parked(talk)
        later = await talk.call("/mcp/servers/other", "hang")
        assert later["error"]["data"]["problem"] == "timed-out", "begun later, with the same limit"
        done = await talk.call(OLD, "ask", ASKS, **retry(response))
        assert json.loads(text_of(done)) == ANSWER


async def test_a_server_that_dies_ends_the_call_that_is_parked() -> None:
    async with talking() as talk:
        response = await parked(talk)
        await talk.call(OLD, "die")
        refused = await talk.call(OLD, "ask", ASKS, **retry(response))
        assert refused["error"]["data"]["problem"] == "disconnected"


@pytest.mark.parametrize("path", [OLD, NEW])
async def test_a_client_of_the_handshake_era_is_asked_on_its_own_stream(path: str) -> None:
    async with talking() as talk:
        met = await talk.meet(path, capabilities=ASKS)
        call = {"id": 1, "method": "tools/call", "params": {"name": "ask", "arguments": {}}}
        async with met.streaming(**call) as stream:
            replies = messages(stream)
            question = await anext(replies)
            assert question["method"] == "elicitation/create"
            accepted = await met.send(id=question["id"], result=ANSWER)
            assert accepted.status_code == 202
            done = await anext(replies)
        assert done["id"] == 1
        assert json.loads(text_of(done).removeprefix("s-1 ")) == ANSWER
        assert "resultType" not in done["result"]


async def test_a_refusal_of_the_client_reaches_the_server_as_it_is() -> None:
    async with talking() as talk:
        met = await talk.meet(OLD, capabilities=ASKS)
        call = {"id": 1, "method": "tools/call", "params": {"name": "ask", "arguments": {}}}
        async with met.streaming(**call) as stream:
            replies = messages(stream)
            question = await anext(replies)
            await met.send(id=question["id"], error={"code": -1, "message": "not now"})
            done = await anext(replies)
        assert json.loads(text_of(done)) == {"code": -1, "message": "not now"}


async def test_a_modern_server_asks_a_modern_client_without_our_help() -> None:
    async with talking() as talk:
        response = await talk.call(NEW, "ask", ASKS)
        assert response["result"]["requestState"] == "s-1"
        done = await talk.call(NEW, "ask", ASKS, **retry(response))
        assert text_of(done) == f"s-1 {json.dumps(ANSWER)}"


async def test_what_a_client_cannot_answer_is_refused_in_its_name() -> None:
    async with talking() as talk:
        modern = await talk.call(OLD, "ask")
        legacy = await (await talk.meet(OLD)).call("ask")
        for answer in (modern, legacy):
            assert json.loads(text_of(answer))["code"] == -32601
        by_url = await talk.call(OLD, "ask", {"elicitation": {"url": {}}})
        assert json.loads(text_of(by_url))["code"] == -32602
        through_rest = await talk.served.yard.call("mcp_old_ask")
        assert json.loads(through_rest.text)["code"] == -32601


async def test_a_client_is_told_which_capability_a_modern_server_asks_it_for() -> None:
    async with talking({"new": odd_server("modern")}) as talk:
        refused = (await (await talk.meet(NEW)).call("ask"))["error"]
        assert refused["code"] == -32021
        assert refused["data"] == {"requiredCapabilities": {"elicitation": {"form": {}}}}
