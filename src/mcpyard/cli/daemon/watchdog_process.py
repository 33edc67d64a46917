"""The process that ends an `mcpyard up` whose event loop is stuck.

It is run by path (`python -I -S watchdog_process.py PID PERIOD SLOW STEPS LOG`) and imports light
standard modules only. Its standard input is a pipe on which the event loop writes a byte with every
tick; the end of that pipe is the end of the watched process, and of this one.

Time is counted in looks of its own. A look at which no byte has come, although the watched process
is not stopped, is a miss; SLOW misses in a row are a loop whose place is asked for, STEPS a stuck
one. A machine that sleeps, or this
process being stopped, makes for one late look, not for many misses. While the watched process is
stopped (SIGSTOP, a debugger), every look finds it so, which begins the count anew.
"""

import contextlib
import os
import select
import signal
import sys
import threading
import time

BEATS = 0
MOST_BEATS = 1 << 16
SECONDS_TO_LOG = 2.0
"""A disk or a terminal that takes nothing must not keep a stuck process alive."""

SECONDS_FOR_STACKS = 2.0

STOPPED = ("T", "t")

SLOW_SIGNAL = signal.SIGUSR2
"""Asks for the place at which the loop is, safely."""
STUCK_SIGNAL = signal.SIGURG
"""Asks for the stacks of all threads; nothing happens where nobody listens to it."""

INIT = 1
INIT_SIGNAL = signal.SIGABRT
"""The first process of a container gets no signal from inside it that it has no handler for, not
even SIGKILL; for this one it has a handler (`watchdog.py`)."""


def watch(pid: int, period: float, slow: int, steps: int, log: str) -> None:
    """Look until the pipe ends, or the process is stuck and ended."""
    os.set_blocking(BEATS, False)
    hang_up, missed = select.poll(), 0
    # Without an event of interest only the end of the pipe wakes, not every byte.
    hang_up.register(BEATS, 0)
    while not hang_up.poll(period * 1000):
        missed = 0 if heard() or state(pid) in STOPPED else missed + 1
        if missed == slow:
            send(pid, SLOW_SIGNAL)
        if missed >= steps:
            text = f"ERROR The event loop did not run for {period * steps:g} s: ending mcpyard"
            report(log, f"{text}; the stacks below show where it is stuck")
            send(pid, STUCK_SIGNAL)
            hang_up.poll(SECONDS_FOR_STACKS * 1000)
            send(pid, INIT_SIGNAL if pid == INIT else signal.SIGKILL)
            return


def heard() -> bool:
    """Whether the loop has run since the last look."""
    try:
        return bool(os.read(BEATS, MOST_BEATS))
    except BlockingIOError:
        return False


def state(pid: int) -> str:
    """The state of a process as `ps` shows it, such as R, S or T; empty if that is unknown."""
    with (
        contextlib.suppress(OSError, IndexError),
        open(f"/proc/{pid}/stat", "rb") as file,  # noqa: PTH123  pathlib takes long to import
    ):
        # The name of the program, in brackets, may hold anything.
        return file.read().rpartition(b")")[2].split()[0].decode()
    with contextlib.suppress(OSError):
        import subprocess  # seldom needed, and larger than all of this process

        command = ["ps", "-o", "state=", "-p", str(pid)]
        result = subprocess.run(command, capture_output=True, check=False)  # noqa: S603
        return result.stdout.decode(errors="replace").strip()[:1]
    return ""


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal to the watched process, unless it has ended meanwhile."""
    if os.getppid() == pid:
        os.kill(pid, number)


def report(log: str, line: str) -> None:
    """Write a line to the log file and to standard error, if they take it in time."""
    writer = threading.Thread(target=write, args=(log, line), daemon=True)
    writer.start()
    writer.join(SECONDS_TO_LOG)


def write(log: str, line: str) -> None:
    """Write a line to the log file and to standard error."""
    now = time.time()
    at = f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1000):03d}Z"
    with contextlib.suppress(OSError):
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
        with open(os.open(log, flags, 0o600), "w") as file:  # noqa: PTH123
            file.write(f"{at} {line}\n")
    with contextlib.suppress(OSError, AttributeError):
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


if __name__ == "__main__":
    # The end of the watched process is this one's end; a Ctrl-C is meant for that one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    PID, PERIOD, SLOW, STEPS, LOG = sys.argv[1:]
    watch(int(PID), float(PERIOD), int(SLOW), int(STEPS), LOG)
