"""The other direction: what a server asks of us.

Each request runs as a task of its own, since an elicitation may wait minutes for a person. Answers
are made when the task is done, whatever became of it: a server never waits for one that was lost in
an exception.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final

import msgspec

from mcpyard.wire import jsonrpc
from mcpyard.wire.jsonrpc import Id, RpcError

OnRequest = Callable[[str, bytes, int | None], Coroutine[Any, Any, bytes]]
"""A server asks: method, parameters, stream; the result as JSON, or `RpcError`."""

MOST_REQUESTS: Final = 64
"""Requests of one server answered at once; more is a server run wild."""


class _CancelNotice(msgspec.Struct, rename="camel"):
    request_id: Id


_cancel_notice = msgspec.json.Decoder(_CancelNotice)


async def refuse(method: str, _params: bytes, _stream: int | None) -> bytes:
    """Refuse whatever is asked."""
    raise RpcError(jsonrpc.METHOD_NOT_FOUND, f"{method} is not supported here")


class ServerRequests:
    """The requests of one server that are being answered, `most` at once."""

    def __init__(self, handler: OnRequest, reply: Callable[[bytes], None]) -> None:
        self.most = MOST_REQUESTS
        self._handler = handler
        self._reply = reply
        self._loop = asyncio.get_running_loop()
        self._tasks: dict[Id, asyncio.Task[bytes]] = {}

    def answer(self, number: Id, method: str, params: bytes, stream: int | None) -> None:
        """Have a request answered; `ping` at once."""
        if method == "ping":
            self._reply(jsonrpc.success(number, b"{}"))
        elif number in self._tasks or len(self._tasks) >= self.most:
            error = RpcError(jsonrpc.INVALID_REQUEST, "too many requests, or one id used twice")
            self._reply(jsonrpc.failure(number, error))
        else:
            task = self._loop.create_task(self._handler(method, params, stream))
            self._tasks[number] = task
            task.add_done_callback(lambda done: self._done(number, done))

    def cancel(self, params: bytes) -> Id | None:
        """The server does not want an answer any more.

        Returns:
            The number in the notice when it names none of the server's requests.

        Raises:
            ValueError: The notice names nothing.
        """
        number = _cancel_notice.decode(params).request_id
        task = self._tasks.get(number)
        if task is None:
            return number
        task.cancel()
        return None

    async def finish(self, seconds: float) -> None:
        """Wait for the answers that are under way, but no longer than that."""
        if self._tasks:
            await asyncio.wait({*self._tasks.values()}, timeout=seconds)

    def end(self) -> None:
        """Nobody is there to answer to."""
        for task in self._tasks.values():
            task.cancel()

    def _done(self, number: Id, task: asyncio.Task[bytes]) -> None:
        del self._tasks[number]
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            self._reply(jsonrpc.success(number, task.result()))
        elif isinstance(error, RpcError):
            self._reply(jsonrpc.failure(number, error))
        else:
            internal = RpcError(jsonrpc.INTERNAL_ERROR, "mcpyard could not answer this request")
            self._reply(jsonrpc.failure(number, internal))
            context = {"message": "a server's request failed here", "exception": error}
            self._loop.call_exception_handler(context)
