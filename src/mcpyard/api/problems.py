"""Errors as RFC 9457 problems: the one place where they get their words outside."""

from typing import Final, NamedTuple

import msgspec
from msgspec import UNSET

from mcpyard.domain.edges import edge
from mcpyard.domain.errors import CallRefused, ChangedSince, InputError, ServerFault, YardError
from mcpyard.domain.remedies import remedy
from mcpyard.yard.views.base import FieldProblem, FileDiff, view_of
from mcpyard.yard.views.problems import PassedOverView, ProblemView, RpcView
from mcpyard.yard.views.servers import cause_view

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
        "the admin token. To sign in a browser, run `mcpyard open`.",
    ),
    "token-expired": Refusal(401, "Create a new token: mcpyard token create NAME --expires 30d"),
    "foreign-origin": Refusal(403, "Send the request from a program, or from mcpyard's own page."),
    "key-needed": Refusal(403, "Sign in again: mcpyard open"),
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


def problem(status: int, slug: str, detail: str, hint: str = "") -> ProblemView:
    """A problem out of its parts; the title is the slug in words."""
    return ProblemView(
        type=TYPE_PREFIX + slug,
        title=slug.replace("-", " ").capitalize(),
        status=status,
        detail=detail,
        hint=hint or UNSET,
    )


def refusal(slug: str, detail: str) -> ProblemView:
    """A problem of the face itself."""
    kind = REFUSALS[slug]
    return problem(kind.status, slug, detail, kind.hint)


def problem_of(error: YardError) -> ProblemView:
    """The problem that an error is, with everything it knows."""
    kind = edge(error)
    return msgspec.structs.replace(
        problem(kind.status, kind.problem, error.message, _hint(error)), **_details(error)
    )


def _details(error: YardError) -> dict[str, object]:
    """The members of a problem that only some errors have."""
    details: dict[str, object] = {}
    if isinstance(error, InputError) and error.problems:
        details["problems"] = view_of(list[FieldProblem], error.problems)
    if isinstance(error, ChangedSince):
        details["files"] = [FileDiff(path=path, diff=diff) for path, diff in error.files]
    if isinstance(error, ServerFault) and error.cause:
        details["cause"] = cause_view(error.cause)
    if error.passed_over:
        passed = error.passed_over
        details["passed_over"] = [PassedOverView(server=each, why=why) for each, why in passed]
    if isinstance(error, CallRefused):
        details["rpc"] = RpcView(code=error.code, data=error.data)
    return details


def _hint(error: YardError) -> str:
    cause = error.cause if isinstance(error, ServerFault) else None
    return error.advice or (cause.hint if cause else "") or remedy(error)
