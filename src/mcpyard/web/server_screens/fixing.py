"""Fixes on the page: each is shown before it is done, and can be undone."""

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.edges import edge
from mcpyard.domain.errors import ArgumentsRefused, Problem, YardError
from mcpyard.domain.fixes import Fix, FixKind
from mcpyard.domain.model import Scope
from mcpyard.web import requests
from mcpyard.web.client_screens.changes import done_answer
from mcpyard.web.problems import line_about, wrong_fields
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.templating import TemplateData, answer
from mcpyard.yard.clients.edit_results import Done
from mcpyard.yard.edit import Change
from mcpyard.yard.edit_note import EditNote
from mcpyard.yard.secrets import SecretChange

if TYPE_CHECKING:
    from mcpyard.yard.views.secrets import SecretStore


class FixRoutes:
    """Does something about failing servers."""

    def __init__(self, presenter: ServerPresenter) -> None:
        self._presenter = presenter
        self._yard = presenter.yard

    async def variable_dialog(self, request: Request) -> Response:
        """Ask for the value of a variable, or whether a file may use a stored one."""
        server, name = self._named(request, request.query_params.get("name", ""))
        data = self._variable(server, name, allow=request.url.path.endswith("/allow"))
        return answer(request, "dialogs/fix_variable.html", data)

    async def set_variable(self, request: Request) -> Response:
        """Store the value of a variable; what uses it is launched anew."""
        form = await requests.form(request)
        server, name = self._named(request, form["name"])
        store: SecretStore = "key-ring" if form["store"] == "key-ring" else "mcpyard"
        places, who = self._places(server), requests.caller(request)
        try:
            change = SecretChange(name, form["value"], store, places, who)
            done = await self._yard.secrets.change(change)
        except YardError as error:
            fields = wrong_fields(request, error)
            wrong = fields.get("value") or line_about(request, error)
            data = self._variable(server, name, allow=False) | {"error": wrong, "store": store}
            return answer(request, "dialogs/fix_variable.html", data, edge(error).status)
        return done_answer(request, "fix.set_done", name, Done((), edit=done.edit))

    async def allow(self, request: Request) -> Response:
        """Let the file of a project use a stored secret."""
        form = await requests.form(request)
        server, name = self._named(request, form["name"])
        places, who = self._places(server), requests.caller(request)
        done = await self._yard.secrets.allow(name, places, who)
        return done_answer(request, "fix.allow_done", name, Done((), edit=done.edit))

    async def command_dialog(self, request: Request) -> Response:
        """Offer commands that are similar to one that is not there."""
        server, _ = self._fixes(request, FixKind.USE_COMMAND)
        return answer(request, "dialogs/fix_command.html", await self._command(server))

    async def use_command(self, request: Request) -> Response:
        """Start a server with another command."""
        form = await requests.form(request)
        server, _ = self._fixes(request, FixKind.USE_COMMAND)
        note = EditNote(requests.caller(request), "edit")
        try:
            change = Change({"command": form["command"].strip()}, form["digest"] or None, note=note)
            changed = await self._yard.change(str(server.id), change)
        except YardError as error:
            data = await self._command(server) | {"error": line_about(request, error)}
            return answer(request, "dialogs/fix_command.html", data, edge(error).status)
        return done_answer(request, "changed.done", changed.name, Done((), edit=note.number))

    def _variable(self, server: DesiredServer, name: str, *, allow: bool) -> TemplateData:
        secrets = self._yard.secrets
        places = self._places(server)
        # What a preview needs of a value is only that there is one.
        preview = secrets.preview(SecretChange(name, "?", places=places))
        return {
            "ref": str(server.id),
            "name": name,
            "allow": allow and name in secrets.names,
            "places": places,
            "users": preview.launched_anew,
            "key_ring": secrets.has_key_ring,
            "store": "mcpyard",
            "error": None,
        }

    async def _command(self, server: DesiredServer) -> TemplateData:
        record = self._presenter.record(str(server.id))
        command = record.command or ""
        similar = await self._yard.fixes.similar_commands(command)
        return {"record": record, "command": command, "similar": similar, "error": None}

    def _fixes(self, request: Request, kind: FixKind) -> tuple[DesiredServer, Fix]:
        server = self._yard.server(requests.part(request, "ref"))
        observed = self._yard.directory.observed(server.id)
        for fix in self._yard.fixes.of(server, observed):
            if fix.kind is kind:
                return server, fix
        raise ArgumentsRefused.of(Problem("command", "this server does not need that fix"))

    def _named(self, request: Request, name: str) -> tuple[DesiredServer, str]:
        server = self._yard.server(requests.part(request, "ref"))
        if name not in server.values:
            raise ArgumentsRefused.of(Problem("name", "the server does not refer to this variable"))
        return server, name

    @staticmethod
    def _places(server: DesiredServer) -> list[str]:
        return [server.owner.place] if server.owner.scope is Scope.PROJECT else []
