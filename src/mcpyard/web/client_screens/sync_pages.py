"""A sync on the page: servers are assigned by ticks, and applied as they were previewed."""

import json
from collections.abc import Iterable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.edges import edge
from mcpyard.domain.errors import (
    ApprovalOutdated,
    ArgumentsRefused,
    Problem,
    ServerUnknown,
    YardError,
)
from mcpyard.domain.model import Scope
from mcpyard.domain.narrowing import texts_of
from mcpyard.domain.sync.plan import CellState, Choice
from mcpyard.formats.warnings import Warned
from mcpyard.web import requests
from mcpyard.web.badges import ADOPTION_OUTCOMES, SYNC_STATES
from mcpyard.web.client_screens.changes import (
    CHANGED,
    done_answer,
    preview_of,
    refused,
    terms_of,
    unseen,
)
from mcpyard.web.client_screens.presenters import OWN, digest_of
from mcpyard.web.client_screens.sync_table import OwnServer, open_cells, sync_table
from mcpyard.web.context import PageContext
from mcpyard.web.problems import error_data
from mcpyard.web.requests import Form
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.templating import TemplateData, answer
from mcpyard.yard.clients.clients import EditTerms
from mcpyard.yard.clients.edit_results import Done
from mcpyard.yard.sync.assignments import Assignment
from mcpyard.yard.sync.sources import SyncRequest
from mcpyard.yard.sync.sync import Sync
from mcpyard.yard.sync.syncing import SyncDecision
from mcpyard.yard.views.clients import WarningView
from mcpyard.yard.views.sync import AdoptionView, SyncCellView, SyncView

_CELL_PARTS: Final = 3
_FILED: Final = frozenset({Scope.USER, Scope.PROJECT})
_LOOK: Final = EditTerms(dry_run=True)
_CHANGING: Final = {
    CellState.CONFLICT: (Choice.THEIRS, Choice.OURS, Choice.ADOPT),
    CellState.FOREIGN: (Choice.OURS, Choice.ADOPT),
    CellState.DELETED: (Choice.OURS,),
}
"""The choices that differ from leaving an entry as it is."""


class SyncPages:
    """Assigns servers to clients, and lets their files follow."""

    def __init__(self, presenter: ServerPresenter, context: PageContext) -> None:
        self._presenter = presenter
        self._context = context

    async def table(self, request: Request) -> TemplateData:
        """The table of servers and clients; or why there is none."""
        try:
            matrix = await self._sync.matrix(self._request())
        except YardError as error:
            return {"table": None, **error_data(request, error)}
        return {"table": sync_table(matrix, self._own_servers())}

    async def assign(self, request: Request) -> Response:
        """Assign a server or all of them to a client, or not; no file of a client changes."""
        form = await requests.form(request)
        terms = EditTerms(who=requests.caller(request))
        await self._sync.assign(await self._assignments(form), terms)
        folder = self._presenter.yard.clients.folder
        data = {"folder": folder} | await self.table(request)
        part = {"show": "table", "seen": digest_of(data)} | data
        return answer(request, "parts/clients.html", part)

    async def cell(self, request: Request) -> Response:
        """What is to be said of a server in a client."""
        name, at = (request.query_params.get(each, "") for each in ("server", "target"))
        table = sync_table(await self._sync.matrix(self._request()), {})
        for row in table.rows:
            for column, card in zip(table.columns, row.cards, strict=True):
                if (row.name, column.at) == (name, at) and card.cell:
                    data: TemplateData = {"card": card, "column": column}
                    return answer(request, "dialogs/sync_cell.html", data)
        raise ServerUnknown(f'no server "{name[:80]}" in {at[:80]}')

    async def dialog(self, request: Request) -> Response:
        """What needs a decision, and what would be written."""
        plan = await self._sync.plan(self._request())
        titles = {each.target: each for each in plan.targets}
        decisions = [
            {
                "cell": each,
                "target": titles[each.target],
                "badge": SYNC_STATES[each.state],
                "choices": _CHANGING[each.state],
                "value": json.dumps([each.target, each.server, each.seen]),
            }
            for each in open_cells(plan)
        ]
        return answer(request, "dialogs/sync.html", {"decisions": decisions})

    async def preview(self, request: Request) -> Response:
        """What would be written with these decisions."""
        form = await requests.form(request)
        try:
            plan = await self._sync.plan(self._request(form))
        except YardError as error:
            return refused(request, error, asked_for=False)
        return answer(request, "parts/preview.html", preview_of(_done(plan)))

    async def apply(self, request: Request) -> Response:
        """Write it."""
        form = await requests.form(request)
        try:
            decided = self._request(form)
            if again := unseen(request, form, _done(await self._sync.plan(decided))):
                return again
            done = await self._sync.apply(decided, terms_of(request, form))
        except YardError as error:
            return refused(request, error)
        return done_answer(request, "clients.done.sync", str(len(done.files)), _done(done))

    async def adopt_dialog(self, request: Request) -> Response:
        """What clients have that could be taken into mcpyard."""
        adoption = await self._sync.adopt({}, self._request(), _LOOK)
        servers = [
            {"server": each, "badge": ADOPTION_OUTCOMES[each.outcome]} for each in adoption.servers
        ]
        return answer(request, "dialogs/adopt.html", {"servers": servers})

    async def adopt_preview(self, request: Request) -> Response:
        """What would be taken in."""
        form = await requests.form(request)
        try:
            adoption = await self._sync.adopt(_chosen(form), self._request(), _LOOK)
        except YardError as error:
            return refused(request, error, asked_for=False)
        return answer(request, "parts/preview.html", preview_of(_adopted(adoption)))

    async def adopt(self, request: Request) -> Response:
        """Take it in."""
        form = await requests.form(request)
        chosen, everywhere = _chosen(form), self._request()
        try:
            preview = await self._sync.adopt(chosen, everywhere, _LOOK)
            if again := unseen(request, form, _adopted(preview)):
                return again
            done = await self._sync.adopt(chosen, everywhere, terms_of(request, form))
        except YardError as error:
            return refused(request, error)
        count = sum(each.outcome == "adopted" for each in done.servers)
        return done_answer(request, "clients.done.adopt", str(count), _adopted(done))

    async def approve_dialog(self, request: Request) -> Response:
        """What of the project's file needs approval."""
        return answer(request, "dialogs/approve.html", await self._approve_data())

    async def approve(self, request: Request) -> Response:
        """Approve what was shown."""
        form = await requests.form(request)
        try:
            done = await self._sync.approve(form["digest"])
        except ApprovalOutdated as error:
            data = await self._approve_data() | {"late": True}
            return answer(request, "dialogs/approve.html", data, edge(error).status)
        data = {"names": done.servers, "waiting": done.waiting}
        return answer(request, "parts/approved.html", data, headers=CHANGED)

    async def _assignments(self, form: Form) -> list[Assignment]:
        target, on = form["target"], bool(form["on"])
        if form["server"]:
            return [Assignment(form["server"], target, on)]
        matrix = await self._sync.matrix(self._request())
        return [
            Assignment(each.server, target, on)
            for each in matrix.assignments
            if each.target == target and each.wanted is not on and not each.locked
        ]

    async def _approve_data(self) -> TemplateData:
        waiting = await self._sync.waiting()
        return {"waiting": waiting, "action": "/ui/clients/approve", "late": False}

    def _own_servers(self) -> dict[str, OwnServer]:
        badges = self._presenter.badges()
        scopes = {
            each.server.name: each.server.owner.scope for each in self._presenter.tracker.pictures()
        }
        return {
            name: OwnServer(badges[name], f"{OWN}:{scope}" if scope in _FILED else "")
            for name, scope in scopes.items()
        }

    def _request(self, form: Form | None = None) -> SyncRequest:
        decisions = _decisions(form) if form else {}
        return SyncRequest(command=self._context.bridge, decisions=decisions, everywhere=True)

    @property
    def _sync(self) -> Sync:
        return self._presenter.yard.clients.sync


