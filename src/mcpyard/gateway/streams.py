"""Messages on their way to one client as server-sent events, at a bounded cost.

A client that does not read fills its stream up to a limit; then the stream ends, and with it
whatever was to be told on it. One that comes back within the life of its session is told again what
it missed (the handshake era's resumption), as far as that is kept.
"""

import asyncio
from collections import deque
from typing import Final

from starlette.types import Send

from mcpyard.domain.callers import Caller

UNREAD_LIMIT: Final = 4 * 1024 * 1024
"""Bytes that may wait for a client to read them, besides the last message."""

KEPT_EVENTS: Final = 256
KEPT_BYTES: Final = 1024 * 1024
"""What is kept of a stream for a client that comes back."""

KEEP_ALIVE: Final = 15.0
"""Seconds of silence after which a comment shows that the stream still lives."""

_STALLED: Final = 60.0
"""Seconds that one write may wait for a client that does not read."""

HEADERS: Final = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


def framed(message: bytes, number: bytes | None) -> bytes:
    """A message as an event; its own line breaks, if it has any, stand between its members."""
    if b"\n" in message or b"\r" in message:
        message = b"\ndata: ".join(message.splitlines())
    head = b"id: %b\n" % number if number else b""
    return b"%bevent: message\ndata: %b\n\n" % (head, message)


class Stream:
    """The events of one stream.

    Attributes:
        name: Stands in the ids of its events; empty where nobody can come back.
        finished: Whether nothing will be added.
        broken: Whether it ended because nobody read it.
        left: When the last one who was being told went away.
    """

    def __init__(self, name: str = "", caller: Caller | None = None) -> None:
        self.name = name
        self._caller = caller
        self.finished = False
        self.broken = False
        self.left = 0.0
        self._writers = 0
        self._events: deque[tuple[int, bytes]] = deque()
        self._last = 0
        self._delivered = 0
        self._bytes = 0
        self._unread = 0
        self._arrived = asyncio.Event()

    @property
    def writing(self) -> bool:
        """Whether somebody is being told: a client may be back before its old line ends."""
        return self._writers > 0

    def put(self, message: bytes, *, last: bool = False) -> None:
        """Add a message; the last one always finds room."""
        if self.finished:
            return
        number = f"{self.name}-{self._last + 1}".encode() if self.name else None
        self._add(framed(message, number), last=last)

    def prime(self) -> None:
        """Give the client an id to come back with before there is anything to tell."""
        self._add(f"id: {self.name}-{self._last + 1}\ndata: \n\n".encode(), last=False)

    def finish(self) -> None:
        """Nothing more will come."""
        self.finished = True
        self._arrived.set()

    def release(self) -> None:
        """Nobody can come back to it: what is not written yet is all that it still holds."""
        if self._caller:
            self._caller.kept -= self._bytes
            self._caller = None

    async def write(self, send: Send, *, after: int | None = None) -> None:
        """Tell a client everything that is there and that comes, until the stream is finished.

        Args:
            send: Where to.
            after: The last event it knows; what was not told yet to anybody unless given.
        """
        cursor = self._delivered if after is None else after
        self._writers += 1
        try:
            while True:
                waiting = [event for event in self._events if event[0] > cursor]
                if waiting:
                    cursor = waiting[-1][0]
                    await _send(send, b"".join(event for _, event in waiting))
                    self._on_delivered(cursor)
                elif self.finished:
                    return
                else:
                    await self._more(send)
        finally:
            self._writers -= 1
            self.left = asyncio.get_running_loop().time()

    async def _more(self, send: Send) -> None:
        self._arrived.clear()
        try:
            async with asyncio.timeout(KEEP_ALIVE):
                await self._arrived.wait()
        except TimeoutError:
            await _send(send, b": still here\n\n")

    def _add(self, event: bytes, *, last: bool) -> None:
        self._last += 1
        self._unread += len(event)
        self._keep(len(event))
        if not last and (self._unread > UNREAD_LIMIT or not self._fits()):
            self._events.clear()
            self._keep(-self._bytes)
            self.broken = True
            self.finish()
            return
        self._events.append((self._last, event))
        self.finished = self.finished or last
        self._trim()
        self._arrived.set()

    def _on_delivered(self, number: int) -> None:
        if number > self._delivered:
            size = sum(
                len(event) for each, event in self._events if self._delivered < each <= number
            )
            self._unread -= size
            self._delivered = number
        self._trim()

    def _trim(self) -> None:
        """Forget what was told, but for what a client that comes back may ask for."""
        events, bytes_ = (KEPT_EVENTS, KEPT_BYTES) if self.name else (0, 0)
        while self._events and self._events[0][0] <= self._delivered:
            if len(self._events) <= events and self._bytes <= bytes_:
                return
            self._keep(-len(self._events.popleft()[1]))

    def _keep(self, size: int) -> None:
        self._bytes += size
        if self._caller:
            self._caller.kept += size

    def _fits(self) -> bool:
        """Whether its caller may keep so much, without sessions that are idle."""
        if self._caller is None or self._caller.kept <= self._caller.quotas.memory:
            return True
        self._caller.check_memory()
        if self._caller.kept <= self._caller.quotas.memory:
            return True
        self._caller.refused["memory"] += 1
        return False


async def _send(send: Send, body: bytes) -> None:
    async with asyncio.timeout(_STALLED):
        await send({"type": "http.response.body", "body": body, "more_body": True})
