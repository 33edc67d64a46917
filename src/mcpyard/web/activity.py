"""The Activity screen: the call journal, live, sorted, and narrowed to what is looked for.

The address says what is looked for and how it is sorted, so that it can be kept and passed on.
"""

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from msgspec import structs
from starlette.requests import Request
from starlette.responses import Response

from mcpyard.cluster.call_pages import CallPages, CallPosition
from mcpyard.domain.definition.numbers import whole_number
from mcpyard.domain.errors import ServerUnknown, YardError
from mcpyard.domain.stored import FAILED, CallOrder, CallQuery
from mcpyard.web.server_screens.presenters import ServerPresenter
from mcpyard.web.templating import TemplateData, answer
from mcpyard.yard.calls.call_filters import FILTERS, read_call_query

PAGE: Final = 50
MOST: Final = 1000
"""Rows that a page gathers while it is looked at, before it begins anew."""

AGES: Final = ("15m", "1h", "1d", "7d")
"""How far back one can look with one choice."""

_START: Final[Mapping[str, int]] = {}
_UNCHANGED: Final = 204
_RECENT: Final = 1000
_WHOLE: Final = {"HX-Retarget": "#calls", "HX-Reswap": "outerMorph"}
_ASCENDING: Final = "asc"


@dataclass(frozen=True, slots=True)
class CallFilter:
    """Which calls are looked for, as an address says it; empty stands for any."""

    server: str = ""
    tool: str = ""
    outcome: str = ""
    who: str = ""
    since: str = ""
    until: str = ""
    text: str = ""
    sort: str = ""
    order: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> "CallFilter":
        """What an address asks for."""
        return cls(*(query.get(name, "").strip() for name in FILTERS))

    @property
    def sorted_by(self) -> str:
        """What the calls are sorted by."""
        return self.sort or str(CallOrder.TIME)

    @property
    def is_live(self) -> bool:
        """Whether a new call comes first."""
        return self.sorted_by == CallOrder.TIME and self.order != _ASCENDING

    def direction(self, order: str) -> str:
        """How a column is sorted, in the words of `aria-sort`."""
        if order != self.sorted_by:
            return "none"
        return "ascending" if self.order == _ASCENDING else "descending"

    def address(self, order: str = "") -> str:
        """The address of the same calls; sorted by a column, the other way round at the second."""
        target = self
        if order:
            again = self.direction(order) == "descending"
            target = replace(self, sort=order, order=_ASCENDING if again else "")
        parts = {name: text for name in FILTERS if (text := getattr(target, name))}
        return f"/activity?{urlencode(parts)}" if parts else "/activity"

    @property
    def until_field(self) -> str:
        """The end as a field of date and time holds it: what the clock of this machine shows.

        A field that stays empty would drop the end as soon as anything else is chosen.
        """
        with contextlib.suppress(YardError):
            until = self.query().until
            if until is not None:
                clock = until.astimezone().replace(tzinfo=None, microsecond=0)
                return clock.isoformat(timespec="seconds" if clock.second else "minutes")
        return ""

    def query(self) -> CallQuery:
        """The same for the journal.

        Raises:
            ArgumentsRefused: It cannot be read.
        """
        parameters = {name: getattr(self, name) for name in FILTERS}
        return read_call_query(parameters, _unknown, datetime.now(UTC))


_SLOWEST: Final = CallFilter(since="1h", sort=str(CallOrder.DURATION))


