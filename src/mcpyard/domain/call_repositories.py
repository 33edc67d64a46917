"""The ports to what a store keeps of calls; see `repositories`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol
from uuid import UUID

from mcpyard.domain.call_contents import (
    CallContents,
    CallTrace,
    ContentsUsage,
    RecordingMode,
    TracedCall,
)
from mcpyard.domain.call_history import CallCount, CallPoint, Span, UsageSample
from mcpyard.domain.stored import CallQuery, CallRecord


class CallReader(Protocol):
    """Finds calls that were made."""

    async def query(self, query: CallQuery) -> Sequence[CallRecord]:
        """The calls asked for, in their order."""
        ...


class Journal(CallReader, Protocol):
    """The last calls: bounded, and worth no waiting; no caller removes the lines of another."""

    @property
    def dropped(self) -> int:
        """How many calls were not noted since the program began."""
        ...

    @property
    def trimmed(self) -> int:
        """How many lines were removed for want of room since the program began."""
        ...

    @property
    def contents(self) -> "CallContentsStore":
        """What is recorded of the calls."""
        ...

    def append(self, call: CallRecord, trace: CallTrace | None = None) -> None:
        """Note a call, in the background; dropped when too many are waiting.

        Its trace is given to whoever records it, once the call has an id (see `record_by`).
        """
        ...

    def record_by(self, record: Callable[[int | None, Sequence[TracedCall]], None]) -> None:
        """Give the traces of calls to this function, when the lines of the calls were written.

        It gets the id of the line at place 0, or None where the lines could not be written.
        """
        ...

    async def get(self, call: int) -> CallRecord | None:
        """One call."""
        ...

    async def flush(self) -> None:
        """Write the lines that wait."""
        ...


class CallContentsStore(Protocol):
    """What is recorded of calls: sealed, bounded in size and age, and gone with their lines."""

    def put(self, calls: Sequence[tuple[int, CallRecord, CallContents]]) -> None:
        """Keep what is recorded of calls, by their ids; in the background, from any thread."""
        ...

    async def get(self, call: int) -> CallContents | None:
        """What is recorded of a call."""
        ...

    async def clear(self) -> int:
        """Delete everything that is recorded; of how many calls that was."""
        ...

    async def usage(self) -> ContentsUsage:
        """How much is recorded."""
        ...


class RecordingSettings(Protocol):
    """What an administrator said about recording."""

    def mode(self) -> RecordingMode:
        """Whether to record."""
        ...

    async def set_mode(self, mode: RecordingMode) -> None:
        """Record from now on, or not."""
        ...


class CallHistoryStore(Protocol):
    """Calls and the usage of servers by the minute: bounded, of the last week."""

    async def counts(self, span: Span, server: UUID | None = None) -> Sequence[CallCount]:
        """The calls of a span, of one server or of all."""
        ...

    async def points(
        self, span: Span, server: UUID | None = None, most: int = 2000
    ) -> tuple[Sequence[CallPoint], int]:
        """Single calls of a span, at most so many: one in as many as the number says."""
        ...

    async def last_calls(self) -> Mapping[UUID, int]:
        """The minute of the last call of each server, in seconds since 1970."""
        ...

    def note_usage(self, samples: Sequence[UsageSample]) -> None:
        """Keep what servers used, in the background."""
        ...

    async def usage(self, span: Span, server: UUID) -> Sequence[UsageSample]:
        """What a server used in a span."""
        ...
