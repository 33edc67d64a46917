"""What an import, one more server and an edit by hand cost with many: `python -m bench.imports`.

Each is a real `Yard` over a real home and a real project's file; every server is disabled, so that
nothing but the edit is measured. Beside each stands the bare limit of the same run: to parse the
file's JSON and to write it atomically and durably.
"""

import asyncio
import contextlib
import json
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import uvloop

from bench.measuring import Figures
from mcpyard import Yard
from mcpyard.sources.writing import edit_file
from mcpyard.yard.trust import ApprovalPolicy

SIZES = (100, 300, 900)
IMPORT_LIMIT = 2.0
ADD_LIMIT = 2.0
HAND_LIMIT = 0.5
RUNS = 9
ADDS = 41
"""Each takes about a millisecond, in which a busy machine counts for much."""


def entry(number: int) -> dict[str, object]:
    args = ["-y", "@example/server", "--number", str(number)]
    return {
        "command": "npx",
        "args": args,
        "env": {"LEVEL": "info"},
        "transport": "stdio",
        "enabled": False,
    }


def text_of(count: int, marked: str = "") -> str:
    servers = {f"server {number}": entry(number) for number in range(count)}
    servers["marked"] = {**entry(count), "args": [marked]}
    return json.dumps({"mcpServers": servers}, indent=2)


@contextlib.asynccontextmanager
async def opened(count: int, scope: str = "project") -> AsyncGenerator[tuple[Yard, Path]]:
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        (project / ".mcp.json").write_text(text_of(count if scope == "project" else 0))
        policy = ApprovalPolicy(named=frozenset({project}))
        async with Yard.open(project, home=home, approval=policy) as yard:
            own = range(count if scope == "user" else 0)
            await yard.register_all({**entry(n), "name": f"own {n}", "scope": scope} for n in own)
            yield yard, project / ".mcp.json"


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


def bare(folder: Path, count: int) -> float:
    """Seconds to parse the JSON of so many entries and to write it anew, durably."""
    path = folder / "bare.json"
    path.write_text(text_of(count))
    times: list[float] = []
    for _ in range(RUNS):
        began = time.perf_counter()
        json.loads(path.read_text())
        edit_file(path, lambda text: text + "\n")
        times.append(time.perf_counter() - began)
    return statistics.median(times)


async def import_many(count: int, scope: str) -> tuple[float, float]:
    """Seconds of an import of so many, and of the bare limit."""
    bodies: list[dict[str, object]] = [
        {**entry(number), "name": f"new {number}", "scope": scope, "start": False}
        for number in range(count)
    ]
    async with opened(0) as (yard, path):
        outcomes: list[Any] = []

        async def work() -> None:
            outcomes.extend(await yard.register_all(bodies))

        took = await timed(work)
        names = {each.name for each in outcomes}
        if len(names) != count:
            raise SystemExit(f"{len(names)} of {count} were imported")
        return took, bare(path.parent, count)


async def add_one(counts: tuple[int, int], scope: str) -> tuple[list[float], float]:
    """CPU seconds of adding one server to few and to many, by turns, and the bare limit."""
    async with opened(counts[0], scope) as (few, _), opened(counts[1], scope) as (many, path):
        took: tuple[list[float], list[float]] = [], []
        for number in range(ADDS):
            body = {**entry(number), "name": f"new {number}", "scope": scope, "start": False}
            for yard, times in zip((few, many), took, strict=True):
                began = time.process_time()
                await yard.register(body)
                times.append(time.process_time() - began)
        return [*map(statistics.median, took)], bare(path.parent, counts[1])


async def edit_by_hand(count: int) -> tuple[float, float]:
    """Seconds until an edit of the file by another program is in force, at the median."""
    took: list[float] = []
    async with opened(count) as (yard, path):
        for number in range(RUNS):
            events = yard.events()
            path.write_text(text_of(count, f"edit {number}"))
            began = time.perf_counter()
            async for event in events:
                waiting = yard.server("marked").waiting
                config = waiting.definition.config if waiting else yard.server("marked").config
                if event.kind == "documents" and f"edit {number}" in str(config):
                    break
            took.append(time.perf_counter() - began)
            events.finish()
        return statistics.median(took), bare(path.parent, count)


async def measure(figures: Figures) -> None:
    for scope in ("project", "user"):
        for count in SIZES:
            took, limit = await import_many(count, scope)
            name = f"import of {count} ({scope}), {took / limit:.1f} x bare"
            if count == SIZES[-1]:
                figures.at_most(name, took, IMPORT_LIMIT, " s")
            else:
                figures.show(name, f"{took:.3g} s")
        (few, many), limit = await add_one((10, 1000), scope)
        figures.show(f"one more at 10 ({scope}), CPU", f"{few * 1e3:.1f} ms")
        name = f"one more at 1,000 ({scope}), {many / limit:.1f} x bare, over that at 10"
        figures.at_most(name, many / few, ADD_LIMIT)
    took, limit = await edit_by_hand(3000)
    name = f"an edit by hand of 3,000 entries, {took / limit:.1f} x bare"
    figures.at_most(name, took, HAND_LIMIT, " s")


def main() -> None:
    figures = Figures()
    uvloop.run(asyncio.wait_for(measure(figures), 300))
    figures.leave()


if __name__ == "__main__":
    main()
