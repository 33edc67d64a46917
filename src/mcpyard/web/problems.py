"""Errors on the page: told where they arose, in words, with what to do."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from starlette.requests import Request
from starlette.responses import Response

from mcpyard.domain.cause import HINTS
from mcpyard.domain.edges import edge
from mcpyard.domain.errors import InputError, NameTaken, ServerFault, YardError
from mcpyard.web.catalogues import Catalogue
from mcpyard.web.messages import error_message, fault_message
from mcpyard.web.sentences import Translated
from mcpyard.web.templating import TemplateData, answer, preferences_of

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]


def telling(handler: Handler) -> Handler:
    """A handler whose errors become a notice in a corner of the page."""

    async def guarded(request: Request) -> Response:
        try:
            return await handler(request)
        except YardError as error:
            return notice(request, error)

    return guarded


def notice(request: Request, error: YardError) -> Response:
    """An error as a notice; the rest of the page stays as it is."""
    where = {"HX-Retarget": "#notices", "HX-Reswap": "beforeend"}
    message = error_data(request, error)
    data = {"tone": "bad", "text": message["error"], "details": message["details"]}
    return answer(request, "parts/notice.html", data, edge(error).status, where)


def error_data(request: Request, error: YardError) -> TemplateData:
    """An error in the reader's language: what is wrong, and what else is known of it."""
    t = preferences_of(request).words
    message = error_message(error, t)
    more = _details(error, message.says, t)
    lines = (message.todo, *_cause_lines(error, t), message.detail, *more)
    details = dict.fromkeys(each for each in lines if each and each != message.says)
    return {"error": message.says, "details": [*details]}


def line_about(request: Request, error: YardError) -> str:
    """The same on one line."""
    return error_message(error, preferences_of(request).words).line


def wrong_fields(request: Request, error: YardError) -> dict[str, str]:
    """What is wrong, by the field of a form."""
    if isinstance(error, NameTaken):
        return {"name": line_about(request, error)}
    problems = error.problems if isinstance(error, InputError) else ()
    t = preferences_of(request).words
    return {each.field.split(".", 1)[0]: t.say(each.message) for each in problems}


def _cause_lines(error: YardError, t: Catalogue) -> list[str]:
    if t.native or not isinstance(error, ServerFault) or error.cause is None:
        return []
    why = fault_message(error.cause, t)
    return [why.says, why.todo]


def _details(error: YardError, says: str, t: Catalogue) -> list[str]:
    """What an error knows besides what it says."""
    if isinstance(error, InputError):
        return [t.say(str(each)) for each in error.problems]
    if isinstance(error, ServerFault) and error.cause:
        cause = error.cause
        said_above = not t.native and cause.hint == HINTS[cause.code]
        hint = "" if said_above else t.say(cause.hint)
        why = t.say(cause.message)
        # What a server wrote is in no language of ours.
        written = [Translated.of((each, True)) for each in cause.stderr[-5:]]
        # An error often ends with the message of its cause.
        return ["" if why in says else why, hint, *written]
    return []
