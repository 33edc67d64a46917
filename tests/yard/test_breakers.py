"""Tools that run into their time limits while their servers respond, over fakes of the ports."""

import asyncio
from uuid import UUID

import pytest

from mcpyard.domain.errors import CallRefused, Disconnected, NobodyAnswered, TimedOut
from mcpyard.domain.ports import CallTerms
from mcpyard.yard.calls.breakers import LONGEST_REST, REST
from tests.yard.test_fallback import ASKED, Library, local

SLOW = TimedOut("too long")
TOOL = "mcp_a_search"


async def time_out(library: Library, times: int) -> None:
    library.fail("a", TimedOut("too long"))
    for _ in range(times):
        with pytest.raises(TimedOut):
            await library.yard.call(TOOL, ASKED)


def slowly(library: Library) -> asyncio.Event:
    """Let the server answer only once an event is set."""
    gate, answer = asyncio.Event(), library.servers.call

    async def call(server: UUID, tool: str, arguments: bytes, terms: CallTerms) -> bytes:
        await gate.wait()
        return await answer(server, tool, arguments, terms)

    library.servers.call = call
    return gate


async def test_three_time_outs_in_a_row_let_only_one_call_at_a_time_through() -> None:
    library = Library(a=local())
    answers = library.servers.answers["a"]
    async with library.open() as yard:
        await time_out(library, 3)
        library.servers.answers["a"] = answers
        gate = slowly(library)
        trying = asyncio.create_task(yard.call(TOOL, ASKED))
        await asyncio.sleep(0)
        assert yard.tools("a")[0].stale
        with pytest.raises(Disconnected, match='tool "search" did not answer 3 calls') as refused:
            await yard.call(TOOL, ASKED)
        gate.set()
        assert (await trying).server == "a"
        assert not yard.tools("a")[0].stale
        await asyncio.gather(yard.call(TOOL, ASKED), yard.call(TOOL, ASKED))
    assert refused.value.untaken
    assert library.called == ["a"] * 6


@pytest.mark.parametrize("answer", [None, CallRefused("no")])
async def test_an_answer_between_them_makes_time_outs_forgotten(answer: CallRefused | None) -> None:
    library = Library(a=local())
    answers = library.servers.answers["a"]
    async with library.open() as yard:
        await time_out(library, 2)
        library.servers.answers["a"] = answers
        if answer:
            library.fail("a", answer)
            with pytest.raises(CallRefused):
                await yard.call(TOOL, ASKED)
        else:
            await yard.call(TOOL, ASKED)
        await time_out(library, 2)
        assert not yard.tools("a")[0].stale


async def test_a_call_that_tries_in_vain_lets_the_next_one_try() -> None:
    library = Library(a=local(health={"failures": 1}))
    async with library.open():
        await time_out(library, 5)
    assert library.called == ["a"] * 5


async def test_a_tool_with_fallbacks_rests_longer_each_time_it_is_tried_in_vain() -> None:
    library = Library(a=local(fallback=["b"]), b=local())
    library.fail("a", SLOW)
    async with library.open() as yard:
        rests = []
        for _ in range(6):
            before, began = library.called.count("a"), library.clock.monotonic()
            while library.called.count("a") == before:
                assert (await yard.call(TOOL, ASKED)).server == "b"
                library.clock.advance(REST / 2)
            rests.append(library.clock.monotonic() - began - REST / 2)
    assert rests == [0, REST / 2, 1.5 * REST, 3.5 * REST, 7.5 * REST, LONGEST_REST - REST / 2]


async def test_where_no_fallback_answers_a_resting_tool_is_tried_by_one_call() -> None:
    library = Library(a=local(fallback=["b"]), b=local())
    answers = library.servers.answers["a"]
    library.fail("a", SLOW)
    async with library.open() as yard:
        await yard.call(TOOL, ASKED)
        library.lose("b")
        library.servers.answers["a"] = answers
        gate = slowly(library)
        trying = asyncio.create_task(yard.call(TOOL, ASKED))
        await asyncio.sleep(0)
        with pytest.raises(NobodyAnswered, match="the next call tests it again"):
            await yard.call(TOOL, ASKED)
        gate.set()
        assert (await trying).server == "a"


async def test_what_is_known_of_its_tools_is_forgotten_when_a_server_is_lost() -> None:
    library = Library(a=local())
    async with library.open() as yard:
        await time_out(library, 3)
        assert yard.tools("a")[0].stale
        library.lose("a")
        assert not yard.tools("a")[0].stale


async def test_a_call_that_waited_for_its_turn_in_vain_says_nothing_about_its_tool() -> None:
    library = Library(a=local(health={"failures": 1}))
    library.fail("a", TimedOut("waited too long", sent=False))
    async with library.open() as yard:
        with pytest.raises(TimedOut):
            await yard.call(TOOL, ASKED)
        assert not yard.tools("a")[0].stale


def in_queue(library: Library, seconds: float) -> None:
    """Let calls wait so long before they are sent, and the server answer none in time."""

    async def call(server: UUID, tool: str, arguments: bytes, terms: CallTerms) -> bytes:
        del server, tool, arguments
        assert terms.waiting is not None
        assert terms.timeout is not None
        terms.waiting.waited += seconds
        left = terms.timeout - seconds
        raise TimedOut(f"tools/call was not answered in time ({left:g} s)")

    library.servers.call = call


@pytest.mark.parametrize(("waited", "stale"), [(9.01, False), (0.5, True)])
async def test_a_call_that_waited_most_of_its_limit_says_nothing_about_its_tool(
    waited: float, *, stale: bool
) -> None:
    library = Library(a=local(timeout=10_000, health={"failures": 1}))
    async with library.open() as yard:
        in_queue(library, waited)
        with pytest.raises(TimedOut) as failed:
            await yard.call(TOOL, ASKED)
        assert yard.tools("a")[0].stale is stale
    limit = f"(10 s, {waited:g} s of them before it was sent)"
    assert str(failed.value) == f'the server "a": tools/call was not answered in time {limit}'
    assert failed.value.message == str(failed.value)


async def test_a_call_that_did_not_wait_keeps_what_its_server_said() -> None:
    library = Library(a=local(timeout=10_000))
    async with library.open() as yard:
        in_queue(library, 0)
        with pytest.raises(TimedOut, match=r"not answered in time \(10 s\)$"):
            await yard.call(TOOL, ASKED)


async def test_a_call_that_waited_for_its_turn_in_vain_goes_to_a_fallback() -> None:
    library = Library({}, a=local(fallback=["b"]), b=local())
    library.fail("a", TimedOut("waited too long", sent=False))
    async with library.open() as yard:
        outcome = await yard.call(TOOL, ASKED)
    assert (outcome.server, outcome.passed_over) == ("b", (("a", "waited too long"),))
