"""`mcpyard up` whose event loop gets stuck on SIGUSR1: `python -m tests.cli.stuck_up up`.

The sum is taken in C code that never lets go of the interpreter, so neither a thread nor a signal
handler of Python runs again.
"""

import signal

from mcpyard.cli.launcher import run


def count_forever(*_: object) -> None:
    sum(range(10**15))


def main() -> None:
    signal.signal(signal.SIGUSR1, count_forever)
    run()


if __name__ == "__main__":
    main()
