"""A server that writes mostly what is of no use is read at a bounded rate, and named once."""

import asyncio

import pytest

from mcpyard.domain.ports import CallTerms
from mcpyard.wire import pipes
from mcpyard.wire.framer import Event, LineFramer
from mcpyard.wire.peer import Peer
from mcpyard.wire.pending import FLOOD
from mcpyard.wire.pipes import USELESS_BURST, Inlet
from mcpyard.wire.stdio import StdioLink
from tests.wire.pipe_ends import Recording, child, linked

MANY = 4 * USELESS_BURST


def bytes_of(event: Event) -> bytes:
    assert isinstance(event, bytes)
    return event


class Pipe(asyncio.ReadTransport):
    """A pipe that knows whether it is being read."""

    def __init__(self) -> None:
        super().__init__()
        self.reading = True

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def is_closing(self) -> bool:
        return False


class Reading:
    """An inlet, what it hands on, and what it tells."""

    def __init__(self, limit: int = 1 << 20) -> None:
        self.lines = 0
        self.turns: asyncio.Queue[int] = asyncio.Queue()
        self._turn_lines = 0
        self.flooded = asyncio.Event()
        self.ended: list[str] = []
        self.pipe = Pipe()
        self.inlet = self._inlet(limit)

    def _inlet(self, limit: int) -> Inlet:
        inlet = Inlet(
            LineFramer(limit), self._frame, lambda cause: self.ended.append(cause.message)
        )
        inlet.flooded = self.flooded.set
        inlet.connection_made(self.pipe)
        return inlet

    def _frame(self, event: Event) -> bool:
        self.lines += 1
        if not self._turn_lines:
            asyncio.get_running_loop().call_soon(self._end_turn)
        self._turn_lines += 1
        return event == b"useful"

    def _end_turn(self) -> None:
        self.turns.put_nowait(self._turn_lines)
        self._turn_lines = 0


async def test_lines_of_no_use_beyond_the_burst_are_handed_on_at_a_bounded_rate() -> None:
    reading = Reading()
    reading.inlet.data_received(b"useless\n" * MANY)
    await reading.flooded.wait()
    assert USELESS_BURST < reading.lines < MANY
    assert not reading.pipe.reading
    assert reading.inlet.flooding


async def test_a_flood_takes_little_of_each_turn_of_the_event_loop() -> None:
    reading = Reading()
    reading.inlet.data_received(b"useless\n" * MANY)
    await reading.flooded.wait()
    before = [await reading.turns.get() for _ in range(reading.turns.qsize())]
    during = [await reading.turns.get() for _ in range(4)][1:]
    assert max(before) == 256
    assert during == [16, 16, 16]


async def test_the_end_of_a_flood_is_told_without_the_rate() -> None:
    reading = Reading()
    reading.inlet.data_received(b"useless\n" * MANY)
    await reading.flooded.wait()
    reading.inlet.connection_lost(None)
    for _ in range(MANY):
        await asyncio.sleep(0)
    assert reading.lines == MANY
    assert reading.ended == ["the server closed its output"]


async def test_any_number_of_useful_lines_is_no_flood() -> None:
    reading = Reading()
    reading.inlet.data_received(b"useful\n" * MANY)
    for _ in range(MANY):
        await asyncio.sleep(0)
    assert (reading.lines, reading.pipe.reading, reading.inlet.flooding) == (MANY, True, False)


@pytest.mark.parametrize(
    "data",
    [b"\n" * MANY, b"x" * 1024 * MANY + b"\n"],
    ids=["lines that say nothing", "a long line"],
)
async def test_empty_and_long_lines_count_too(data: bytes) -> None:
    reading = Reading(len(data))
    reading.inlet.data_received(data)
    assert reading.flooded.is_set()
    assert not reading.pipe.reading


async def test_reading_goes_on_after_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipes, "USELESS_PER_SECOND", 1_000_000)
    monkeypatch.setattr(pipes, "USELESS_BURST", 100)
    receiver = Recording()
    async with linked(receiver) as (_, other):
        await other.say_all(b"useless\n" * 50_000 + b"useful\n")
        await receiver.until(50_001)
        assert receiver.frames[-1] == b"useful"
        assert receiver.notices == [(FLOOD, b"")]


async def test_garbage_stray_answers_and_notices_of_changed_lists_are_of_no_use() -> None:
    other = child()
    peer = Peer(StdioLink(*other.ours))
    await peer.open()
    call = peer.start("m", {}, CallTerms())
    answer = b'{"jsonrpc":"2.0","id":%d,"result":{}}'
    changed = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
    logged = b'{"jsonrpc":"2.0","method":"notifications/message","params":{}}'
    ping = b'{"jsonrpc":"2.0","id":9,"method":"ping"}'
    assert not peer.message(b"Server is ready!", None)
    assert not peer.message(answer % 99, None)
    assert not peer.message(changed, None)
    assert not peer.message(b"[" + changed + b"," + answer % 99 + b"]", None)
    assert not peer.message(b"[[]]", None)
    assert peer.message(logged, None)
    assert peer.message(ping, None)
    assert peer.message(b"[" + changed + b"," + answer % call.id + b"]", None)
    await peer.wait(call)
    await peer.close()
    other.die()


@pytest.mark.parametrize(
    "unasked",
    [
        b'{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}',
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"none"}}',
        b'{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b"}}',
        b'{"jsonrpc":"2.0","id":"mine","method":"ping"}',
    ],
    ids=["log messages", "progress", "updates", "pings"],
)
@pytest.mark.parametrize("batched", [False, True], ids=["one by one", "in batches"])
async def test_a_server_that_talks_without_being_asked_floods_too(
    unasked: bytes, batched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipes, "USELESS_BURST", 100)
    monkeypatch.setattr(pipes, "USELESS_PER_SECOND", 100)
    other = child()
    peer = Peer(StdioLink(*other.ours))
    await peer.open()
    line = b"[" + b",".join([unasked] * 4) + b"]\n" if batched else unasked + b"\n"
    reading = Reading(MANY)
    inlet = Inlet(LineFramer(1 << 20), lambda event: peer.message(bytes_of(event), None), print)
    inlet.connection_made(reading.pipe)
    inlet.flooded = reading.flooded.set
    inlet.data_received(line * 1000)
    await reading.flooded.wait()
    assert not reading.pipe.reading
    await peer.close()
    other.die()


async def test_four_unasked_messages_count_as_one_line_of_no_use() -> None:
    other = child()
    peer = Peer(StdioLink(*other.ours))
    await peer.open()
    logged = b'{"jsonrpc":"2.0","method":"notifications/message","params":{}}'
    assert [peer.message(logged, None) for _ in range(8)].count(False) == 2
    await peer.close()
    other.die()


async def test_a_flood_is_told_though_much_noise_came_before() -> None:
    reasons: list[str] = []
    other = child()
    peer = Peer(StdioLink(*other.ours), on_noise=lambda reason, _sample: reasons.append(reason))
    await peer.open()
    for _ in range(1000):
        peer.message(b"garbage", None)
    peer.noise(FLOOD, b"")
    await asyncio.sleep(0)
    assert len(reasons) == 101
    assert reasons[-1] == FLOOD
    await peer.close()
    other.die()
