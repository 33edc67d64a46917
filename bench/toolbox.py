"""What a toolbox costs: `python -m bench.toolbox [CALLS]`.

Calls of the same server go through the yard and through a toolbox in turn, one at a time; building
is measured on a yard of 200 servers with 25 tools each, which are there without any process.
"""

import asyncio
import gc
import statistics
import sys
import time
from collections.abc import Awaitable, Callable

import uvloop

from bench.measuring import ECHO, Figures, definition
from mcpyard import Toolbox, Yard
from mcpyard.domain.desired import Definition, Document, Owner
from mcpyard.domain.model import LocalConfig, Scope, Wanted
from mcpyard.testing import (
    FakeServers,
    FakeSource,
    ManualClock,
    VolatileMemory,
    VolatilePolicies,
)
from mcpyard.yard.toolbox.gathering import gather
from mcpyard.yard.yard import Ports, YardCore

SERVERS, TOOLS = 200, 25
ROUNDS = 15
ARGUMENTS = {"text": "hello"}
SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "description": "Where the file lies, from the root."},
        "lines": {"type": "array", "items": {"type": "integer"}, "maxItems": 2},
    },
    "required": ["path"],
}


async def timed(ask: Callable[[], Awaitable[object]], calls: int) -> float:
    """Microseconds a call."""
    began = time.perf_counter()
    for _ in range(calls):
        await ask()
    return (time.perf_counter() - began) / calls * 1e6


async def calls(figures: Figures, count: int) -> None:
    servers = {
        "echo": definition(ECHO),
        "with_fallback": definition(ECHO, fallback=["echo"]),
    }
    async with Yard.open(servers=servers) as yard:
        await asyncio.gather(*(yard.settled(name) for name in servers))
        box = yard.toolbox()
        ways: dict[str, Callable[[], Awaitable[object]]] = {
            "yard.call": lambda: yard.call("mcp_echo_echo", ARGUMENTS),
            "toolbox.call": lambda: box.call("mcp_echo_echo", ARGUMENTS),
            "yard.call, with an unused fallback server": lambda: yard.call(
                "mcp_with_fallback_echo", ARGUMENTS
            ),
        }
        taken: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, ask in ways.items():
                taken[name].append(await timed(ask, count))
    plain, boxed, with_fallback = (statistics.median(each) for each in taken.values())
    for name, each in taken.items():
        figures.show(name, f"{statistics.median(each):,.1f} us")
    figures.at_most("the toolbox adds", boxed - plain, 100, " us")
    figures.show("an unused fallback server adds", f"{with_fallback - plain:,.1f} us")


def full_yard() -> YardCore:
    servers = FakeServers()
    config = LocalConfig(command=["x"], wanted=Wanted.RUNNING)
    names = [f"server{number}" for number in range(SERVERS)]
    for name in names:
        servers.tools[name] = [
            {
                "name": f"tool{number}",
                "description": f"Does {name} {number}.",
                "inputSchema": SCHEMA,
            }
            for number in range(TOOLS)
        ]
    document = Document(Owner(Scope.CODE), tuple(Definition(name, config) for name in names))
    return YardCore(
        Ports(
            sources=[FakeSource(document)],
            memory=VolatileMemory(),
            policies=VolatilePolicies(),
            servers=servers,
            clock=ManualClock(),
            lookup={}.get,
        )
    )


async def building(figures: Figures) -> None:
    yard = full_yard()
    await yard.begin()
    try:
        gc.collect()
        built = [await milliseconds(lambda: Toolbox.of(gather(yard))) for _ in range(ROUNDS)]
        box = Toolbox.of(gather(yard))
        sought = [await milliseconds(lambda: box.search("does server7")) for _ in range(3)]
    finally:
        await yard.close()
    assert len(box) == SERVERS * TOOLS
    name = f"building from {SERVERS} servers x {TOOLS} tools"
    figures.show(f"{name}, the first time", f"{built[0]:,.1f} ms")
    figures.show(f"{name}, the slowest", f"{max(built):,.1f} ms")
    figures.at_most(f"{name}", statistics.median(built), 100, " ms")
    figures.show("searching them", f"{statistics.median(sought):,.1f} ms")


async def milliseconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    taken = (time.perf_counter() - began) * 1000
    await asyncio.sleep(0)
    return taken


def main() -> None:
    figures = Figures()
    uvloop.run(calls(figures, int(sys.argv[1]) if sys.argv[1:] else 1000))
    uvloop.run(building(figures))
    figures.leave()


if __name__ == "__main__":
    main()