def _decisions(form: Form) -> dict[tuple[str, str], SyncDecision]:
    """What was chosen, by the words of a target and a name."""
    decisions: dict[tuple[str, str], SyncDecision] = {}
    for number, value in enumerate(form.all("cell")):
        choice = form[f"choice-{number}"]
        if choice:
            target, server, seen = _cell_parts(value)
            decisions[target, server] = SyncDecision(_choice(choice), seen)
    return decisions


def _cell_parts(value: str) -> list[str]:
    try:
        parts = texts_of(json.loads(value))
    except ValueError:
        parts = []
    if len(parts) != _CELL_PARTS:
        raise ArgumentsRefused.of(Problem("cell", "must name a client, a server and an entry"))
    return parts


def _choice(word: str) -> Choice:
    if word not in {*Choice}:
        raise ArgumentsRefused.of(Problem("choice", f"must be one of {', '.join(Choice)}"))
    return Choice(word)


def _chosen(form: Form) -> dict[str, str]:
    """The client whose entry counts, by the names that are defined differently."""
    names = enumerate(form.all("name"))
    return {name: form[f"from-{number}"] for number, name in names if form[f"from-{number}"]}


def _done(plan: SyncView) -> Done:
    """A plan as a change that is previewed and undone like any other."""
    warnings = [warned for each in plan.cells if each.changes for warned in _warnings(each)]
    files = [(each.path, each.diff) for each in plan.files]
    return Done(tuple(files), (*_general(plan.warnings), *warnings), plan.edit)


def _general(warnings: Iterable[WarningView]) -> list[Warned]:
    return [Warned(each.kind, each.field, "", each.message) for each in warnings]


def _warnings(cell: SyncCellView) -> list[Warned]:
    place = f"{cell.server} · {cell.target}"
    return [
        Warned(each.kind, f"{place} · {each.field}" if each.field else place, "", each.message)
        for each in cell.warnings
    ]


def _adopted(adoption: AdoptionView) -> Done:
    files = tuple((each.path, each.diff) for each in adoption.files)
    return Done(files, tuple(_general(adoption.warnings)), adoption.edit)
