"""Who lost the key to what it still holds open: a stream outlives the request that was let in."""

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

Listener = Callable[[str], None]
"""Told of somebody who was let in before, by name, and would not be any more."""


class Revocations:
    """Tells of everybody whose key was taken away."""

    def __init__(self) -> None:
        self._listeners: set[Listener] = set()

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Hear of everybody, until the returned function is called."""
        self._listeners.add(listener)
        return lambda: self._listeners.discard(listener)

    def dispatch(self, who: str) -> None:
        """Somebody's key was taken away."""
        for listener in [*self._listeners]:
            listener(who)

    def watching(self, app: ASGIApp, who: str) -> ASGIApp:
        """An application for a stream of somebody's, which ends when that one is dismissed."""

        async def watched(scope: Scope, receive: Receive, send: Send) -> None:
            stream = _Stream(who, receive, send)
            mute = self.listen(stream.dismissed)
            try:
                await app(scope, stream.receive, stream.send)
                await stream.end()
            finally:
                mute()

        return watched


class _Stream:
    """A stream whose reader seems to go when it is dismissed."""

    def __init__(self, who: str, receive: Receive, send: Send) -> None:
        self._who = who
        self._receive = receive
        self._send = send
        self._over = asyncio.Event()
        self._open = False

    def dismissed(self, who: str) -> None:
        if who == self._who:
            self._over.set()

    async def receive(self) -> Message:
        came = asyncio.ensure_future(self._receive())
        over = asyncio.ensure_future(self._over.wait())
        try:
            await asyncio.wait({came, over}, return_when=asyncio.FIRST_COMPLETED)
            return came.result() if came.done() else {"type": "http.disconnect"}
        finally:
            came.cancel()
            over.cancel()

    async def send(self, message: Message) -> None:
        self._open = message["type"] == "http.response.start" or message.get("more_body", False)
        await self._send(message)

    async def end(self) -> None:
        """Complete an answer that was broken off."""
        if self._open and self._over.is_set():
            await self._send({"type": "http.response.body", "body": b""})
