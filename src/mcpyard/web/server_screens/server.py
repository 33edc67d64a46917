"""The screen of one server: its tools to try, its log, its calls, its definition."""

from typing import Final
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.errors import ServerUnknown
from mcpyard.domain.stored import CallQuery, CallRecord
from mcpyard.web import requests
from mcpyard.web.problems import line_about
from mcpyard.web.server_screens.definitions import fields_of_view, redacted_definition
from mcpyard.web.server_screens.presenters import ONE, ServerPresenter
from mcpyard.web.server_screens.toolbench import find_tools
from mcpyard.web.templating import TemplateData, answer

PARTS: Final = ("tools", "log", "calls", "definition")
CALLS: Final = 200
_UNKNOWN: Final = 404


class ServerPages:
    """Shows one server of a yard at a time."""

    def __init__(self, presenter: ServerPresenter) -> None:
        self._presenter = presenter
        self._yard = presenter.yard

    async def screen(self, request: Request) -> Response:
        """One server."""
        try:
            server = self._yard.server(requests.part(request, "ref"))
        except ServerUnknown as error:
            data: TemplateData = {"tab": "server", "message": line_about(request, error)}
            return answer(request, "screens/missing.html", data, _UNKNOWN)
        tag, picture = self._presenter.tracker.tag(), self._presenter.tracker.picture(server.id)
        show = request.query_params.get("show", PARTS[0])
        data = {
            "tab": "server",
            "view": f"{ONE}{server.id}",
            "tag": tag,
            "card": self._presenter.card(picture) if picture else None,
            "show": show if show in PARTS else PARTS[0],
            "parts": PARTS,
        }
        return answer(request, "screens/server.html", data | await self._part(str(server.id), show))

    async def _part(self, ref: str, show: str) -> TemplateData:
        if show == "calls":
            calls = await self._calls(UUID(ref))
            return {"calls": calls, "points": _points(calls)}
        if show == "definition":
            record = self._presenter.record(ref)
            return {"definition": redacted_definition(fields_of_view(record))}
        return {} if show == "log" else {"found": find_tools(self._yard, ref, "", 0), "ref": ref}

    async def _calls(self, server: UUID) -> list[CallRecord]:
        journal = self._yard.accounts.journal
        return [*await journal.query(CallQuery(server=server, limit=CALLS))] if journal else []


def _points(calls: list[CallRecord]) -> list[list[float]]:
    """What the plots are drawn from: moments, milliseconds, and which calls failed."""
    inorder = [*reversed(calls)]
    return [
        [each.at.timestamp() for each in inorder],
        [round(each.ms, 3) for each in inorder],
        [float(each.outcome != "ok") for each in inorder],
    ]
