"""How a status looks: the one place that gives it a colour, a word and an icon.

A lamp never speaks by its colour alone, so the three always come together.
"""

from dataclasses import dataclass
from typing import Final

from mcpyard.domain.lifecycle import Phase
from mcpyard.yard.records import Picture

GOOD: Final = "good"
BUSY: Final = "busy"
BAD: Final = "bad"
IDLE: Final = "idle"
WAIT: Final = "wait"
"""Amber at rest: somebody should look at it, but nothing is under way."""

TONES: Final = (GOOD, BUSY, BAD, IDLE)
"""Green, amber and moving, red, grey."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a lamp shows.

    Attributes:
        tone: The colour, by its meaning.
        word: The key of the word beside it.
        icon: The name of the icon in it.
    """

    tone: str
    word: str
    icon: str


RUNNING: Final = Look(GOOD, "status.running", "check")
CONNECTING: Final = Look(BUSY, "status.connecting", "turn")
RESTARTING: Final = Look(BUSY, "status.restarting", "turn")
STOPPING: Final = Look(BUSY, "status.stopping", "turn")
FAILED: Final = Look(BAD, "status.error", "cross")
NEEDS_AUTH: Final = Look(BAD, "status.needs_auth", "key")
NEEDS_APPROVAL: Final = Look(BAD, "status.needs_approval", "shield")
STOPPED: Final = Look(IDLE, "status.stopped", "square")
DISABLED: Final = Look(IDLE, "status.disabled", "off")

_LOOKS: Final = {
    Phase.STOPPED: STOPPED,
    Phase.CONNECTING: CONNECTING,
    Phase.CONNECTED: RUNNING,
    Phase.BACKOFF: RESTARTING,
    Phase.FAILED: FAILED,
    Phase.NEEDS_AUTH: NEEDS_AUTH,
    Phase.NEEDS_APPROVAL: NEEDS_APPROVAL,
    Phase.STOPPING: STOPPING,
}

EFFECTIVE: Final = {
    "enabled": Look(GOOD, "effective.enabled", "check"),
    "disabled": Look(IDLE, "effective.disabled", "off"),
    "shadowed": Look(IDLE, "effective.shadowed", "stack"),
    "blocked": Look(BAD, "effective.blocked", "cross"),
    "untrusted": Look(WAIT, "effective.untrusted", "shield"),
    "invalid": Look(BAD, "effective.invalid", "warn"),
}
"""What becomes of a server in another program."""

CONNECTED: Final = Look(GOOD, "connect.on", "check")
NOT_CONNECTED: Final = Look(IDLE, "connect.off", "link")

FINDINGS: Final = {
    "error": Look(BAD, "finding.error", "cross"),
    "warning": Look(WAIT, "finding.warning", "warn"),
    "info": Look(IDLE, "finding.info", "info"),
}
"""How bad something is that was found in a program's file."""

EVERY_LOOK: Final = (
    *dict.fromkeys(
        [
            *_LOOKS.values(),
            DISABLED,
            *EFFECTIVE.values(),
            *FINDINGS.values(),
            CONNECTED,
            NOT_CONNECTED,
        ]
    ),
)


def look_of(picture: Picture, restarted: int | None = None) -> Look:
    """How a server looks.

    Args:
        picture: The server.
        restarted: The epoch in which somebody asked for a restart.
    """
    state = picture.observed.state
    if state.phase is Phase.STOPPED and not picture.server.config.enabled:
        return DISABLED
    again = state.n > 0 or state.restart or _within(state.epoch, restarted)
    if again and state.phase in {Phase.CONNECTING, Phase.STOPPING}:
        return RESTARTING
    return _LOOKS[state.phase]


def _within(epoch: int, restarted: int | None) -> bool:
    """Whether a connection is the one a restart ends, or the one it begins."""
    return restarted is not None and epoch - restarted in {0, 1}
