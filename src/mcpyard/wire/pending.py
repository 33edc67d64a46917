"""What a request is made of while it waits, and what is counted meanwhile."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from mcpyard.wire.jsonrpc import Reply

OVERSIZE: Final = "oversize"
"""The reason a link gives for noise that was a line over its limit."""

FLOOD: Final = "flood"
"""The reason it gives once, when so much came that is of no use that it reads more slowly."""

NO_HEADERS: Final[Mapping[str, str]] = {}


class Progress(msgspec.Struct, frozen=True, rename="camel"):
    """How far a call is, in the server's own measure."""

    progress_token: int | str
    progress: int | float = 0
    total: int | float | None = None
    message: str | None = None


OnProgress = Callable[[Mapping[str, object]], None]


class RequestExtras(msgspec.Struct, frozen=True):
    """What an era adds to a request: members of its `_meta` (no braces), and headers."""

    meta: bytes = b""
    headers: Mapping[str, str] = NO_HEADERS


NO_EXTRAS: Final = RequestExtras()


class PendingCall:
    """A request that waits for its answer."""

    __slots__ = (
        "deadline",
        "future",
        "held",
        "held_since",
        "id",
        "latest",
        "method",
        "progress",
        "timeout",
    )

    def __init__(self, number: int, method: str, future: asyncio.Future[Reply]) -> None:
        self.id = number
        self.method = method
        self.future = future
        self.progress: OnProgress | None = None
        self.timeout = 0.0
        self.deadline = 0.0
        self.latest = 0.0
        self.held = 0
        self.held_since = 0.0


def take_note(answer: "asyncio.Future[Any]") -> None:
    """Let an error be known: who waited for it may be gone, and asyncio would complain."""
    if not answer.cancelled():
        answer.exception()


class Stats(Struct):
    """What came over a link, and what was wrong with it.

    Attributes:
        received: Messages that came.
        noise: What came and was no message.
        oversize: Lines over the limit.
    """

    received: int = 0
    noise: int = 0
    oversize: int = 0
