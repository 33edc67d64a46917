"""The Activity screen: the call journal, newest first, live, and narrowed to what is looked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.definition.numbers import whole_number
from mcpyard.domain.stored import CallQuery, CallRecord
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.templating import TemplateData, answer

PAGE: Final = 50
MOST: Final = 1000
"""Rows that a page gathers while it is looked at, before it begins anew."""

_UNCHANGED: Final = 204
_RECENT: Final = 1000
_WHOLE: Final = {"HX-Retarget": "#calls", "HX-Reswap": "outerMorph"}


@dataclass(frozen=True, slots=True)
class CallFilter:
    """Which calls are looked for; empty stands for any."""

    server: str = ""
    tool: str = ""
    outcome: str = ""
    who: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "CallFilter":
        """What an address asks for."""
        return cls(*(query.get(name, "").strip() for name in cls.__slots__))

    def query(self, before: int | None = None) -> CallQuery | None:
        """The same for the journal; None where nothing can match."""
        try:
            server = UUID(self.server) if self.server else None
        except ValueError:
            return None
        criteria = (self.tool or None, self.outcome or None, self.who or None)
        return CallQuery(server, *criteria, before=before, limit=PAGE + 1)


class ActivityRoutes:
    """Shows the calls of a yard."""

    def __init__(self, presenter: ServerPresenter) -> None:
        self._presenter = presenter
        self._yard = presenter.yard

    async def screen(self, request: Request) -> Response:
        """The newest calls, and what they can be narrowed to."""
        chosen = CallFilter.of(request.query_params)
        data = self._presenter.frame("activity") | await self._page(chosen)
        data |= {"chosen": chosen, "choices": await self._choices()}
        data |= {"journal": self._yard.accounts.journal}
        return answer(request, "screens/activity.html", data)

    async def calls(self, request: Request) -> Response:
        """The newest calls that are looked for."""
        page = await self._page(CallFilter.of(request.query_params))
        return answer(request, "parts/journal.html", page)

    async def older(self, request: Request) -> Response:
        """The calls before those that are shown."""
        page = await self._page(CallFilter.of(request.query_params), _number(request, "before"))
        return answer(request, "parts/journal_older.html", page)

    async def newer(self, request: Request) -> Response:
        """The calls since those that are shown, if there are any."""
        chosen, newest = CallFilter.of(request.query_params), _number(request, "newest")
        page = await self._records(chosen)
        fresh = [each for each in page[:PAGE] if each.id > newest]
        if not fresh:
            return Response(status_code=_UNCHANGED)
        row_count = _number(request, "shown") + len(fresh)
        if not newest or len(fresh) == PAGE or row_count > MOST:
            return answer(request, "parts/journal.html", _page(page), headers=_WHOLE)
        data = {"calls": fresh, "newest": fresh[0].id, "shown": row_count}
        return answer(request, "parts/journal_newer.html", data)

    async def _page(self, chosen: CallFilter, before: int | None = None) -> TemplateData:
        return _page(await self._records(chosen, before))

    async def _records(self, chosen: CallFilter, before: int | None = None) -> list[CallRecord]:
        journal, query = self._yard.accounts.journal, chosen.query(before)
        return [*await journal.query(query)] if journal and query else []

    async def _choices(self) -> TemplateData:
        """What there is to choose from: what the last calls were about."""
        journal = self._yard.accounts.journal
        recent = [*await journal.query(CallQuery(limit=_RECENT))] if journal else []
        return {
            "servers": dict(
                sorted({str(each.server): each.server_name for each in recent}.items())
            ),
            "tools": sorted({each.tool for each in recent}),
            "outcomes": _itself({each.outcome for each in recent}),
            "whos": _itself({each.who for each in recent}),
        }


def _page(records: list[CallRecord]) -> TemplateData:
    calls = records[:PAGE]
    return {
        "calls": calls,
        "newest": calls[0].id if calls else 0,
        "shown": len(calls),
        "before": calls[-1].id if len(records) > PAGE else None,
    }


def _itself(values: set[str]) -> list[tuple[str, str]]:
    """Choices that are called what they are."""
    return [(each, each) for each in sorted(values)]


def _number(request: Request, name: str) -> int:
    return whole_number(request.query_params.get(name, "")) or 0
