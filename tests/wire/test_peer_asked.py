import asyncio
from typing import Any

from mcpyard.wire.jsonrpc import RpcError
from tests.wire.fakes import FakeLink, opened, turns


async def test_a_server_is_answered_and_pings_need_no_handler() -> None:
    link = FakeLink()

    async def handler(method: str, params: bytes, stream: int | None) -> bytes:
        if method == "bug":
            raise KeyError(method)
        if method == "no":
            raise RpcError(-32600, "refused", {"why": 1})
        return b'{"saw":%b,"stream":%d}' % (params, stream or 0)

    caught: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: caught.append(context))
    await opened(link, on_request=handler)
    link.say({"id": "p", "method": "ping"})
    link.say({"id": "a", "method": "roots/list", "params": {"x": 1}}, stream=4)
    link.say({"id": 7, "method": "no"})
    link.say({"id": 8, "method": "bug"})
    await link.until_sent(4)
    answers = {body["id"]: body for body in link.bodies}
    assert answers["p"]["result"] == {}
    assert answers["a"]["result"] == {"saw": {"x": 1}, "stream": 4}
    assert answers[7]["error"] == {"code": -32600, "message": "refused", "data": {"why": 1}}
    assert answers[8]["error"]["code"] == -32603
    assert [type(context["exception"]) for context in caught] == [KeyError]


async def test_what_nobody_handles_is_method_not_found() -> None:
    link = FakeLink()
    await opened(link)
    link.say({"id": 1, "method": "sampling/createMessage"})
    await link.until_sent(1)
    assert link.bodies[0]["error"]["code"] == -32601


async def test_a_withdrawn_request_is_cancelled_and_not_answered() -> None:
    link = FakeLink()
    started, ended = asyncio.Event(), asyncio.Event()

    async def handler(_method: str, _params: bytes, _stream: int | None) -> bytes:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return b"{}"

    peer = await opened(link, on_request=handler)
    link.say({"id": 5, "method": "elicitation/create"})
    await started.wait()
    link.say({"id": 5, "method": "elicitation/create"})
    assert link.bodies[0]["error"]["code"] == -32600
    link.say({"method": "notifications/cancelled", "params": {}})
    link.say({"method": "notifications/cancelled", "params": {"requestId": 5}})
    await ended.wait()
    await turns()
    assert (len(link.sent), peer.stats.noise) == (1, 1)


async def test_a_server_that_asks_without_end_is_refused_beyond_a_number() -> None:
    link = FakeLink()

    async def handler(_method: str, _params: bytes, _stream: int | None) -> bytes:
        await asyncio.Event().wait()
        return b"{}"

    peer = await opened(link, on_request=handler)
    for number in range(70):
        link.say({"id": number, "method": "elicitation/create"})
    assert [body["error"]["code"] for body in link.bodies] == [-32600] * 6
    await peer.close()
    await turns()


async def test_a_server_that_asks_without_reading_gets_no_answer_and_stays() -> None:
    link = FakeLink()
    peer = await opened(link)
    link.busy = True
    link.say({"id": 1, "method": "ping"})
    link.busy = False
    link.say({"id": 2, "method": "ping"})
    assert [body["id"] for body in link.bodies] == [2]
    assert peer.gone is None
