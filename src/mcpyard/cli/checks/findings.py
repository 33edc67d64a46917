"""What the doctor finds: one line each, with what to do about it."""

from dataclasses import dataclass
from enum import StrEnum


class Result(StrEnum):
    """What came of a check."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at; `fix` is one line, empty where nothing is to be done."""

    check: str
    status: Result
    message: str
    fix: str = ""


def good(check: str, message: str) -> Check:
    """Something that works."""
    return Check(check, Result.OK, message)


def doubtful(check: str, message: str, fix: str) -> Check:
    """Something that may be missed one day."""
    return Check(check, Result.WARN, message, fix)


def bad(check: str, message: str, fix: str) -> Check:
    """Something that does not work."""
    return Check(check, Result.FAIL, message, fix)
