"""What a request asks: its parts read out of path, query and body, or refused with the field."""

from typing import Final, NamedTuple, cast
from urllib.parse import unquote

import orjson
from starlette.requests import Request

from mcpyard.domain.errors import ArgumentsRefused, Problem
from mcpyard.domain.model import MAX_TIMEOUT

LONGEST_WAIT: Final = 600.0

_CALL_MEMBERS: Final = frozenset({"arguments", "timeoutMs"})


class BadJson(Exception):
    """A body that is not JSON."""


class Call(NamedTuple):
    """What is asked of a tool; the time limit in seconds, None for the server's own."""

    arguments: dict[str, object]
    timeout: float | None


def part(request: Request, name: str) -> str:
    """A part of the path, unquoted."""
    return unquote(request.path_params[name])


def flag(request: Request, name: str, *, default: bool) -> bool:
    """A yes or no of the query."""
    given = request.query_params.get(name)
    return default if given is None else given.lower() not in {"0", "false", "no", ""}


def seconds(request: Request, name: str, default: float) -> float:
    """A duration of the query."""
    given = request.query_params.get(name)
    try:
        value = default if given is None else float(given)
    except ValueError:
        value = -1.0
    if not 0 <= value <= LONGEST_WAIT:
        raise _refused(name, f"must be a number of seconds from 0 to {LONGEST_WAIT:g}")
    return value


async def call(request: Request) -> Call:
    """The body of a call."""
    body = await request.body()
    try:
        asked: object = orjson.loads(body) if body.strip() else {}
    except orjson.JSONDecodeError as error:
        raise BadJson(f"the body is not JSON: {error}") from None
    if not isinstance(asked, dict):
        raise _refused("", "the body must be an object")
    return _call(cast("dict[str, object]", asked))


def _call(asked: dict[str, object]) -> Call:
    if unknown := sorted(asked.keys() - _CALL_MEMBERS):
        raise _refused(unknown[0], 'is not known; "arguments" and "timeoutMs" are')
    arguments = asked.get("arguments", {})
    if not isinstance(arguments, dict):
        raise _refused("arguments", "must be an object")
    limit = asked.get("timeoutMs")
    if limit is not None and not _is_limit(limit):
        raise _refused("timeoutMs", f"must be a whole number from 1 to {MAX_TIMEOUT}")
    timeout = limit / 1000 if isinstance(limit, int) else None
    return Call(cast("dict[str, object]", arguments), timeout)


def _is_limit(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value <= MAX_TIMEOUT


def _refused(field: str, message: str) -> ArgumentsRefused:
    return ArgumentsRefused.of(Problem(field, message))
