"""The Add dialog: by form, by pasting whatever another program's documents say, by import."""

import asyncio
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.definition.merge import plain
from mcpyard.domain.definition.secret_text import shown_args, shown_text, shown_url
from mcpyard.domain.edges import edge
from mcpyard.domain.errors import YardError
from mcpyard.domain.model import Config, LocalConfig
from mcpyard.formats.pasting.snippets import Pasted, parse_snippet
from mcpyard.web import requests
from mcpyard.web.messages import joined
from mcpyard.web.problems import error_data, line_about, wrong_fields
from mcpyard.web.server_screens.definitions import (
    Fields,
    definition_of,
    fields_of_definition,
    fields_of_form,
)
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.templating import TemplateData, answer
from mcpyard.yard.edit_note import EditNote

WAYS: Final = ("form", "paste", "found")

_WHOLE_DIALOG: Final = {"HX-Retarget": "#dialog-body"}


class AddRoutes:
    """Adds servers to a yard."""

    def __init__(self, presenter: ServerPresenter) -> None:
        self._presenter = presenter
        self._yard = presenter.yard

    async def dialog(self, request: Request) -> Response:
        """The dialog, with nothing filled in."""
        way = request.query_params.get("way", WAYS[0])
        data: TemplateData = {"way": way if way in WAYS else WAYS[0], "fields": Fields()}
        data |= {"error": None, "left_out": []}
        return answer(request, "dialogs/add.html", data)

    async def add(self, request: Request) -> Response:
        """Register what was filled in."""
        form = await requests.form(request)
        fields = fields_of_form(form)
        try:
            body = {**definition_of(fields), "name": fields.name}
            body |= {"scope": fields.scope} if fields.scope else {}
            note = EditNote(requests.caller(request), "add")
            record = await self._yard.register(body, note=note)
        except YardError as error:
            return form_again(request, form, error, "dialogs/add.html")
        return self._done(request, note, [record.name])

    async def test(self, request: Request) -> Response:
        """Connect to what was filled in, without keeping it; list its tools."""
        form = await requests.form(request)
        literals = self._yard.reveal(form["ref"]) if form["ref"] else None
        try:
            trial = await self._yard.trial(definition_of(fields_of_form(form), literals))
        except YardError as error:
            data = {"found": None, **error_data(request, error)}
            return answer(request, "parts/trial.html", data)
        return answer(request, "parts/trial.html", {"found": trial, "error": None, "details": []})

    async def read(self, request: Request) -> Response:
        """What a pasted text holds: one server fills the form in, several are listed."""
        text = (await requests.form(request))["text"]
        try:
            snippet = await asyncio.to_thread(parse_snippet, text)
        except YardError as error:
            broken: TemplateData = {"servers": [], "problems": [], "left_out": [], "text": text}
            return answer(request, "parts/pasted.html", broken | error_data(request, error))
        if len(snippet.servers) == 1 and not snippet.problems:
            (one,) = snippet.servers
            fields = fields_of_definition(one.name, _definition(one))
            left_out = [str(each) for each in one.left_out]
            data: TemplateData = {
                "way": "form",
                "fields": fields,
                "error": None,
                "left_out": left_out,
            }
            return answer(request, "dialogs/add.html", data, headers=_WHOLE_DIALOG)
        taken = {each.server.name for each in self._yard.pictures()}
        servers = [
            {"name": each.name, "line": _line(each.config), "taken": each.name in taken}
            for each in snippet.servers
        ]
        left_out = [f"{each.name}: {odd}" for each in snippet.servers for odd in each.left_out]
        data = {
            "servers": servers,
            "problems": [str(each) for each in snippet.problems],
            "left_out": left_out,
            "text": text,
            "error": None,
            "details": [],
        }
        return answer(request, "parts/pasted.html", data)

    async def import_text(self, request: Request) -> Response:
        """Register the chosen servers of a pasted text; they wait unless told to start."""
        form = await requests.form(request)
        snippet = await asyncio.to_thread(parse_snippet, form["text"])
        chosen, start = {*form.all("server")}, bool(form["start"])
        servers = [each for each in snippet.servers if each.name in chosen]
        bodies = [{**_definition(each), "name": each.name, "start": start} for each in servers]
        names: list[str] = []
        refused: list[str] = []
        note = EditNote(requests.caller(request), "import")
        outcomes = await self._yard.register_all(bodies, note)
        for each, outcome in zip(servers, outcomes, strict=True):
            if isinstance(outcome, YardError):
                refused.append(joined(each.name, ": ", line_about(request, outcome)))
            else:
                names.append(outcome.name)
        return self._done(request, note, names, refused)

    def _done(
        self,
        request: Request,
        note: EditNote,
        names: list[str],
        refused: list[str] | None = None,
    ) -> Response:
        data = {"names": names, "refused": refused or [], "edit": note.number}
        return answer(request, "parts/added.html", data)


def _line(config: Config) -> str:
    """How a server is reached, without secrets."""
    if isinstance(config, LocalConfig):
        return " ".join([shown_text(config.program), *shown_args(config.args)])
    return shown_url(config.url)


def form_again(request: Request, form: requests.Form, error: YardError, template: str) -> Response:
    """The form as it was filled in, with what is wrong beside each field."""
    fields = fields_of_form(form, wrong_fields(request, error))
    data: TemplateData = {"way": "form", "fields": fields, "error": line_about(request, error)}
    data |= {"ref": form["ref"], "digest": form["digest"], "left_out": []}
    return answer(request, template, data, edge(error).status)


def _definition(pasted: Pasted) -> dict[str, object]:
    return {"type": pasted.config.type, **plain(pasted.config)}
