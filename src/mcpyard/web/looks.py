"""How a status looks: the one place that gives it a colour, a word and an icon.

A lamp never speaks by its colour alone, so the three always come together.
"""

from dataclasses import dataclass
from typing import Final

from mcpyard.domain.lamp import Lamp, lamp_of
from mcpyard.domain.lifecycle import Phase
from mcpyard.yard.records import Picture

GOOD: Final = "good"
BUSY: Final = "busy"
BAD: Final = "bad"
IDLE: Final = "idle"
USED: Final = "used"
"""Plain: a program takes it; whether it works is not known."""

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


_LOOKS: Final = {
    Lamp.CONNECTED: Look(GOOD, Lamp.CONNECTED.key, "check"),
    Lamp.DEGRADED: Look(BAD, Lamp.DEGRADED.key, "warn"),
    Lamp.CONNECTING: Look(BUSY, Lamp.CONNECTING.key, "turn"),
    Lamp.RETRYING: Look(BUSY, Lamp.RETRYING.key, "turn"),
    Lamp.RESTARTING: Look(BUSY, Lamp.RESTARTING.key, "turn"),
    Lamp.STOPPING: Look(BUSY, Lamp.STOPPING.key, "turn"),
    Lamp.FAILED: Look(BAD, Lamp.FAILED.key, "cross"),
    Lamp.NEEDS_AUTH: Look(BAD, Lamp.NEEDS_AUTH.key, "key"),
    Lamp.NEEDS_APPROVAL: Look(BAD, Lamp.NEEDS_APPROVAL.key, "shield"),
    Lamp.STOPPED: Look(IDLE, Lamp.STOPPED.key, "square"),
    Lamp.DISABLED: Look(IDLE, Lamp.DISABLED.key, "off"),
}

EFFECTIVE: Final = {
    "enabled": Look(USED, "effective.enabled", "check"),
    "disabled": Look(IDLE, "effective.disabled", "off"),
    "shadowed": Look(IDLE, "effective.shadowed", "stack"),
    "blocked": Look(BAD, "effective.blocked", "cross"),
    "untrusted": Look(WAIT, "effective.untrusted", "shield"),
    "invalid": Look(BAD, "effective.invalid", "warn"),
}
"""What becomes of a server in another program."""

UNKNOWN: Final = Look(IDLE, "lost.lamp", "unknown")
"""What every lamp shows while the yard does not answer."""

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
            *EFFECTIVE.values(),
            *FINDINGS.values(),
            CONNECTED,
            NOT_CONNECTED,
            UNKNOWN,
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
    asked = state.restart or _within(state.epoch, restarted)
    if asked and state.phase in {Phase.CONNECTING, Phase.STOPPING} and not state.n:
        return look_at(Lamp.RESTARTING)
    enabled = picture.server.config.enabled
    return look_at(lamp_of(state.phase, tries=state.n, enabled=enabled))


def look_at(lamp: Lamp) -> Look:
    """How a lamp looks."""
    return _LOOKS[lamp]


def _within(epoch: int, restarted: int | None) -> bool:
    """Whether a connection is the one a restart ends, or the one it begins."""
    return restarted is not None and epoch - restarted in {0, 1}
