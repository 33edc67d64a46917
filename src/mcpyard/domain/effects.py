"""What the lifecycle table has the runtime carry out."""

from dataclasses import dataclass
from enum import StrEnum


class Timer(StrEnum):
    """The two timers a server can have; a phase owns each."""

    RETRY = "retry"
    SETTLE = "settle"


@dataclass(frozen=True, slots=True)
class Open:
    """Start the child or the session, as `epoch`."""

    epoch: int


@dataclass(frozen=True, slots=True)
class Close:
    """End the child or the session gracefully, then say `Closed`."""

    epoch: int


@dataclass(frozen=True, slots=True)
class Arm:
    """Set a timer; it belongs to `epoch`."""

    timer: Timer
    delay: float
    epoch: int


@dataclass(frozen=True, slots=True)
class Disarm:
    """Take a timer back."""

    timer: Timer


Effect = Open | Close | Arm | Disarm
