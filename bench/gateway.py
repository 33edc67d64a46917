"""The gateway compared with other gateways: `python -m bench.gateway [SECONDS] [calls|big|lists]`.

In one run, before the same echo server: calls a second at concurrency 64 against mcp-hub, mcp-proxy
and a bare ASGI route; what it adds to a single call over a pipe; a result of 1 MB; the list of
200 servers' tools; memory over 100,000 calls. Rounds are interleaved and medians compared, since
the machine may have other work.
"""

import asyncio
import fcntl
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import uvloop

from bench.gateway_load import Tally, load, post
from bench.gateway_targets import (
    ORDINARY,
    TEXTS,
    TOKEN,
    Door,
    Target,
    bare,
    call,
    hub,
    piped,
    proxy,
    session_of,
    until_answered,
    yard,
)
from bench.measuring import Figures, percentile

WIDTH = 64
ROUNDS = 5
PAUSE = 0.5
LONG = 100_000
BIG = 1_000_000
PIPE_BYTES = 1 << 20
SERVERS, TOOLS = 200, 10
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
MODERN = {"MCP-Protocol-Version": "2026-07-28", "Accept": "application/json, text/event-stream"}


def project(command: Sequence[str]) -> dict[str, Any]:
    return {"command": command[0], "args": [*command[1:]], "transport": "stdio"}


def modern(door: Door, method: str, body: bytes, name: str = "") -> bytes:
    headers = {**TOKEN, **MODERN, "Mcp-Method": method, **({"Mcp-Name": name} if name else {})}
    return post(door.path, body, **headers)


def of_era(door: Door, width: int) -> Target:
    """Calls in the modern era, which need no session."""
    name = "mcp_echo_echo"
    bodies = [[call(n, name, text, _meta=META) for text in TEXTS] for n in range(width)]
    requests = [[modern(door, "tools/call", body, name) for body in row] for row in bodies]
    return Target("mcpyard, modern client", door.port, requests, b'"xxx', door.process)


async def measure_calls(target: Target, width: int, seconds: float) -> tuple[Tally, float]:
    """What came back, and the processor time of each call."""
    before = target.cpu()
    tally = await load(target.port, target.requests[:width], target.good, seconds=seconds)
    if tally.bad:
        raise RuntimeError(f"{target.name}: {tally.bad} bad answers")
    return tally, (target.cpu() - before) / len(tally.times)


class Compared:
    """Targets asked in turn, round by round, each round begun by another."""

    def __init__(self, targets: Sequence[Target]) -> None:
        self._targets = targets
        self.rates: dict[str, float] = {}
        self.p50: dict[str, float] = {}
        self.cpu: dict[str, float] = {}

    async def run(self, width: int, seconds: float) -> None:
        rounds: dict[str, list[tuple[float, float, float]]] = {}
        for first in range(ROUNDS):
            turn = first % len(self._targets)
            for target in [*self._targets[turn:], *self._targets[:turn]]:
                # What one leaves undone when its callers go is not the next one's affair.
                await asyncio.sleep(PAUSE)
                tally, cpu = await measure_calls(target, width, seconds)
                row = (tally.rate, percentile(tally.times, 0.5), cpu)
                rounds.setdefault(target.name, []).append(row)
        for name, rows in rounds.items():
            medians = [statistics.median(column) for column in zip(*rows, strict=True)]
            self.rates[name], self.p50[name], self.cpu[name] = medians

    def show(self, figures: Figures, width: int) -> None:
        for name, rate in self.rates.items():
            times = f"p50 {self.p50[name] * 1e6:,.0f} us, CPU {self.cpu[name] * 1e6:,.0f} us a call"
            figures.show(f"{name}, {width} at once", f"{rate:,.0f}/s, {times}")


async def over_pipe(count: int = 2_000) -> float:
    """The median of a call straight to the server."""
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(*ORDINARY, stdin=pipe, stdout=pipe)
    assert child.stdin
    assert child.stdout
    line, times = call(1, "echo", "x" * 100) + b"\n", list[float]()
    for _ in range(count):
        began = time.perf_counter()
        child.stdin.write(line)
        await child.stdout.readline()
        times.append(time.perf_counter() - began)
    child.stdin.close()
    await child.wait()
    return percentile(times, 0.5)


