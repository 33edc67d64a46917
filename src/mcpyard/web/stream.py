"""How a page stays true: what changes is pushed, and every few seconds the page asks besides.

Both ways carry the same parts of the page. Pushes are gathered for a moment, so that a hundred
servers that come up together cost a browser ten updates a second, not a hundred.
"""

import asyncio
from collections.abc import AsyncGenerator
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.templating import HTML, POLICY, Preferences, preferences_of
from mcpyard.yard.events import Subscription

GATHER: Final = 0.1
HEARTBEAT: Final = 15.0

_EVENTS: Final = "text/event-stream"
_NOT_MODIFIED: Final = 304


class NewsRoutes:
    """Tells browsers what changed; its streams end when `closing` is set."""

    def __init__(self, presenter: ServerPresenter, closing: asyncio.Event) -> None:
        self._presenter = presenter
        self._tracker = presenter.tracker
        self._closing = closing

    async def news(self, request: Request) -> Response:
        """What changed since the moment that the browser names, if anything did."""
        await self._tracker.metrics.refresh()
        seen = request.headers.get("if-none-match", "").strip('"')
        changes = self._tracker.since(seen)
        headers = {"ETag": f'"{changes.tag}"', "Content-Security-Policy": POLICY}
        if not changes:
            return Response(status_code=_NOT_MODIFIED, headers=headers)
        text = self._presenter.news(
            preferences_of(request), request.query_params.get("view", ""), changes
        )
        return Response(text, headers=headers, media_type=HTML)

    async def stream(self, request: Request) -> Response:
        """What changes from a moment on, as it does."""
        seen = request.headers.get("last-event-id") or request.query_params.get("after", "")
        view = request.query_params.get("view", "")
        frames = self._frames(preferences_of(request), view, seen)
        return StreamingResponse(frames, media_type=_EVENTS, headers={"X-Accel-Buffering": "no"})

    async def _frames(
        self, preferences: Preferences, view: str, seen: str
    ) -> AsyncGenerator[bytes]:
        reader = self._tracker.yard.events()
        closing = asyncio.create_task(self._closing.wait())
        closing.add_done_callback(lambda _: reader.finish())
        try:
            # The first bytes tell that the stream stands, even where there is no news yet.
            yield b": listening\n\n"
            # A page does not wait for its figures; they follow it.
            await self._tracker.metrics.refresh()
            while not self._closing.is_set():
                changes = self._tracker.since(seen)
                seen = changes.tag
                if changes and (text := self._presenter.news(preferences, view, changes)):
                    yield _frame(seen, text)
                if not await _happened(reader):
                    yield b":\n\n"
        finally:
            reader.finish()
            closing.cancel()


async def _happened(reader: Subscription) -> bool:
    """Wait until something happens, and a moment more for what comes with it."""
    try:
        async with asyncio.timeout(HEARTBEAT):
            await reader.batch()
    except TimeoutError:
        return False
    await asyncio.sleep(GATHER)
    return True


def _frame(tag: str, text: str) -> bytes:
    lines = "".join(f"data: {line}\n" for line in text.splitlines() if line.strip())
    return f"id: {tag}\n{lines}\n".encode()
