import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.errors import Disconnected, ProtocolBroken, TimedOut
from mcpyard.domain.ports import CallTerms
from mcpyard.wire.jsonrpc import Reply, RpcError
from mcpyard.wire.link import Busy
from mcpyard.wire.peer import Peer
from mcpyard.wire.pending import RequestExtras
from tests.conftest import FULL
from tests.wire.fakes import FakeLink, ask, opened, turns

DIED = Cause(Code.EXITED, "exited with status 3", stderr=("boom",))


async def test_a_result_is_the_very_bytes_that_came() -> None:
    link = FakeLink()
    peer = await opened(link)
    task = ask(peer, b'{"name":"t"}')
    await link.until_sent(1)
    raw = b'{ "content":[{"type":"hologram","x":1e400}],\t"vendor" : 12345678901234567890123 }'
    link.say(b'{"result":' + raw + b',"id":1,"jsonrpc":"2.0","more":[]}')
    reply = await task
    assert reply.result == raw
    assert link.sent[0].body == (
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}'
    )


async def test_only_a_request_with_no_other_in_flight_is_alone() -> None:
    link = FakeLink()
    peer = await opened(link)
    tasks = [ask(peer), ask(peer)]
    await link.until_sent(2)
    for number in (1, 2):
        link.say({"id": number, "result": {}})
    await asyncio.gather(*tasks)
    last = ask(peer)
    await link.until_sent(3)
    link.say({"id": 3, "result": {}})
    await last
    assert [each.alone for each in link.sent] == [True, False, True]


async def test_a_result_is_decoded_once_and_only_when_looked_at() -> None:
    reply = Reply(b'{"a":[1]}')
    assert reply.value == {"a": [1]}
    assert reply.value is reply.value


async def test_an_error_answer_is_raised_with_code_message_and_data() -> None:
    link = FakeLink()
    peer = await opened(link)
    task = ask(peer)
    await link.until_sent(1)
    link.refuse(1, -32022, "too old", {"supported": ["x"]})
    with pytest.raises(RpcError) as caught:
        await task
    error = caught.value
    assert (error.code, error.message, error.data) == (-32022, "too old", {"supported": ["x"]})


async def test_an_error_that_is_no_object_is_an_error_all_the_same() -> None:
    link = FakeLink()
    peer = await opened(link)
    task = ask(peer)
    await link.until_sent(1)
    link.say({"id": 1, "error": "broken"})
    with pytest.raises(RpcError, match="malformed error"):
        await task


async def test_a_null_error_beside_a_result_is_no_error() -> None:
    link = FakeLink()
    peer = await opened(link)
    task = ask(peer)
    await link.until_sent(1)
    link.say({"id": 1, "error": None, "result": 5})
    assert (await task).value == 5


async def test_an_answer_with_neither_result_nor_error_breaks_that_call() -> None:
    link = FakeLink()
    peer = await opened(link)
    task = ask(peer)
    await link.until_sent(1)
    link.say({"id": 1})
    with pytest.raises(ProtocolBroken, match="neither"):
        await task


async def test_a_time_out_cancels_upstream_and_the_late_answer_is_dropped() -> None:
    link = FakeLink()
    peer = await opened(link)
    with pytest.raises(TimedOut, match="tools/call"):
        await ask(peer, terms=CallTerms(timeout=0.01))
    assert link.bodies[1]["method"] == "notifications/cancelled"
    assert link.bodies[1]["params"]["requestId"] == 1
    assert link.abandoned == [1]
    task = ask(peer)
    await link.until_sent(3)
    link.answer(1, {"late": 1})
    link.answer(2, {"right": 1})
    assert (await task).value == {"right": 1}
    assert peer.in_flight == 0


async def test_a_link_that_cancels_by_closing_gets_no_cancel_notice() -> None:
    link = FakeLink(cancels_by_closing=True)
    peer = await opened(link)
    with pytest.raises(TimedOut):
        await ask(peer, terms=CallTerms(timeout=0.01))
    assert (link.abandoned, link.methods) == ([1], ["tools/call"])


async def test_initialize_is_never_cancelled() -> None:
    link = FakeLink()
    peer = await opened(link)
    with pytest.raises(TimedOut):
        await peer.request("initialize", {}, CallTerms(timeout=0.01))
    assert link.methods == ["initialize"]


