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
from mcpyard.api.problems import problem_of
from mcpyard.api.responses import answer
from mcpyard.domain.definition.merge import plain
from mcpyard.domain.errors import ArgumentsRefused, NameTaken, Problem, YardError
from mcpyard.domain.model import Config
from mcpyard.formats.pasting.snippets import Pasted, Snippet, parse_snippet
from mcpyard.yard.clients.clients import EditTerms
from mcpyard.yard.clients.importer import IMPORTABLE, IMPORTED, REFUSED
from mcpyard.yard.edit_note import EditNote
from mcpyard.yard.views.base import FieldProblem, view_of
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
        problems = view_of(list[FieldProblem], snippet.problems)
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
        dry = body.dry_run
        note = EditNote(REST, "import")
        servers = self._tried(snippet) if dry else await self._import(snippet, body.scope, note)
        problems = view_of(list[FieldProblem], snippet.problems)
        return answer(
            ImportedView(dry_run=dry, servers=servers, problems=problems, edit=note.number)
        )

    async def _import_machine(self, body: ImportBody) -> Response:
        if not isinstance(body.scope, str | None):
            raise ArgumentsRefused.of(Problem("scope", "must be a string"))
        terms = EditTerms(project_of(body.project), body.dry_run, who=REST)
        imported, edit = await self._yard.clients.import_machine(body.scope, terms)
        servers = [MachineImport(**msgspec.structs.asdict(each)) for each in imported]
        return answer(ImportedView(dry_run=body.dry_run, servers=servers, problems=[], edit=edit))

    async def _test(self, definition: dict[str, object]) -> Response:
        return answer(await self._yard.trial(definition))

    async def _import(self, snippet: Snippet, scope: object, note: EditNote) -> list[PastedImport]:
        fixed = {"scope": scope, "start": False}
        bodies = [{**_definition(it.config), "name": it.name, **fixed} for it in snippet.servers]
        outcomes = await self._yard.register_all(bodies, note)
        return [
            _outcome(pasted, REFUSED, problem=problem_of(outcome))
            if isinstance(outcome, YardError)
            else _outcome(pasted, IMPORTED, server=outcome)
            for pasted, outcome in zip(snippet.servers, outcomes, strict=True)
        ]

    def _tried(self, snippet: Snippet) -> list[PastedImport]:
        taken = {each.name for each in self._yard.desired.servers.values()}
        outcomes: list[PastedImport] = []
        for each in snippet.servers:
            clash = NameTaken(f'the name "{each.name}" is in use') if each.name in taken else None
            problem = problem_of(clash) if clash else None
            outcomes.append(_outcome(each, REFUSED if clash else IMPORTABLE, problem=problem))
            taken.add(each.name)
        return outcomes


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
