"""The routes of the call journal, and of what is recorded of calls."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from mcpyard.api import requests
from mcpyard.api.bodies import RecordingBody
from mcpyard.api.responses import answer
from mcpyard.cluster.call_pages import CallPosition
from mcpyard.domain.definition.numbers import whole_number
from mcpyard.domain.errors import ArgumentsRefused, CallUnknown, Problem
from mcpyard.yard.calls.call_filters import read_call_query
from mcpyard.yard.calls.inspection import inspect_call
from mcpyard.yard.views.calls import (
    CallPage,
    ClearedView,
    call_view,
    next_page,
    recording_view,
)
from mcpyard.yard.yard import YardCore

PAGE: Final = 100
LONGEST_PAGE: Final = 1000

_LAST_ID: Final = 2**63 - 1
_NOT_A_POSITION: Final = "must be the `next` of a page"


class JournalRoutes:
    """Shows the calls of one yard."""

    def __init__(self, yard: YardCore) -> None:
        self._yard = yard

    async def calls(self, request: Request) -> Response:
        """The calls that are asked for, a page at a time."""
        limit = requests.whole(request, "limit", PAGE, LONGEST_PAGE)
        offset = requests.whole(request, "offset", 0, _LAST_ID)
        query = read_call_query(request.query_params, self._server_id, datetime.now(UTC))
        query, history = replace(query, limit=limit), self._yard.accounts.log
        if query.is_newest_first:
            page = await history.page(query, _position(request))
            calls, following, missing = page.calls, next_page(page.following), page.missing
        else:
            rows = [*await history.sorted(replace(query, offset=offset, limit=limit + 1))]
            calls, missing = rows[:limit], list[str]()
            following = offset + limit if len(rows) > limit else None
        journal = history.journal
        return answer(
            CallPage(
                calls=[*map(call_view, calls)],
                next=following,
                missing=missing,
                dropped=journal.dropped if journal else 0,
                trimmed=journal.trimmed if journal else 0,
            )
        )

    async def call(self, request: Request) -> Response:
        """One call, with all that is recorded of it."""
        text = requests.part(request, "call")
        number = whole_number(text)
        if number is None:
            raise CallUnknown(f'there is no call "{text[:80]}": ids are numbers')
        return answer(await inspect_call(self._yard, number, str(request.base_url)))

    async def clear(self, _request: Request) -> Response:
        """Delete what is recorded of all calls."""
        return answer(ClearedView(calls=await self._yard.calls.recording.clear()))

    async def recording(self, _request: Request) -> Response:
        """Whether calls are recorded."""
        return answer(recording_view(await self._yard.calls.recording.state()))

    async def record(self, request: Request) -> Response:
        """Record calls from now on, or not."""
        body = await requests.read(request, RecordingBody)
        await self._yard.calls.recording.set_mode(body.mode)
        return await self.recording(request)

    def _server_id(self, ref: str) -> UUID:
        return self._yard.server(ref).id


def _position(request: Request) -> Mapping[str, int]:
    text = request.query_params.get("before")
    if text is None:
        return {}
    position = CallPosition.parse(text)
    if position is None or 0 in position.ids.values():
        raise ArgumentsRefused.of(Problem("before", _NOT_A_POSITION))
    return position.ids
