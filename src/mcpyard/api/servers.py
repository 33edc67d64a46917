"""The routes of servers and their tools."""

from collections.abc import Awaitable, Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.api import requests
from mcpyard.api.definitions import ANYTHING, record_answer
from mcpyard.api.http_server.disconnects import while_asked
from mcpyard.api.record_cache import Records
from mcpyard.api.responses import JSON, answer
from mcpyard.asgi_scope import caller_name
from mcpyard.yard.calls.outcome import Outcome
from mcpyard.yard.views.servers import ServerView
from mcpyard.yard.yard import YardCore

_SOMEBODY: Final = "api"
"""What the journal calls a caller that no guard has named."""


class ServerRoutes:
    """Answers from one yard."""

    def __init__(self, yard: YardCore) -> None:
        self._yard = yard
        self._records = {tools: Records(yard, tools=tools) for tools in (True, False)}

    async def servers(self, request: Request) -> Response:
        """Every server, unless the caller has that list already."""
        records = self._records[requests.flag(request, "tools", default=True)]
        if _names(request.headers.get("if-none-match", ""), records.tag()):
            return Response(status_code=304, headers={"ETag": records.tag()})
        tag, body = records.listing()
        return Response(body, headers={"ETag": tag}, media_type=JSON)

    async def server(self, request: Request) -> Response:
        """One server."""
        return record_answer(self._yard.record(requests.part(request, "ref")))

    async def tools(self, request: Request) -> Response:
        """The tools of one server."""
        return answer(self._yard.tools(requests.part(request, "ref")))

    async def all_tools(self, _request: Request) -> Response:
        """The tools of every server."""
        return answer(self._yard.tools())

    async def call_tool(self, request: Request) -> Response:
        """Call a server's tool by its own name."""
        ref, tool = requests.part(request, "ref"), requests.part(request, "tool")
        arguments, timeout, meta = await requests.call(request)
        work = self._yard.call_tool(
            ref, tool, arguments, timeout=timeout, meta=meta, who=_caller(request)
        )
        return await while_asked(request, _outcome_answer(work))

    async def call_exposed(self, request: Request) -> Response:
        """Call a tool by its exposed name."""
        arguments, timeout, meta = await requests.call(request)
        name = requests.part(request, "exposed")
        work = self._yard.call(name, arguments, timeout=timeout, meta=meta, who=_caller(request))
        return await while_asked(request, _outcome_answer(work))

    async def start(self, request: Request) -> Response:
        """Want a server to run."""
        return await self._want(request, self._yard.start)

    async def stop(self, request: Request) -> Response:
        """Want a server to be stopped."""
        return await self._want(request, self._yard.stop)

    async def restart(self, request: Request) -> Response:
        """Stop a server and start it again."""
        return await self._want(request, self._yard.restart)

    async def _want(self, request: Request, step: Callable[..., Awaitable[ServerView]]) -> Response:
        wait = requests.seconds(request, "wait", requests.WAIT)
        return answer(await step(requests.part(request, "ref"), wait=wait))


def _caller(request: Request) -> str:
    return caller_name(request.scope, _SOMEBODY)


async def _outcome_answer(work: Awaitable[Outcome]) -> Response:
    return answer((await work).to_dict())


def _names(header: str, tag: str) -> bool:
    """Whether a header names a tag, among others or alone."""
    named = {each.strip().removeprefix("W/") for each in header.split(",")}
    return tag in named or ANYTHING in named
