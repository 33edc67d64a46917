"""The public words for a state: `status` tells of the connection, `state` of the service."""

from enum import StrEnum
from typing import Final, NamedTuple

from mcpyard.domain.lifecycle import Phase, State


class Status(StrEnum):
    """How the connection is."""

    CONNECTING = "connecting"
    CONNECTED = "connected"
    DISCONNECTED = "disconnected"
    ERROR = "error"


class RunState(StrEnum):
    """How the service is."""

    RUNNING = "running"
    STOPPED = "stopped"
    ERROR = "error"


class Words(NamedTuple):
    """Both public words of a state."""

    status: Status
    state: RunState


_WORDS: Final = {
    Phase.STOPPED: Words(Status.DISCONNECTED, RunState.STOPPED),
    Phase.CONNECTING: Words(Status.CONNECTING, RunState.RUNNING),
    Phase.CONNECTED: Words(Status.CONNECTED, RunState.RUNNING),
    Phase.DEGRADED: Words(Status.ERROR, RunState.ERROR),
    Phase.BACKOFF: Words(Status.ERROR, RunState.ERROR),
    Phase.FAILED: Words(Status.ERROR, RunState.ERROR),
    Phase.NEEDS_AUTH: Words(Status.ERROR, RunState.ERROR),
    Phase.NEEDS_APPROVAL: Words(Status.ERROR, RunState.ERROR),
    Phase.STOPPING: Words(Status.DISCONNECTED, RunState.RUNNING),
}


def public_words(state: State) -> Words:
    """The words that tell a program how a server is; people read its one word of `lamp`."""
    if state.phase is Phase.CONNECTING and state.n:
        return Words(Status.CONNECTING, RunState.ERROR)
    if state.phase is Phase.BACKOFF and state.was_connected:
        return Words(Status.DISCONNECTED, RunState.ERROR)
    return _WORDS[state.phase]
