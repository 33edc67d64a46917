"""One session as its connection holds it: whether it can be used, and what its calls show."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from mcpyard.domain.cause import Cause
from mcpyard.domain.errors import CallRefused, Disconnected, Problem, TimedOut, YardError
from mcpyard.domain.health import Health, HealthVerdict
from mcpyard.domain.model import Policy
from mcpyard.domain.observed import Capabilities, Tools
from mcpyard.domain.ports import CallTerms
from mcpyard.runtime.server_api import Live
from mcpyard.runtime.session_runner import SessionRunner

Ask = Callable[[Live, CallTerms], Awaitable[bytes]]
"""Asks an open server something."""


class SessionOwner(Protocol):
    """Whoever holds a session."""

    def on_ready(self, session: "CurrentSession", tools: Tools) -> None:
        """It can be used."""
        ...

    def on_tools(self, tools: Tools) -> None:
        """It has other tools."""
        ...

    def on_warning(self, problem: Problem) -> None:
        """It misbehaves in another way."""
        ...

    def on_capabilities(self, capabilities: Capabilities) -> None:
        """It has these resources, templates and prompts."""
        ...

    def on_degraded(self, session: "CurrentSession", cause: Cause) -> None:
        """It does not respond."""
        ...

    def on_recovered(self, session: "CurrentSession") -> None:
        """It responds again."""
        ...

    def on_over(self, session: "CurrentSession", cause: Cause | None) -> None:
        """It cannot be used any more."""
        ...


class CurrentSession:
    """One session of a connection; the listener of its runner (see `SessionListener`).

    Attributes:
        epoch: Which of the connection's sessions it is.
        runner: Runs it.
        health: The evidence about it.
        live: The open server; None while it cannot be used.
        loss_reported: Whether its loss was reported already.
        warnings: How it misbehaved so far.
    """

    __slots__ = ("_owner", "epoch", "health", "live", "loss_reported", "runner", "warnings")

    def __init__(self, epoch: int, runner: SessionRunner, owner: SessionOwner) -> None:
        self.epoch = epoch
        self.runner = runner
        self.health: Health = runner.health
        self.live: Live | None = None
        self.loss_reported = False
        self.warnings: tuple[Problem, ...] = ()
        self._owner = owner

    async def ask(self, live: Live, ask: Ask, terms: CallTerms, refused: YardError | None) -> bytes:
        """Ask the server, and learn from the answer how it is.

        Args:
            live: The server.
            ask: Asks it.
            terms: Of the call.
            refused: Raised where another call or a ping tries the degraded server already; None
                where it is not degraded.
        """
        if refused is None:
            return await self._ask(live, ask, terms)
        if not self.health.let_through():
            raise refused
        try:
            return await self._ask(live, ask, terms)
        finally:
            self.health.tried()

    async def _ask(self, live: Live, ask: Ask, terms: CallTerms) -> bytes:
        try:
            answer = await ask(live, terms)
        except (TimedOut, CallRefused) as fault:
            self.failed(fault)
            raise
        if self.health.timeouts:
            self.answered()
        return answer

    def failed(self, fault: TimedOut | CallRefused) -> None:
        """A call of it failed; an error is an answer too."""
        if isinstance(fault, CallRefused):
            self.answered()
        elif fault.sent:
            self.runner.call_timed_out()

    def answered(self) -> None:
        """A call of it was answered."""
        if self.health.answered() is HealthVerdict.RECOVERED:
            self.on_recovered()

    def take_over(self, policy: Policy) -> None:
        """Treat it by this policy from now on."""
        self.health.check = policy.health
        if self.live:
            self.live.limit_calls(policy.calls_at_once, policy.queue)

    def on_ready(self, live: Live, tools: Tools) -> None:
        """It can be used."""
        self.live = live
        self._owner.on_ready(self, tools)

    def on_tools(self, tools: Tools) -> None:
        """Its tools were listed again."""
        self._owner.on_tools(tools)

    def on_warning(self, problem: Problem) -> None:
        """It misbehaves; each way is told once."""
        if problem not in self.warnings:
            self.warnings = (*self.warnings, problem)
            self._owner.on_warning(problem)

    def on_capabilities(self, capabilities: Capabilities) -> None:
        """Its resources, templates and prompts were listed."""
        self._owner.on_capabilities(capabilities)

    def on_degraded(self, cause: Cause) -> None:
        """It does not respond."""
        self._owner.on_degraded(self, cause)

    def on_recovered(self) -> None:
        """It responds again."""
        self._owner.on_recovered(self)

    def on_over(self, cause: Cause | None) -> None:
        """It cannot be used any more."""
        self.live = None
        self._owner.on_over(self, cause)


def was_refused(fault: Disconnected) -> bool:
    """An expired session refuses what it never took; the next session can have it."""
    cause = fault.cause
    return cause is not None and cause.untaken and not cause.retry_after
