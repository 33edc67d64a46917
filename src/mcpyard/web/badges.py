"""How a status looks: the one place that gives it a colour, a word and an icon.

A badge never speaks by its colour alone, so the three always come together.
"""

from dataclasses import dataclass
from typing import Final

from mcpyard.domain.display_status import DisplayStatus, status_of_phase
from mcpyard.domain.lifecycle import Phase
from mcpyard.domain.sync.plan import CellState
from mcpyard.yard.views.servers import Picture

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
class StatusBadge:
    """What a badge shows: a colour by its meaning, the key of a word, the name of an icon."""

    tone: str
    word: str
    icon: str


_BADGES: Final = {
    DisplayStatus.CONNECTED: StatusBadge(GOOD, DisplayStatus.CONNECTED.key, "check"),
    DisplayStatus.DEGRADED: StatusBadge(BAD, DisplayStatus.DEGRADED.key, "warn"),
    DisplayStatus.CONNECTING: StatusBadge(BUSY, DisplayStatus.CONNECTING.key, "turn"),
    DisplayStatus.RETRYING: StatusBadge(BUSY, DisplayStatus.RETRYING.key, "turn"),
    DisplayStatus.RESTARTING: StatusBadge(BUSY, DisplayStatus.RESTARTING.key, "turn"),
    DisplayStatus.STOPPING: StatusBadge(BUSY, DisplayStatus.STOPPING.key, "turn"),
    DisplayStatus.FAILED: StatusBadge(BAD, DisplayStatus.FAILED.key, "cross"),
    DisplayStatus.FAILING: StatusBadge(BAD, DisplayStatus.FAILING.key, "cross"),
    DisplayStatus.NEEDS_AUTH: StatusBadge(BAD, DisplayStatus.NEEDS_AUTH.key, "key"),
    DisplayStatus.NEEDS_APPROVAL: StatusBadge(BAD, DisplayStatus.NEEDS_APPROVAL.key, "shield"),
    DisplayStatus.STOPPED: StatusBadge(IDLE, DisplayStatus.STOPPED.key, "square"),
    DisplayStatus.DISABLED: StatusBadge(IDLE, DisplayStatus.DISABLED.key, "off"),
}

EFFECTIVE: Final = {
    "enabled": StatusBadge(USED, "effective.enabled", "check"),
    "disabled": StatusBadge(IDLE, "effective.disabled", "off"),
    "shadowed": StatusBadge(IDLE, "effective.shadowed", "stack"),
    "blocked": StatusBadge(BAD, "effective.blocked", "cross"),
    "untrusted": StatusBadge(WAIT, "effective.untrusted", "shield"),
    "invalid": StatusBadge(BAD, "effective.invalid", "warn"),
}
"""What becomes of a server in another program."""

UNKNOWN: Final = StatusBadge(IDLE, "lost.badge", "unknown")
"""What every badge shows while the yard does not answer."""

CONNECTED: Final = StatusBadge(GOOD, "connect.on", "check")
NOT_CONNECTED: Final = StatusBadge(IDLE, "connect.off", "link")

CONFIGURED: Final = StatusBadge(USED, "connect.configured", "check")
NEVER_SEEN: Final = StatusBadge(WAIT, "connect.never", "unknown")

EXPIRED: Final = StatusBadge(BAD, "tokens.expired", "cross")
EXPIRES_SOON: Final = StatusBadge(WAIT, "tokens.expires_soon", "warn")

FINDINGS: Final = {
    "error": StatusBadge(BAD, "finding.error", "cross"),
    "warning": StatusBadge(WAIT, "finding.warning", "warn"),
    "info": StatusBadge(IDLE, "finding.info", "info"),
}
"""How bad something is that was found in a program's file."""

SYNC_STATES: Final = {
    CellState.SAME: StatusBadge(GOOD, "sync.state.same", "check"),
    CellState.MISSING: StatusBadge(WAIT, "sync.state.missing", "plus"),
    CellState.DIFFERS: StatusBadge(WAIT, "sync.state.differs", "edit"),
    CellState.PRUNE: StatusBadge(WAIT, "sync.state.prune", "trash"),
    CellState.FOREIGN: StatusBadge(USED, "sync.state.foreign", "file"),
    CellState.OFF: StatusBadge(IDLE, "sync.state.off", "off"),
    CellState.CONFLICT: StatusBadge(BAD, "sync.state.conflict", "warn"),
    CellState.DELETED: StatusBadge(IDLE, "sync.state.deleted", "cross"),
    CellState.UNSUPPORTED: StatusBadge(BAD, "sync.state.unsupported", "cross"),
    CellState.WAITING: StatusBadge(WAIT, "sync.state.waiting", "shield"),
}
"""What is true of a server in a client that a sync reaches."""

ADOPTION_OUTCOMES: Final = {
    "adopted": StatusBadge(GOOD, "sync.outcome.adopted", "plus"),
    "present": StatusBadge(IDLE, "sync.outcome.present", "check"),
    "conflict": StatusBadge(BAD, "sync.outcome.conflict", "warn"),
    "skipped": StatusBadge(IDLE, "sync.outcome.skipped", "cross"),
}
"""What becomes of a name that is adopted from clients."""

OUTCOMES: Final = {"ok": GOOD, "tool_error": BUSY, "cancelled": IDLE, "other": BAD}
"""The colours of what becomes of calls, in charts; `other` is every problem of mcpyard's own."""

EVERY_BADGE: Final = (
    *dict.fromkeys(
        [
            *_BADGES.values(),
            *EFFECTIVE.values(),
            *FINDINGS.values(),
            *SYNC_STATES.values(),
            *ADOPTION_OUTCOMES.values(),
            CONNECTED,
            NOT_CONNECTED,
            CONFIGURED,
            NEVER_SEEN,
            EXPIRED,
            EXPIRES_SOON,
            UNKNOWN,
        ]
    ),
)


def badge_of(picture: Picture, restarted: int | None = None) -> StatusBadge:
    """The badge of a server; `restarted` is the epoch in which somebody asked for a restart."""
    state = picture.observed.state
    is_restart = state.restart or _within(state.epoch, restarted)
    if is_restart and state.phase in {Phase.CONNECTING, Phase.STOPPING} and not state.n:
        return badge_for(DisplayStatus.RESTARTING)
    enabled = picture.server.config.enabled
    again = picture.observed.next_retry_at is not None
    return badge_for(
        status_of_phase(state.phase, tries=state.n, enabled=enabled, tries_again=again)
    )


def badge_for(status: DisplayStatus) -> StatusBadge:
    """The badge of a status."""
    return _BADGES[status]


def _within(epoch: int, restarted: int | None) -> bool:
    """Whether a connection is the one a restart ends, or the one it begins."""
    return restarted is not None and epoch - restarted in {0, 1}
