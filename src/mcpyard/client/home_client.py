"""HTTP to whichever mcpyard holds a home: found anew where it went, from any event loop."""

import contextlib
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TypeVar

from mcpyard.client.http import Answer, HttpClient, NotReached
from mcpyard.domain.errors import Disconnected
from mcpyard.store.home import Home
from mcpyard.yard.event_loop import YardLoop

_Decoded = TypeVar("_Decoded")


class HomeClient:
    """Sends requests to the mcpyard of a home; a restarted one may listen on another port.

    Attributes:
        loop: The event loop that it is made on; requests from others are carried to it.

    Raises:
        Disconnected: No mcpyard runs there.
    """

    def __init__(self, home: Home) -> None:
        self.loop = YardLoop()
        self._home = home
        self._http = self._find()

    async def request(
        self,
        kind: type[_Decoded],
        method: str,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> _Decoded:
        """What a route answers, decoded to a type (see `HttpClient.request`)."""
        return await self.loop.carry(self._request(kind, method, path, body, headers))

    @asynccontextmanager
    async def answer(self, method: str, path: str) -> AsyncGenerator[Answer]:
        """What a route answers, for as long as the block lasts, on this loop."""
        await self._follow_move()
        async with self._http.answer(method, path) as answer:
            yield answer

    @asynccontextmanager
    async def send(
        self, method: str, path: str, headers: Mapping[str, str], body: bytes
    ) -> AsyncGenerator[Answer]:
        """What is answered, whatever its status, for as long as the block lasts, on this loop."""
        await self._follow_move()
        async with self._http.send(method, path, headers, body) as answer:
            yield answer

    async def aclose(self) -> None:
        """Let go of every connection."""
        await self._http.aclose()

    async def _request(
        self,
        kind: type[_Decoded],
        method: str,
        path: str,
        body: bytes,
        headers: Mapping[str, str] | None,
    ) -> _Decoded:
        tried = self._http
        try:
            return await tried.request(kind, method, path, body, headers)
        except Disconnected as error:
            # Only what was never sent may be sent again.
            if not isinstance(error.__cause__, NotReached):
                raise
        # Another request may have found the new one meanwhile.
        if self._http is tried:
            await self._follow()
        return await self._http.request(kind, method, path, body, headers)

    async def _follow_move(self) -> None:
        running = self._home.running()
        if running is None or running != self._http.running:
            await self._follow()

    async def _follow(self) -> None:
        before, self._http = self._http, self._find()
        with contextlib.suppress(OSError):
            await before.aclose()

    def _find(self) -> HttpClient:
        running = self._home.running()
        if running is None or not running.url:
            raise Disconnected(f"mcpyard is not running (home {self._home.folder}): mcpyard up")
        return HttpClient(running, self._home.token())