class ActivityRoutes:
    """Shows the calls of a yard."""

    def __init__(self, presenter: ServerPresenter) -> None:
        self._presenter = presenter
        self._yard = presenter.yard

    async def screen(self, request: Request) -> Response:
        """The newest calls, and what they can be narrowed to."""
        chosen = self._chosen(request)
        data = self._presenter.frame("activity") | await self._page(chosen)
        ages = [(each, each) for each in (*AGES, *({chosen.since} - {"", *AGES}))]
        data |= {
            "choices": await self._choices(chosen),
            "ages": ages,
            "slowest": _SLOWEST.address(),
        }
        data |= {"recording": await self._yard.calls.recording.state()}
        data |= {"journal": self._yard.accounts.journal}
        return answer(request, "screens/activity.html", data)

    async def calls(self, request: Request) -> Response:
        """The calls that are looked for."""
        page = await self._page(self._chosen(request))
        return answer(request, "parts/journal.html", page)

    async def older(self, request: Request) -> Response:
        """The calls behind those that are shown."""
        chosen = self._chosen(request)
        offset = _number(request, "offset")
        page = await self._page(chosen, _position(request, "before"), offset)
        return answer(request, "parts/journal_older.html", page)

    async def newer(self, request: Request) -> Response:
        """The calls since those that are shown, if there are any."""
        chosen, newest = self._chosen(request), _position(request, "newest")
        page = await self._calls(chosen)
        fresh = [each for each in page.calls if each.id > newest.get(each.node, 0)]
        missing = "~".join(page.missing)
        is_same = missing == request.query_params.get("missing", "")
        if not fresh and is_same:
            return Response(status_code=_UNCHANGED)
        row_count = _number(request, "shown") + len(fresh)
        # Calls of a node that was missing belong between those of the others.
        follows = is_same and all(each.node in newest for each in fresh)
        if not follows or len(fresh) == PAGE or row_count > MOST:
            whole = self._data(chosen, page)
            return answer(request, "parts/journal.html", whole, headers=_WHOLE)
        data = self._data(chosen, page) | {"calls": fresh, "newest": page.newest(newest)}
        return answer(request, "parts/journal_newer.html", data | {"shown": row_count})

    def _chosen(self, request: Request) -> CallFilter:
        """What an address asks for; a server by its id, which its calls are kept under."""
        chosen = CallFilter.of(request.query_params)
        with contextlib.suppress(YardError):
            if chosen.server:
                return replace(chosen, server=str(self._yard.server(chosen.server).id))
        return chosen

    async def _page(
        self, chosen: CallFilter, before: Mapping[str, int] = _START, offset: int = 0
    ) -> TemplateData:
        try:
            if chosen.is_live:
                return self._data(chosen, await self._calls(chosen, before))
            return await self._sorted(chosen, offset)
        except YardError as error:
            return self._data(chosen, CallPages([], None, [])) | {"problem": error.message}

    async def _calls(self, chosen: CallFilter, before: Mapping[str, int] = _START) -> CallPages:
        query = structs.replace(chosen.query(), limit=PAGE)
        return await self._yard.accounts.log.page(query, before)

    async def _sorted(self, chosen: CallFilter, offset: int) -> TemplateData:
        """The calls of this node in another order, which begins with the highest or lowest."""
        limited = structs.replace(chosen.query(), offset=offset, limit=PAGE + 1)
        calls = [*await self._yard.accounts.log.sorted(limited)]
        more = offset + PAGE if len(calls) > PAGE else None
        return self._data(chosen, CallPages(calls[:PAGE], None, [])) | {"offset": more}

    def _data(self, chosen: CallFilter, page: CallPages) -> TemplateData:
        cluster = self._yard.cluster
        return {
            "chosen": chosen,
            "problem": "",
            "calls": page.calls,
            "newest": page.newest(_START),
            "shown": len(page.calls),
            "before": page.following,
            "offset": None,
            "missing": page.missing,
            "clustered": cluster.exists and chosen.is_live,
            "here": cluster.node,
        }

    async def _choices(self, chosen: CallFilter) -> TemplateData:
        """What there is to choose from: what the last calls were about, and what is chosen."""
        recent = (await self._yard.accounts.log.page(CallQuery(limit=_RECENT))).calls
        failed = [FAILED] if any(each.outcome != "ok" for each in recent) else []
        servers = {str(each.server): each.server_name for each in recent}
        if chosen.server and chosen.server not in servers:
            servers[chosen.server] = self._name_of(chosen.server)
        return {
            "servers": dict(sorted(servers.items())),
            "tools": sorted({each.tool for each in recent}),
            "outcomes": [(each, each) for each in failed] + _itself({e.outcome for e in recent}),
            "whos": _itself({each.who for each in recent}),
        }

    def _name_of(self, ref: str) -> str:
        try:
            return self._yard.server(ref).name
        except YardError:
            return ref


def _unknown(name: str) -> UUID:
    raise ServerUnknown(f'there is no server "{name[:80]}"')


def _itself(values: set[str]) -> list[tuple[str, str]]:
    """Choices that are called what they are."""
    return [(each, each) for each in sorted(values)]


def _position(request: Request, name: str) -> Mapping[str, int]:
    position = CallPosition.parse(request.query_params.get(name, ""))
    return position.ids if position else _START


def _number(request: Request, name: str) -> int:
    return whole_number(request.query_params.get(name, "")) or 0
