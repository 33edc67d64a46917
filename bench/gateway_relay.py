"""The gateway beside a raw relay: `python -m bench.gateway_relay [SECONDS]`.

In one run, before the same echo server: calls a second and processor time of a call at concurrency
64, with arguments of many lengths and of one; what each adds to a single call over a pipe; results
of 100 kB, and arguments and results of 100 kB. All get the same requests but for the address and
the name of the tool. Rounds are interleaved and medians compared.

The relay writes from callbacks. At concurrency 64 there are two more: one that has a task and a
future for each request, and one that is an application on uvicorn, the web server that mcpyard
stands on as well.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import uvloop

from bench.gateway import WIDTH, Compared, over_pipe, project
from bench.gateway_targets import (
    ONE_LENGTH,
    ORDINARY,
    TOKEN,
    Target,
    call,
    calling,
    relay,
    session_headers,
    yard,
)
from bench.measuring import Figures, percentile

LONG = 100_000
LONG_TEXTS = tuple("x" * (LONG + step) for step in range(0, 800, 100))
SIZES = tuple(str(LONG + step) for step in range(0, 800, 100))


def long_over_pipe(tool: str, text: str, count: int = 300) -> float:
    """The median of a call with a long result straight to the server."""
    line, times = call(1, tool, text) + b"\n", list[float]()
    with subprocess.Popen(ORDINARY, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin
        assert child.stdout
        for _ in range(count):
            began = time.perf_counter()
            child.stdin.write(line)
            child.stdin.flush()
            child.stdout.readline()
            times.append(time.perf_counter() - began)
    return percentile(times, 0.5)


def named(target: Target, words: str) -> Target:
    return replace(target, name=f"{target.name}, {words}")


async def measure(figures: Figures, folder: Path, seconds: float) -> None:
    async with AsyncExitStack() as stack:
        door = await stack.enter_async_context(yard(folder, {"echo": project(ORDINARY)}))
        bare = await stack.enter_async_context(relay())
        with_tasks = await stack.enter_async_context(relay("--tasks"))
        on_uvicorn = await stack.enter_async_context(relay("--asgi"))
        headers = await session_headers(door, "mcp_echo_echo", **TOKEN)
        ours, theirs = (
            calling(door, "mcp_echo_echo", WIDTH, **headers),
            calling(bare, "echo", WIDTH, **headers),
        )
        fixed = named(calling(door, "mcp_echo_echo", WIDTH, ONE_LENGTH, **headers), "one length")
        fixed_relay = named(calling(bare, "echo", WIDTH, ONE_LENGTH, **headers), "one length")
        tasks_relay = calling(with_tasks, "echo", WIDTH, **headers)
        asgi_relay = calling(on_uvicorn, "echo", WIDTH, **headers)
        many = Compared([ours, theirs, tasks_relay, asgi_relay, fixed, fixed_relay])
        await many.run(WIDTH, seconds)
        many.show(figures, WIDTH)
        share = many.rates[ours.name] / many.rates[asgi_relay.name]
        figures.at_least("against the raw relay on uvicorn, many lengths", share, 0.7, "x")
        for relay_of, words in ((theirs, "of callbacks"), (tasks_relay, "with a task a request")):
            share = many.rates[ours.name] / many.rates[relay_of.name]
            figures.show(f"against the raw relay {words}", f"{share:.3g}x")
        share = many.rates[fixed.name] / many.rates[fixed_relay.name]
        figures.show("against the raw relay, one length", f"{share:.3g}x")
        await alone(figures, ours, theirs, seconds)
        for tool, texts, words in (
            ("big", SIZES, "100 kB result"),
            ("echo", LONG_TEXTS, "100 kB both ways"),
        ):
            mine = named(calling(door, f"mcp_echo_{tool}", 1, texts, **headers), words)
            other = named(calling(bare, tool, 1, texts, **headers), words)
            long = Compared([mine, other])
            await long.run(1, seconds)
            long.show(figures, 1)
            pipe = await asyncio.to_thread(long_over_pipe, tool, texts[0])
            figures.show(f"directly over a pipe, {words}", f"p50 {pipe * 1e6:,.0f} us")
            figures.at_most(
                f"{words}, against the raw relay",
                long.p50[mine.name] / long.p50[other.name],
                1.3,
                "x",
            )
            if tool == "big":
                ms = long.p50[mine.name] * 1e3
                figures.at_most(f"{words} through the gateway", ms, 1.6, " ms")
        figures.show("memory", f"{ours.process.memory_info().rss / 1e6:,.0f} MB")


async def alone(figures: Figures, ours: Target, theirs: Target, seconds: float) -> None:
    """One call at a time."""
    single = Compared([ours, theirs])
    await single.run(1, seconds)
    single.show(figures, 1)
    pipe = statistics.median([await over_pipe() for _ in range(5)])
    figures.show("directly over a pipe, 1 at once", f"p50 {pipe * 1e6:,.0f} us")
    added = single.p50[ours.name] - pipe
    figures.at_most("added to a call by the gateway", added * 1e3, 0.25, " ms")
    ratio = single.p50[ours.name] / single.p50[theirs.name]
    figures.show("a call, against the raw relay of callbacks", f"{ratio:.3g}x")


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    figures = Figures()
    figures.show("cores", str(os.cpu_count()))
    with tempfile.TemporaryDirectory() as folder:
        uvloop.run(measure(figures, Path(folder), seconds))
    figures.leave()


if __name__ == "__main__":
    main()
