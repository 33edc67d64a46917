"""Problem documents (RFC 9457) read back into the errors they were made of."""

import contextlib
import json
from typing import Any, Final

from mcpyard.domain import errors
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.edges import EDGES
from mcpyard.domain.errors import InputError, Problem, YardError
from mcpyard.domain.narrowing import is_object

_TYPE_PREFIX: Final = "urn:mcpyard:error:"
_KINDS: Final = {each.problem: kind for kind, each in EDGES.items()}


def error_of(status: int, content: bytes) -> YardError:
    """The error that an answer tells of, with the document that it came as."""
    try:
        document = json.loads(content)
    except ValueError:
        document = None
    if not is_object(document):
        return documented(YardError(f"mcpyard answered with HTTP {status}"), slug="failed")
    kind = _KINDS.get(str(document.get("type", "")).removeprefix(_TYPE_PREFIX), YardError)
    error = kind(str(document.get("detail", "mcpyard refused the request")))
    # A newer yard may name causes that are not known here.
    with contextlib.suppress(LookupError, TypeError, ValueError):
        _fill(error, document)
    error.document = document
    return error


def kind_of_problem(slug: str) -> type[YardError] | None:
    """The kind of error that a problem's name stands for; None for one that is not known."""
    return _KINDS.get(slug)


def documented(error: YardError, *, slug: str, hint: str = "") -> YardError:
    """An error of the client itself, with a document as a yard would send."""
    document: dict[str, object] = {"type": _TYPE_PREFIX + slug, "detail": error.message}
    error.document = document | {"hint": hint} if hint else document
    return error


def _fill(error: YardError, problem: dict[str, Any]) -> None:
    passed = problem.get("passedOver", ())
    error.passed_over = tuple((each["server"], each["why"]) for each in passed)
    if isinstance(error, errors.ChangedSince):
        error.files = tuple((each["path"], each["diff"]) for each in problem.get("files", ()))
    elif isinstance(error, InputError):
        listed = problem.get("problems", ())
        error.problems = tuple(Problem(each["field"], each["message"]) for each in listed)
    elif isinstance(error, errors.ServerFault) and (cause := problem.get("cause")):
        lines = tuple(cause["stderr"])
        error.because(Cause(Code(cause["code"]), cause["message"], cause["hint"], lines))
