"""The routes of other programs' servers: listed, changed, copied, undone."""

from pathlib import PurePath
from typing import Final

from msgspec import UNSET
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from mcpyard.api import requests
from mcpyard.api.bodies import CopiesBody, CopyBody, UndoBody
from mcpyard.api.responses import answer
from mcpyard.domain.errors import ArgumentsRefused, Problem
from mcpyard.yard.clients.clients import Clients, Copy, EditTerms, matrix_of, words_of
from mcpyard.yard.clients.copies import CopyMany, copy_many
from mcpyard.yard.views.clients import change_view
from mcpyard.yard.yard import YardCore

REST: Final = "rest"


class ClientRoutes:
    """Shows and changes the servers of the programs that one yard reaches."""

    def __init__(self, yard: YardCore) -> None:
        self._yard = yard

    async def groups(self, request: Request) -> Response:
        """Every scope of every client."""
        return answer(await self._clients.groups(project_of(request.query_params.get("project"))))

    async def show(self, request: Request) -> Response:
        """One server."""
        terms = _terms(request)
        entry = await self._clients.show(_words(request), _name(request), terms.project)
        return answer(entry)

    async def change(self, request: Request) -> Response:
        """Change a server by a merge patch."""
        patch = await requests.members(request)
        done = await self._clients.edit(_words(request), _name(request), patch, _terms(request))
        return answer(change_view(done))

    async def remove(self, request: Request) -> Response:
        """Take a server out."""
        done = await self._clients.remove(_words(request), _name(request), _terms(request))
        return answer(change_view(done))

    async def copy(self, request: Request) -> Response:
        """Copy a server, or move it."""
        body = await requests.read(request, CopyBody)
        name = None if body.new_name is UNSET else body.new_name
        matrix = matrix_of(body.matrix)
        copy = Copy(body.source, body.target, body.name, name, matrix, body.replace, body.move)
        terms = EditTerms(
            project_of(body.project), body.dry_run, who=REST, unverified=body.unverified
        )
        return answer(change_view(await self._clients.copy(copy, terms)))

    async def copy_many(self, request: Request) -> Response:
        """Copy several servers to several clients."""
        body = await requests.read(request, CopiesBody)
        many = CopyMany(
            body.source,
            tuple(body.targets),
            None if body.names is None else tuple(body.names),
            matrix_of(body.matrix),
            body.replace,
            body.move,
        )
        terms = EditTerms(
            project_of(body.project), body.dry_run, who=REST, unverified=body.unverified
        )
        return answer(await copy_many(self._clients, many, terms))

    async def undo(self, request: Request) -> Response:
        """Undo an edit."""
        body = await requests.read(request, UndoBody)
        terms = EditTerms(dry_run=body.dry_run, who=REST)
        return answer(change_view(await self._clients.undo(body.id, terms)))

    async def edits(self, _request: Request) -> Response:
        """The last edits."""
        return answer(await self._clients.edits())

    async def lint(self, request: Request) -> Response:
        """What the rules of the programs have to say."""
        return answer(await self._clients.lint(project_of(request.query_params.get("project"))))

    async def seen(self, _request: Request) -> Response:
        """The clients that were seen at the gateway."""
        return answer(await self._yard.clients.seen())

    async def drift(self, request: Request) -> Response:
        """What is not defined alike everywhere."""
        return answer(await self._clients.drift(project_of(request.query_params.get("project"))))

    @property
    def _clients(self) -> Clients:
        return self._yard.clients


def client_routes(yard: YardCore) -> list[Route]:
    """Every route of other programs' servers."""
    clients, one = ClientRoutes(yard), "/api/clients/{client}/servers/{name}"
    return [
        Route("/api/clients", clients.groups),
        Route("/api/clients/copy", clients.copy, methods=["POST"]),
        Route("/api/clients/copies", clients.copy_many, methods=["POST"]),
        Route("/api/clients/undo", clients.undo, methods=["POST"]),
        Route("/api/clients/edits", clients.edits),
        Route("/api/clients/lint", clients.lint),
        Route("/api/clients/drift", clients.drift),
        Route("/api/clients/seen", clients.seen),
        Route(one, clients.show),
        Route(one, clients.change, methods=["PATCH"]),
        Route(one, clients.remove, methods=["DELETE"]),
    ]


def _words(request: Request) -> str:
    return words_of(requests.part(request, "client"), request.query_params.get("scope"))


def _name(request: Request) -> str:
    return requests.part(request, "name")


def _terms(request: Request) -> EditTerms:
    project = project_of(request.query_params.get("project"))
    dry_run = requests.flag(request, "dryRun", default=False)
    unverified = requests.flag(request, "unverified", default=False)
    return EditTerms(project, dry_run, who=REST, unverified=unverified)


def project_of(folder: str | None) -> str | None:
    """The folder that is meant; None for the yard's own project."""
    if folder is None:
        return None
    if not PurePath(folder).is_absolute() or "\0" in folder:
        raise ArgumentsRefused.of(Problem("project", "must be an absolute path"))
    return folder.rstrip("/") or "/"
