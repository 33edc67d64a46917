"""The results of `mcpyard doctor`: one line each, with the fix."""

from dataclasses import dataclass
from enum import StrEnum


class Result(StrEnum):
    """The result of a check."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One check; `fix` is one line, empty where nothing needs one."""

    check: str
    status: Result
    message: str
    fix: str = ""


def good(check: str, message: str) -> Check:
    """Something that works."""
    return Check(check, Result.OK, message)


def doubtful(check: str, message: str, fix: str) -> Check:
    """Something that only some servers need."""
    return Check(check, Result.WARN, message, fix)


def bad(check: str, message: str, fix: str) -> Check:
    """Something that does not work."""
    return Check(check, Result.FAIL, message, fix)
