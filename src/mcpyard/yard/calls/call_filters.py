"""Which calls are asked for, as the query of an address says; REST and the page share it."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID

from mcpyard.domain.errors import ArgumentsRefused, Problem
from mcpyard.domain.stored import CallOrder, CallQuery

LONGEST_TEXT: Final = 200

TIME_FAULT: Final = "must be a time such as 2027-01-31T12:00:00Z, or an age such as 15m, 1h or 7d"

_AGE: Final = re.compile(r"(\d{1,6})([smhd])")
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_ORDERS: Final = tuple(map(str, CallOrder))
_DIRECTIONS: Final = ("desc", "asc")

FILTERS: Final = ("server", "tool", "outcome", "who", "since", "until", "text", "sort", "order")
"""The parameters of a query, all of them optional."""


def read_call_query(
    parameters: Mapping[str, str], server_id: Callable[[str], UUID], now: datetime
) -> CallQuery:
    """The calls that a query asks for.

    Args:
        parameters: Those of `FILTERS`; empty ones say nothing.
        server_id: The id of a server by its name.
        now: What ages count from.

    Raises:
        ArgumentsRefused: A parameter cannot be read.
        ServerUnknown: There is no server of that name.
    """
    filters = {name: text for name in FILTERS if (text := parameters.get(name, "").strip())}
    return CallQuery(
        server=_server(filters["server"], server_id) if "server" in filters else None,
        tool=filters.get("tool"),
        outcome=filters.get("outcome"),
        who=filters.get("who"),
        since=_time("since", filters, now),
        until=_time("until", filters, now),
        text=filters["text"][:LONGEST_TEXT] if "text" in filters else None,
        order=CallOrder(_one_of("sort", filters, _ORDERS)),
        ascending=_one_of("order", filters, _DIRECTIONS) == "asc",
    )


def _server(ref: str, server_id: Callable[[str], UUID]) -> UUID:
    try:
        # The calls of a server outlive it, and then only its id is left to ask by.
        return UUID(ref)
    except ValueError:
        return server_id(ref)


def _time(name: str, filters: Mapping[str, str], now: datetime) -> datetime | None:
    text = filters.get(name)
    if text is None:
        return None
    if age := _AGE.fullmatch(text):
        return now - timedelta(**{_UNITS[age[2]]: int(age[1])})
    try:
        # Without a zone it is what the clock of this machine shows.
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ArgumentsRefused.of(Problem(name, TIME_FAULT)) from None


def _one_of(name: str, filters: Mapping[str, str], words: tuple[str, ...]) -> str:
    word = filters.get(name, words[0])
    if word not in words:
        raise ArgumentsRefused.of(Problem(name, f"must be one of {', '.join(words)}"))
    return word
