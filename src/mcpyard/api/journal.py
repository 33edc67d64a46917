"""The route of the call journal."""

from typing import Final
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.api import requests
from mcpyard.api.responses import answer
from mcpyard.domain.stored import CallQuery
from mcpyard.yard.views.calls import CallPage, call_view
from mcpyard.yard.yard import YardCore

PAGE: Final = 100
LONGEST_PAGE: Final = 1000

_LAST_ID: Final = 2**63 - 1


class JournalRoutes:
    """Shows the calls of one yard."""

    def __init__(self, yard: YardCore) -> None:
        self._yard = yard

    async def calls(self, request: Request) -> Response:
        """The last calls, newest first, a page at a time."""
        limit = requests.whole(request, "limit", PAGE, LONGEST_PAGE)
        before = requests.whole(request, "before", _LAST_ID, _LAST_ID)
        query = CallQuery(
            server=self._server(request.query_params.get("server")),
            tool=request.query_params.get("tool"),
            outcome=request.query_params.get("outcome"),
            who=request.query_params.get("who"),
            before=before,
            limit=limit + 1,
        )
        journal = self._yard.accounts.journal
        calls = [*await journal.query(query)] if journal else []
        views = [*map(call_view, calls[:limit])]
        next_id = views[-1].id if len(calls) > limit else None
        lost = {"dropped": journal.dropped, "trimmed": journal.trimmed} if journal else {}
        return answer(CallPage(calls=views, next=next_id, **lost))

    def _server(self, ref: str | None) -> UUID | None:
        if ref is None:
            return None
        try:
            # The calls of a server outlive it, and then only its id is left to ask by.
            return UUID(ref)
        except ValueError:
            return self._yard.server(ref).id
