"""How a server is, as a word and a style of the terminal."""

import shlex
from collections.abc import Mapping
from typing import Final, cast

from mcpyard.cli.output import clean
from mcpyard.domain.display_status import DisplayStatus, lamp_of

NOT_RUNNING: Final = "not running"

_LAST_LINES: Final = 3
"""Of what a server said: mostly the error itself comes last."""

_STYLES: Final[Mapping[str, str]] = {
    DisplayStatus.CONNECTED: "green",
    DisplayStatus.DEGRADED: "red",
    DisplayStatus.CONNECTING: "cyan",
    DisplayStatus.RETRYING: "yellow",
    DisplayStatus.RESTARTING: "yellow",
    DisplayStatus.FAILED: "red",
    DisplayStatus.NEEDS_AUTH: "magenta",
    DisplayStatus.NEEDS_APPROVAL: "magenta",
    DisplayStatus.STOPPED: "dim",
    DisplayStatus.DISABLED: "dim",
    DisplayStatus.STOPPING: "dim",
    NOT_RUNNING: "dim",
    "backup": "yellow",
    "recovered": "green",
    "ok": "green",
    "warn": "yellow",
    "fail": "red",
}


def lamp(record: Mapping[str, object]) -> str:
    """The word for how a server is, out of its record or a status event."""
    if record.get("yard") == NOT_RUNNING:
        return NOT_RUNNING
    tries = cast("int", record.get("attempt") or 0)
    return lamp_of(str(record["phase"]), tries=tries, enabled=record.get("enabled") is not False)


def is_up(record: Mapping[str, object]) -> bool:
    """Whether a server runs, or is about to."""
    return record["phase"] in {"connecting", "connected", "degraded", "backoff", "stopping"}


def style_of(word: str) -> str:
    """How a word is painted; words of no meaning are not."""
    return _STYLES.get(word, "")


def last_words(record: Mapping[str, object]) -> list[str]:
    """The last lines that a server which is not connected wrote to its standard error."""
    error = record.get("error")
    told = cast("dict[str, object]", error) if isinstance(error, dict) else {}
    return [str(each) for each in cast("list[object]", told.get("stderr") or [])[-_LAST_LINES:]]


def log_command(record: Mapping[str, object]) -> str:
    """What shows all that a server wrote."""
    return f"mcpyard logs {shlex.quote(str(record['name']))}"


def print_trouble(record: Mapping[str, object]) -> None:
    """Print what a server that is not connected said last, and what to do about it."""
    said, (_, hint) = last_words(record), reason(record)
    for each in said:
        print(f"  | {clean(each)}")
    if said:
        print(f"  all that it said: {clean(log_command(record))}")
    if hint:
        print(f"hint: {clean(hint)}")


_APPROVALS: Final[Mapping[str, str]] = {
    "added": "its entry needs approval",
    "changed": "a change of its entry needs approval; the approved one stays in force",
    "replaces": "an entry of the project's file needs approval to replace it",
}


def approval_note(record: Mapping[str, object]) -> str:
    """What of a server waits for approval, where that is not why it does not run."""
    kind = record.get("needsApproval")
    if kind is None or record.get("phase") == "needs_approval":
        return ""
    return approval_text(str(kind))


def approval_text(kind: str) -> str:
    """What an entry waits for, and what to do about it."""
    return f"{_APPROVALS[kind]}: mcpyard approve"


def reason(record: Mapping[str, object]) -> tuple[str, str]:
    """Why a server is not connected and what to do about it; both empty where all is well."""
    error = record.get("error")
    if not isinstance(error, dict):
        return "", ""
    told = cast("dict[str, object]", error)
    return str(told.get("message") or ""), str(told.get("hint") or "")
