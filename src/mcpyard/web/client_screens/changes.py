"""What is done to the servers of other programs: shown first, then done, then undone if need be.

Each dialog asks the same two questions of the yard: what would be, and do it. Both are one and the
same action, and what is done must be what was shown: where a file or the form changed since, it is
shown anew instead.
"""

from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.edges import edge
from mcpyard.domain.errors import ArgumentsRefused, Problem, YardError
from mcpyard.formats.warnings import Warned, WarningKind
from mcpyard.web import requests
from mcpyard.web.catalogues import Catalogue
from mcpyard.web.client_screens.fields import fields_of_entry, patch_of_entry
from mcpyard.web.client_screens.presenters import digest_of, places_of
from mcpyard.web.messages import joined, warning_message
from mcpyard.web.problems import error_data
from mcpyard.web.requests import Form
from mcpyard.web.server_screens.definitions import fields_of_form
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.templating import TemplateData, answer, preferences_of
from mcpyard.yard.clients.clients import Copy, EditTerms, matrix_of
from mcpyard.yard.clients.edit_results import Done
from mcpyard.yard.views.clients import change_view

EditAction: TypeAlias = Callable[[EditTerms], Awaitable[Done]]

CHANGED: Final = {"HX-Trigger": "clientschanged"}
"""Tells whatever shows clients on a page to look again."""

_IN_DIALOG: Final = {"HX-Retarget": "#preview", "HX-Reswap": "innerHTML"}
_KINDS: Final = {"+": "add", "-": "cut", "@": "gap", "\\": "gap"}
_HEADER_LINES: Final = 2


class ClientChangeRoutes:
    """Changes the servers of other programs."""

    def __init__(self, presenter: ServerPresenter) -> None:
        self._yard = presenter.yard

    async def copy_dialog(self, request: Request) -> Response:
        """Ask where a server is to be copied to."""
        places = await places_of(self._yard.clients)
        targets = {each.at: each for each in places}
        data = {key: request.query_params.get(key, "") for key in ("from", "name", "to")}
        source = targets.pop(data["from"], None)
        program = source.client if source else ""
        choices = sorted(
            targets.values(), key=lambda each: (not each.exists, each.client == program)
        )
        return answer(request, "dialogs/copy.html", {**data, "targets": choices, "source": source})

    async def edit_dialog(self, request: Request) -> Response:
        """The form, with what a program's file says of a server filled in."""
        at, name = _named(request)
        record = await self._yard.clients.show(at, name)
        data: TemplateData = {"at": at, "fields": fields_of_entry(record), "record": record}
        return answer(request, "dialogs/client_edit.html", data)

    async def remove_dialog(self, request: Request) -> Response:
        """Ask before a server is taken out of a program's file."""
        at, name = _named(request)
        record = await self._yard.clients.show(at, name)
        return answer(request, "dialogs/client_remove.html", {"at": at, "record": record})

    async def preview(self, request: Request) -> Response:
        """What would be."""
        form = await requests.form(request)
        try:
            done = await self._action(requests.part(request, "verb"), form)(EditTerms(dry_run=True))
        except YardError as error:
            return refused(request, error, asked_for=False)
        return answer(request, "parts/preview.html", preview_of(done))

    async def apply(self, request: Request) -> Response:
        """Do it."""
        form, verb = await requests.form(request), requests.part(request, "verb")
        try:
            action = self._action(verb, form)
            if again := unseen(request, form, await action(EditTerms(dry_run=True))):
                return again
            done = await action(terms_of(request, form))
        except YardError as error:
            return refused(request, error)
        return done_answer(request, f"clients.done.{verb}", form["name"], done)

    async def switch(self, request: Request) -> Response:
        """Switch a server on or off; where that is more than it seems, it is shown first."""
        form = await requests.form(request)
        action = self._action("switch", form)
        if "sure" not in form:
            preview = await action(EditTerms(dry_run=True))
            if preview.warnings:
                record = await self._yard.clients.show(form["at"], form["name"])
                data = {"at": form["at"], "on": form["on"], "record": record} | preview_of(preview)
                return answer(request, "dialogs/client_switch.html", data)
        elif again := unseen(request, form, await action(EditTerms(dry_run=True))):
            return again
        done = await action(terms_of(request, form))
        return done_answer(request, f"clients.done.switch{form['on']}", form["name"], done)

    def _action(self, verb: str, form: Form) -> EditAction:
        actions: dict[str, Callable[[Form], EditAction]] = {
            "copy": self._copy,
            "edit": self._edit,
            "remove": self._remove,
            "switch": self._switch,
        }
        if verb not in actions:
            raise ArgumentsRefused.of(Problem("", "unknown action"))
        return actions[verb](form)

    def _copy(self, form: Form) -> EditAction:
        copy = Copy(
            form["from"],
            form["to"],
            form["name"],
            form["new_name"].strip() or None,
            matrix_of(form["matrix"] or "native"),
            "replace" in form,
            "move" in form,
        )
        return lambda terms: self._yard.clients.copy(copy, terms)

    def _edit(self, form: Form) -> EditAction:
        async def edit(terms: EditTerms) -> Done:
            record = await self._yard.clients.show(form["at"], form["was"])
            patch = patch_of_entry(fields_of_form(form), record)
            if not patch:
                return Done(())
            return await self._yard.clients.edit(form["at"], form["was"], patch, terms)

        return edit

    def _remove(self, form: Form) -> EditAction:
        return lambda terms: self._yard.clients.remove(form["at"], form["name"], terms)

    def _switch(self, form: Form) -> EditAction:
        at, name, on = form["at"], form["name"], bool(form["on"])
        return lambda terms: self._yard.clients.toggle(at, name, enabled=on, terms=terms)


