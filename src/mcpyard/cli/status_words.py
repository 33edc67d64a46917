"""The status of a server: its word, its colour, the reason and the last log lines."""

import shlex
import sys
from collections.abc import Mapping
from typing import Final

from mcpyard.cli.output import clean
from mcpyard.domain.display_status import DisplayStatus, status_of_phase
from mcpyard.domain.narrowing import object_of, sequence_of

NOT_RUNNING: Final = "not running"

_LAST_LINES: Final = 3
"""Of the log of a server; the error itself usually comes last."""

_STYLES: Final[Mapping[str, str]] = {
    DisplayStatus.CONNECTED: "green",
    DisplayStatus.DEGRADED: "red",
    DisplayStatus.CONNECTING: "cyan",
    DisplayStatus.RETRYING: "yellow",
    DisplayStatus.RESTARTING: "yellow",
    DisplayStatus.FAILED: "red",
    DisplayStatus.FAILING: "red",
    DisplayStatus.NEEDS_AUTH: "magenta",
    DisplayStatus.NEEDS_APPROVAL: "magenta",
    DisplayStatus.STOPPED: "dim",
    DisplayStatus.DISABLED: "dim",
    DisplayStatus.STOPPING: "dim",
    NOT_RUNNING: "dim",
    "fallback": "yellow",
    "recovered": "green",
    "ok": "green",
    "warn": "yellow",
    "fail": "red",
}


def status_word(record: Mapping[str, object]) -> str:
    """The word for the status of a server, from its record or a status event."""
    if record.get("yard") == NOT_RUNNING:
        return NOT_RUNNING
    attempt = record.get("attempt")
    tries = attempt if isinstance(attempt, int) else 0
    return status_of_phase(
        str(record["phase"]),
        tries=tries,
        enabled=record.get("enabled") is not False,
        tries_again=bool(record.get("nextRetryAt")),
    )


def is_up(record: Mapping[str, object]) -> bool:
    """Whether a server runs, or is about to."""
    return record["phase"] in {"connecting", "connected", "degraded", "backoff", "stopping"}


def style_of(word: str) -> str:
    """The colour of a status word; empty for other words."""
    return _STYLES.get(word, "")


def last_lines(record: Mapping[str, object]) -> list[str]:
    """The last log lines of a server that is not connected."""
    lines = sequence_of(object_of(record.get("error")).get("stderr"))
    return [str(each) for each in lines[-_LAST_LINES:]]


def log_command(record: Mapping[str, object]) -> str:
    """The command that prints the whole log of a server."""
    return f"mcpyard logs {shlex.quote(str(record['name']))}"


def status_line(record: Mapping[str, object]) -> str:
    """The status of a server, with the reason where it is not connected."""
    why, _ = reason(record)
    return f"{status_word(record)}: {why}" if why else status_word(record)


def print_status(subject: str, record: Mapping[str, object]) -> None:
    """Print the status of a server; its last log lines, hint and warnings where it has any."""
    print(clean(f"{subject}: {status_line(record)}"))
    lines, (_, hint) = last_lines(record), reason(record)
    for each in lines:
        print(f"  | {clean(each)}")
    if lines:
        print(f"  whole log: {clean(log_command(record))}")
    if hint:
        print(f"hint: {clean(hint)}")
    for each in sequence_of(record.get("warnings")):
        print(f"warning: {clean(str(each))}", file=sys.stderr)


_APPROVALS: Final[Mapping[str, str]] = {
    "added": "needs your approval",
    "changed": "a change needs your approval; the approved entry stays in force",
    "replaces": "a project file needs your approval to replace this server",
}


def approval_note(record: Mapping[str, object]) -> str:
    """What needs approval, where that is not the reason why the server does not run."""
    kind = record.get("needsApproval")
    if kind is None or record.get("phase") == "needs_approval":
        return ""
    return approval_text(str(kind))


def approval_text(kind: str) -> str:
    """What needs approval, with the command for it."""
    return f"{_APPROVALS[kind]}: mcpyard approve"


def reason(record: Mapping[str, object]) -> tuple[str, str]:
    """Why a server is not connected and what to do; both empty if it is."""
    cause = object_of(record.get("error"))
    return str(cause.get("message") or ""), str(cause.get("hint") or "")
