"""The moment until which fenced trees may run, on the clock that goes on while the machine sleeps.

The time limit of a poll counts on a clock that stands still in that time, so it would end late.
"""

import ctypes
import errno
import math
import os
import time

from mcpyard.runtime.processes.table import LIBC

ABSOLUTE = 1


class FenceDeadline:
    """A moment on CLOCK_BOOTTIME; 0 has passed already.

    Attributes:
        timer: A descriptor that is readable from that moment on, until `disarm`.
    """

    def __init__(self) -> None:
        self.timer = LIBC.timerfd_create(time.CLOCK_BOOTTIME, os.O_CLOEXEC | os.O_NONBLOCK)
        self._at = 0.0
        if self.timer < 0:
            # Without a timer nothing fenced may start.
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    @property
    def passed(self) -> bool:
        """Whether it is over."""
        return time.clock_gettime(time.CLOCK_BOOTTIME) >= self._at

    def set(self, at: float) -> None:
        """Move it, to an earlier moment too."""
        self._at = at
        # A moment of 0 would disarm the timer.
        self._arm(max(at, 1e-9))

    def disarm(self) -> None:
        """Let the timer rest until the deadline is moved."""
        self._arm(0.0)

    def _arm(self, at: float) -> None:
        fraction, seconds = math.modf(at)
        moment = (ctypes.c_long * 4)(0, 0, int(seconds), int(fraction * 1e9))
        LIBC.timerfd_settime(self.timer, ABSOLUTE, moment, None)
