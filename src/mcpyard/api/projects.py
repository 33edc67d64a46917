"""The route of the user's word on a project's folder."""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.api import asking
from mcpyard.api.answers import answer
from mcpyard.domain.errors import ArgumentsRefused, Problem
from mcpyard.yard.yard import YardCore


class ProjectRoutes:
    """Takes the user's word for one yard."""

    def __init__(self, yard: YardCore) -> None:
        self._yard = yard

    async def approve(self, request: Request) -> Response:
        """Trust a folder, and what its file says now."""
        body = await asking.members(request)
        folder = Path(asking.text(body, "folder"))
        if not folder.is_absolute() or "\0" in str(folder):
            raise ArgumentsRefused.of(Problem("folder", "must be an absolute path"))
        servers = await self._yard.approve(folder)
        return answer({"folder": str(folder), "servers": servers})
