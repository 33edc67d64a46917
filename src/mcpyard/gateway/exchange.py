"""One POST and its answer: plain JSON, or a stream once there is more to tell than the result.

Used as a context: whoever runs inside is cancelled when the client goes away, and that ends the
request quietly.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Final, Protocol, Self

from starlette.types import Receive, Send

from mcpyard.asgi_scope import SendWhole
from mcpyard.gateway.streams import HEADERS, Stream
from mcpyard.wire.jsonrpc import Id, success

WATCH_AFTER: Final = 0.25
"""Seconds until it is looked whether the client is still there: most answers come sooner."""

STREAM_AFTER: Final = 2.0
"""Seconds until a stream is begun for an answer that is late, to keep the connection alive."""

RESUME_WITHIN: Final = 60.0
"""Seconds within which a client must come back to a stream, or its call is cancelled."""

_LARGE: Final = 64 * 1024
"""Bytes from which on a result is not copied."""

_MOST_AT_ONCE: Final = 1024 * 1024
"""Bytes that are written without waiting for the client to take them."""

_STALLED: Final = 60.0
_HOLE: Final = b"{}"
_JSON: Final = (b"content-type", b"application/json")
PLAIN: Final = (_JSON,)

Headers = Sequence[tuple[bytes, bytes]]


class Watched(Protocol):
    """A request that is under way."""

    def watch(self) -> None:
        """It is late: look from now on whether the client is still there."""
        ...


class Watch:
    """Looks after the requests that take long.

    One timer serves all: a timer for each would cost a good part of a quick answer. Whoever is
    there at two looks is late.
    """

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self._new: dict[Watched, None] = {}
        self._seen: dict[Watched, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def add(self, exchange: Watched) -> None:
        """A request begins."""
        self._new[exchange] = None
        if self._timer is None:
            self._look_later()

    def drop(self, exchange: Watched) -> None:
        """It is answered."""
        self._new.pop(exchange, None)
        if self._seen:
            self._seen.pop(exchange, None)

    def _look_later(self) -> None:
        self._timer = self.loop.call_later(WATCH_AFTER / 2, self._look)

    def _look(self) -> None:
        late, self._seen, self._new = self._seen, self._new, {}
        self._timer = None
        if self._seen:
            self._look_later()
        for exchange in late:
            exchange.watch()


class Exchange:
    """The way back to the client of one request.

    Attributes:
        gone: Whether nobody wants the answer any more.
    """

    __slots__ = (
        "_loop",
        "_open_stream",
        "_receive",
        "_send",
        "_stream",
        "_task",
        "_timer",
        "_watch",
        "_watcher",
        "_whole",
        "_writer",
        "gone",
    )

    def __init__(
        self,
        watch: Watch,
        receive: Receive,
        send: Send,
        whole: SendWhole | None,
        open_stream: Callable[[], Stream] = Stream,
    ) -> None:
        self.gone = False
        self._watch = watch
        self._whole = whole
        self._receive = receive
        self._send = send
        self._open_stream = open_stream
        self._stream: Stream | None = None
        self._writer: asyncio.Task[None] | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._loop = watch.loop
        self._task = asyncio.current_task(self._loop)

    def __enter__(self) -> Self:
        self._watch.add(self)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        self._settle()
        if kind is None:
            return False
        if self._writer:
            self._writer.cancel()
        if kind is asyncio.CancelledError and self.gone and self._task:
            self._task.uncancel()
            return True
        return False

    def send(self, message: bytes) -> None:
        """Tell the client something before the answer; one that does not read is given up."""
        stream = self._streaming()
        stream.put(message)
        if stream.broken:
            self._leave()

    async def answer(self, body: bytes, status: int = 200, headers: Headers = ()) -> None:
        """Give the answer."""
        self._settle()
        if self._stream is None:
            if not self._whole or not self._whole(status, (_JSON, *headers), body):
                await send_json(self._send, body, status, headers)
            return
        self._stream.put(body, last=True)
        await self._written()

    async def succeed(self, number: Id, result: bytes) -> None:
        """Give the result; a long one without a copy."""
        # What every quick answer comes by; the rest is for what is late or cannot be sent now.
        if not self._stream and self._whole and succeed_at_once(self._whole, number, result):
            return
        if self._stream or len(result) <= _LARGE:
            await self.answer(success(number, result))
            return
        self._settle()
        await _send_long(self._send, _around(number, result))

    def withdraw(self) -> None:
        """The client does not want the answer any more, but is there."""
        self._streaming().finish()
        self._leave()

    def _settle(self) -> None:
        self._watch.drop(self)
        if self._timer:
            self._timer.cancel()
        if self._watcher:
            self._watcher.cancel()

    async def _written(self) -> None:
        if self._writer:
            await asyncio.wait({self._writer})

    def _streaming(self) -> Stream:
        if self._stream is None:
            self._stream = self._open_stream()
            self._writer = self._loop.create_task(self._write(self._stream))
        return self._stream

    async def _write(self, stream: Stream) -> None:
        try:
            await self._send({"type": "http.response.start", "status": 200, "headers": HEADERS})
            await stream.write(self._send)
            await self._send({"type": "http.response.body", "body": b""})
        except TimeoutError:
            self._leave()

    def watch(self) -> None:
        """Look from now on whether the client is still there."""
        self._timer = self._loop.call_later(STREAM_AFTER - WATCH_AFTER, self._streaming)
        self._watcher = self._loop.create_task(self._until_gone())

    async def _until_gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass
        if self._writer:
            self._writer.cancel()
        if self._timer:
            self._timer.cancel()
        if self._stream and self._stream.name:
            # The handshake era lets a client come back to a stream that it lost.
            self._leave_later(RESUME_WITHIN, self._stream)
        else:
            self._leave()

    def _leave_later(self, seconds: float, stream: Stream) -> None:
        self._timer = self._loop.call_later(seconds, self._leave_unless_resumed, stream)

    def _leave_unless_resumed(self, stream: Stream) -> None:
        """Leave a client that is away for too long; one that came back may be lost again."""
        since = self._loop.time() if stream.writing else stream.left
        seconds = since + RESUME_WITHIN - self._loop.time()
        if seconds > 0:
            self._leave_later(seconds, stream)
        else:
            self._leave()

    def _leave(self) -> None:
        if not self.gone and self._task:
            self.gone = True
            self._task.cancel()


def succeed_at_once(whole: SendWhole, number: Id, result: bytes) -> bool:
    """Give a result in one piece, a long one without a copy; False when that is not possible."""
    if len(result) <= _LARGE:
        return whole(200, PLAIN, success(number, result))
    return len(result) <= _MOST_AT_ONCE and whole(200, PLAIN, *_around(number, result))


def _around(number: Id, result: bytes) -> tuple[bytes, bytes, bytes]:
    """An answer in parts, one of which is the result."""
    head, _, tail = success(number, _HOLE).partition(_HOLE)
    return head, result, tail


async def send_json(send: Send, body: bytes, status: int = 200, headers: Headers = ()) -> None:
    """Answer a request with a JSON body."""
    length = (b"content-length", b"%d" % len(body))
    start = {"type": "http.response.start", "status": status, "headers": [_JSON, length, *headers]}
    await send(start)
    await send({"type": "http.response.body", "body": body})


async def _send_long(send: Send, parts: Sequence[bytes]) -> None:
    length = (b"content-length", b"%d" % sum(map(len, parts)))
    with suppress(TimeoutError):
        async with asyncio.timeout(_STALLED):
            await send({"type": "http.response.start", "status": 200, "headers": [_JSON, length]})
            for part in parts:
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b""})


async def send_empty(send: Send, status: int, headers: Headers = ()) -> None:
    """Answer a request without a body."""
    length = (b"content-length", b"0")
    await send({"type": "http.response.start", "status": status, "headers": [length, *headers]})
    await send({"type": "http.response.body", "body": b""})
