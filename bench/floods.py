"""What a server that floods mcpyard costs its neighbour: `python -m bench.floods [SECONDS]`.

One server writes garbage to its standard output as fast as it can, another changes 10,000 tools
again and again. The neighbour's calls are timed in turns, in one yard: while the odd server rests,
and while it floods, from when it has its warning.
"""

import asyncio
import os
import sys
import time
from typing import NamedTuple

import uvloop

from bench.measuring import ZOO, Figures, definition, percentile
from mcpyard import Yard

MODES = {"garbage": "floods_stdout", "changed lists": "floods_changes"}
ROUNDS = 3
BETWEEN_CALLS = 0.002


class Timed(NamedTuple):
    """Milliseconds of each call, and the share of a core that this process used."""

    took: list[float]
    core: float


async def timed(yard: Yard, seconds: float) -> Timed:
    took: list[float] = []
    began, used = time.perf_counter(), time.process_time()
    while (at := time.perf_counter()) < began + seconds:
        await yard.call_tool("neighbour", "echo", {"text": "hello"})
        took.append((time.perf_counter() - at) * 1000)
        await asyncio.sleep(BETWEEN_CALLS)
    return Timed(took, (time.process_time() - used) / (time.perf_counter() - began))


async def flood(yard: Yard) -> None:
    """Have the odd server flood; return when it is named for it."""
    await yard.start("odd")
    await yard.settled("odd")
    await yard.call_tool("odd", "misbehave", {})
    events = yard.events()
    try:
        while not yard.record("odd", tools=False).warnings:
            await events.batch()
    finally:
        events.finish()


async def rounds(mode: str, seconds: float) -> tuple[list[Timed], list[Timed]]:
    """The neighbour's calls while the odd server rests, and while it floods."""
    servers = {"neighbour": definition([*ZOO, "good"]), "odd": definition([*ZOO, mode])}
    quiet: list[Timed] = []
    flooded: list[Timed] = []
    async with Yard.open(servers=servers) as yard:
        await yard.settled("neighbour")
        for _ in range(ROUNDS):
            await yard.stop("odd")
            await yard.settled("odd")
            quiet.append(await timed(yard, seconds))
            await flood(yard)
            flooded.append(await timed(yard, seconds))
    return quiet, flooded


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 4.0
    figures = Figures()
    figures.show("cores", str(os.cpu_count()))
    for name, mode in MODES.items():
        results = dict(zip(("rests", "floods"), uvloop.run(rounds(mode, seconds)), strict=True))
        p99: dict[str, float] = {}
        core: dict[str, float] = {}
        for state, runs in results.items():
            took = [each for run in runs for each in run.took]
            p99[state] = percentile(took, 0.99)
            core[state] = sum(run.core for run in runs) / len(runs)
            text = f"p50 {percentile(took, 0.5):.2f} ms, p99 {p99[state]:.2f} ms"
            figures.show(f"neighbour, {name}: {state}", f"{text}, {core[state]:.2f} core")
        figures.at_most(f"p99, {name}, against none", p99["floods"] / p99["rests"], 2, "x")
        figures.at_most(f"CPU, {name}, beyond none", core["floods"] - core["rests"], 0.15, " core")
    figures.leave()


if __name__ == "__main__":
    main()