async def test_a_cancelled_caller_cancels_upstream() -> None:
    link = FakeLink()
    peer = await opened(link)
    task = ask(peer, terms=CallTerms(timeout=60))
    await link.until_sent(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert link.bodies[1]["params"]["requestId"] == 1
    assert peer.in_flight == 0


async def test_an_answer_in_the_same_turn_as_a_cancel_comes_too_late_to_stop_it() -> None:
    link = FakeLink()
    peer = await opened(link)
    task = ask(peer)
    await link.until_sent(1)
    task.cancel()
    link.answer(1, {})
    with pytest.raises(asyncio.CancelledError):
        await task
    assert link.bodies[1]["params"]["requestId"] == 1
    assert peer.in_flight == 0


async def test_a_time_out_while_the_server_does_not_read_is_still_a_time_out() -> None:
    link = FakeLink()
    peer = await opened(link)
    task = ask(peer, terms=CallTerms(timeout=0.01))
    await link.until_sent(1)
    link.busy = True
    with pytest.raises(TimedOut):
        await task


async def test_a_busy_link_refuses_the_call_and_keeps_nothing() -> None:
    link = FakeLink()
    peer = await opened(link)
    link.busy = True
    with pytest.raises(Busy):
        await ask(peer, terms=CallTerms(timeout=60))
    assert (peer.in_flight, link.sent) == (0, [])


async def test_a_hundred_pending_calls_fail_at_once_when_the_link_is_lost() -> None:
    link = FakeLink()
    lost: list[Cause] = []
    peer = await opened(link, on_lost=lost.append)
    tasks = [ask(peer, terms=CallTerms(timeout=60)) for _ in range(100)]
    await link.until_sent(100)
    link.receiver.lost(DIED)
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(isinstance(error, Disconnected) and error.cause is DIED for error in results)
    assert lost == [DIED]
    with pytest.raises(Disconnected, match="status 3"):
        await ask(peer)
    assert len(link.sent) == 100


async def test_a_caller_cancelled_while_the_link_is_lost_stays_cancelled() -> None:
    link = FakeLink()
    peer = await opened(link)
    task = ask(peer)
    await link.until_sent(1)
    task.cancel()
    link.receiver.lost(DIED)
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_closing_fails_what_waits_and_tells_nobody_of_a_loss() -> None:
    link = FakeLink()
    lost: list[Cause] = []
    peer = await opened(link, on_lost=lost.append)
    task = ask(peer)
    await link.until_sent(1)
    await peer.close()
    with pytest.raises(Disconnected, match="closed by mcpyard"):
        await task
    await turns()
    assert (link.closed, lost) == (1, [])


async def test_one_failed_request_leaves_the_others_alone() -> None:
    link = FakeLink()
    peer = await opened(link)
    first, second = ask(peer), ask(peer)
    await link.until_sent(2)
    link.receiver.failed(1, Cause(Code.HTTP_ERROR, "500"))
    link.answer(2, {"ok": True})
    with pytest.raises(Disconnected, match="500"):
        await first
    assert (await second).value == {"ok": True}


async def test_answers_to_nobody_change_nothing() -> None:
    link = FakeLink()
    peer = await opened(link)
    task = ask(peer)
    await link.until_sent(1)
    for number in (99, -1, 0, "x", None, "99999999999999999999999"):
        link.answer(number, {})
    link.answer(1, {"right": 1})
    link.answer(1, {"right": 0})
    assert (await task).value == {"right": 1}
    assert (peer.in_flight, peer.stats.noise) == (0, 0)


async def test_a_number_sent_back_as_a_text_is_still_its_number() -> None:
    link = FakeLink()
    peer = await opened(link)
    task = ask(peer)
    await link.until_sent(1)
    link.answer("1", "ok")
    assert (await task).value == "ok"


@pytest.mark.parametrize(
    "frame",
    [
        b"Server ready!",
        b'{"id":',
        b"5",
        b"[]",
        b"[[]]",
        b'[[{"id":1,"result":0}]]',
        b'{"a":"\xff"}',
        b'{"id":{}}',
        b"[" * 9999,
    ],
)
async def test_noise_is_counted_sampled_and_survived(frame: bytes) -> None:
    link = FakeLink()
    peer = await opened(link)
    task = ask(peer)
    await link.until_sent(1)
    link.say(frame)
    link.answer(1, "right")
    assert (await task).value == "right"
    assert peer.stats.noise == 1


async def test_noise_is_told_in_short_and_not_for_ever() -> None:
    link, noises = FakeLink(), list[tuple[str, bytes]]()
    peer = Peer(link, on_noise=lambda *noise: noises.append(noise))
    await peer.open()
    for _ in range(150):
        link.say(b"z" * 5000)
    assert peer.stats.noise == 150
    await asyncio.sleep(0)
    assert noises == [("not a JSON-RPC message", b"z" * 200)] * 100


@pytest.mark.parametrize(
    "frame",
    [
        b'{"jsonrpc":"2.0","id":1,"result":{"text":"\xff\xfe"}}',
        b'{"jsonrpc":"2.0","id":1,"result":{"text":"\\ud800"}}',
        b'{"result":{"id":2,"text":"\xff"},"id":1}',
        b'{"result":{"id":2,"text":"\xff"},"id":1,"jsonrpc":"2.0"}',
        b'{"jsonrpc":"2.0","id":1,"result":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    ],
)
async def test_an_unreadable_answer_fails_its_own_call_at_once(frame: bytes) -> None:
    link = FakeLink()
    peer = await opened(link)
    first, second = ask(peer), ask(peer)
    await link.until_sent(2)
    link.say(frame)
    with pytest.raises(ProtocolBroken):
        await first
    assert not second.done()
    link.answer(2, {})
    await second


async def test_a_batch_is_taken_element_by_element() -> None:
    link = FakeLink()
    methods: list[str] = []
    peer = await opened(link, on_notification=lambda method, *_: methods.append(method))
    first, second = ask(peer), ask(peer)
    await link.until_sent(2)
    link.say([{"id": 2, "result": 2}, {"method": "notifications/x"}, 7, {"id": 1, "result": 1}])
    assert [(await first).value, (await second).value] == [1, 2]
    await turns()
    assert methods == ["notifications/x"]


async def test_progress_reaches_its_call_only() -> None:
    link = FakeLink()
    peer = await opened(link)
    seen: list[Mapping[str, object]] = []
    task = ask(peer, {"name": "t", "_meta": {"vendor": 1}}, CallTerms(progress=seen.append))
    quiet = ask(peer)
    await link.until_sent(2)
    assert link.bodies[0]["params"] == {"name": "t", "_meta": {"vendor": 1, "progressToken": 1}}
    for token in (1, 2, 77, "1"):
        params = {"progressToken": token, "progress": 3, "total": 4, "message": "m"}
        link.say({"method": "notifications/progress", "params": params})
    link.say({"method": "notifications/progress", "params": {"progressToken": []}})
    link.answer(1, {})
    link.answer(2, {})
    await task
    await quiet
    assert seen == [{"progressToken": 1, "progress": 3, "total": 4, "message": "m"}]
    assert peer.stats.noise == 1


async def test_a_raising_progress_callback_does_not_end_the_connection() -> None:
    link = FakeLink()
    peer = await opened(link)
    caught: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: caught.append(context))

    def explode(progress: Mapping[str, object]) -> None:
        raise ValueError(progress)

    task = ask(peer, terms=CallTerms(progress=explode))
    await link.until_sent(1)
    link.say({"method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}})
    link.answer(1, "fine")
    assert (await task).value == "fine"
    assert len(caught) == 1


async def test_progress_extends_the_time_out_but_not_past_the_limit() -> None:
    link = FakeLink()
    peer = await opened(link)
    loop = asyncio.get_running_loop()
    started = loop.time()
    task = ask(peer, terms=CallTerms(timeout=0.08, longest=0.25, progress=lambda _: None))
    await link.until_sent(1)
    note = {"method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}}

    def report() -> None:
        if not task.done():
            link.say(note)
            loop.call_later(0.02, report)

    report()
    with pytest.raises(TimedOut):
        await task
    assert 0.24 < loop.time() - started < (1 if FULL else 10)


async def test_raw_parameters_get_their_meta_without_being_touched() -> None:
    link = FakeLink()
    peer = await opened(link)
    for params in (b"{}", b"{ }", b'{"a": 1.10}', b'{"arguments":{"_meta":1}}'):
        call = peer.start("m", params, CallTerms(), RequestExtras(b'"k":"v"'))
        body = json.loads(link.sent[-1].body)["params"]
        assert body == {**json.loads(params), "_meta": {"k": "v"}}
        link.answer(call.id, None)
        await peer.wait(call)
    assert b'"a": 1.10}' in link.sent[2].body


async def test_nothing_is_said_on_a_lost_link() -> None:
    link = FakeLink()
    peer = await opened(link)
    link.receiver.lost(DIED)
    with pytest.raises(Disconnected, match="status 3"):
        peer.notify("notifications/x")
    link.say({"id": 1, "method": "ping"})
    assert link.sent == []
