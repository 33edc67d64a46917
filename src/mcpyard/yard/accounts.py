"""The accounts: a line in the journal for each call, and counters for each server."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from mcpyard.domain.repositories import Journal
from mcpyard.domain.stored import Call

BUCKETS: Final = (1.0, 2.5, 5.0, 10.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0, 5000.0, 30000.0)
"""Upper bounds of the latency histogram, in milliseconds."""

OK: Final = "ok"
TOOL_ERROR: Final = "tool_error"


@dataclass(slots=True)
class Account:
    """What became of one server's calls since the yard began."""

    calls: int = 0
    errors: int = 0
    ms: float = 0.0
    bytes_in: int = 0
    bytes_out: int = 0
    buckets: list[int] = field(default_factory=lambda: [0] * len(BUCKETS))

    def add(self, call: Call) -> None:
        """Count a call."""
        self.calls += 1
        self.errors += call.outcome != OK
        self.ms += call.ms
        self.bytes_in += call.bytes_in
        self.bytes_out += call.bytes_out
        for index, bound in enumerate(BUCKETS):
            if call.ms <= bound:
                self.buckets[index] += 1
                break

    def cumulative(self) -> Iterator[tuple[float, int]]:
        """How many calls took at most so long, for each bound."""
        total = 0
        for bound, count in zip(BUCKETS, self.buckets, strict=True):
            total += count
            yield bound, total


class Accounts:
    """Keeps the accounts of a yard."""

    def __init__(self, journal: Journal | None) -> None:
        self.journal = journal
        self._by_server: dict[UUID, Account] = {}

    @property
    def by_server(self) -> Mapping[UUID, Account]:
        """The account of each server that was ever called."""
        return self._by_server

    def note(self, call: Call) -> None:
        """Write a call down."""
        account = self._by_server.get(call.server)
        if account is None:
            account = self._by_server[call.server] = Account()
        account.add(call)
        if self.journal:
            self.journal.append(call)
