"""The accounts: a line in the journal for each call, and counters for each server."""

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Final
from uuid import UUID

from msgspec import Struct, field

from mcpyard.catalog.routes import Route
from mcpyard.domain.ports import Clock
from mcpyard.domain.repositories import Journal
from mcpyard.domain.stored import CallRecord

BUCKETS: Final = (1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 5000.0, 30000.0)
"""Upper bounds of the latency histogram, in milliseconds."""

_LAST_BUCKET: Final = BUCKETS[-1]

FAILURES: Final = 100
"""Failed calls that are remembered, for whoever asks what went wrong."""

OK: Final = "ok"
BUSY: Final = "server-busy"
TOOL_ERROR: Final = "tool_error"


class Account(Struct):
    """What became of one server's calls since the yard began."""

    calls: int = 0
    errors: int = 0
    refused: int = 0
    ms: float = 0.0
    bytes_in: int = 0
    bytes_out: int = 0
    buckets: list[int] = field(default_factory=lambda: [0] * len(BUCKETS))

    def add(self, ms: float, outcome: str, bytes_in: int, bytes_out: int) -> None:
        """Count a call."""
        self.calls += 1
        self.errors += outcome != OK
        self.ms += ms
        self.bytes_in += bytes_in
        self.bytes_out += bytes_out
        if ms <= _LAST_BUCKET:
            self.buckets[bisect_left(BUCKETS, ms)] += 1

    def cumulative(self) -> Iterator[tuple[float, int]]:
        """How many calls took at most so long, for each bound."""
        total = 0
        for bound, count in zip(BUCKETS, self.buckets, strict=True):
            total += count
            yield bound, total


class Accounts:
    """Keeps the accounts of a yard."""

    def __init__(self, journal: Journal | None, clock: Clock) -> None:
        self.journal = journal
        self._clock = clock
        self._by_server: dict[UUID, Account] = {}
        self._failed: deque[CallRecord] = deque(maxlen=FAILURES)

    def failed_calls(self, limit: int) -> list[CallRecord]:
        """The last calls that failed, newest first."""
        return [*reversed(self._failed)][: max(0, limit)]

    @property
    def by_server(self) -> Mapping[UUID, Account]:
        """The account of each server that was ever called."""
        return self._by_server

    def note(self, route: Route, who: str, ms: float, outcome: str, sizes: tuple[int, int]) -> None:
        """Write a call down (see `CallRecord`), with the sizes of its arguments and its result."""
        server, (bytes_in, bytes_out) = route.server, sizes
        account = self._by_server.get(server)
        if account is None:
            account = self._by_server[server] = Account()
        account.add(ms, outcome, bytes_in, bytes_out)
        if outcome == OK and not self.journal:
            return
        now, name, tool = self._clock.now(), route.server_name, route.tool.name
        call = CallRecord(now, who, server, name, tool, ms, outcome, bytes_in, bytes_out)
        if outcome != OK:
            account.refused += outcome == BUSY
            self._failed.append(call)
        if self.journal:
            self.journal.append(call)
