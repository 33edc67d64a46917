"""The event bus: what happened, to whoever listens, at a bounded cost.

A reader that falls behind loses the events it missed and is told so by one `resync`, after which it
reads the whole picture anew. It never stalls the yard, and it never hears old news as new.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Mapping
from itertools import count
from typing import Final

from msgspec import Struct, field

RESYNC: Final = "resync"

QUEUE_LIMIT: Final = 1_000
"""Events a reader may lag behind: a burst of a thousand servers changing at once."""

HISTORY: Final = 1_000
"""Events kept for a reader that comes back."""


class Event(Struct, frozen=True):
    """Something that happened; ids only grow."""

    id: int
    kind: str
    data: Mapping[str, object] = field(default_factory=dict[str, object])


class EventBus:
    """Publishes events to any number of readers.

    Attributes:
        newest: The id of the last event.
    """

    def __init__(self, *, limit: int = QUEUE_LIMIT, history: int = HISTORY) -> None:
        self._limit = limit
        self._ids = count(1)
        self._history: deque[Event] = deque(maxlen=history)
        self._readers: set[Subscription] = set()
        self.newest = 0

    def publish(self, kind: str, data: Mapping[str, object]) -> None:
        """Tell every reader."""
        self.newest = next(self._ids)
        event = Event(self.newest, kind, data)
        self._history.append(event)
        for reader in self._readers:
            reader.put(event)

    def subscribe(self, after: int | None = None) -> "Subscription":
        """Listen from now on, or from just after the event with the id `after`."""
        reader = Subscription(self._limit, self._readers)
        if after is not None:
            self._replay(reader, after)
        self._readers.add(reader)
        return reader

    def close(self) -> None:
        """End every subscription once its reader has read what is there."""
        for reader in [*self._readers]:
            reader.finish()

    def _replay(self, reader: "Subscription", after: int) -> None:
        oldest = self._history[0].id if self._history else 1
        if after < oldest - 1 or after > self.newest:
            reader.put(Event(self.newest, RESYNC))
            return
        for event in self._history:
            if event.id > after:
                reader.put(event)


class Subscription:
    """One reader's queue; iterate over it, and close it when done."""

    def __init__(self, limit: int, readers: "set[Subscription]") -> None:
        self._limit = limit
        self._readers = readers
        self._queue: deque[Event] = deque()
        self._arrived = asyncio.Event()
        self._finished = False

    def put(self, event: Event) -> None:
        """Queue an event, or replace a full queue by one `resync`."""
        if len(self._queue) >= self._limit:
            self._queue.clear()
            event = Event(event.id, RESYNC)
        self._queue.append(event)
        self._arrived.set()

    def finish(self) -> None:
        """No more events will come."""
        self._finished = True
        self._readers.discard(self)
        self._arrived.set()

    async def batch(self) -> list[Event]:
        """All that is there; waits for the first, and is empty only when no more will come.

        A wait that is given up loses nothing.
        """
        while not self._queue and not self._finished:
            self._arrived.clear()
            await self._arrived.wait()
        events = [*self._queue]
        self._queue.clear()
        return events

    async def __aiter__(self) -> AsyncIterator[Event]:
        """The events as they come, until the subscription is closed."""
        try:
            while True:
                while self._queue:
                    yield self._queue.popleft()
                if self._finished:
                    return
                self._arrived.clear()
                await self._arrived.wait()
        finally:
            self.finish()
