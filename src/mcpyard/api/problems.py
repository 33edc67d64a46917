"""Errors as RFC 9457 problems: the one place where they get their words outside."""

from typing import Final, NamedTuple

from mcpyard.domain.errors import (
    CallRefused,
    ChangedSince,
    InputError,
    ServerFault,
    YardError,
    edge,
)
from mcpyard.domain.remedies import remedy
from mcpyard.yard.records import Record, cause_record

TYPE_PREFIX: Final = "urn:mcpyard:error:"


class Refusal(NamedTuple):
    """What the face itself refuses with: a status, and what to do about it."""

    status: int
    hint: str


REFUSALS: Final[dict[str, Refusal]] = {
    "bad-json": Refusal(400, "Send JSON in UTF-8, without comments."),
    "doubled-header": Refusal(
        400, "Check whether a proxy sends Host, Authorization or Origin twice."
    ),
    "unauthorized": Refusal(
        401,
        "Send the header Authorization: Bearer TOKEN; `mcpyard paths` prints the location of "
        "the admin token. To sign in a browser, run `mcpyard login-link`.",
    ),
    "foreign-origin": Refusal(403, "Send the request from a program, or from mcpyard's own page."),
    "key-needed": Refusal(403, "Sign in again: mcpyard login-link"),
    "beyond-token": Refusal(403, "Use the admin token; `mcpyard paths` prints its location."),
    "no-route": Refusal(
        404, "See GET /api/openapi.json for all routes; names in a path are percent-encoded."
    ),
    "token-unknown": Refusal(404, "List the tokens: mcpyard token ls"),
    "wrong-method": Refusal(405, "The Allow header lists the supported methods."),
    "token-fixed": Refusal(409, "Change it where MCPYARD_TOKEN is set."),
    "no-browser": Refusal(409, "Send the token in the header Authorization instead."),
    "wrong-media-type": Refusal(415, "Send the header Content-Type: application/json"),
    "wrong-host": Refusal(421, "Behind a proxy or in a container: mcpyard up --allow-host NAME"),
    "internal": Refusal(500, "See `yard.log` in the home folder, and please report this as a bug."),
}


def problem(status: int, slug: str, detail: str, hint: str = "") -> Record:
    """A problem out of its parts; the title is the slug in words."""
    title = slug.replace("-", " ").capitalize()
    told: Record = {"type": TYPE_PREFIX + slug, "title": title, "status": status, "detail": detail}
    return told | {"hint": hint} if hint else told


def refusal(slug: str, detail: str) -> Record:
    """A problem of the face itself."""
    found = REFUSALS[slug]
    return problem(found.status, slug, detail, found.hint)


def problem_of(error: YardError) -> Record:
    """The problem that an error is, with everything it knows."""
    found = edge(error)
    told = problem(found.status, found.problem, error.message, _hint(error))
    if isinstance(error, InputError) and error.problems:
        told["problems"] = [
            {"field": each.field, "message": each.message} for each in error.problems
        ]
    if isinstance(error, ChangedSince):
        told["files"] = [{"path": path, "diff": diff} for path, diff in error.files]
    if isinstance(error, ServerFault) and error.cause:
        told["cause"] = cause_record(error.cause)
    if error.passed_over:
        passed = error.passed_over
        told["passedOver"] = [{"server": server, "why": why} for server, why in passed]
    if isinstance(error, CallRefused):
        told["rpc"] = {"code": error.code, "data": error.data}
    return told


def _hint(error: YardError) -> str:
    cause = error.cause if isinstance(error, ServerFault) else None
    return error.advice or (cause.hint if cause else "") or remedy(error)
