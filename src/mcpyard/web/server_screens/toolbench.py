"""Tools on the page: found, switched, tried."""

from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.definition.numbers import whole_number
from mcpyard.domain.desired import DesiredServer
from mcpyard.web import requests
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.server_screens.run_pages import run_data
from mcpyard.web.server_screens.running_calls import PageCalls
from mcpyard.web.server_screens.schema_form import form_of, takes_nothing
from mcpyard.web.templating import TemplateData, answer
from mcpyard.yard.edit import Change
from mcpyard.yard.edit_note import EditNote
from mcpyard.yard.views.servers import ToolView
from mcpyard.yard.yard import YardCore

PAGE: Final = 100


@dataclass(frozen=True, slots=True)
class ToolMatch:
    """A tool, with the id of its server."""

    id: str
    tool: ToolView


@dataclass(frozen=True, slots=True)
class ToolPage:
    """A page of the tools that match a word, `total` in all."""

    tools: list[ToolMatch]
    total: int
    start: int
    word: str

    @property
    def next(self) -> int | None:
        """Where the next page begins, if there is one."""
        end = self.start + len(self.tools)
        return end if end < self.total else None


def find_tools(yard: YardCore, ref: str | None, word: str, start: int) -> ToolPage:
    """The tools of a server, or of all, that have a word in a name or a description."""
    servers = [yard.server(ref)] if ref else [each.server for each in yard.pictures()]
    needle = word.strip().lower()
    tools = [
        ToolMatch(str(server.id), tool)
        for server in servers
        for tool in yard.tools(str(server.id))
        if not needle or needle in _words(server, tool)
    ]
    return ToolPage(tools[start : start + PAGE], len(tools), start, word)


def _words(server: DesiredServer, tool: ToolView) -> str:
    """What a tool can be found by."""
    texts = server.name, server.config.title or "", *server.config.tags, tool.name, tool.description
    return " ".join(texts).lower()


class ToolRoutes:
    """Shows and calls the tools of a yard."""

    def __init__(self, presenter: ServerPresenter, calls: PageCalls) -> None:
        self._presenter = presenter
        self._yard = presenter.yard
        self._calls = calls

    async def screen(self, request: Request) -> Response:
        """All tools of all servers."""
        word = request.query_params.get("q", "")
        matches = find_tools(self._yard, None, word, 0)
        data = self._presenter.frame("tools") | {"found": matches, "ref": ""}
        return answer(request, "screens/tools.html", data)

    async def rows(self, request: Request) -> Response:
        """A page of tools."""
        ref = request.query_params.get("ref", "")
        begin = whole_number(request.query_params.get("start", "")) or 0
        matches = find_tools(self._yard, ref or None, request.query_params.get("q", ""), begin)
        return answer(request, "parts/tool_rows.html", {"found": matches, "ref": ref})

    async def tool(self, request: Request) -> Response:
        """One tool: what it does, a form to try it, and a call of it that still runs."""
        ref, name = requests.part(request, "ref"), requests.part(request, "tool")
        route = self._yard.route(ref, name)
        tool = next(each for each in self._yard.tools(ref) if each.name == name)
        running = self._calls.running(route, requests.caller(request))
        data: TemplateData = {
            "tool": tool,
            "ref": str(route.server),
            "form": form_of(route.tool.input_schema),
            "plain": takes_nothing(route.tool.input_schema),
            "running": running,
            **(run_data(running) if running else {}),
        }
        return answer(request, "parts/tool.html", data)

    async def switch(self, request: Request) -> Response:
        """Switch a tool on or off."""
        ref, name = requests.part(request, "ref"), requests.part(request, "tool")
        enabled = "enabled" in await requests.form(request)
        note = EditNote(requests.caller(request), "toggle")
        await self._yard.change_tool(ref, name, Change({"enabled": enabled}, note=note))
        return Response(status_code=204)
