"""Notices when nobody has asked anything for a while."""

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from mcpyard.asgi_scope import KNOWN_HEAD, OpenRequest


def _not_at_once(_request: OpenRequest, _body: bytes) -> bool:
    """A request that passed by the application would not be counted."""
    return False


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
        if head := scope.get(KNOWN_HEAD):
            head.answer = _not_at_once
        self._under_way += 1
        self._timer.cancel()
        try:
            await self._app(scope, receive, send)
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._timer = self._loop.call_later(self._seconds, self._over)
