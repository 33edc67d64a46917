"""How a page stays true: what changes is pushed, and every few seconds the page asks besides.

Both ways carry the same parts of the page. Pushes are gathered for a moment, so that a hundred
servers that come up together cost a browser ten updates a second, not a hundred.
"""

import asyncio
from collections.abc import AsyncGenerator
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from mcpyard.web.change_tracker import PageChanges
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.templating import HTML, POLICY, Preferences, preferences_of
from mcpyard.yard.events import Subscription

GATHER: Final = 0.1
HEARTBEAT: Final = 15.0

AT_ONCE: Final = 25
"""Servers in one update: a browser draws them before anybody feels it."""

PAUSE: Final = 0.03
"""Seconds between updates that belong together, in which a browser answers to its user."""

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
                async for each in self._news(preferences, view, changes):
                    yield each
                if not await _happened(reader):
                    yield b":\n\n"
        finally:
            reader.finish()
            closing.cancel()

    async def _news(
        self, preferences: Preferences, view: str, changes: PageChanges
    ) -> AsyncGenerator[bytes]:
        """What changed, in frames; the last one names the moment."""
        parts = [*changes.parts(AT_ONCE)] if changes else []
        for part in parts:
            is_last = part is parts[-1]
            if text := self._presenter.news(preferences, view, part):
                yield frame(changes.tag if is_last else "", text)
            if not is_last:
                await asyncio.sleep(PAUSE)


async def _happened(reader: Subscription) -> bool:
    """Wait until something happens, and a moment more for what comes with it."""
    try:
        async with asyncio.timeout(HEARTBEAT):
            await reader.batch()
    except TimeoutError:
        return False
    await asyncio.sleep(GATHER)
    return True


def frame(tag: str, text: str) -> bytes:
    """A part of a page as an event of a stream; without a tag, one of several of one moment."""
    lines = "".join(f"data: {line}\n" for line in text.splitlines() if line.strip())
    name = f"id: {tag}\n" if tag else ""
    return f"{name}{lines}\n".encode()
