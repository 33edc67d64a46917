"""Renewals of sign-ins: one at a time for a resource, and each to its end.

An issuer that rotates refresh tokens takes each of them once: whoever sends the same one a second
time, or does not wait for the answer, is signed out. So every connection of a yard shares these,
and a renewal is a task of its own, which outlives the calls that wait for it.
"""

import asyncio
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from mcpyard.wire.remote.credentials import Credentials, RenewalClaims

    Renew: TypeAlias = Callable[[], Coroutine[Any, Any, Credentials | None]]

_LAST_SECONDS: Final = 5.0
"""How long a renewal that is under way may hold up the end."""


class Renewals:
    """The renewals that are under way.

    Attributes:
        claims: Keeps other machines from renewing meanwhile, where they share the sign-ins.
    """

    def __init__(self, claims: "RenewalClaims | None" = None) -> None:
        self.claims = claims
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._tasks: dict[tuple[str, str], asyncio.Task[Credentials | None]] = {}

    async def share(self, resource: str, rejected: str, renew: "Renew") -> "Credentials | None":
        """What comes of a renewal, also of one that somebody else began.

        Args:
            resource: Whose sign-in it is; its renewals follow one another.
            rejected: The token that is no good any more; those who have the same one share.
            renew: Renews, and stores what comes of it; nobody cancels it but `close`.
        """
        key = (resource, rejected)
        if key not in self._tasks:
            task = asyncio.create_task(self._renew(resource, renew), name=f"renew {resource}")
            self._tasks[key] = task
            task.add_done_callback(lambda done: self._ended(key, done))
        task = self._tasks[key]
        # Unlike awaiting it, this leaves the task alone when the caller is cancelled.
        await asyncio.wait({task})
        return task.result()

    async def close(self) -> None:
        """Let what is under way end, for a moment; then give it up."""
        tasks = {*self._tasks.values()}
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=_LAST_SECONDS)
            for each in late:
                each.cancel()
            await asyncio.wait(tasks)

    async def _renew(self, resource: str, renew: "Renew") -> "Credentials | None":
        async with self._turns[resource]:
            return await renew()

    def _ended(self, key: tuple[str, str], task: "asyncio.Task[Credentials | None]") -> None:
        del self._tasks[key]
        if not task.cancelled():
            # Looked at, or the loop would report it when nobody waits any more.
            task.exception()
