"""The routes of what is not registered yet: read a pasted text, try a definition, import."""

import asyncio
from typing import Final

import msgspec
from msgspec import UNSET
from starlette.requests import Request
from starlette.responses import Response

from mcpyard.api import requests
from mcpyard.api.bodies import ImportBody, PastedBody
from mcpyard.api.clients import REST, project_of
from mcpyard.api.http_server.disconnects import while_asked
from mcpyard.api.problems import field_problem, problem_of
from mcpyard.api.responses import answer
from mcpyard.domain.definition.merge import plain
from mcpyard.domain.errors import ArgumentsRefused, NameTaken, Problem, YardError
from mcpyard.domain.model import Config
from mcpyard.formats.pasting.snippets import Pasted, parse_snippet
from mcpyard.yard.clients.clients import EditTerms
from mcpyard.yard.views.clients import ImportOutcome
from mcpyard.yard.views.imports import (
    ImportedView,
    MachineImport,
    ParsedServer,
    ParsedView,
    PastedImport,
)
from mcpyard.yard.views.problems import ProblemView
from mcpyard.yard.views.servers import ServerView
from mcpyard.yard.yard import YardCore

IMPORTED: Final = "imported"
IMPORTABLE: Final = "importable"
REFUSED: Final = "refused"

_OF_A_REGISTRATION: Final = frozenset({"name", "scope", "start"})


class WorkbenchRoutes:
    """Looks at definitions, and takes them into one yard."""

    def __init__(self, yard: YardCore) -> None:
        self._yard = yard

    async def parse(self, request: Request) -> Response:
        """What a pasted text holds; the values in it are the caller's own, so they are shown."""
        body = await requests.read(request, PastedBody)
        snippet = await asyncio.to_thread(parse_snippet, body.text)
        servers = [
            ParsedServer(
                name=each.name,
                definition=_definition(each.config),
                warnings=[str(odd) for odd in each.warnings],
            )
            for each in snippet.servers
        ]
        problems = [*map(field_problem, snippet.problems)]
        return answer(ParsedView(servers=servers, problems=problems))

    async def test(self, request: Request) -> Response:
        """Open a server that is not registered, look at it, and end it again."""
        body = await requests.members(request)
        definition = {key: body[key] for key in body.keys() - _OF_A_REGISTRATION}
        return await while_asked(request, self._test(definition))

    async def import_text(self, request: Request) -> Response:
        """Register what a pasted text holds, or this machine; each server waits, stopped."""
        body = await requests.read(request, ImportBody)
        if body.text is UNSET:
            return await self._import_machine(body)
        snippet = await asyncio.to_thread(parse_snippet, body.text)
        servers: list[PastedImport] = []
        taken: set[str] = {each.server.name for each in self._yard.pictures()}
        for each in snippet.servers:
            if body.dry_run:
                servers.append(_tried(each, taken))
            else:
                servers.append(await self._import(each, body.scope))
            taken.add(each.name)
        problems = [*map(field_problem, snippet.problems)]
        return answer(ImportedView(dry_run=body.dry_run, servers=servers, problems=problems))

    async def _import_machine(self, body: ImportBody) -> Response:
        if not isinstance(body.scope, str | None):
            raise ArgumentsRefused.of(Problem("scope", "must be a string"))
        terms = EditTerms(project_of(body.project), body.dry_run, who=REST)
        imported = await self._yard.clients.import_all(body.scope, terms)
        servers = [MachineImport(**msgspec.structs.asdict(each)) for each in imported]
        return answer(ImportedView(dry_run=body.dry_run, servers=servers, problems=[]))

    async def _test(self, definition: dict[str, object]) -> Response:
        return answer(await self._yard.trial(definition))

    async def _import(self, pasted: Pasted, scope: object) -> PastedImport:
        body = {**_definition(pasted.config), "name": pasted.name, "scope": scope, "start": False}
        try:
            server = await self._yard.register(body)
        except YardError as error:
            return _outcome(pasted, REFUSED, problem=problem_of(error))
        return _outcome(pasted, IMPORTED, server=server)


def _tried(pasted: Pasted, taken: set[str]) -> PastedImport:
    if pasted.name in taken:
        clash = NameTaken(f'the name "{pasted.name}" is in use')
        return _outcome(pasted, REFUSED, problem=problem_of(clash))
    return _outcome(pasted, IMPORTABLE)


def _outcome(
    pasted: Pasted,
    outcome: ImportOutcome,
    *,
    server: ServerView | None = None,
    problem: ProblemView | None = None,
) -> PastedImport:
    return PastedImport(
        name=pasted.name,
        outcome=outcome,
        server=server,
        problem=problem,
        warnings=[str(each) for each in pasted.warnings],
    )


def _definition(config: Config) -> dict[str, object]:
    # With its type said, nothing has to be inferred when it is read again.
    return {"type": config.type, **plain(config)}
