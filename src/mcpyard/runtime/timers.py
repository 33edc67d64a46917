"""The timers of one server: they feed the lifecycle table."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta

from mcpyard.domain.effects import Timer
from mcpyard.domain.lifecycle import Event, RetryDue, Settled
from mcpyard.domain.ports import Clock


class Timers:
    """At most one timer of each kind.

    Attributes:
        next_retry: When the retry timer that was armed last runs out.
    """

    def __init__(self, clock: Clock, dispatch: Callable[[Event], None]) -> None:
        self.next_retry: datetime | None = None
        self._clock = clock
        self._dispatch = dispatch
        self._loop = asyncio.get_running_loop()
        self._handles: dict[Timer, asyncio.TimerHandle] = {}

    def arm(self, timer: Timer, delay: float, epoch: int) -> None:
        """Set a timer."""
        self.disarm(timer)
        due = RetryDue(epoch) if timer is Timer.RETRY else Settled(epoch)
        self._handles[timer] = self._loop.call_later(delay, self._expired, timer, due)
        if timer is Timer.RETRY:
            self.next_retry = self._clock.now() + timedelta(seconds=delay)

    def _expired(self, timer: Timer, due: Event) -> None:
        self.disarm(timer)
        self._dispatch(due)

    def disarm(self, timer: Timer) -> None:
        """Take a timer back."""
        if handle := self._handles.pop(timer, None):
            handle.cancel()
        if timer is Timer.RETRY:
            self.next_retry = None