def preview_of(done: Done) -> TemplateData:
    """What an operation does, ready to be shown."""
    files = [
        {"path": path, "fresh": diff.startswith("--- /dev/null"), "lines": lines_of(diff)}
        for path, diff in done.files
    ]
    digest = digest_of(change_view(done).to_dict())
    return {
        "files": files,
        "warnings": done.warnings,
        "error": None,
        "shown": digest,
        "late": False,
        "unverified": any(each.kind is WarningKind.UNVERIFIED for each in done.warnings),
        "unconfirmed": False,
    }


def unseen(request: Request, form: Form, preview: Done) -> Response | None:
    """The preview once more, where what would be done is not what was shown and confirmed."""
    data = preview_of(preview)
    late = data["shown"] != form["shown"]
    if not late and ("unverified" in form or not data["unverified"]):
        return None
    again = {"late": late, "unconfirmed": not late}
    return answer(request, "parts/preview.html", data | again, headers=_IN_DIALOG)


def lines_of(diff: str) -> list[tuple[str, str]]:
    """The lines of a difference without its head, each with its kind."""
    lines = diff.removesuffix("\n").split("\n")[_HEADER_LINES:]
    return [(_KINDS.get(each[:1], "same"), each) for each in lines]


def done_answer(
    request: Request, key: str, name: str, done: Done, more: TemplateData | None = None
) -> Response:
    """That something was done, with a way to undo it."""
    t = preferences_of(request).words
    warnings = [_warning_line(each, t) for each in done.warnings]
    data: TemplateData = {
        "key": key,
        "name": name,
        "done": done,
        "warnings": warnings,
        "secret": None,
    }
    return answer(request, "parts/client_done.html", data | (more or {}), headers=CHANGED)


def refused(request: Request, error: YardError, *, asked_for: bool = True) -> Response:
    """That something cannot be, told where its preview would stand.

    It fails the request if the change was `asked_for`, not only its preview.
    """
    data = error_data(request, error)
    if not asked_for:
        return answer(request, "parts/preview.html", data)
    return answer(request, "parts/preview.html", data, edge(error).status, _IN_DIALOG)


def _warning_line(warned: Warned, t: Catalogue) -> str:
    message = warning_message(warned, t).line
    return joined(warned.field, ": ", message) if warned.field else message


def terms_of(request: Request, form: Form) -> EditTerms:
    """The terms of an edit that was previewed."""
    return EditTerms(who=requests.caller(request), unverified="unverified" in form)


def _named(request: Request) -> tuple[str, str]:
    return request.query_params.get("at", ""), request.query_params.get("name", "")
