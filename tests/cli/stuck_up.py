"""`mcpyard up` whose event loop gets stuck on SIGUSR1: `python -m tests.cli.stuck_up up`.

The sum is taken in C code that never lets go of the interpreter, so neither a thread nor a signal
handler of Python runs again. On SIGALRM it only waits for a word in the pipe GO_ON.
"""

import signal
from pathlib import Path

from mcpyard.cli.launcher import run

GO_ON = "go-on"


def count_forever(*_: object) -> None:
    sum(range(10**15))


def wait_for_word(*_: object) -> None:
    Path(GO_ON).read_text()


def main() -> None:
    signal.signal(signal.SIGALRM, wait_for_word)
    signal.signal(signal.SIGUSR1, count_forever)
    run()


if __name__ == "__main__":
    main()
