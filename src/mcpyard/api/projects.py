"""The routes of what waits for approval in projects' files."""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.api import requests
from mcpyard.api.bodies import ApprovalBody
from mcpyard.api.responses import answer
from mcpyard.domain.errors import ArgumentsRefused, Problem
from mcpyard.yard.consent import folder_view
from mcpyard.yard.yard import YardCore


class ProjectRoutes:
    """Shows what waits in one yard, and approves it."""

    def __init__(self, yard: YardCore) -> None:
        self._approvals = yard.approvals

    async def waiting(self, request: Request) -> Response:
        """What waits: of the folders that are served, or of the one that is named."""
        named = request.query_params.get("folder")
        if named is None:
            return answer([folder_view(each) for each in self._approvals.waiting()])
        return answer([folder_view(await self._approvals.waiting_in(_folder(named)))])

    async def approve(self, request: Request) -> Response:
        """Approve what was shown of a folder's file."""
        body = await requests.read(request, ApprovalBody)
        folder = _folder(body.folder)
        return answer(await self._approvals.approve(folder, body.digest, body.replace))


def _folder(text: str) -> Path:
    folder = Path(text)
    if not folder.is_absolute() or "\0" in text:
        raise ArgumentsRefused.of(Problem("folder", "must be an absolute path"))
    return folder
