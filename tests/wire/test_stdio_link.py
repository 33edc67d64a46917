"""Each test runs on asyncio's own loop and on uvloop: their pipe transports differ."""

import asyncio
import json
import os
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
import uvloop

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.errors import Disconnected, ProtocolBroken
from mcpyard.domain.ports import CallTerms
from mcpyard.wire import pipes
from mcpyard.wire.link import Busy, LinkFailed, Outgoing
from mcpyard.wire.peer import Peer
from mcpyard.wire.stdio import StdioLink
from tests.conftest import FULL
from tests.wire.pipe_ends import Recording, child, linked

Run = Callable[[Coroutine[Any, Any, None]], None]
EXITED = Cause(Code.EXITED, "exited with status 9", stderr=("last words",))


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    factory = uvloop.new_event_loop if request.param == "uvloop" else asyncio.new_event_loop

    def runner(coroutine: Coroutine[Any, Any, None]) -> None:
        with asyncio.Runner(loop_factory=factory) as loop:
            loop.run(coroutine)

    return runner


def test_messages_of_one_turn_go_out_as_lines_in_one_write(run: Run) -> None:
    async def body() -> None:
        async with linked(Recording()) as (link, other):
            for number in range(3):
                link.send(Outgoing(b'{"id":%d}' % number, number, "m"))
            assert await other.hear() == [b'{"id":0}', b'{"id":1}', b'{"id":2}']

    run(body())


def test_a_message_that_is_alone_is_written_at_once_but_not_before_one_that_waits(run: Run) -> None:
    async def body() -> None:
        async with linked(Recording()) as (link, other):
            os.set_blocking(other.stdin, False)
            link.send(Outgoing(b'{"id":0}', 0, "m", alone=True))
            assert os.read(other.stdin, 100) == b'{"id":0}\n'
            link.send(Outgoing(b"{}", None, "n"))
            link.send(Outgoing(b'{"id":1}', 1, "m", alone=True))
            with pytest.raises(BlockingIOError):
                os.read(other.stdin, 100)
            os.set_blocking(other.stdin, True)
            assert await other.hear() == [b"{}", b'{"id":1}']

    run(body())


def test_line_ends_inside_a_message_do_not_break_the_framing(run: Run) -> None:
    async def body() -> None:
        async with linked(Recording()) as (link, other):
            message = b'{\r\n  "id": 1,\n  "text": "a\\nb"\r}'
            link.send(Outgoing(message, 1, "m"))
            (line,) = await other.hear()
            assert json.loads(line) == json.loads(message)

    run(body())


def test_end_of_output_is_told_after_the_last_message(run: Run) -> None:
    async def body() -> None:
        receiver = Recording()
        async with linked(receiver) as (_, other):
            other.say(b'{"last":1}\n{"half":')
            other.die()
            cause = await receiver.lost_with
            assert cause.code is Code.CLOSED
            assert receiver.frames == [b'{"last":1}']

    run(body())


def test_the_owner_explains_the_end(run: Run) -> None:
    async def explain() -> Cause:
        return EXITED

    async def body() -> None:
        receiver = Recording()
        async with linked(receiver, explain=explain) as (_, other):
            other.die()
            assert await receiver.lost_with is EXITED

    run(body())


def test_an_owner_that_cannot_explain_does_not_delay_the_news(run: Run) -> None:
    async def explain() -> Cause | None:
        return None

    async def body() -> None:
        receiver = Recording()
        loop = asyncio.get_running_loop()
        async with linked(receiver, explain=explain) as (_, other):
            started = loop.time()
            other.die()
            assert (await receiver.lost_with).code is Code.CLOSED
            assert loop.time() - started < (0.1 if FULL else 5)

    run(body())


def test_a_server_that_reads_no_more_is_lost_even_with_its_output_open(run: Run) -> None:
    async def body() -> None:
        receiver = Recording()
        async with linked(receiver) as (link, other):
            os.close(other.stdin)
            link.send(Outgoing(b"{}", None, "m"))
            assert "input" in (await receiver.lost_with).message

    run(body())


