"""The one place that maps how a server is to a word and a style."""

from collections.abc import Mapping
from typing import Final, cast

NOT_RUNNING: Final = "not running"

_WORDS: Final = {
    "stopped": "stopped",
    "connecting": "connecting",
    "connected": "connected",
    "backoff": "retrying",
    "failed": "failed",
    "needs_auth": "needs sign-in",
    "needs_approval": "needs approval",
    "stopping": "stopping",
}

_STYLES: Final = {
    "connected": "green",
    "connecting": "cyan",
    "retrying": "yellow",
    "failed": "red",
    "needs sign-in": "magenta",
    "needs approval": "magenta",
    "stopped": "dim",
    "stopping": "dim",
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
    phase = str(record.get("phase"))
    return _WORDS.get(phase, phase)


def style_of(word: str) -> str:
    """How a word is painted; words of no meaning are not."""
    return _STYLES.get(word, "")


def reason(record: Mapping[str, object]) -> tuple[str, str]:
    """Why a server is not connected and what to do about it; both empty where all is well."""
    error = record.get("error")
    if not isinstance(error, dict):
        return "", ""
    told = cast("dict[str, object]", error)
    return str(told.get("message") or ""), str(told.get("hint") or "")
