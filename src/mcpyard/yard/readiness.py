"""Which servers can be used now, which cannot, and why: for programs that are about to use them."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from mcpyard.domain.errors import Problem, StartFailed
from mcpyard.domain.lifecycle import Phase
from mcpyard.domain.model import Wanted
from mcpyard.domain.status import Status
from mcpyard.yard.views.servers import ServerView

READY_TIMEOUT: Final = 30.0
"""Seconds to wait for servers that are connecting."""

_WORDS: Final = {
    Phase.BACKOFF: "is about to be retried",
    Phase.DEGRADED: "does not respond",
    Phase.FAILED: "failed",
    Phase.NEEDS_AUTH: "needs sign-in",
    Phase.NEEDS_APPROVAL: "needs approval",
}
_WAIT: Final = "Wait for it: await yard.ready()"
_HINTS: Final = {
    Phase.CONNECTING: _WAIT,
    Phase.BACKOFF: _WAIT,
    Phase.STOPPED: 'Start it: await yard.start("{name}")',
    Phase.STOPPING: 'Start it: await yard.start("{name}")',
    Phase.DEGRADED: "Check the log, or restart it.",
}


class UnavailableServer(Struct, frozen=True):
    """A server whose tools cannot be called now, or are not known.

    Attributes:
        name: Its name.
        status: Its status, as in its record.
        phase: Its phase, which has more values than the status.
        cause: Why it is not available.
        hint: What to do about it.
        wanted: Whether it should run; otherwise it is stopped, or starts with its first call.
    """

    name: str
    status: Status
    phase: Phase
    cause: str
    hint: str
    wanted: Wanted

    def __str__(self) -> str:
        hint = f" {self.hint}" if self.hint else ""
        return f'"{self.name}" {_WORDS.get(self.phase) or f"is {self.phase}"}: {self.cause}.{hint}'


class Readiness(Struct, frozen=True):
    """Which servers can be used; true if nothing that should run is missing.

    Attributes:
        connected: The names of the servers that are connected.
        unavailable: The servers that should run and are not connected.
        problems: The definitions that were ignored because they are invalid, by field or variable.
    """

    connected: tuple[str, ...]
    unavailable: tuple[UnavailableServer, ...]
    problems: tuple[Problem, ...]

    def __bool__(self) -> bool:
        return not self.unavailable and not self.problems

    def __str__(self) -> str:
        if self:
            count = len(self.connected)
            return "1 server is connected" if count == 1 else f"{count} servers are connected"
        return "; ".join([*map(str, self.unavailable), *map(str, self.problems)])

    def check(self) -> None:
        """Raise an error if a server or a definition is missing.

        Raises:
            StartFailed: Names each of them, with its cause.
        """
        if not self:
            raise StartFailed(str(self))


def readiness(servers: Iterable[ServerView], problems: Iterable[Problem]) -> Readiness:
    """Which of these servers can be used."""
    records = [*servers]
    connected = tuple(each.name for each in records if each.phase is Phase.CONNECTED)
    missing = [each for each in map(unavailable, records) if each]
    running = tuple(each for each in missing if each.wanted is Wanted.RUNNING)
    return Readiness(connected, running, tuple(problems))


def unavailable(server: ServerView) -> UnavailableServer | None:
    """Why the tools of a server cannot be called, or are not known; None where they can.

    A server that is disabled is none of those: somebody said that it is not to be used.
    """
    if server.phase is Phase.CONNECTED or not server.enabled:
        return None
    if server.wanted is Wanted.ON_DEMAND and server.phase is Phase.STOPPED:
        if server.tool_count:
            return None
        cause = "it starts on demand and did not run yet, so its tools are not known"
    else:
        cause = server.error.message.rstrip(".") if server.error else _plain_cause(server)
    hint = server.error.hint if server.error and server.error.hint else _HINTS.get(server.phase, "")
    return UnavailableServer(
        name=server.name,
        status=server.status,
        phase=server.phase,
        cause=cause,
        hint=hint.replace("{name}", server.name),
        wanted=server.wanted,
    )


def _plain_cause(server: ServerView) -> str:
    if server.this_yard:
        return "it points back to this gateway"
    if server.wanted is Wanted.STOPPED:
        return "it is not to run"
    if server.needs_approval:
        return "it needs approval"
    return "it did not connect yet"
