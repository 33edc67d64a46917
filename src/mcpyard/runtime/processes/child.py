"""A server's process as the yard sees it: how it is stopped, and how it ended."""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from mcpyard.domain.model import NO_LIMITS, ResourceLimits
from mcpyard.runtime.processes.cgroups import Cgroup
from mcpyard.runtime.processes.keeper import GIVE_UP_SECONDS
from mcpyard.runtime.processes.table import read_process

END_SECONDS: Final = GIVE_UP_SECONDS + 2.0
"""The keeper gives up by itself first, and says how much is left."""
_EXIT_SECONDS: Final = 0.05
"""Half of the 100 ms in which the calls in flight must fail after a crash."""
_SEEN_SECONDS: Final = 0.5
"""A look takes milliseconds; no stop is to hang on it."""


class SpawnFailed(Exception):
    """A child could not be started.

    Attributes:
        errno: The operating system's reason.
        message: The same in words.
        which: What was at fault: the `command`, the `cwd`, the `keeper` itself, or the `lease`
            that a fenced child needs.
    """

    def __init__(self, code: int, message: str, which: str) -> None:
        super().__init__(message)
        self.errno = code
        self.message = message
        self.which = which


class LimitExceeded(NamedTuple):
    """Which limit a process tree exceeded."""

    kind: Literal["memory", "processes"]
    limit: int


class Exit(Struct, frozen=True):
    """How a main process ended; code and signal are None when it was lost with its keeper.

    Attributes:
        code: What it exited with.
        signal: What killed it.
        keeper_hung: Whether its keeper was replaced because it stopped responding.
        exceeded: The limit for which it was killed.
        expired: Whether it was killed because it was fenced and its deadline had passed.
    """

    code: int | None = None
    signal: int | None = None
    keeper_hung: bool = False
    exceeded: LimitExceeded | None = None
    expired: bool = False

    def describe(self) -> str:
        """The end in words that follow the server's name."""
        if self.code is not None:
            return f"exited with code {self.code}"
        if self.signal is None:
            fate = "stopped responding" if self.keeper_hung else "died"
            return f"was stopped because its keeper process {fate}"
        try:
            return f"was killed by {signal.Signals(self.signal).name}"
        except ValueError:
            return f"was killed by signal {self.signal}"


class StopPolicy(Struct, frozen=True):
    """How long a child may take to end by itself."""

    eof_grace: float = 2.0
    term_grace: float = 3.0


@dataclass(eq=False, slots=True)
class ChildProcess:
    """A running server process. Its three pipe ends belong to whoever spawned it.

    Attributes:
        exited: Resolves when the main process has ended. Shield it: whoever cancels it, cancels
            it for all.
        start: When the process began: with the pid it names this process and no later one.
        gone: Resolves when its whole tree has ended, with the number of processes that would not.
        seen: Set when the keeper has noted of which processes it consists.
        detached: The processes of its tree that are not below it any more.
        limits: What its tree may use.
        cgroup: The control group of its tree, where the kernel enforces the limits.
        exceeded: The limit for which it is being killed.
    """

    number: int
    stdin: int
    stdout: int
    stderr: int
    exited: asyncio.Future[Exit]
    gone: asyncio.Future[int]
    _send: Callable[[Mapping[str, object]], None] = field(repr=False)
    pid: int = 0
    start: int = 0
    seen: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    detached: tuple[tuple[int, int], ...] = ()
    limits: ResourceLimits = NO_LIMITS
    cgroup: Cgroup | None = None
    exceeded: LimitExceeded | None = None
    on_limits: Callable[["ChildProcess"], None] = field(default=lambda _child: None, repr=False)

    @property
    def roots(self) -> tuple[tuple[int, int], ...]:
        """The processes whose descendants are its tree, each with its start time."""
        return ((self.pid, self.start), *self.detached)

    @property
    def lives(self) -> bool:
        """Whether the main process is there, and is not about to end."""
        row = read_process(self.pid)
        return row is not None and not row.dying

    def set_limits(self, limits: ResourceLimits) -> None:
        """Let its tree use no more than this from now on."""
        if limits != self.limits:
            self.limits = limits
            if self.cgroup and not self.cgroup.limit(limits):
                self.cgroup = None
            self.on_limits(self)

    def end_over(self, exceeded: LimitExceeded) -> None:
        """Kill its tree because it exceeds a limit."""
        self.exceeded = exceeded
        self._end()

    def ended(self, code: int | None, killer: int | None, *, expired: bool) -> Exit:
        """How it ended, as its keeper says, with the limit that it was killed for."""
        exceeded, memory = self.exceeded, self.limits.memory
        if exceeded is None and memory and self.cgroup and self.cgroup.ran_out_of_memory():
            exceeded = LimitExceeded("memory", memory)
        return Exit(code, killer, exceeded=exceeded, expired=expired)

    def terminate(self, number: int = signal.SIGTERM) -> None:
        """Ask the process group to end."""
        self._send({"do": "signal", "n": self.number, "signal": number})

    async def last_exit(self) -> Exit | None:
        """How it ended, of one that hung up; None when it only did that, and lives on.

        One that is dying is waited for: on a busy machine the keeper may take a while to say how.
        """
        if not await self._exits_within(_EXIT_SECONDS) and not self.lives:
            await self._exits_within(END_SECONDS)
        return self.exited.result() if self.exited.done() else None

    async def kill(self) -> bool:
        """Kill the child and all its descendants; whether the tree is known to be empty."""
        self._end()
        await asyncio.wait({self.gone}, timeout=END_SECONDS)
        return self.gone.done() and self.gone.result() == 0

    async def stop(self, close_stdin: Callable[[], None], policy: StopPolicy) -> Exit:
        """End the child in order: end of input, TERM, KILL; its descendants in any case.

        Cancelling skips the grace period, not the KILL.
        """
        try:
            await self.be_seen()
            close_stdin()
            if not await self._exits_within(policy.eof_grace):
                self.terminate()
                await self._exits_within(policy.term_grace)
        finally:
            self._end()
        await self.kill()
        return self.exited.result() if self.exited.done() else Exit()

    def _end(self) -> None:
        if not self.gone.done():
            self._send({"do": "end", "n": self.number})

    async def be_seen(self) -> None:
        """Have the keeper note of which processes it consists."""
        # Once it ends, what it leaves behind may not be recognisable any more.
        if not self.exited.done():
            self.seen.clear()
            self._send({"do": "look", "n": self.number})
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.seen.wait(), _SEEN_SECONDS)

    async def _exits_within(self, seconds: float) -> bool:
        await asyncio.wait({self.exited}, timeout=seconds)
        return self.exited.done()
