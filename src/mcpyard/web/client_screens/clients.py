"""The Clients screen: the servers of every program on the machine, and what is odd about them."""

from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.formats.finding import Finding
from mcpyard.web.badges import FINDINGS, StatusBadge
from mcpyard.web.client_screens.connections import connections_of
from mcpyard.web.client_screens.fields import fields_of_entry
from mcpyard.web.client_screens.presenters import (
    OWN,
    digest_of,
    effective_badge,
    place_line,
    places_of,
    problem_line,
    programs_of,
)
from mcpyard.web.client_screens.sync_pages import SyncPages
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.templating import TemplateData, answer
from mcpyard.yard.clients.clients import Clients
from mcpyard.yard.clients.patching import WORDS

PARTS: Final = ("list", "table", "gateway", "checks", "edits")

_UNCHANGED: Final = 204
_SHOWN_APART: Final = frozenset({"command", "args", "env", "url", "headers"})


class ClientsRoutes:
    """Shows the servers of other programs."""

    def __init__(self, presenter: ServerPresenter, sync: SyncPages) -> None:
        self._presenter = presenter
        self._sync = sync
        self._yard = presenter.yard

    async def screen(self, request: Request) -> Response:
        """All of them, by program, as a table, or what is to be said of them."""
        data = await self._part(request)
        frame = self._presenter.frame("clients")
        return answer(request, "screens/clients.html", frame | {"parts": PARTS} | data)

    async def part(self, request: Request) -> Response:
        """What a browser looks at, anew; nothing where it has seen it already."""
        data = await self._part(request)
        if data["seen"] == request.query_params.get("seen"):
            return Response(status_code=_UNCHANGED)
        return answer(request, "parts/clients.html", data)

    async def show(self, request: Request) -> Response:
        """One server with everything that its file says of it."""
        at, name = request.query_params.get("at", ""), request.query_params.get("name", "")
        record = await self._clients.show(at, name)
        fields, members = fields_of_entry(record), record.to_dict()
        extra = [word for word in WORDS.values() if word not in _SHOWN_APART]
        data: TemplateData = {
            "at": at,
            "record": record,
            "status": effective_badge(record.effective, self._own(at).get(name)),
            "where": place_line(record.where) if record.where else record.path,
            "pairs": {"env": fields.env, "headers": fields.headers},
            "extra": {word: members[word] for word in extra if members[word] is not None},
            "problems": [problem_line(each) for each in record.problems],
        }
        return answer(request, "dialogs/client_server.html", data)

    def _own(self, at: str) -> dict[str, StatusBadge]:
        return self._presenter.badges() if at.partition(":")[0] == OWN else {}

    @property
    def _clients(self) -> Clients:
        return self._yard.clients

    async def _part(self, request: Request) -> TemplateData:
        show = request.query_params.get("show", PARTS[0])
        show = show if show in PARTS else PARTS[0]
        data = await self._part_data(request, show)
        return {"show": show, "seen": digest_of(data)} | data

    async def _part_data(self, request: Request, show: str) -> TemplateData:
        if show == "edits":
            return {"edits": await self._clients.edits()}
        if show == "gateway":
            return await connections_of(self._yard, f"{request.base_url}mcp")
        if show == "checks":
            findings = [_finding(each) for each in await self._clients.findings()]
            return {"findings": findings, "drifts": await self._clients.drift()}
        data: TemplateData = {"folder": self._clients.folder}
        if show == "table":
            return data | await self._sync.table(request)
        places = await places_of(self._clients, self._presenter.badges())
        targets = [each for each in places if each.exists]
        # Those that are here come first.
        programs = sorted(programs_of(places), key=lambda each: not each.present)
        return data | {"programs": programs, "targets": targets}


def _finding(finding: Finding) -> TemplateData:
    place = finding.place
    where = f"{place.file}:{place.line}" if place else ""
    private = place.file if place and finding.code == "secret-readable" else ""
    badge = FINDINGS[str(finding.level)]
    return {"finding": finding, "badge": badge, "where": where, "private": private}
