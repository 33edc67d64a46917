"""Undo on the page: shown before it is done, unless whoever asks has just seen what was done."""

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.definition.numbers import whole_number
from mcpyard.domain.errors import ArgumentsRefused, EditUnknown, Problem, YardError
from mcpyard.domain.lifecycle import UP
from mcpyard.web import requests
from mcpyard.web.client_screens.changes import done_answer, preview_of, refused, unseen
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.templating import answer
from mcpyard.yard.clients.clients import EditTerms
from mcpyard.yard.clients.edit_results import Done
from mcpyard.yard.views.clients import EditView


class UndoRoutes:
    """Takes edits back."""

    def __init__(self, presenter: ServerPresenter) -> None:
        self._presenter = presenter
        self._clients = presenter.yard.clients

    async def ask(self, request: Request) -> Response:
        """Show what an undo would do."""
        number = _number(request.query_params.get("id", ""))
        return await self._confirm(request, number, await self._preview(number))

    async def undo(self, request: Request) -> Response:
        """Undo an edit; one that would end a server which runs is asked about first."""
        form = await requests.form(request)
        number = _number(form["id"])
        if "sure" not in form:
            preview = await self._preview(number)
            if self._running(preview):
                return await self._confirm(request, number, preview)
            return await self._done(request, number)
        try:
            if again := unseen(request, form, await self._preview(number)):
                return again
            return await self._done(request, number)
        except YardError as error:
            return refused(request, error)

    async def _preview(self, number: int) -> Done:
        return await self._clients.undo(number, EditTerms(dry_run=True))

    async def _done(self, request: Request, number: int) -> Response:
        await self._clients.undo(number, EditTerms(who=requests.caller(request)))
        return done_answer(request, "clients.undone", "", Done(()))

    async def _confirm(self, request: Request, number: int, preview: Done) -> Response:
        edit = await self._edit(number)
        removes, running = preview.removes or (), self._running(preview)
        data = preview_of(preview) | {"edit": edit, "removes": removes, "running": running}
        return answer(request, "dialogs/undo.html", data)

    async def _edit(self, number: int) -> EditView:
        for each in await self._clients.edits():
            if each.id == number:
                return each
        raise EditUnknown(f"the edit {number} is not among the recent edits")

    def _running(self, preview: Done) -> list[str]:
        """The servers that run and would be taken out."""
        up = {
            each.server.name
            for each in self._presenter.tracker.pictures()
            if each.observed.state.phase in UP
        }
        return [each for each in preview.removes or () if each in up]


def _number(text: str) -> int:
    number = whole_number(text)
    if number is None:
        raise ArgumentsRefused.of(Problem("id", "must be the number of an edit"))
    return number
