"""Whether calls are recorded, on the page: switched on and off, and what is recorded deleted."""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.call_contents import RecordingMode
from mcpyard.web.templating import answer
from mcpyard.yard.yard import YardCore

_SWITCH: Final = "parts/recording.html"


class RecordingPages:
    """Switches the recording of one yard."""

    def __init__(self, yard: YardCore) -> None:
        self._recording = yard.calls.recording

    async def on(self, request: Request) -> Response:
        """Record calls from now on."""
        await self._recording.set_mode(RecordingMode.ON)
        return await self._answer(request, _SWITCH)

    async def off(self, request: Request) -> Response:
        """Record no more calls."""
        await self._recording.set_mode(RecordingMode.OFF)
        return await self._answer(request, _SWITCH)

    async def ask(self, request: Request) -> Response:
        """What deleting would do."""
        return await self._answer(request, "dialogs/purge.html")

    async def purge(self, request: Request) -> Response:
        """Delete everything that is recorded."""
        await self._recording.clear()
        return await self._answer(request, "parts/purged.html")

    async def _answer(self, request: Request, template: str) -> Response:
        return answer(request, template, {"recording": await self._recording.state()})
