"""Errors on the page: told where they arose, in words, with what to do."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.errors import InputError, ServerFault, YardError, edge
from mcpyard.web.rendering import answer

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]


def telling(handler: Handler) -> Handler:
    """A handler whose errors become a notice in a corner of the page."""

    async def told(request: Request) -> Response:
        try:
            return await handler(request)
        except YardError as error:
            return notice(request, error)

    return told


def notice(request: Request, error: YardError) -> Response:
    """An error as a notice; the rest of the page stays as it is."""
    where = {"HX-Retarget": "#notices", "HX-Reswap": "beforeend"}
    data = {"tone": "bad", "text": error.message, "details": details_of(error)}
    return answer(request, "parts/notice.html", data, edge(error).status, where)


def details_of(error: YardError) -> list[str]:
    """What an error knows besides its message."""
    told: list[str] = []
    if isinstance(error, InputError):
        told += [str(each) for each in error.problems if str(each) != error.message]
    if isinstance(error, ServerFault) and error.cause:
        cause = error.cause
        told += [each for each in (cause.message, cause.hint, *cause.stderr[-5:]) if each]
    return [each for each in told if each != error.message]
