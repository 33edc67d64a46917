"""Errors as RFC 9457 problems: the one place where they get their words outside."""

from typing import Final

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


def problem(status: int, slug: str, detail: str) -> Record:
    """A problem out of its parts; the title is the slug in words."""
    title = slug.replace("-", " ").capitalize()
    return {"type": TYPE_PREFIX + slug, "title": title, "status": status, "detail": detail}


def problem_of(error: YardError) -> Record:
    """The problem that an error is, with everything it knows."""
    found = edge(error)
    told = problem(found.status, found.problem, error.message)
    if hint := _hint(error):
        told["hint"] = hint
    if isinstance(error, InputError) and error.problems:
        told["problems"] = [
            {"field": each.field, "message": each.message} for each in error.problems
        ]
    if isinstance(error, ChangedSince):
        told["files"] = [{"path": path, "diff": diff} for path, diff in error.files]
    if isinstance(error, ServerFault) and error.cause:
        told["cause"] = cause_record(error.cause)
    if error.tried:
        told["passedOver"] = [{"server": server, "why": why} for server, why in error.tried]
    if isinstance(error, CallRefused):
        told["rpc"] = {"code": error.code, "data": error.data}
    return told


def _hint(error: YardError) -> str:
    cause = error.cause if isinstance(error, ServerFault) else None
    return (cause.hint if cause else "") or remedy(error)
