"""What is recorded of a call besides its line in the journal: arguments, result, error, timing."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from msgspec import Struct

from mcpyard.domain.stored import CallRecord

LIMIT: Final = 64 * 1024
"""Bytes of a text that are kept."""

MARGIN: Final = 32 * 1024
"""Bytes at the end of a text that was cut off: a secret may begin there that cannot be seen."""

WINDOW: Final = LIMIT + 2 * MARGIN
"""Bytes that are looked at."""


class RecordingMode(StrEnum):
    """Whether arguments and results are recorded."""

    AUTO = "auto"
    """Where only this machine can reach mcpyard, and nobody else has a token."""
    ON = "on"
    OFF = "off"


class CallTrace(NamedTuple):
    """A call as it was, until it is recorded; a tuple because one may be made for every call.

    Attributes:
        arguments: The beginning of its arguments.
        result: The beginning of its result; empty where there is none.
        error: Why it failed, in mcpyard's words or the server's.
        details: What the server said beside its error.
        queue_ms: How long it waited for its turn, or for the server to start.
        passed_over: Servers that were skipped before, and why.
        answers: What a person answered to the server meanwhile, as JSON; it is masked elsewhere.
    """

    arguments: bytes
    result: bytes = b""
    error: str = ""
    details: object = None
    queue_ms: float = 0.0
    passed_over: Sequence[tuple[str, str]] = ()
    answers: Sequence[bytes] = ()

    @property
    def size(self) -> int:
        """How much memory it takes, roughly."""
        texts = len(self.arguments) + len(self.result) + len(self.error)
        return texts + sum(map(len, self.answers)) + _OVERHEAD


_OVERHEAD: Final = 1024


class TracedCall(NamedTuple):
    """A line of the journal that is being written, by its place among those, and its trace."""

    place: int
    call: CallRecord
    trace: CallTrace


class RecordedText(Struct, frozen=True):
    """A text as it is recorded: without secrets, and cut where it was too long.

    Attributes:
        text: The text.
        size: How many bytes it had.
        tokens: An estimate of the tokens that it takes of a model's context.
        cut: Whether the end is missing.
        masked: Whether a secret was masked.
    """

    text: str
    size: int
    tokens: int = 0
    cut: bool = False
    masked: bool = False


class CallContents(Struct, frozen=True):
    """What is recorded of a call.

    Attributes:
        arguments: Its arguments, a JSON object.
        result: The result object; None where there was none.
        error: Why it failed, if it did.
        queue_ms: How long it waited before it was sent.
        server_version: What the server said of itself.
        protocol: The version of the protocol that was spoken.
        passed_over: Servers that were skipped before, and why.
    """

    arguments: RecordedText
    result: RecordedText | None = None
    error: RecordedText | None = None
    queue_ms: float = 0.0
    server_version: str = ""
    protocol: str = ""
    passed_over: tuple[tuple[str, str], ...] = ()


class ContentsUsage(NamedTuple):
    """How much is recorded: calls, and bytes."""

    calls: int = 0
    bytes: int = 0
