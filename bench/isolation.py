"""What four bad servers cost a healthy neighbour: `python -m bench.isolation [SECONDS]`.

One hangs, one crashes over and over, one floods its standard error, one answers with 50 MB, again
and again. The neighbour's calls are timed twice: with the four in the same yard, and with the same
four run by another process, which treats them as a yard would but shares no event loop.
"""

import asyncio
import os
import subprocess
import sys
import time
from contextlib import AsyncExitStack, suppress

import uvloop

from bench.measuring import ROOT, ZOO, Figures, definition, percentile
from mcpyard import Yard
from mcpyard.domain.errors import YardError

LARGE = "50"
DELAYS = (0.25, 1.0, 4.0)
LOG_BYTES, LOG_SECONDS = 256 * 1024, 0.1
BETWEEN_CALLS = 0.002
TICK = 0.005
BAD = {
    "hung": definition([*ZOO, "never_answers"]),
    "crashing": definition([*ZOO, "exits_at_once"]),
    "flooding": definition([*ZOO, "floods_stderr"]),
    "large": definition([*ZOO, "long_line"], maxMessage=64 * 1024 * 1024),
}
OTHER_SERVER = {"neighbour": definition([*ZOO, "good"])}
ASK = (
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call",'
    b'"params":{"name":"misbehave","arguments":{"text":"50"}}}\n'
)


async def crash_outside() -> None:
    while True:
        for delay in DELAYS:
            child = await asyncio.create_subprocess_exec(
                *ZOO, "exits_at_once", stderr=asyncio.subprocess.DEVNULL
            )
            await child.wait()
            await asyncio.sleep(delay)


async def flood_outside(child: asyncio.subprocess.Process) -> None:
    assert child.stderr
    while True:
        await child.stderr.readexactly(LOG_BYTES)
        await asyncio.sleep(LOG_SECONDS)


async def large_outside(child: asyncio.subprocess.Process) -> None:
    assert child.stdin
    assert child.stdout
    while True:
        child.stdin.write(ASK)
        while not (await child.stdout.read(1 << 16)).endswith(b"\n"):
            pass


async def outside() -> None:
    """Run the four bad servers until the input ends."""
    pipe = asyncio.subprocess.PIPE

    async def spawn(mode: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *ZOO, mode, stdin=pipe, stdout=pipe, stderr=pipe
        )

    children = [await spawn(mode) for mode in ("never_answers", "floods_stderr", "long_line")]
    _, flooding, large = children
    work = (crash_outside(), flood_outside(flooding), large_outside(large))
    tasks = [asyncio.create_task(each) for each in work]
    await asyncio.to_thread(sys.stdin.read)
    for child in children:
        child.kill()
    for task in tasks:
        task.cancel()


async def keep_bad(yard: Yard, failures: list[str]) -> None:
    """Have the large answers come, and the crashes go on."""

    async def answers() -> None:
        while True:
            outcome = await yard.call_tool("large", "misbehave", {"text": LARGE})
            if len(outcome.raw) < 50_000_000:
                failures.append("an answer was not whole")

    async def crashes() -> None:
        while True:
            with suppress(YardError):
                await yard.settled("crashing")
                await yard.restart("crashing")

    await asyncio.gather(answers(), crashes())


async def tick(gaps: list[float]) -> None:
    last = time.perf_counter()
    while True:
        await asyncio.sleep(TICK)
        now = time.perf_counter()
        gaps.append((now - last - TICK) * 1000)
        last = now


async def timed(yard: Yard, seconds: float) -> tuple[list[float], list[float]]:
    """Milliseconds of each call of the neighbour, and by how much the loop came late."""
    gaps: list[float] = []
    took: list[float] = []
    ticking = asyncio.create_task(tick(gaps))
    until = time.perf_counter() + seconds
    while (began := time.perf_counter()) < until:
        await yard.call_tool("neighbour", "echo", {"text": "hello"})
        took.append((time.perf_counter() - began) * 1000)
        await asyncio.sleep(BETWEEN_CALLS)
    ticking.cancel()
    return took, gaps


async def with_outside(seconds: float) -> tuple[list[float], list[float]]:
    driver = subprocess.Popen(  # noqa: ASYNC220  once, before anything is timed
        [sys.executable, "-m", "bench.isolation", "--outside"], cwd=ROOT, stdin=subprocess.PIPE
    )
    try:
        async with Yard.open(servers=OTHER_SERVER) as yard:
            await yard.settled("neighbour")
            await asyncio.sleep(1)
            return await timed(yard, seconds)
    finally:
        assert driver.stdin
        driver.stdin.close()
        driver.wait()


async def with_inside(seconds: float) -> tuple[list[float], list[float]]:
    failures: list[str] = []
    async with AsyncExitStack() as stack:
        yard = await stack.enter_async_context(Yard.open(servers=OTHER_SERVER | BAD))
        await yard.settled("neighbour")
        await yard.settled("large")
        bad = asyncio.create_task(keep_bad(yard, failures))
        await asyncio.sleep(1)
        times = await timed(yard, seconds)
        assert not bad.done(), bad.exception()
        assert not failures
        bad.cancel()
        return times


async def alone(seconds: float) -> tuple[list[float], list[float]]:
    async with Yard.open(servers=OTHER_SERVER) as yard:
        await yard.settled("neighbour")
        return await timed(yard, seconds)


def main() -> None:
    if "--outside" in sys.argv:
        uvloop.run(outside())
        return
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 8.0
    figures = Figures()
    figures.show("cores", str(os.cpu_count()))
    quiet, _ = uvloop.run(alone(seconds / 2))
    apart, _ = uvloop.run(with_outside(seconds))
    beside, gaps = uvloop.run(with_inside(seconds))
    for name, took in (("alone", quiet), ("bad ones outside", apart), ("inside", beside)):
        text = f"p50 {percentile(took, 0.5):.2f} ms, p99 {percentile(took, 0.99):.2f} ms"
        figures.show(f"neighbour, {name}", f"{text}, {len(took)} calls")
    ratio = percentile(beside, 0.99) / percentile(apart, 0.99)
    figures.at_most("p99, inside against outside", ratio, 2, "x")
    figures.at_most("the loop comes late by", max(gaps), 100, " ms")
    figures.leave()


if __name__ == "__main__":
    main()
