"""A link in memory, and the few words needed to play the server on its other end."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from mcpyard.domain.cause import Cause
from mcpyard.domain.ports import CallTerms
from mcpyard.wire.jsonrpc import Params, Reply
from mcpyard.wire.link import Busy, LinkFailed, Outgoing, Receiver
from mcpyard.wire.peer import OnNotification, Peer
from mcpyard.wire.server_requests import OnRequest, refuse

FOREVER = CallTerms()


class FakeLink:
    """Keeps what is sent; a test plays the server, by hand or with `script`.

    `script` maps a method to a function that gets the message's parameters and gives a result, or
    an `RpcFailure`; None means silence.
    """

    def __init__(self, *, cancels_by_closing: bool = False, fails: Cause | None = None) -> None:
        self.cancels_by_closing = cancels_by_closing
        self.sent: list[Outgoing] = []
        self.abandoned: list[int] = []
        self.closed = 0
        self.busy = False
        self.script: dict[str, Callable[[Any], Any]] = {}
        self._fails = fails
        self._receiver: Receiver | None = None
        self._arrived = asyncio.Event()

    async def open(self, receiver: Receiver) -> None:
        if self._fails is not None:
            raise LinkFailed(self._fails)
        self._receiver = receiver

    def send(self, message: Outgoing) -> None:
        if self.busy:
            raise Busy
        self.sent.append(message)
        self._arrived.set()
        answer = self.script.get(message.method)
        if answer is not None and message.id is not None:
            asyncio.get_running_loop().call_soon(self._play, answer, message)

    def abandon(self, request: int) -> None:
        self.abandoned.append(request)

    async def close(self) -> None:
        self.closed += 1

    @property
    def receiver(self) -> Receiver:
        assert self._receiver is not None
        return self._receiver

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(message.body) for message in self.sent]

    @property
    def methods(self) -> list[str]:
        return [message.method for message in self.sent]

    async def until_sent(self, count: int) -> Outgoing:
        """Wait until that many messages were sent; the last of them."""
        while len(self.sent) < count:
            self._arrived.clear()
            await self._arrived.wait()
        return self.sent[count - 1]

    def say(self, message: object, stream: int | None = None) -> None:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.receiver.message(body, stream)

    def answer(self, number: object, result: object) -> None:
        self.say({"jsonrpc": "2.0", "id": number, "result": result})

    def refuse(self, number: object, code: int, message: str = "no", data: object = None) -> None:
        error = {"code": code, "message": message, "data": data}
        self.say({"jsonrpc": "2.0", "id": number, "error": error})

    def _play(self, answer: Callable[[Any], Any], message: Outgoing) -> None:
        result = answer(json.loads(message.body)["params"])
        if isinstance(result, RpcFailure):
            self.refuse(message.id, result.code, data=result.data)
        elif isinstance(result, Cause):
            assert message.id is not None
            self.receiver.failed(message.id, result)
        elif result is not None:
            self.answer(message.id, result)


class RpcFailure:
    """What a scripted server refuses with."""

    def __init__(self, code: int, data: object = None) -> None:
        self.code = code
        self.data = data


async def turns(count: int = 5) -> None:
    """Let the event loop go round: everything that is due now has happened then."""
    for _ in range(count):
        await asyncio.sleep(0)


async def opened(
    link: FakeLink,
    *,
    on_request: OnRequest = refuse,
    on_notification: OnNotification | None = None,
    on_lost: Callable[[Cause], None] | None = None,
) -> Peer:
    peer = Peer(link, on_request=on_request, on_notification=on_notification, on_lost=on_lost)
    await peer.open()
    return peer


def ask(peer: Peer, params: Params = None, terms: CallTerms = FOREVER) -> asyncio.Task[Reply]:
    return asyncio.create_task(peer.request("tools/call", params, terms))
