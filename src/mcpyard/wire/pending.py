"""What a request is made of while it waits, and what is counted meanwhile."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from mcpyard.domain.started_calls import CallWaiter
from mcpyard.wire.jsonrpc import Reply

OVERSIZE: Final = "oversize"
"""The reason a link gives for noise that was a line over its limit."""

FLOOD: Final = "flood"
"""The reason it gives once, when so much came that is of no use that it reads more slowly."""

_LIST_CHANGED: Final = "/list_changed"
_UNASKED_TO_USELESS: Final = 4

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


class PendingCall(Struct, eq=False):
    """A request that waits for its answer. A msgspec struct because one is made for every call.

    Attributes:
        waiter: Is told of the answer.
    """

    id: int
    method: str
    waiter: CallWaiter
    progress: OnProgress | None = None
    timeout: float = 0.0
    deadline: float = 0.0
    latest: float = 0.0
    held: int = 0
    held_since: float = 0.0

    def hand_over(self) -> CallWaiter:
        """Tell a future of the answer instead of the waiter, from now on."""
        self.waiter = asyncio.get_running_loop().create_future()
        return self.waiter

    def answer(self, reply: Reply) -> None:
        """Tell the waiter of the answer, if it still waits."""
        if not self.waiter.done():
            self.waiter.set_result(reply)

    @property
    def is_awaited(self) -> bool:
        """Whether a future is told, by which the answer comes in a turn of its own."""
        return isinstance(self.waiter, asyncio.Future)

    @property
    def future(self) -> asyncio.Future[Reply]:
        """The waiter of every request but one that was started with another."""
        return self.waiter  # pyright: ignore[reportReturnType]


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
        unasked: Requests and notices, but for those of changed lists.
    """

    received: int = 0
    noise: int = 0
    oversize: int = 0
    unasked: int = 0

    def unasked_is_of_use(self, method: str) -> bool:
        """Count what answers nothing; whether it is of use (see `Receiver.message`).

        Somebody may want it, but a server can talk without an end, too: so one in four is not.
        """
        if method.endswith(_LIST_CHANGED):
            return False
        self.unasked += 1
        return self.unasked % _UNASKED_TO_USELESS != 0
