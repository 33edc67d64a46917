"""A call of a tool by the session that a connection has just now."""

from collections.abc import Awaitable, Coroutine
from typing import Any, Protocol

from msgspec import Struct

from mcpyard.domain.errors import CallRefused, Disconnected, TimedOut
from mcpyard.domain.ports import CallTerms
from mcpyard.domain.started_calls import CallWaiter, ServerReply
from mcpyard.runtime.current_session import Ask, CurrentSession, was_refused
from mcpyard.runtime.server_api import Live
from mcpyard.wire.pending import PendingCall


class AsksLater(Protocol):
    """Asks the next session."""

    def ask_later(
        self, ask: Ask, terms: CallTerms, instead_of: Live | None
    ) -> Coroutine[Any, Any, bytes]:
        """Ask a server that is coming up, and not this one any more."""
        ...


async def carry_out(  # noqa: PLR0913, PLR0917  no struct for them, since every call comes by
    connection: AsksLater,
    session: CurrentSession,
    live: Live,
    tool: str,
    arguments: bytes,
    terms: CallTerms,
    answer: Awaitable[bytes] | None = None,
) -> bytes:
    """Call a tool, unless its answer is on the way, and learn from the answer how the server is."""
    try:
        raw = await (answer or live.call(tool, arguments, terms))
    except Disconnected as fault:
        if not was_refused(fault):
            raise
    except (TimedOut, CallRefused) as fault:
        session.failed(fault)
        raise
    else:
        if session.health.timeouts:
            session.answered()
        return raw
    again: Ask = lambda live, terms: live.call(tool, arguments, terms)  # noqa: E731
    return await connection.ask_later(again, terms, live)


class RunningCall(Struct, frozen=True, eq=False):
    """A call that was sent at once and waits for its answer (see `StartedCall`)."""

    connection: AsksLater
    session: CurrentSession
    live: Live
    tool: str
    arguments: bytes
    terms: CallTerms
    pending: PendingCall

    def answered(self, reply: ServerReply) -> bytes:
        """It is over with this answer."""
        raw = self.live.answered(self.pending, reply)
        if self.session.health.timeouts:
            self.session.answered()
        return raw

    def hand_over(self) -> CallWaiter:
        """Tell a future instead of the waiter from now on."""
        return self.pending.hand_over()

    def wait(self) -> Coroutine[Any, Any, bytes]:
        """Wait for what that future is told."""
        answer = self.live.wait(self.pending)
        of = self.connection, self.session, self.live
        return carry_out(*of, self.tool, self.arguments, self.terms, answer)
