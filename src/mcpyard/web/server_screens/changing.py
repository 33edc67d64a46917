"""The Edit and Delete dialogs: nothing changes without its difference, or its question, shown."""

import difflib
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.errors import YardError
from mcpyard.web import requests
from mcpyard.web.client_screens.changes import lines_of
from mcpyard.web.filters import pretty
from mcpyard.web.server_screens.adding import form_again
from mcpyard.web.server_screens.definitions import (
    fields_of_form,
    fields_of_server,
    patch_of,
    redacted_definition,
)
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.server_screens.views import ONE
from mcpyard.web.templating import TemplateData, answer
from mcpyard.yard.edit import Change
from mcpyard.yard.edit_note import EditNote

_AROUND: Final = 2


class ChangeRoutes:
    """Changes the servers of a yard."""

    def __init__(self, presenter: ServerPresenter) -> None:
        self._presenter = presenter
        self._yard = presenter.yard

    async def dialog(self, request: Request) -> Response:
        """The form, with a server's definition filled in."""
        record = self._presenter.record(requests.part(request, "ref"))
        data: TemplateData = {"fields": fields_of_server(record), "error": None}
        data |= {"ref": record.id, "digest": record.digest}
        return answer(request, "dialogs/edit.html", data)

    async def change(self, request: Request) -> Response:
        """Change a server to what was filled in."""
        ref, form = requests.part(request, "ref"), await requests.form(request)
        record = self._presenter.record(ref)
        note = EditNote(requests.caller(request), "edit")
        try:
            patch = patch_of(fields_of_form(form), record)
            changed = await self._yard.change(ref, Change(patch, form["digest"] or None, note=note))
        except YardError as error:
            return form_again(request, form, error, "dialogs/edit.html")
        return answer(request, "parts/changed.html", {"name": changed.name, "edit": note.number})

    async def diff(self, request: Request) -> Response:
        """How what was filled in differs from what is."""
        form = await requests.form(request)
        record = self._presenter.record(requests.part(request, "ref"))
        before = pretty(redacted_definition(fields_of_server(record)))
        after = pretty(redacted_definition(fields_of_form(form)))
        return answer(request, "parts/diff.html", {"lines": difference(before, after)})

    async def ask(self, request: Request) -> Response:
        """Ask before a server is removed."""
        record = self._presenter.record(requests.part(request, "ref"))
        return answer(request, "dialogs/delete.html", {"record": record})

    async def remove(self, request: Request) -> Response:
        """Stop a server if it runs, and take it out."""
        ref = requests.part(request, "ref")
        name = self._yard.server(ref).name
        note = EditNote(requests.caller(request), "remove")
        await self._yard.remove(ref, note=note)
        leaves = request.query_params.get("view", "").startswith(ONE)
        headers = {"HX-Redirect": "/"} if leaves else None
        return answer(
            request, "parts/removed.html", {"name": name, "edit": note.number}, headers=headers
        )


def difference(before: str, after: str) -> list[tuple[str, str]]:
    """The lines of a difference, each with its kind: `add`, `cut`, `same` or `gap`."""
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=_AROUND)
    return lines_of("\n".join(lines))
