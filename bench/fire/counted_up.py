"""`mcpyard up` that also tells its number of tasks: `python -m bench.fire.counted_up FILE up`.

On SIGUSR1 the number is written to the file, as a line of its own.
"""

import asyncio
import signal
import sys
from pathlib import Path

from mcpyard.cli.launcher import run


def main() -> None:
    counter_file = Path(sys.argv.pop(1))

    def report(*_: object) -> None:
        with counter_file.open("a") as file:
            file.write(f"{len(asyncio.all_tasks())}\n")

    signal.signal(signal.SIGUSR1, report)
    run()


if __name__ == "__main__":
    main()
