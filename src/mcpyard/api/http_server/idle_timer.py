"""Notices when nobody has asked anything for a while."""

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send


class Idle:
    """Calls `over` once no request was under way for so many seconds; a stream is a request."""

    def __init__(self, app: ASGIApp, seconds: float, over: Callable[[], None]) -> None:
        self._app = app
        self._seconds = seconds
        self._over = over
        self._loop = asyncio.get_running_loop()
        self._under_way = 0
        self._timer = self._loop.call_later(seconds, over)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, and see to the time."""
        self._under_way += 1
        self._timer.cancel()
        try:
            await self._app(scope, receive, send)
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._timer = self._loop.call_later(self._seconds, self._over)
