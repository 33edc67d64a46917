"""What the lifecycle table has the runtime carry out."""

from enum import StrEnum

from msgspec import Struct


class Timer(StrEnum):
    """The two timers a server can have; a phase owns each."""

    RETRY = "retry"
    SETTLE = "settle"


class Open(Struct, frozen=True):
    """Start the child or the session, as `epoch`."""

    epoch: int


class Close(Struct, frozen=True):
    """End the child or the session gracefully, then say `Closed`."""

    epoch: int


class Arm(Struct, frozen=True):
    """Set a timer; it belongs to `epoch`."""

    timer: Timer
    delay: float
    epoch: int


class Disarm(Struct, frozen=True):
    """Take a timer back."""

    timer: Timer


Effect = Open | Close | Arm | Disarm
