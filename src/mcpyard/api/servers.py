"""The routes of servers and their tools."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.api import asking
from mcpyard.api.answers import answer
from mcpyard.yard.outcome import Outcome
from mcpyard.yard.records import Record
from mcpyard.yard.yard import YardCore

_WAIT: Final = 10.0
_NOBODY_READS_IT: Final = 499


class ServerRoutes:
    """Answers from one yard."""

    def __init__(self, yard: YardCore) -> None:
        self._yard = yard

    async def health(self, request: Request) -> Response:
        """Whether the yard answers; with the token also how each server is."""
        told: Record = {"ok": True}
        if request.scope["admin"]:
            records = self._yard.records(tools=False)
            told["servers"] = {str(each["name"]): each["status"] for each in records}
        return answer(told)

    async def servers(self, request: Request) -> Response:
        """Every server."""
        return answer(self._yard.records(tools=asking.flag(request, "tools", default=True)))

    async def server(self, request: Request) -> Response:
        """One server."""
        return answer(self._yard.record(asking.part(request, "ref")))

    async def tools(self, request: Request) -> Response:
        """The tools of one server."""
        return answer(self._yard.tools(asking.part(request, "ref")))

    async def all_tools(self, _request: Request) -> Response:
        """The tools of every server."""
        return answer(self._yard.tools())

    async def call_tool(self, request: Request) -> Response:
        """Call a server's tool by its own name."""
        ref, tool = asking.part(request, "ref"), asking.part(request, "tool")
        asked = await asking.call(request)
        work = self._yard.call_tool(ref, tool, asked.arguments, timeout=asked.timeout)
        return await _while_asked(request, work)

    async def call_exposed(self, request: Request) -> Response:
        """Call a tool by its exposed name."""
        asked = await asking.call(request)
        name = asking.part(request, "exposed")
        work = self._yard.call(name, asked.arguments, timeout=asked.timeout)
        return await _while_asked(request, work)

    async def start(self, request: Request) -> Response:
        """Want a server to run."""
        return await self._want(request, self._yard.start)

    async def stop(self, request: Request) -> Response:
        """Want a server to be stopped."""
        return await self._want(request, self._yard.stop)

    async def restart(self, request: Request) -> Response:
        """Stop a server and start it anew."""
        return await self._want(request, self._yard.restart)

    async def _want(self, request: Request, step: Callable[..., Awaitable[Record]]) -> Response:
        wait = asking.seconds(request, "wait", _WAIT)
        return answer(await step(asking.part(request, "ref"), wait=wait))


async def _while_asked(request: Request, work: Coroutine[object, object, Outcome]) -> Response:
    """The outcome of a call, which is given up when whoever asked is gone."""
    calling = asyncio.create_task(work)
    leaving = asyncio.create_task(_left(request))
    try:
        await asyncio.wait({calling, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if calling.done():
            return answer(calling.result().to_dict())
        return Response(status_code=_NOBODY_READS_IT)
    finally:
        calling.cancel()
        leaving.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        """More of the body, which was read already."""