def big_over_pipe(count: int = 300) -> float:
    """The median of a long result straight from the server, read in the least number of calls."""
    line, times = call(1, "big", str(BIG)) + b"\n", list[float]()
    with subprocess.Popen(ORDINARY, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin
        assert child.stdout
        into, out = child.stdin.fileno(), child.stdout.fileno()
        fcntl.fcntl(out, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        for _ in range(count):
            began = time.perf_counter()
            os.write(into, line)
            while not os.read(out, PIPE_BYTES).endswith(b"\n"):
                pass
            times.append(time.perf_counter() - began)
    return percentile(times, 0.5)


async def calls(figures: Figures, folder: Path, seconds: float) -> None:
    async with AsyncExitStack() as stack:
        door = await stack.enter_async_context(yard(folder, {"echo": project(ORDINARY)}))
        ours = await session_of(door, "mcp_echo_echo", WIDTH, **TOKEN)
        route = await stack.enter_async_context(bare(WIDTH, 100))
        peers = [await stack.enter_async_context(each(WIDTH)) for each in (hub, proxy)]
        compared = Compared([ours, of_era(door, WIDTH), route, *peers])
        await compared.run(WIDTH, seconds)
        compared.show(figures, WIDTH)
        rate = compared.rates[ours.name]
        figures.at_least("against mcp-hub", rate / compared.rates[peers[0].name], 2, "x")
        figures.at_least("against mcp-proxy", rate / compared.rates[peers[1].name], 10, "x")
        figures.at_least(
            "against a bare uvicorn route", rate / compared.rates[route.name], 0.5, "x"
        )
        alone = Compared([ours, of_era(door, 1), route])
        await alone.run(1, seconds)
        alone.show(figures, 1)
        pipe = statistics.median([await over_pipe() for _ in range(ROUNDS)])
        figures.show("directly over a pipe, 1 at once", f"p50 {pipe * 1e6:,.0f} us")
        added = (alone.p50[ours.name] - pipe) / alone.p50[route.name]
        figures.at_most("added to a call, against a bare round trip", added, 3, "x")
        await memory(figures, ours)


async def memory(figures: Figures, ours: Target) -> None:
    async def grown(count: int) -> float:
        await load(ours.port, ours.requests, ours.good, count=count)
        return ours.process.memory_info().rss / 1e6

    before = await grown(LONG // 5)
    figures.at_most(f"{LONG:,} calls: memory grows by", await grown(LONG) - before, 2, " MB")


async def big(figures: Figures, folder: Path, seconds: float) -> None:
    async with (
        yard(folder, {"echo": project(ORDINARY)}) as door,
        bare(1, BIG) as route,
        piped("big", str(BIG)) as floor,
    ):
        ours = await session_of(door, "mcp_echo_echo", 1, **TOKEN)
        head = ours.requests[0][0].split(b"Content-Length")[0]
        body = call(2, "mcp_echo_big", str(BIG))
        request = head + f"Content-Length: {len(body)}\r\n\r\n".encode() + body
        wide = Target("mcpyard, 1 MB", ours.port, [[request]], ours.good, ours.process)
        named = replace(route, name="bare uvicorn route, 1 MB")
        through = replace(floor, name="bare route and a pipe, 1 MB")
        compared = Compared([wide, named, through])
        await compared.run(1, seconds)
        compared.show(figures, 1)
        times = compared.p50[wide.name] / compared.p50[named.name]
        figures.at_most("a result of 1 MB, against a bare route", times, 2, "x")
        times = compared.p50[wide.name] / compared.p50[through.name]
        figures.show("a result of 1 MB, against a bare route and a pipe", f"{times:.3g}x")
        pipe = await asyncio.to_thread(big_over_pipe)
        figures.show("directly over a pipe, 1 MB", f"p50 {pipe * 1e6:,.0f} us")
        times = pipe / compared.p50[named.name]
        figures.show("directly over a pipe, 1 MB, against a bare route", f"{times:.3g}x")


async def lists(figures: Figures, folder: Path, seconds: float) -> None:
    many = [*ORDINARY, str(TOOLS)]
    async with yard(folder, {f"server {n:03}": project(many) for n in range(SERVERS)}) as door:
        asking = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
        headers = {**TOKEN, **MODERN, "Mcp-Method": "tools/list"}
        size = count = 0
        while count < SERVERS * TOOLS:
            answer = await until_answered(door.port, "/mcp", asking, **headers)
            size, count = len(answer.content), len(answer.json()["result"]["tools"])
            await asyncio.sleep(0.2)
        request = modern(door, "tools/list", json.dumps(asking).encode())
        ours = Target("mcpyard, tools/list", door.port, [[request]], b'"tools"', door.process)
        async with bare(1, size) as route:
            compared = Compared([ours, route])
            await compared.run(1, seconds)
        compared.show(figures, 1)
        figures.show(f"tools of {SERVERS} servers", f"{count} tools, {size:,} bytes")
        times = compared.p50[ours.name] / compared.p50[route.name]
        figures.at_most("tools/list, against those bytes from a bare route", times, 3, "x")


def main() -> None:
    seconds = next((float(word) for word in sys.argv[1:] if not word.isalpha()), 2.0)
    figures = Figures()
    figures.show("cores", str(os.cpu_count()))
    targets = {word for word in sys.argv[1:] if word.isalpha()}
    with tempfile.TemporaryDirectory() as folder:
        for part in (calls, big, lists):
            if targets and part.__name__ not in targets:
                continue
            uvloop.run(part(figures, Path(folder) / part.__name__, seconds))
    figures.leave()


if __name__ == "__main__":
    main()
