"""Connecting a program to the gateway, and disconnecting it: shown first, then done."""

from typing import Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.errors import YardError
from mcpyard.web import requests
from mcpyard.web.client_screens.changes import (
    done_answer,
    preview_of,
    refused,
    terms_of,
    unseen,
)
from mcpyard.web.client_screens.presenters import places_of
from mcpyard.web.context import PageContext
from mcpyard.web.requests import Form
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.templating import TemplateData, answer
from mcpyard.yard.clients.clients import EditTerms
from mcpyard.yard.clients.connecting import NAME, VARIABLE, Addressed, Bridged
from mcpyard.yard.clients.edit_results import Done

_UNMADE: Final = "mcpyard_..."


class ConnectPages:
    """Connects programs to a yard."""

    def __init__(self, presenter: ServerPresenter, context: PageContext) -> None:
        self._yard = presenter.yard
        self._context = context

    async def dialog(self, request: Request) -> Response:
        """Ask how a program is to be connected."""
        client = request.query_params.get("client", "")
        places = {
            each.at: each for each in await places_of(self._yard.clients) if each.client == client
        }
        data: TemplateData = {
            "places": [*places.values()],
            "name": NAME,
            "profiles": [each.name for each in self._yard.profiles.all()],
        }
        return answer(request, "dialogs/connect.html", data)

    async def preview(self, request: Request) -> Response:
        """What would be written."""
        form = await requests.form(request)
        try:
            done, _ = await self._connect(request, form, _UNMADE, EditTerms(dry_run=True))
        except YardError as error:
            return refused(request, error, asked_for=False)
        return answer(request, "parts/preview.html", preview_of(done))

    async def apply(self, request: Request) -> Response:
        """Write it; a token that the program looks for in a variable is shown this once."""
        form = await requests.form(request)
        terms = terms_of(request, form)
        client = form["at"].partition(":")[0]
        try:
            preview, _ = await self._connect(request, form, _UNMADE, EditTerms(dry_run=True))
            if again := unseen(request, form, preview):
                return again
            if form["way"] != "http":
                done, _ = await self._connect(request, form, "", terms)
                return done_answer(request, "clients.done.connect", client, done)
            return await self._connect_by_address(request, form, client, terms)
        except YardError as error:
            return refused(request, error)

    async def ask_end(self, request: Request) -> Response:
        """Show what disconnecting a program changes."""
        at = request.query_params.get("at", "")
        preview = await self._yard.clients.disconnect(at, EditTerms(dry_run=True))
        client = at.partition(":")[0]
        places = await places_of(self._yard.clients)
        title = next((each.title for each in places if each.client == client), client)
        data: TemplateData = {"at": at, "client": title}
        return answer(request, "dialogs/disconnect.html", data | preview_of(preview))

    async def end(self, request: Request) -> Response:
        """Take the gateway out of the file of a program."""
        form = await requests.form(request)
        clients = self._yard.clients
        try:
            preview = await clients.disconnect(form["at"], EditTerms(dry_run=True))
            if again := unseen(request, form, preview):
                return again
            done = await clients.disconnect(form["at"], terms_of(request, form))
        except YardError as error:
            return refused(request, error)
        return done_answer(request, "clients.done.disconnect", form["at"].partition(":")[0], done)

    async def _connect_by_address(
        self, request: Request, form: Form, client: str, terms: EditTerms
    ) -> Response:
        tokens, profile = self._context.tokens, form["profile"] or None
        name = f"{client} {len(tokens.all()) + 1}"
        token, secret = await tokens.create(name, profile)
        try:
            done, by_variable = await self._connect(request, form, secret, terms)
        except YardError:
            await tokens.revoke(token.id)
            raise
        token_data: TemplateData = {"secret": secret, "variable": VARIABLE} if by_variable else {}
        return done_answer(request, "clients.done.connect", client, done, token_data)

    async def _connect(
        self, request: Request, form: Form, secret: str, terms: EditTerms
    ) -> tuple[Done, bool]:
        profile = form["profile"]
        if profile:
            self._yard.profiles.get(profile)
        named = f"/{quote(profile, safe='')}" if profile else ""
        more = ("--profile", profile) if profile else ()
        way = (
            Addressed(f"{request.base_url}mcp{named}", secret)
            if form["way"] == "http"
            else Bridged((*self._context.bridge, *more))
        )
        name = form["name"].strip() or NAME
        return await self._yard.clients.connect(form["at"], name, way, terms)
