"""Messages on their way out over HTTP: one task each, so that `send` never waits.

A server may refuse requests until it has seen `notifications/initialized`. Over one pipe the order
is given; over many connections it is not, so whatever is sent after that notice waits until the
server has taken it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from mcpyard.wire.link import Busy, Outgoing
from mcpyard.wire.remote.http_client import MAX_IN_FLIGHT

_INITIALIZED: Final = "notifications/initialized"


class Outbox:
    """The POSTs under way on one link."""

    def __init__(
        self,
        deliver: Callable[[Outgoing], Awaitable[None]],
        crashed: Callable[[Outgoing, BaseException], None],
    ) -> None:
        self._deliver = deliver
        self._crashed = crashed
        self._tasks: set[asyncio.Task[None]] = set()
        self._requests: dict[int, asyncio.Task[None]] = {}
        self._first: asyncio.Task[None] | None = None

    @property
    def requests(self) -> tuple[int, ...]:
        """The ids of the requests under way."""
        return tuple(self._requests)

    def put(self, message: Outgoing) -> None:
        """Start on a message; raises `Busy` when too many are under way."""
        if len(self._tasks) >= MAX_IN_FLIGHT:
            raise Busy(f"{MAX_IN_FLIGHT} messages to this server are under way already")
        task = asyncio.get_running_loop().create_task(self._run(message, self._first))
        self._tasks.add(task)
        task.add_done_callback(partial(self._done, message))
        if message.id is not None:
            self._requests[message.id] = task
        if message.method == _INITIALIZED:
            self._first = task

    def drop(self, request: int) -> None:
        """End the exchange of a request, unless it is the one that runs this very code."""
        if (task := self._requests.pop(request, None)) is not None:
            end(task)

    def drop_all(self) -> None:
        """End every exchange but the one that runs this very code."""
        self._requests.clear()
        for task in self._tasks:
            end(task)

    async def close(self) -> None:
        """End every exchange and wait until each has let go of its connection."""
        self.drop_all()
        current = asyncio.current_task()
        others = [task for task in self._tasks if task is not current]
        await asyncio.gather(*others, return_exceptions=True)

    def _done(self, message: Outgoing, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if message.id is not None:
            self._requests.pop(message.id, None)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._crashed(message, error)

    async def _run(self, message: Outgoing, before: asyncio.Task[None] | None) -> None:
        if before is not None and not before.done():
            await asyncio.wait([before])
        await self._deliver(message)


def end(task: asyncio.Task[None]) -> None:
    """Cancel a task, unless it is the running one or is ending already.

    A second cancellation would interrupt the closing of its connection.
    """
    if task is not asyncio.current_task() and not task.cancelling():
        task.cancel()
