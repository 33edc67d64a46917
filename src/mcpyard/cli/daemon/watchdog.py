"""Notices when the event loop of `mcpyard up` is stuck, names the place and ends the process.

Code that holds the interpreter stops every thread and every signal handler of Python, so nothing
written in Python can watch it from inside. Another process does (`watchdog_process.py`), not a
timer of the kernel: a timer with SIGALRM's default action counts real time, so that it would end a
process that was only stopped for a while, and one that counts CPU time never sees a loop that is
blocked instead of busy. A process of its own can count looks, and see whether the other one is
stopped.

It asks twice for the place at which the loop is stuck:

- Early, with a signal whose handler is Python. It may be late, but it is safe: the loop may only
  have been slow, and go on.
- Before the end, with one that `faulthandler` handles, which needs no interpreter. It reads stacks
  that may change under it, which crashes about one process in a thousand: never before the end.

The looks are answered by each tick of the loop, and only `mcpyard up` has them: in a program of
somebody else the loop is theirs.
"""

import asyncio
import contextlib
import faulthandler
import logging
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Final, Self

from mcpyard.cli.cli_errors import usage
from mcpyard.cli.daemon import watchdog_process
from mcpyard.domain import limits

STEPS: Final = 30
"""Looks without a tick in between, after which the loop is stuck."""

_VARIABLE: Final = "MCPYARD_WATCHDOG"
_LEAST: Final = 1.0
_MOST: Final = 86_400.0
_TICKS_BEFORE_STACKS: Final = 4
_KEPT_VARIABLES: Final = ("LD_LIBRARY_PATH",)
_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW

_log = logging.getLogger(__name__)


def stuck_limit() -> float | None:
    """Seconds without a tick after which the process is ended; None where it is switched off."""
    text = os.environ.get("MCPYARD_WATCHDOG", "")
    try:
        seconds = float(text) if text else limits.STUCK_END
    except ValueError:
        seconds = -1.0
    if seconds == 0:
        return None
    if not _LEAST <= seconds <= _MOST:
        raise usage(f"{_VARIABLE}: must be {_LEAST:g} to {_MOST:g} seconds, or 0 to switch it off")
    return seconds


class Watchdog:
    """Watches the running loop from `with` to its end.

    Args:
        log: The file that stacks and reasons are written to.
        limit: Seconds without a tick after which the process is ended; None for never, then
            nothing is written either.
        on_tick: Called with every tick.
    """

    def __init__(self, log: Path, limit: float | None, on_tick: Callable[[], None]) -> None:
        self._file = log
        self._limit = limit
        self._on_tick = on_tick
        self._stacks = min(limits.STUCK_STACKS, (limit or limits.STUCK_END) / 2)
        self._period = min(limits.TICK, self._stacks / _TICKS_BEFORE_STACKS)
        self._loop = asyncio.get_running_loop()
        self._last = time.monotonic()
        self._timer: asyncio.TimerHandle | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        """Begin to watch."""
        if self._limit is not None:
            if os.getpid() == watchdog_process.INIT:
                _exit_on(watchdog_process.INIT_SIGNAL)
            self._arm()
            signal.signal(watchdog_process.SLOW_SIGNAL, self._log_stack)
        self._start()
        self._tick()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Watch no longer."""
        if self._timer:
            self._timer.cancel()
        self._drop()
        if self._limit is not None:
            self._disarm()

    def _tick(self) -> None:
        self._timer = self._loop.call_later(self._period, self._tick)
        self._on_tick()
        if self._limit is not None:
            self._log_delay()
            self._arm()
            self._beat()

    def _log_delay(self) -> None:
        last, self._last = self._last, time.monotonic()
        if (passed := self._last - last) > self._stacks:
            _log.warning("The event loop did not run for %.1f s", passed)

    def _arm(self) -> None:
        # Opened for each tick, as for each line: the file may have been moved away since.
        with contextlib.suppress(OSError):
            new = os.open(self._file, _FLAGS, 0o600)
            faulthandler.register(watchdog_process.STUCK_SIGNAL, file=new)
            old, self._descriptor = self._descriptor, new
            if old is not None:
                os.close(old)

    def _disarm(self) -> None:
        # The process that sends it is gone, but what it sent last may be on its way.
        signal.signal(watchdog_process.SLOW_SIGNAL, signal.SIG_IGN)
        faulthandler.unregister(watchdog_process.STUCK_SIGNAL)
        if self._descriptor is not None:
            os.close(self._descriptor)

    def _log_stack(self, _number: int, frame: FrameType | None) -> None:
        # Not by `logging`: this may have interrupted a line of it.
        if self._descriptor is not None:
            text = "".join(["The event loop is at:\n", *traceback.format_stack(frame)])
            with contextlib.suppress(OSError):
                os.write(self._descriptor, text.encode(errors="replace"))

    def _beat(self) -> None:
        if self._process is None or self._process.stdin is None:
            return
        try:
            os.write(self._process.stdin.fileno(), b".")
        except BlockingIOError:
            """It has not read thousands of them yet."""
        except OSError:
            _log.warning("The watchdog process ended; starting another")
            self._drop()
            self._start()

    def _start(self) -> None:
        if self._limit is None:
            return
        program, period = watchdog_process.__file__, self._limit / STEPS
        slow = round(self._stacks / period)
        numbers = [str(each) for each in (os.getpid(), period, slow, STEPS)]
        words = [program, *numbers, str(self._file.absolute())]
        try:
            self._process = subprocess.Popen(  # noqa: S603  our own program, by our own interpreter
                [sys.executable, "-I", "-S", *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                env={name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ},
                start_new_session=True,
            )
        except OSError as error:
            _log.error("The watchdog process cannot be started: %s", error)
            return
        if self._process.stdin:
            os.set_blocking(self._process.stdin.fileno(), False)

    def _drop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin:
            process.stdin.close()
        process.kill()
        process.wait()


def _exit_on(number: int) -> None:
    """Have the C library exit on a signal, with its number as the status, whatever Python does."""
    import ctypes  # needed in a container only

    library = ctypes.CDLL(None)
    library.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
    library.signal(number, ctypes.cast(library["_exit"], ctypes.c_void_p))
