"""The seam between supervision and the wire: a server that is open, and whoever opens one."""

from collections.abc import Coroutine, Sequence
from typing import Any, Final, Protocol

from msgspec import Struct

from mcpyard.domain import limits
from mcpyard.domain.cause import Cause, Code
from mcpyard.domain.desired import DesiredServer
from mcpyard.domain.errors import Problem
from mcpyard.domain.model import ResourceLimits
from mcpyard.domain.observed import Capabilities, SessionFacts
from mcpyard.domain.ports import CallTerms, NotificationInterest
from mcpyard.domain.started_calls import CallWaiter, ServerReply
from mcpyard.runtime.stderr import StderrRing
from mcpyard.wire.pending import PendingCall


class OpenFailed(Exception):
    """A server could not be opened; nothing is left of the attempt."""

    def __init__(self, cause: Cause) -> None:
        super().__init__(cause.message)
        self.cause = cause


class NoRoom(Exception):
    """There are not enough file descriptors or processes for another server just now."""

    cause: Final = Cause(
        Code.SPAWN_FAILED,
        "cannot start another process: too many open files or processes",
        "Stop servers you do not need, or raise the limits of mcpyard (ulimit -n, ulimit -u).",
    )


class ToolListing(Struct, frozen=True):
    """A tool list as it came.

    `ttl` is how many seconds it may be kept: None when the server did not say, 0 when it does not
    want to be held to any time, so that only its own notice of a change counts. `public` says
    whether the server called the list the same for everybody.
    """

    tools: Sequence[object]
    ttl: float | None = None
    public: bool = False
    problems: tuple[Problem, ...] = ()


class Live(Protocol):
    """A server that is open."""

    @property
    def pid(self) -> int | None:
        """Of its process, where it has one."""
        ...

    @property
    def roots(self) -> tuple[tuple[int, int], ...]:
        """The processes whose descendants are its tree, each with its start time."""
        ...

    @property
    def lost(self) -> bool:
        """Whether it is gone already; true a moment before `ConnectionEvents.lost` is called."""
        ...

    @property
    def facts(self) -> SessionFacts:
        """What it said about itself."""
        ...

    @property
    def activity(self) -> int:
        """Counts the messages that came; any growth is a sign of life."""
        ...

    @property
    def concurrency(self) -> int | None:
        """How many calls it runs at once; None for no limit."""
        ...

    @property
    def working(self) -> bool:
        """Whether a call within its time limit waits for an answer."""
        ...

    @property
    def throttled(self) -> float:
        """Seconds for which it asked not to be sent anything (`Retry-After`); 0 when it did not."""
        ...

    def limit_calls(self, concurrency: int, queue: int) -> None:
        """Run at most so many calls at once, and let so many wait; further ones are refused."""
        ...

    def call(self, tool: str, arguments: bytes, terms: CallTerms) -> Coroutine[Any, Any, bytes]:
        """Call a tool (see `Servers.call`)."""
        ...

    def start(
        self, tool: str, arguments: bytes, terms: CallTerms, waiter: CallWaiter
    ) -> PendingCall | None:
        """Call a tool at once (see `Servers.start`)."""
        ...

    def answered(self, call: PendingCall, reply: ServerReply) -> bytes:
        """A call is over with this answer (see `StartedCall`)."""
        ...

    def wait(self, call: PendingCall) -> Coroutine[Any, Any, bytes]:
        """Wait for the answer to a call that was handed over (see `StartedCall`)."""
        ...

    def request(self, method: str, params: bytes, terms: CallTerms) -> Coroutine[Any, Any, bytes]:
        """Ask it anything (see `Servers.request`)."""
        ...

    def set_limits(self, resources: ResourceLimits) -> None:
        """How much its processes may use from now on."""
        ...

    def tune(self, interest: NotificationInterest) -> None:
        """Which notifications are wanted; in force for whatever is asked after this."""
        ...

    async def list_tools(self, within: float = limits.LIST) -> ToolListing:
        """All its tools, each page of them within some seconds."""
        ...

    async def list_capabilities(self) -> Capabilities:
        """Its resources, templates and prompts; a list that it cannot give is empty."""
        ...

    async def ping(self, within: float) -> None:
        """Return when it answers; any exception means that it did not."""
        ...

    async def close(self, drain: float | None = limits.DRAIN) -> None:
        """Let calls in flight finish, then end it gracefully.

        Calls have so many seconds; without a number, the time that each of them allows. Returns
        when nothing of it is left. Never raises. Cancelling skips the grace period.
        """
        ...

    async def kill(self, cause: Cause | None = None) -> None:
        """End it at once; returns when nothing of it is left. Never raises.

        Calls in flight fail with the cause, and not with what the end looks like from outside.
        """
        ...


class ConnectionEvents(Protocol):
    """The events of an open server, for whoever opened it. Called from the event loop."""

    @property
    def ring(self) -> StderrRing:
        """Where the lines of its standard error go."""
        ...

    def lost(self, cause: Cause) -> None:
        """It is gone."""
        ...

    def on_list_changed(self, kind: str) -> None:
        """One of its lists may have changed: `tools`, `prompts` or `resources`."""
        ...

    def on_notification(self, method: str, params: bytes) -> None:
        """It sent another notification that belongs to no call."""
        ...

    def on_warning(self, problem: Problem) -> None:
        """It misbehaves, without being lost."""
        ...


class Opener(Protocol):
    """Opens servers."""

    async def open(self, server: DesiredServer, events: ConnectionEvents) -> Live:
        """Start it, agree on a protocol, and give it back ready.

        May be cancelled at any time; nothing is left then.

        Raises:
            OpenFailed: It cannot be opened.
            NoRoom: Not now.
        """
        ...

    async def close(self) -> None:
        """End whatever is left."""
        ...
