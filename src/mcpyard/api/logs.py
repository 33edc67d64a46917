"""The routes of what servers wrote to their standard error, and of their log messages.

A line is not worth an event of its own: a server that floods its log would drown the news of all
the others. So a follower looks at the ring several times a second, and one that reads slowly skips
what the ring has dropped meanwhile.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from mcpyard.api import requests
from mcpyard.api.bodies import LogLevelBody
from mcpyard.api.responses import answer, encode
from mcpyard.domain.errors import ServerUnknown
from mcpyard.domain.interests import LEVELS
from mcpyard.domain.ports import LogLine
from mcpyard.yard.closing import wait_up_to
from mcpyard.yard.content_access import log_level, set_log_level
from mcpyard.yard.views.calls import log_line_view
from mcpyard.yard.views.content import LogLevelView
from mcpyard.yard.yard import YardCore

_LOOK_EVERY: Final = 0.2
_LOOKS_A_SIGN_OF_LIFE: Final = 75


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Which lines of a log somebody wants."""

    source: str
    level: str

    def __call__(self, line: LogLine) -> bool:
        """Whether a line is wanted; standard error has no levels."""
        if line.level is None:
            return self.source != "mcp"
        return self.source != "stderr" and LEVELS.index(line.level) >= LEVELS.index(self.level)


class LogRoutes:
    """Answers from one yard; its streams end when `closing` is set."""

    def __init__(self, yard: YardCore, closing: asyncio.Event) -> None:
        self._yard = yard
        self._closing = closing

    async def logs(self, request: Request) -> Response:
        """The last lines of a server, or these and every further one as it comes."""
        ref = requests.part(request, "ref")
        log_filter = LogFilter(
            requests.choice(request, "source", ("all", "stderr", "mcp")),
            requests.choice(request, "level", LEVELS),
        )
        lines = [*filter(log_filter, await self._lines(ref))]
        if not requests.flag(request, "follow", default=False):
            return answer([log_line_view(each) for each in lines])
        return StreamingResponse(self._follow(ref, log_filter), media_type="text/event-stream")

    async def level(self, request: Request) -> Response:
        """The level of log messages that was asked for."""
        return answer(LogLevelView(level=log_level(self._yard, requests.part(request, "ref"))))

    async def set_level(self, request: Request) -> Response:
        """Ask the server for log messages of a level."""
        body = await requests.read(request, LogLevelBody)
        set_log_level(self._yard, requests.part(request, "ref"), body.level)
        return answer(LogLevelView(level=body.level))

    async def _lines(self, ref: str) -> Sequence[LogLine]:
        return await self._yard.directory.fetch_log(self._yard.server(ref).id)

    async def _follow(self, ref: str, log_filter: "LogFilter") -> AsyncGenerator[bytes]:
        seen, silence = 0, 0
        # The first bytes tell that the stream stands, even where there is nothing to read yet.
        yield b": following\n\n"
        while not self._closing.is_set():
            try:
                fresh = [each for each in await self._lines(ref) if each.number > seen]
            except ServerUnknown:
                return
            if fresh:
                seen, silence = fresh[-1].number, 0
                yield b"".join(map(_event, filter(log_filter, fresh)))
            elif silence >= _LOOKS_A_SIGN_OF_LIFE:
                silence = 0
                yield b":\n\n"
            silence += 1
            await wait_up_to(self._closing.wait(), _LOOK_EVERY)


def _event(line: LogLine) -> bytes:
    return b"id: %d\nevent: line\ndata: %b\n\n" % (line.number, encode(log_line_view(line)))