def test_what_a_server_says_after_closing_its_input_is_still_heard(run: Run) -> None:
    async def body() -> None:
        receiver = Recording()
        async with linked(receiver) as (link, other):
            os.close(other.stdin)
            link.send(Outgoing(b"{}", None, "m"))

            def last_words() -> None:
                other.say(b'{"last":1}\n')
                os.close(other.stdout)

            asyncio.get_running_loop().call_soon(last_words)
            await receiver.lost_with
            assert receiver.frames == [b'{"last":1}']

    run(body())


def test_a_link_closed_while_its_end_is_being_explained_tells_no_loss(run: Run) -> None:
    async def body() -> None:
        explaining = asyncio.Event()

        async def explain() -> Cause | None:
            explaining.set()
            await asyncio.Event().wait()
            return None

        receiver = Recording()
        async with linked(receiver, explain=explain) as (link, other):
            other.die()
            await explaining.wait()
            await link.close()
        assert not receiver.lost_with.done()

    run(body())


def test_a_request_made_while_the_end_is_being_explained_was_certainly_not_taken(run: Run) -> None:
    async def body() -> None:
        explaining, release = asyncio.Event(), asyncio.Event()

        async def explain() -> Cause:
            explaining.set()
            await release.wait()
            return EXITED

        other = child()
        peer = Peer(StdioLink(*other.ours, explain_loss=explain))
        await peer.open()
        other.die()
        await explaining.wait()
        with pytest.raises(Disconnected) as refused:
            await peer.request("m", {}, CallTerms(timeout=9))
        assert refused.value.cause
        assert refused.value.cause.untaken
        peer.notify("notifications/x")
        release.set()
        await peer.close()

    run(body())


def test_a_server_that_never_reads_makes_the_link_busy(run: Run) -> None:
    async def body() -> None:
        async with linked(Recording()) as (link, _):
            message = Outgoing(b"x" * (1 << 20), None, "m")
            for _ in range(8):
                link.send(message)
                await asyncio.sleep(0)
            link.send(message)
            await asyncio.sleep(0)
            with pytest.raises(Busy):
                link.send(message)

    run(body())


def test_a_busy_link_takes_messages_again_once_the_server_reads(run: Run) -> None:
    async def body() -> None:
        async with linked(Recording()) as (link, other):
            message = Outgoing(b"x" * (9 << 20), None, "m")
            link.send(message)
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            with pytest.raises(Busy):
                link.send(message)
            left = len(message.body) + 1
            while left:
                left -= len(await asyncio.to_thread(os.read, other.stdin, 1 << 20))
            await asyncio.sleep(0)
            link.send(Outgoing(b"{}", None, "m"))
            assert await other.hear() == [b"{}"]

    run(body())


def test_closing_twice_closes_each_descriptor_once_and_tells_no_loss(run: Run) -> None:
    async def body() -> None:
        receiver = Recording()
        async with linked(receiver) as (link, other):
            await link.close()
            assert os.read(other.stdin, 1) == b""
            with pytest.raises(BrokenPipeError):
                other.say(b"x")
            reused = [*os.pipe(), *os.pipe()]
            await link.close()
            for number in reused:
                os.close(number)
            assert not receiver.lost_with.done()

    run(body())


class WatchedLoop(uvloop.Loop):
    """Keeps what it is given to read from and write to, and closes it as uvloop does: too late."""

    def __init__(self) -> None:
        self.given: list[Any] = []
        super().__init__()

    async def connect_write_pipe(self, protocol_factory: Any, pipe: Any) -> Any:  # noqa: ANN401
        self.given.append(pipe)
        return await super().connect_write_pipe(protocol_factory, pipe)

    async def connect_read_pipe(self, protocol_factory: Any, pipe: Any) -> Any:  # noqa: ANN401
        self.given.append(pipe)
        return await super().connect_read_pipe(protocol_factory, pipe)


