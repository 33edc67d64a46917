"""The one word that people read for how a server is: on the page, in `ls` and `up`, in the docs.

Machines read `status`, `state` and `phase` instead. This module imports nothing, so that a command
that prints one word need not load the life of a server for it.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class DisplayStatus(StrEnum):
    """How a server is."""

    CONNECTED = "connected"
    DEGRADED = "degraded"
    CONNECTING = "connecting"
    RETRYING = "retrying"
    RESTARTING = "restarting"
    STOPPING = "stopping"
    STOPPED = "stopped"
    DISABLED = "disabled"
    FAILED = "failed"
    FAILING = "failing"
    NEEDS_AUTH = "needs sign-in"
    NEEDS_APPROVAL = "needs approval"

    @property
    def key(self) -> str:
        """What it is called in a catalogue of words."""
        return f"status.{self.name.lower()}"


_OF_PHASE: Final[Mapping[str, DisplayStatus]] = {
    "stopped": DisplayStatus.STOPPED,
    "connecting": DisplayStatus.CONNECTING,
    "connected": DisplayStatus.CONNECTED,
    "degraded": DisplayStatus.DEGRADED,
    "backoff": DisplayStatus.RETRYING,
    "failed": DisplayStatus.FAILED,
    "needs_auth": DisplayStatus.NEEDS_AUTH,
    "needs_approval": DisplayStatus.NEEDS_APPROVAL,
    "stopping": DisplayStatus.STOPPING,
}


def status_of_phase(
    phase: str, *, tries: int = 0, enabled: bool = True, tries_again: bool = False
) -> DisplayStatus:
    """The display status of a phase.

    `tries` counts the restarts since the server was lost; `tries_again` is whether another try of a
    failed server is due at a known time.
    """
    if phase == "failed" and tries_again:
        return DisplayStatus.FAILING
    if phase == "stopped" and not enabled:
        return DisplayStatus.DISABLED
    if phase == "connecting" and tries:
        return DisplayStatus.RETRYING
    return _OF_PHASE[phase]
