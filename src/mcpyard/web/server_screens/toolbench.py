"""Tools on the page: found, switched, tried."""

import json
from dataclasses import dataclass
from typing import Final

import orjson
from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.definition.numbers import whole_number
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import ArgumentsRefused, Problem, YardError
from mcpyard.domain.lifecycle import Phase
from mcpyard.domain.model import Wanted
from mcpyard.domain.narrowing import is_object
from mcpyard.domain.nesting import nested_deeper
from mcpyard.web import requests
from mcpyard.web.problems import error_data
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.server_screens.schema_form import form_of
from mcpyard.web.server_screens.tool_results import blocks_of
from mcpyard.web.templating import TemplateData, answer
from mcpyard.yard.edit import Change
from mcpyard.yard.views.servers import ToolView
from mcpyard.yard.yard import YardCore

PAGE: Final = 100
START_WAIT: Final = 60.0
DEEPEST: Final = 64


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
    texts = server.name, server.config.title or "", tool.name, tool.description
    return " ".join(texts).lower()


class ToolRoutes:
    """Shows and calls the tools of a yard."""

    def __init__(self, presenter: ServerPresenter) -> None:
        self._presenter = presenter
        self._yard = presenter.yard

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
        """One tool: what it does, and a form to try it."""
        ref, name = requests.part(request, "ref"), requests.part(request, "tool")
        route = self._yard.route(ref, name)
        tool = next(each for each in self._yard.tools(ref) if each.name == name)
        data = {"tool": tool, "ref": str(route.server), "form": form_of(route.tool.input_schema)}
        return answer(request, "parts/tool.html", data)

    async def switch(self, request: Request) -> Response:
        """Switch a tool on or off."""
        ref, name = requests.part(request, "ref"), requests.part(request, "tool")
        enabled = "enabled" in await requests.form(request)
        await self._yard.change_tool(ref, name, Change({"enabled": enabled}))
        return Response(status_code=204)

    async def call(self, request: Request) -> Response:
        """Call a tool, and show what it answers; a server that somebody stopped stays stopped."""
        ref, name = requests.part(request, "ref"), requests.part(request, "tool")
        sent = (await requests.form(request))["arguments"]
        data: TemplateData = {"sent": sent, "tool": name, "ref": ref, "stopped": None}
        try:
            arguments = _arguments(sent)
            if stopped := self._stopped(ref):
                return answer(request, "parts/result.html", data | {"outcome": None} | stopped)
            who = requests.caller(request)
            outcome = await self._yard.call_tool(ref, name, arguments, who=who)
        except YardError as error:
            failed: TemplateData = {"outcome": None, **error_data(request, error)}
            return answer(request, "parts/result.html", data | failed)
        result = {"outcome": outcome, "blocks": blocks_of(outcome), "raw": outcome.to_dict()}
        return answer(request, "parts/result.html", data | result)

    async def start(self, request: Request) -> Response:
        """Start the server of a tool, and tell beside the tool what became of it."""
        record = await self._yard.start(requests.part(request, "ref"), wait=START_WAIT)
        return answer(request, "parts/started.html", {"record": record})

    def _stopped(self, ref: str) -> TemplateData | None:
        """What to show of a server that somebody stopped, instead of calling it."""
        record = self._presenter.record(ref)
        idle = record.phase is Phase.STOPPED and record.wanted is Wanted.STOPPED
        return {"stopped": record.name} if idle and record.enabled else None


def _arguments(sent: str) -> dict[str, object]:
    try:
        arguments: object = orjson.loads(sent or "{}")
    except json.JSONDecodeError as error:
        raise ArgumentsRefused.of(Problem("", f"this is not JSON: {error}")) from None
    if not is_object(arguments) or nested_deeper(arguments, DEEPEST):
        raise ArgumentsRefused.of(Problem("", "the arguments must be an object"))
    return arguments
