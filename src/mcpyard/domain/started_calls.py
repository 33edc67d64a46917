"""Calls that are sent without anybody waiting for them, as the core sees them."""

from collections.abc import Coroutine
from typing import Any, Protocol


class WaitingCall(Protocol):
    """A call that may have to wait before it is sent.

    Attributes:
        waited: Seconds that it waited.
    """

    waited: float


class ServerReply(Protocol):
    """The result of a call as it came."""

    @property
    def result(self) -> bytes:
        """The result object, in bytes."""
        ...

    @property
    def is_short(self) -> bool:
        """Whether `result` costs next to nothing."""
        ...


class CallWaiter(Protocol):
    """What is told of the answer to a call: a future, or whoever acts on the answer at once."""

    def done(self) -> bool:
        """Whether it waits no more."""
        ...

    def set_result(self, reply: Any, /) -> None:  # noqa: ANN401  a future takes anything
        """The answer came: a `ServerReply`."""
        ...

    def set_exception(self, error: Exception, /) -> None:
        """There will be no answer."""
        ...


class StartedCall(Protocol):
    """A call that was sent at once, and whose waiter is told of the answer."""

    def answered(self, reply: ServerReply) -> bytes:
        """The call is over with this answer; the result object as it came."""
        ...

    def hand_over(self) -> CallWaiter:
        """Tell a future instead of the waiter from now on; `wait` must follow."""
        ...

    def wait(self) -> Coroutine[Any, Any, bytes]:
        """Wait for what that future is told, as `Servers.call` does."""
        ...
