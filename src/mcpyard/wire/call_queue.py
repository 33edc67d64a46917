"""Calls that wait for their turn at a server, fair between callers.

Each caller has a line of its own, and the lines take turns: whoever has a thousand calls waiting
delays the first call of another by one.
"""

import asyncio
from collections import deque


class FairQueue:
    """The waiting calls.

    Attributes:
        waiting: How many there are; all that a call looks at that need not wait.
    """

    def __init__(self) -> None:
        self._lines: dict[object, deque[asyncio.Future[None]]] = {}
        self.waiting = 0

    def add(self, caller: object) -> asyncio.Future[None]:
        """Wait at the end of the caller's line; the future is done when the turn has come."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._lines.setdefault(caller, deque()).append(turn)
        self.waiting += 1
        return turn

    def pop(self) -> asyncio.Future[None]:
        """The next one; its caller stands behind all others then."""
        caller = next(iter(self._lines))
        line = self._lines.pop(caller)
        turn = line.popleft()
        self.waiting -= 1
        if line:
            self._lines[caller] = line
        return turn

    def make_room(self, caller: object) -> asyncio.Future[None] | None:
        """Take the last turn out of the longest line, for a caller whose own is shorter."""
        if not self._lines:
            return None
        longest = max(self._lines, key=lambda each: len(self._lines[each]))
        line = self._lines[longest]
        if len(line) <= len(self._lines.get(caller, ())) + 1:
            return None
        self.waiting -= 1
        return line.pop()

    def remove(self, caller: object, turn: asyncio.Future[None]) -> None:
        """Wait no more."""
        line = self._lines.get(caller)
        if line is None or turn not in line:
            return
        line.remove(turn)
        self.waiting -= 1
        if not line:
            del self._lines[caller]
