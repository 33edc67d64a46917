"""Servers that run and do not respond: stopped in the middle, or simply at work."""

import asyncio
import os
import signal

import pytest

from mcpyard import Yard
from mcpyard.domain.errors import Disconnected
from mcpyard.domain.ports import CallTerms
from mcpyard.yard.calls.outcome import ErrorKind
from tests.faults.watching import connected, state_of, until, zoo

pytestmark = pytest.mark.real

LONG = 60_000
READS = {"echo": {"repeatable": True}}


@pytest.mark.spec("F2.4")
async def test_a_frozen_server_is_degraded_while_its_fallback_answers_and_recovers() -> None:
    health = {"interval": LONG, "timeout": 1000}
    frozen = zoo("good", timeout=200, fallback=["b"], health=health, tools=READS)
    async with Yard.open(servers={"a": frozen, "b": zoo("good")}) as yard:
        await connected(yard, "a", "b")
        box, pid = yard.toolbox(), state_of(yard, "a")["pid"]
        os.kill(pid, signal.SIGSTOP)
        try:
            calls = [box.call("mcp_a_echo", {"text": str(each)}) for each in range(3)]
            late = await asyncio.gather(*calls)
            await until(yard, lambda: state_of(yard, "a")["phase"] == "degraded")
            seen, tools = state_of(yard, "a"), yard.tools("a")
            other = await box.call("mcp_a_misbehave", {"text": "at once"})
        finally:
            os.kill(pid, signal.SIGCONT)
        await connected(yard, "a")
        recovered = state_of(yard, "a")
        afterwards = await box.call("mcp_a_echo", {"text": "back"})
    assert [(each.server, each.text) for each in late] == [("b", "0"), ("b", "1"), ("b", "2")]
    assert (seen["status"], seen["state"], seen["pid"]) == ("error", "error", pid)
    assert seen["error"]["code"] == "unresponsive"
    assert "did not answer" in seen["error"]["message"]
    assert {each.stale for each in tools} == {True}
    assert (other.server, other.text) == ("b", "at once")
    assert other.passed_over[0][0] == "a"
    assert "does not respond" in other.passed_over[0][1]
    assert (recovered["pid"], recovered["error"], recovered["toolsStale"]) == (pid, None, False)
    assert (afterwards.server, afterwards.text) == ("a", "back")


async def test_whoever_waits_for_a_frozen_server_reads_that_it_did_not_answer() -> None:
    health = {"interval": 50, "timeout": 50}
    async with Yard.open(servers={"a": zoo("good", health=health, timeout=100)}) as yard:
        await connected(yard, "a")
        seen = state_of(yard, "a")
        without_limit = yard._core._supervisor.call(yard.server("a").id, "hang", b"{}", CallTerms())
        waiting = asyncio.create_task(without_limit)
        os.kill(seen["pid"], signal.SIGSTOP)
        with pytest.raises(Disconnected, match=r"did not answer .*ping"):
            await waiting
        await until(yard, lambda: state_of(yard, "a")["pid"] not in {None, seen["pid"]})
        await connected(yard, "a")
        outcome = await yard.toolbox().call("mcp_a_echo", {"text": "anew"}, timeout=20)
    assert outcome.text == "anew"


@pytest.mark.spec("F2.5")
async def test_a_server_at_work_on_a_call_within_its_limit_is_left_in_peace() -> None:
    health = {"interval": 100, "timeout": 200}
    async with Yard.open(servers={"a": zoo("works_alone", health=health)}) as yard:
        await connected(yard, "a")
        pid, events = state_of(yard, "a")["pid"], yard.events()
        outcome = await yard.toolbox().call("mcp_a_misbehave")
        events.finish()
        phases = [each.data["phase"] for each in await events.batch() if each.kind == "status"]
        seen = state_of(yard, "a")
    assert (outcome.error, outcome.text) == (None, "worked")
    assert (seen["pid"], seen["status"], phases) == (pid, "connected", [])


async def test_only_the_tool_that_hangs_is_given_up_while_its_server_answers_pings() -> None:
    async with Yard.open(servers={"a": zoo("good", timeout=100)}) as yard:
        await connected(yard, "a")
        box = yard.toolbox()
        hung = [await box.call("mcp_a_hang") for _ in range(3)]
        trying = asyncio.create_task(box.call("mcp_a_hang", timeout=5))
        await asyncio.sleep(0)
        refused = await box.call("mcp_a_hang")
        other = await box.call("mcp_a_echo", {"text": "well"}, timeout=20)
        seen, tools = state_of(yard, "a"), {each.name: each.stale for each in yard.tools("a")}
        trying.cancel()
    assert {each.error for each in hung} == {ErrorKind.TIMEOUT}
    assert refused.error is ErrorKind.DISCONNECTED
    assert (
        'the tool "hang" did not answer 3 calls in time; the next call tests it again'
        in refused.text
    )
    assert (other.text, seen["status"]) == ("well", "connected")
    assert (tools["hang"], tools["echo"]) == (True, False)
