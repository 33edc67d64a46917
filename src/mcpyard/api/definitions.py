"""The routes that change what should be: register, change, remove, reveal."""

from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.api import requests
from mcpyard.api.clients import REST
from mcpyard.api.responses import answer
from mcpyard.yard.edit import Change
from mcpyard.yard.edit_note import EditNote
from mcpyard.yard.views.servers import ServerView
from mcpyard.yard.yard import YardCore

ANYTHING: Final = "*"

_WHEN_RUNNING: Final = ("restart", "refuse")


class EditRoutes:
    """Changes one yard."""

    def __init__(self, yard: YardCore) -> None:
        self._yard = yard

    async def register(self, request: Request) -> Response:
        """Add a server."""
        wait = requests.seconds(request, "wait", requests.WAIT)
        server = await self._yard.register(
            await requests.members(request), wait=wait, note=EditNote(REST, "add")
        )
        where = f"/api/mcp/servers/{quote(server.id)}"
        return record_answer(server, 201, {"Location": where})

    async def change(self, request: Request) -> Response:
        """Change a server by a merge patch."""
        wait = requests.seconds(request, "wait", requests.WAIT)
        refuse = requests.choice(request, "when_running", _WHEN_RUNNING) == "refuse"
        patch = await requests.members(request)
        note = EditNote(REST, "edit")
        change = Change(patch, _expected(request), refuse_running=refuse, note=note)
        return record_answer(
            await self._yard.change(requests.part(request, "ref"), change, wait=wait)
        )

    async def remove(self, request: Request) -> Response:
        """Stop a server if it runs, and take it out."""
        await self._yard.remove(requests.part(request, "ref"), note=EditNote(REST, "remove"))
        return Response(status_code=204)

    async def reveal(self, request: Request) -> Response:
        """The literal values of a server's variables and headers."""
        return answer(self._yard.reveal(requests.part(request, "ref")))

    async def change_tool(self, request: Request) -> Response:
        """Change how a tool is shown and called."""
        ref, tool = requests.part(request, "ref"), requests.part(request, "tool")
        note = EditNote(REST, "edit")
        change = Change(await requests.members(request), _expected(request), note=note)
        return answer(await self._yard.change_tool(ref, tool, change))


def record_answer(
    server: ServerView, status: int = 200, headers: dict[str, str] | None = None
) -> Response:
    """A record, with the tag that an edit can name to say which state it means."""
    return answer(server, status, {"ETag": f'"{server.digest}"', **(headers or {})})


def _expected(request: Request) -> str | None:
    """The digest that the caller names; several, or none that makes sense, match nothing."""
    tag = request.headers.get("if-match")
    if tag is None or tag.strip() == ANYTHING:
        return None
    return tag.strip().removeprefix("W/").strip('"')
