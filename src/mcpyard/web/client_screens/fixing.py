"""Fixes of findings about clients' files: shown before they are done, and undone as any edit."""

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.errors import YardError
from mcpyard.web import requests
from mcpyard.web.client_screens.changes import done_answer, preview_of, refused, unseen
from mcpyard.web.templating import answer
from mcpyard.yard.clients.clients import EditTerms
from mcpyard.yard.yard import YardCore


class FindingRoutes:
    """Does something about findings."""

    def __init__(self, yard: YardCore) -> None:
        self._yard = yard

    async def ask(self, request: Request) -> Response:
        """Show what making a file private changes."""
        path = request.query_params.get("path", "")
        preview = await self._yard.clients.make_private(path, EditTerms(dry_run=True))
        return answer(request, "dialogs/fix_private.html", preview_of(preview) | {"path": path})

    async def make_private(self, request: Request) -> Response:
        """Let only the user read a file."""
        form = await requests.form(request)
        path, clients = form["path"], self._yard.clients
        try:
            preview = await clients.make_private(path, EditTerms(dry_run=True))
            if again := unseen(request, form, preview):
                return again
            done = await clients.make_private(path, EditTerms(who=requests.caller(request)))
        except YardError as error:
            return refused(request, error)
        return done_answer(request, "fix.private_done", path, done)
