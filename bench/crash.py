"""Crash of a server: `python -m bench.crash [ROUNDS]`.

How soon 100 calls in flight fail, how soon a call made right after is answered, and what a server
that keeps crashing costs once it is given up.
"""

import asyncio
import os
import signal
import sys
import time

import uvloop

from bench.idle import cpu_seconds
from bench.measuring import ZOO, Figures, definition
from mcpyard import Yard

CALLS = 100
RESTING = 10.0


async def own_start(yard: Yard) -> float:
    """Seconds the server itself needs from its spawn to its first answer."""
    await yard.stop("odd", wait=10)
    began = time.perf_counter()
    await yard.start("odd", wait=10)
    return time.perf_counter() - began


async def one_crash(yard: Yard) -> tuple[float, float]:
    """Milliseconds until all calls have failed, and until a new one is answered."""
    calls = [asyncio.create_task(yard.call_tool("odd", "hang", {})) for _ in range(CALLS)]
    # A task, so that it is made after the others; calls arrive in their order.
    await asyncio.create_task(yard.call_tool("odd", "echo", {"text": "all sent"}))
    pid = yard.record("odd").pid
    assert isinstance(pid, int)
    began = time.perf_counter()
    os.kill(pid, signal.SIGKILL)
    results = await asyncio.gather(*calls, return_exceptions=True)
    failed = time.perf_counter() - began
    assert all("SIGKILL" in str(each) for each in results), results
    began = time.perf_counter()
    await yard.call_tool("odd", "echo", {"text": "anew"})
    return failed * 1000, (time.perf_counter() - began) * 1000


async def crashes(rounds: int, figures: Figures) -> None:
    failed: list[float] = []
    again: list[float] = []
    starts: list[float] = []
    for _ in range(rounds):
        async with Yard.open(servers={"odd": definition([*ZOO, "good"])}) as yard:
            await yard.settled("odd")
            starts.append(await own_start(yard) * 1000)
            first, second = await one_crash(yard)
            failed.append(first)
            again.append(second)
    figures.at_most(f"{CALLS} calls in flight fail within", max(failed), 100, " ms")
    limit = 500 + max(starts)
    figures.at_most("a call right after is answered within", max(again), round(limit), " ms")


async def loop(figures: Figures) -> None:
    async with Yard.open(servers={"odd": definition([*ZOO, "exits_at_once"])}) as yard:
        await yard.settled("odd")
        spawns = [line.text for line in yard.log("odd")].count("leaving with 3")
        figures.at_least("a crash loop spawns", spawns, 4)
        figures.at_most("a crash loop spawns", spawns, 4)
        before = cpu_seconds()
        await asyncio.sleep(RESTING)
        share = (cpu_seconds() - before) / RESTING * 100
        figures.at_most("CPU after the last restart", share, 1, " %")


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    figures = Figures()
    uvloop.run(crashes(rounds, figures))
    uvloop.run(loop(figures))
    figures.leave()


if __name__ == "__main__":
    main()