def test_a_descriptor_that_uvloop_has_closed_is_not_closed_again_for_its_next_owner() -> None:
    async def body() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, WatchedLoop)
        async with linked(Recording()):
            owned = [(each, each.fileno()) for each in loop.given]
            assert len(owned) == 2
            for each, number in owned:
                each.close()
                os.fstat(number)

    with asyncio.Runner(loop_factory=WatchedLoop) as runner:
        runner.run(body())


def test_closing_a_link_whose_server_reads_nothing_does_not_hang(run: Run) -> None:
    async def body() -> None:
        async with linked(Recording()) as (link, _):
            link.send(Outgoing(b"x" * (4 << 20), None, "m"))
            await asyncio.sleep(0)
            async with asyncio.timeout(1):
                await link.close()

    run(body())


def test_a_link_that_was_never_opened_closes_its_descriptors() -> None:
    other = child()
    asyncio.run(StdioLink(*other.ours).close())
    other.die()
    for number in other.ours:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(number)


def test_descriptors_that_are_no_pipes_fail_the_link() -> None:
    async def body() -> None:
        other = child()
        flat = os.memfd_create("flat")
        link = StdioLink(other.ours[0], flat)
        with pytest.raises(LinkFailed, match="pipes"):
            await link.open(Recording())
        os.close(other.ours[1])
        other.die()
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(flat)

    asyncio.run(body())


def test_an_oversize_answer_fails_only_its_own_call(run: Run) -> None:
    async def body() -> None:
        other = child()
        peer = Peer(StdioLink(*other.ours, limit=100_000))
        await peer.open()
        big, small = (
            asyncio.create_task(peer.request("m", {}, CallTerms(timeout=4))) for _ in range(2)
        )
        await asyncio.sleep(0)
        await other.say_all(b'{"result":{"id":2,"x":"' + b"y" * 300_000 + b'"},"id":1}\n')
        other.say(b'{"id":2,"result":"ok"}\n')
        with pytest.raises(ProtocolBroken, match="300033 bytes, more than the limit of 100000"):
            await big
        assert (await small).value == "ok"
        assert peer.stats.oversize == 1
        await peer.close()
        other.die()

    run(body())


def test_a_flood_of_small_frames_leaves_the_loop_to_others(run: Run) -> None:
    async def body() -> None:
        receiver = Recording()
        async with linked(receiver) as (_, other):
            count = 60_000
            writing = asyncio.create_task(other.say_all(b'{"n":1}\n' * count))
            turns_between: list[int] = []
            while len(receiver.frames) < count:
                before = len(receiver.frames)
                await asyncio.sleep(0)
                turns_between.append(len(receiver.frames) - before)
            await writing
            assert len(receiver.frames) == count
            assert max(turns_between) <= 512

    run(body())


def test_calls_in_flight_fail_within_100_ms_of_the_end(run: Run) -> None:
    async def explain() -> Cause:
        return EXITED

    async def body() -> None:
        other = child()
        peer = Peer(StdioLink(*other.ours, explain_loss=explain))
        await peer.open()
        tasks = [
            asyncio.create_task(peer.request("m", {}, CallTerms(timeout=9))) for _ in range(100)
        ]
        await other.hear()
        loop = asyncio.get_running_loop()
        started = loop.time()
        other.die()
        results = await asyncio.gather(*tasks, return_exceptions=True)
        assert loop.time() - started < (0.1 if FULL else 5)
        assert all(isinstance(error, Disconnected) and error.cause is EXITED for error in results)
        await peer.close()

    run(body())


def test_a_line_without_end_is_a_loss_in_the_end(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipes, "FLOOD_LIMIT", 1 << 20)

    async def body() -> None:
        receiver = Recording()
        async with linked(receiver, limit=1000) as (_, other):
            flood = asyncio.create_task(other.say_all(b"x" * (3 << 20)))
            cause = await receiver.lost_with
            assert (cause.code, cause.message) == (
                Code.GARBAGE,
                "the server writes output without line breaks",
            )
            with pytest.raises(BrokenPipeError):
                await flood

    run(body())
