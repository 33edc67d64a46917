"""Calls come from any event loop and any thread; blocking code has a way in."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest

from mcpyard import Toolbox, Yard, own_tool
from mcpyard.domain.errors import DefinitionError, Disconnected, ServerUnknown
from mcpyard.yard.calls.outcome import ErrorKind
from mcpyard.yard.event_loop import YardLoop
from tests.agents.test_ready import plain
from tests.api.daemon import daemon
from tests.faults.watching import zoo

pytestmark = pytest.mark.real

T = TypeVar("T")


async def on_another_loop(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine on a loop of its own, in a thread."""
    return await asyncio.to_thread(lambda: asyncio.run(work()))


async def thread_name() -> str:
    """Tell the thread that it runs in."""
    return threading.current_thread().name


async def test_calls_of_another_loop_are_carried_to_the_yards_own() -> None:
    async def work() -> list[str]:
        box = yard.toolbox(own=[thread_name])
        mine = threading.current_thread().name
        many = await asyncio.gather(*(box.call("mcp_a_echo", {"text": str(n)}) for n in range(20)))
        record = await yard.restart("a", wait=10)
        outcome = await box.call("thread_name")
        assert outcome.text == mine
        return [*(each.text for each in many), record.name, yard.record("a").name]

    async with Yard.open(servers={"a": plain("good")}) as yard:
        assert await yard.ready()
        texts = await on_another_loop(work)
    assert texts == [*map(str, range(20)), "a", "a"]


async def test_a_cancelled_call_of_another_loop_is_cancelled_at_the_server() -> None:
    async def work() -> None:
        async with asyncio.timeout(0.2):
            await yard.toolbox().call("mcp_a_hang")

    async with Yard.open(servers={"a": plain("good")}) as yard:
        assert await yard.ready()
        with pytest.raises(TimeoutError):
            await on_another_loop(work)
        assert [each.outcome for each in await yard.failed_calls()] == ["cancelled"]


def test_blocking_code_opens_calls_and_closes() -> None:
    servers = {"a": plain("good"), "gone": zoo("good", wanted="stopped")}
    with Yard.open_sync(servers=servers) as yard:
        assert yard.ready(check=True).connected == ("a",)
        box = yard.toolbox(own=[thread_name])
        assert box.call_sync("mcp_a_echo", {"text": "x"}).text == "x"
        assert box.call_sync("mcp_a_hang", timeout=0.05).error is ErrorKind.TIMEOUT
        assert box.call_sync("thread_name").text == "mcpyard"
        assert yard.call("mcp_a_echo", {"text": "y"}).text == "y"
        assert yard.call_tool("a", "echo", {"text": "z"}).text == "z"
        assert yard.start("gone", wait=10).status == "connected"
        assert yard.restart("gone", wait=10).status == "connected"
        assert yard.stop("gone", wait=10).state == "stopped"
        assert yard.settled("a").status == "connected"
        assert [each.name for each in yard.servers()] == ["a", "gone"]
        assert yard.record("a").name == "a"
        assert {tool.server for tool in yard.tools()} == {"a"}
        assert [each.outcome for each in yard.failed_calls()] == ["timed-out"]
        assert yard.problems() == ()
        with pytest.raises(ServerUnknown):
            yard.record("nobody")
        with ThreadPoolExecutor(4) as threads:
            outcomes = threads.map(lambda n: box.call_sync("mcp_a_echo", {"text": n}), "abcd")
            assert [each.text for each in outcomes] == [*"abcd"]
    assert box.call_sync("mcp_a_echo", {"text": "x"}).error is ErrorKind.DISCONNECTED
    with pytest.raises(Disconnected, match="closed"):
        yard.call("mcp_a_echo", {"text": "y"})


def test_a_block_that_cannot_be_opened_raises_why() -> None:
    with (
        pytest.raises(DefinitionError, match=r"a\.command"),
        Yard.open_sync(servers={"a": {"command": 3}}),
    ):
        pass


def test_blocking_code_changes_a_running_mcpyard(tmp_path: Path) -> None:
    with daemon(tmp_path / "home"), Yard.attach_sync(tmp_path / "home") as yard:
        yard.register({"name": "a", **zoo("good")}, wait=20)
        assert yard.ready(check=True)
        box = yard.toolbox()
        assert box.call_sync("mcp_a_echo", {"text": "x"}).text == "x"
        assert asyncio.run(box.call("mcp_a_echo", {"text": "y"})).text == "y"
        assert yard.change("a", {"timeout": 5000}).timeout == 5000
        yard.remove("a")
        assert yard.servers() == []


async def test_a_notebook_uses_both_ways_while_its_loop_runs() -> None:
    """A kernel runs a loop in its main thread, in which cells await or block."""
    with Yard.open_sync(servers={"a": plain("good")}) as yard:
        yard.ready(check=True)
        box = yard.toolbox()
        assert (await box.call("mcp_a_echo", {"text": "awaited"})).text == "awaited"
        assert box.call_sync("mcp_a_echo", {"text": "blocked"}).text == "blocked"


async def test_a_blocking_call_on_the_yards_own_loop_is_refused_at_once() -> None:
    async with Yard.open(servers={"a": plain("good")}) as yard:
        await yard.ready()
        with pytest.raises(RuntimeError, match="await the call instead"):
            yard.toolbox().call_sync("mcp_a_echo", {"text": "x"})


def test_a_loop_that_stands_still_between_two_runs_still_serves_blocking_calls() -> None:
    loop = asyncio.new_event_loop()
    manager = Yard.open(servers={"a": plain("good")})
    yard = loop.run_until_complete(manager.__aenter__())
    loop.run_until_complete(yard.ready())
    box = yard.toolbox()
    assert box.call_sync("mcp_a_echo", {"text": "x"}).text == "x"
    outcome = asyncio.run(box.call("mcp_a_echo", {"text": "x"}))
    assert (outcome.error, outcome.text[:17]) == (ErrorKind.DISCONNECTED, "mcpyard is closed")
    loop.run_until_complete(manager.__aexit__(None, None, None))
    loop.close()


async def test_progress_is_reported_on_the_loop_that_called() -> None:
    loop = YardLoop()
    threads: list[str] = []

    async def work() -> str:
        there = asyncio.Event()

        def progress(_: object) -> None:
            threads.append(threading.current_thread().name)
            there.set()

        handed = loop.returning(progress)
        assert handed
        loop.read(lambda: handed({"progress": 1}))
        await there.wait()
        return threading.current_thread().name

    assert [await on_another_loop(work)] == threads
    assert loop.returning(None) is None


def test_a_yard_that_is_closed_under_a_waiting_call_ends_the_call() -> None:
    async def work() -> str:
        loop = YardLoop()
        ended = asyncio.Event()

        async def hang() -> None:
            ended.set()
            await asyncio.Event().wait()

        def blocked() -> str:
            try:
                loop.wait(hang())
            except Disconnected as error:
                return str(error)
            return ""

        thread = asyncio.get_running_loop().run_in_executor(None, blocked)
        await ended.wait()
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        return await thread

    assert "mcpyard is closed" in asyncio.run(work())


def test_a_toolbox_without_servers_needs_no_yard() -> None:
    box = Toolbox([own_tool(thread_name)])
    assert box.call_sync("thread_name").text == "MainThread"

    async def in_a_loop() -> str:
        return box.tools[0].call_sync().text

    assert asyncio.run(in_a_loop()) == "mcpyard call"
