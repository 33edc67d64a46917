"""What the doctor finds: one line each, with what to do about it."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """How serious a finding is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `fix` is one line, empty where nothing is to be done."""

    check: str
    status: Verdict
    message: str
    fix: str = ""


def good(check: str, message: str) -> Finding:
    """Something that works."""
    return Finding(check, Verdict.OK, message)


def doubtful(check: str, message: str, fix: str) -> Finding:
    """Something that may be missed one day."""
    return Finding(check, Verdict.WARN, message, fix)


def bad(check: str, message: str, fix: str) -> Finding:
    """Something that does not work."""
    return Finding(check, Verdict.FAIL, message, fix)
