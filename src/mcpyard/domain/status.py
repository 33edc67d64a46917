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


class PublicStatus(NamedTuple):
    """Both public words of a state."""

    status: Status
    state: RunState


_WORDS: Final = {
    Phase.STOPPED: PublicStatus(Status.DISCONNECTED, RunState.STOPPED),
    Phase.CONNECTING: PublicStatus(Status.CONNECTING, RunState.RUNNING),
    Phase.CONNECTED: PublicStatus(Status.CONNECTED, RunState.RUNNING),
    Phase.STOPPING: PublicStatus(Status.DISCONNECTED, RunState.RUNNING),
}
_TROUBLE: Final = PublicStatus(Status.ERROR, RunState.ERROR)


def public_words(state: State) -> PublicStatus:
    """The words that tell a program how a server is; people read its `DisplayStatus`."""
    if state.phase is Phase.CONNECTING and state.n:
        return PublicStatus(Status.CONNECTING, RunState.ERROR)
    if state.phase is Phase.BACKOFF and state.was_connected:
        return PublicStatus(Status.DISCONNECTED, RunState.ERROR)
    return _WORDS.get(state.phase, _TROUBLE)
