"""What a yard costs when nothing happens: `python -m bench.idle [SECONDS]`.

Each yard is measured in a process of its own: its memory with no server and with 100 connected, and
its CPU time over some seconds with 50 of them, its keeper included.
"""

import asyncio
import subprocess
import sys

import psutil
import uvloop

from bench.measuring import ROOT, ZOO, Figures, all_connected, definition, rss
from mcpyard import Yard

SETTLING = 2.0
"""Seconds after the last start in which what it left behind is done."""


def cpu_seconds() -> float:
    """CPU time of this process and of its keeper."""
    this = psutil.Process()
    keepers = [each for each in this.children() if "keeper.py" in " ".join(each.cmdline())]
    times = [each.cpu_times() for each in (this, *keepers)]
    return sum(each.user + each.system for each in times)


async def measure(servers: int, seconds: float) -> None:
    """Print the memory in MB and the share of a core in percent."""
    definitions = {f"server-{number}": definition([*ZOO, "good"]) for number in range(servers)}
    async with Yard.open(servers=definitions) as yard:
        if servers:
            await all_connected(yard, servers)
        await asyncio.sleep(SETTLING)
        before = cpu_seconds()
        await asyncio.sleep(seconds)
        share = (cpu_seconds() - before) / seconds * 100 if seconds else 0.0
        print(rss(), share)


def in_a_process(servers: int, seconds: float) -> tuple[float, float]:
    ran = subprocess.run(
        [sys.executable, "-m", "bench.idle", "--measure", str(servers), str(seconds)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    memory, share = ran.stdout.split()
    return float(memory), float(share)


def main() -> None:
    if "--measure" in sys.argv:
        servers, seconds = sys.argv[2:]
        uvloop.run(measure(int(servers), float(seconds)))
        return
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    figures = Figures()
    figures.at_most("memory without servers", in_a_process(0, 0)[0], 80, " MB")
    figures.at_most("memory with 100 servers", in_a_process(100, 0)[0], 130, " MB")
    figures.at_most("CPU when idle, with 50 servers", in_a_process(50, seconds)[1], 1, " %")
    figures.leave()


if __name__ == "__main__":
    main()
