"""The accounts: a line in the journal for each call, and counters for each server."""

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final
from uuid import UUID

from mcpyard.catalog.routes import Route
from mcpyard.domain.call_contents import CallTrace
from mcpyard.domain.call_repositories import CallHistoryStore, Journal
from mcpyard.domain.cluster import Cluster
from mcpyard.domain.ports import Clock
from mcpyard.domain.stored import CallRecord
from mcpyard.yard.calls.call_log import CallLog

if TYPE_CHECKING:
    from mcpyard.yard.calls.recorder import CallRecorder

BUCKETS: Final = (1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 5000.0, 30000.0)
"""Upper bounds of the latency histogram, in milliseconds."""

_LAST_BUCKET: Final = BUCKETS[-1]

FAILURES: Final = 100
"""Failed calls that are remembered, for whoever asks what went wrong."""

OK: Final = "ok"
BUSY: Final = "server-busy"
TOOL_ERROR: Final = "tool_error"


class Account:
    """What became of one server's calls since the yard began.

    No struct: every call adds to it, and the fields of a struct are slower to change.
    """

    __slots__ = ("buckets", "bytes_in", "bytes_out", "calls", "errors", "ms", "refused")

    def __init__(self) -> None:
        self.calls = 0
        self.errors = 0
        self.refused = 0
        self.ms = 0.0
        self.bytes_in = 0
        self.bytes_out = 0
        self.buckets = [0] * len(BUCKETS)

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
    """Keeps the accounts of a yard.

    Attributes:
        journal: The calls that were made here.
        recorder: Records what calls were given and answered; None while nothing is recorded.
        log: The calls that were made here, and at the other nodes of a cluster.
        minutes: How many calls there were in each minute, and how long they took.
    """

    def __init__(
        self,
        journal: Journal | None,
        clock: Clock,
        cluster: Cluster | None = None,
        minutes: CallHistoryStore | None = None,
    ) -> None:
        self.journal = journal
        self.recorder: CallRecorder | None = None
        self.log = CallLog(journal, cluster)
        self.minutes = minutes
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

    def note(  # noqa: PLR0913, PLR0917  one a part of a call
        self,
        route: Route,
        who: str,
        ms: float,
        outcome: str,
        sizes: tuple[int, int],
        trace: CallTrace | None = None,
    ) -> None:
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
            self.journal.append(call, trace)
