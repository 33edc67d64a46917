"""Programs that behave as servers do, well or badly; run as `python -I -S children.py MODE ...`.

All but `exit`, `die`, `fds` and `flood` first say one line: the pids of which they consist.
"""

import itertools
import os
import signal
import sys
from collections.abc import Callable


def say(*words: object) -> None:
    print(*words, flush=True)


def deaf() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def linger() -> None:
    deaf()
    while True:
        signal.pause()


def detach(then: Callable[[], None]) -> int:
    """Fork twice with a session of its own in between, as daemons do; the pid of the second."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            deaf()
            os.write(writer, str(os.getpid()).encode())
            then()
        os._exit(0)
    os.wait()
    return int(os.read(reader, 32))


def scrub() -> None:
    code = "import signal\nwhile True: signal.pause()"
    os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", code], {})  # noqa: S606 - no shell


def echo() -> None:
    say(os.getpid())
    for line in sys.stdin:
        sys.stdout.write(line)
        sys.stdout.flush()


def stubborn() -> None:
    deaf()
    say(os.getpid())
    linger()


def detached() -> None:
    say(os.getpid(), detach(linger))
    linger()


def leaves_detached() -> None:
    say(os.getpid(), detach(linger))
    sys.stdin.read()


def leaves_scrubbed() -> None:
    say(os.getpid(), detach(scrub))
    sys.stdin.read()


def leaves_scrubbed_later() -> None:
    """Leaves it behind when it is told to, and says another line then."""
    say(os.getpid())
    sys.stdin.readline()
    say(detach(scrub))
    sys.stdin.read()


def leaves_unmarked() -> None:
    """Its own child drops the mark and the session, but has its parent until the end of input."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
        scrub()
    say(os.getpid(), pid)
    sys.stdin.read()


def group_that_watches_itself() -> None:
    """Two processes of which each starts the other anew; only the first one can be named."""
    say(os.getpid())
    while True:
        if os.fork() == 0:
            os.setsid()
            linger()
        os.wait()


def run_away() -> None:
    """Fork, leave the session and exit, for ever: no process lives for longer than a moment."""
    say(os.getpid())
    if os.fork():
        linger()
    for _ in itertools.count():
        if os.fork():
            os._exit(0)
        os.setsid()


def leave_with() -> None:
    sys.exit(int(sys.argv[2]))


def die() -> None:
    os.kill(os.getpid(), int(sys.argv[2]))


def fds() -> None:
    with os.scandir("/proc/self/fd") as entries:
        # The one more is the listing's own.
        say(len(list(entries)) - 1)


def flood() -> None:
    for _ in range(int(sys.argv[2])):
        os.write(2, b"x" * 1023 + b"\n")
    say("done")


MODES = {
    "detached": detached,
    "die": die,
    "echo": echo,
    "exit": leave_with,
    "fds": fds,
    "flood": flood,
    "leaves-detached": leaves_detached,
    "leaves-scrubbed": leaves_scrubbed,
    "leaves-scrubbed-later": leaves_scrubbed_later,
    "leaves-unmarked": leaves_unmarked,
    "run-away": run_away,
    "stubborn": stubborn,
    "watched": group_that_watches_itself,
}

if __name__ == "__main__":
    MODES[sys.argv[1]]()
