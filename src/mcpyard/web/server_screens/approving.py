"""The Approve dialog: nothing is approved that was not shown."""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.edges import edge
from mcpyard.domain.errors import ApprovalOutdated, ServerUnknown
from mcpyard.web import requests
from mcpyard.web.filters import url
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.templating import TemplateData, answer
from mcpyard.yard.consent import folder_view


class ApproveRoutes:
    """Approves entries of projects' files."""

    def __init__(self, presenter: ServerPresenter) -> None:
        self._yard = presenter.yard

    async def dialog(self, request: Request) -> Response:
        """What waits in the folder of a server's file, with everything that it would run."""
        return answer(request, "dialogs/approve.html", await self._dialog_data(request))

    async def approve(self, request: Request) -> Response:
        """Approve what was shown."""
        form, folder = await requests.form(request), self._folder(request)
        try:
            done = await self._yard.approvals.approve(folder, form["digest"], form.all("replace"))
        except ApprovalOutdated as error:
            data = await self._dialog_data(request) | {"late": True}
            return answer(request, "dialogs/approve.html", data, edge(error).status)
        data = {"names": done.servers, "waiting": done.waiting}
        return answer(request, "parts/approved.html", data)

    async def _dialog_data(self, request: Request) -> TemplateData:
        waiting = await self._yard.approvals.waiting_in(self._folder(request))
        action = url("ui", "servers", requests.part(request, "ref"), "approve")
        return {"waiting": folder_view(waiting), "action": action, "late": False}

    def _folder(self, request: Request) -> Path:
        server = self._yard.server(requests.part(request, "ref"))
        if server.waiting is None:
            raise ServerUnknown(f'the server "{server.name}" does not need approval')
        return Path(server.waiting.owner.place).parent
