"""What is done to several servers at once: those that are ticked."""

from collections.abc import Awaitable, Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import ArgumentsRefused, Problem, ServerUnknown, YardError
from mcpyard.web import requests
from mcpyard.web.client_screens.changes import (
    done_answer,
    preview_of,
    refused,
    terms_of,
    unseen,
)
from mcpyard.web.client_screens.presenters import OWN, places_of
from mcpyard.web.problems import line_about
from mcpyard.web.requests import Form
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.templating import TemplateData, answer
from mcpyard.yard.clients.clients import Copy, EditTerms
from mcpyard.yard.clients.edit_results import Copied, Done
from mcpyard.yard.edit_note import EditNote
from mcpyard.yard.views.servers import ServerView

MOST: Final = 10_000

_NONE_CHOSEN: Final = "choose at least one server"


class BulkRoutes:
    """Starts, stops, restarts, deletes and copies the servers that somebody chose."""

    def __init__(self, presenter: ServerPresenter) -> None:
        self._presenter = presenter
        self._yard = presenter.yard

    async def run(self, request: Request) -> Response:
        """Start, stop, restart or delete them; what is refused for one stops no other."""
        verb, chosen = requests.part(request, "verb"), self._chosen(await requests.form(request))
        if verb == "delete":
            return await self._delete(request, chosen)
        step = self._step(verb)
        refusals: list[str] = []
        for server in chosen:
            if verb == "restart" and (picture := self._presenter.tracker.picture(server.id)):
                self._presenter.tracker.restarting(picture)
            try:
                await step(str(server.id))
            except YardError as error:
                refusals.append(f"{server.name}: {line_about(request, error)}")
        data = {"verb": verb, "count": len(chosen) - len(refusals), "refusals": refusals}
        return answer(request, "parts/bulk_done.html", data | {"edits": []})

    async def _delete(self, request: Request, chosen: list[DesiredServer]) -> Response:
        """Take them out: those of a scope in one edit, which can be undone."""
        count, refusals, edits = 0, list[str](), list[int | None]()
        for scope in dict.fromkeys(each.owner.scope for each in chosen):
            servers = [each for each in chosen if each.owner.scope is scope]
            note = EditNote(requests.caller(request), "remove")
            try:
                await self._yard.remove(*(str(each.id) for each in servers), note=note)
            except YardError as error:
                why = line_about(request, error)
                refusals += [f"{each.name}: {why}" for each in servers]
                continue
            count += len(servers)
            edits.append(note.number)
        data = {"verb": "delete", "count": count, "refusals": refusals, "edits": edits}
        return answer(request, "parts/bulk_done.html", data)

    async def ask(self, request: Request) -> Response:
        """Ask before they are deleted, or where they are to be copied to."""
        chosen = self._chosen(await requests.form(request))
        ids = " ".join(str(each.id) for each in chosen)
        data: TemplateData = {"ids": ids, "servers": [each.name for each in chosen]}
        if requests.part(request, "verb") == "delete":
            running = sum(self._presenter.record(str(each.id)).pid is not None for each in chosen)
            return answer(request, "dialogs/bulk_delete.html", data | {"running": running})
        places = [each for each in await places_of(self._yard.clients) if each.client != OWN]
        targets = sorted(places, key=lambda each: not each.exists)
        return answer(request, "dialogs/bulk_copy.html", data | {"targets": targets})

    async def preview(self, request: Request) -> Response:
        """What a copy of them would be."""
        form = await requests.form(request)
        try:
            done, copied = await self._copy(form, EditTerms(dry_run=True))
        except YardError as error:
            return refused(request, error, asked_for=False)
        data = {"refusals": _refusals(request, copied)}
        return answer(request, "parts/bulk_preview.html", preview_of(done) | data)

    async def copy(self, request: Request) -> Response:
        """Copy them; one unit to undo."""
        form = await requests.form(request)
        try:
            preview, _ = await self._copy(form, EditTerms(dry_run=True))
            if again := unseen(request, form, preview):
                return again
            done, copied = await self._copy(form, terms_of(request, form))
        except YardError as error:
            return refused(request, error)
        names = ", ".join(each.name for each in copied if each.error is None)
        return done_answer(request, "bulk.copied", names, done)

    async def _copy(self, form: Form, terms: EditTerms) -> tuple[Done, list[Copied]]:
        copies = [
            Copy(f"{OWN}:{each.owner.scope}", form["to"], each.name, replace="replace" in form)
            for each in self._chosen(form)
        ]
        return await self._yard.clients.copy_all(copies, terms, "copy")

    def _step(self, verb: str) -> Callable[[str], Awaitable[ServerView]]:
        steps: dict[str, Callable[[str], Awaitable[ServerView]]] = {
            "start": self._yard.start,
            "stop": self._yard.stop,
            "restart": self._yard.restart,
        }
        if verb not in steps:
            raise ArgumentsRefused.of(Problem("", "unknown action"))
        return steps[verb]

    def _chosen(self, form: Form) -> list[DesiredServer]:
        """The servers that are chosen; one that is gone meanwhile is no fault."""
        chosen: list[DesiredServer] = []
        for ref in dict.fromkeys(form["ids"].split()[:MOST]):
            try:
                chosen.append(self._yard.server(ref))
            except ServerUnknown:
                continue
        if not chosen:
            raise ArgumentsRefused.of(Problem("ids", _NONE_CHOSEN))
        return chosen


def _refusals(request: Request, copied: list[Copied]) -> list[str]:
    return [f"{each.name}: {line_about(request, each.error)}" for each in copied if each.error]
