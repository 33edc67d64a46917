"""The screen of one server: tools to try, prompts, resources, logs, calls, definition."""

from typing import Final
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.errors import ServerUnknown
from mcpyard.domain.interests import LEVELS
from mcpyard.domain.stored import CallQuery, CallRecord
from mcpyard.web import requests
from mcpyard.web.problems import line_about
from mcpyard.web.server_screens.content_pages import ContentPages
from mcpyard.web.server_screens.definitions import fields_of_view, redacted_definition
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.server_screens.toolbench import find_tools
from mcpyard.web.server_screens.views import ONE
from mcpyard.web.templating import TemplateData, answer
from mcpyard.yard.content_access import log_level

PARTS: Final = ("tools", "prompts", "resources", "log", "calls", "definition")
CALLS: Final = 200
_UNKNOWN: Final = 404


class ServerPages:
    """Shows one server of a yard at a time."""

    def __init__(self, presenter: ServerPresenter, content: ContentPages) -> None:
        self._presenter = presenter
        self._yard = presenter.yard
        self._content = content

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
        part = await self._part(request, str(server.id), show)
        return answer(request, "screens/server.html", data | part)

    async def _part(self, request: Request, ref: str, show: str) -> TemplateData:
        if show in {"prompts", "resources"}:
            return {"ref": ref} | await self._content.part(request, ref, show)
        if show == "calls":
            clustered = self._yard.cluster.exists
            return {"calls": await self._calls(UUID(ref)), "clustered": clustered}
        if show == "definition":
            record = self._presenter.record(ref)
            return {"definition": redacted_definition(fields_of_view(record))}
        if show == "log":
            session = self._yard.directory.observed(UUID(ref)).session
            logs = session is not None and "logging" in session.capabilities
            return {"levels": LEVELS, "logs": logs, "asked": log_level(self._yard, ref)}
        word = request.query_params.get("q", "")
        return {"found": find_tools(self._yard, ref, word, 0), "ref": ref}

    async def _calls(self, server: UUID) -> list[CallRecord]:
        query = CallQuery(server=server, limit=CALLS)
        return (await self._yard.accounts.log.page(query)).calls
