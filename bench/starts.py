"""How long a yard takes to start servers: `python -m bench.starts [SERVERS]`.

Against a bare script that spawns the same programs and shakes hands with them, as many at once.
"""

import asyncio
import os
import statistics
import sys
import time

import orjson
import uvloop

from bench.measuring import ZOO, Figures, all_connected, definition
from mcpyard import Yard

ROUNDS = 3
SERVER = [*ZOO, "good"]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "bare", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


async def with_bare(servers: int) -> float:
    places = asyncio.Semaphore(2 * (os.cpu_count() or 1))

    async def start() -> asyncio.subprocess.Process:
        async with places:
            pipe = asyncio.subprocess.PIPE
            child = await asyncio.create_subprocess_exec(
                *SERVER, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
            )
            assert child.stdin
            assert child.stdout
            child.stdin.write(orjson.dumps(INITIALIZE) + b"\n")
            orjson.loads(await child.stdout.readline())
            child.stdin.write(orjson.dumps(INITIALIZED) + b"\n")
            return child

    began = time.perf_counter()
    children = await asyncio.gather(*(start() for _ in range(servers)))
    took = time.perf_counter() - began
    await asyncio.gather(*(child.communicate(b"") for child in children))
    return took


async def with_yard(servers: int) -> float:
    began = time.perf_counter()
    definitions = {f"server-{number}": definition(SERVER) for number in range(servers)}
    async with Yard.open(servers=definitions) as yard:
        await all_connected(yard, servers)
        return time.perf_counter() - began


async def until_ready(servers: int) -> float:
    """How much later than the last connection `ready()` returns, in percent of its time."""
    began = time.perf_counter()
    definitions = {f"server-{number}": definition(SERVER) for number in range(servers)}
    async with Yard.open(servers=definitions) as yard:

        async def last() -> float:
            await all_connected(yard, servers)
            return time.perf_counter()

        watching = asyncio.create_task(last())
        state = await yard.ready(60)
        ready = time.perf_counter()
        assert len(state.connected) == servers
        connected = await watching
        return (ready - connected) / (connected - began) * 100


def main() -> None:
    servers = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    figures = Figures()
    # The first yard of a process also imports what it needs.
    uvloop.run(with_yard(1))
    rounds = [[uvloop.run(way(servers)) for way in (with_bare, with_yard)] for _ in range(ROUNDS)]
    bare, yard = (statistics.median(column) for column in zip(*rounds, strict=True))
    figures.show(f"{servers} servers by a bare script", f"{bare:.2f} s")
    figures.show(f"{servers} servers by mcpyard", f"{yard:.2f} s")
    figures.at_most("mcpyard against the bare script", yard / bare, 1.3, "x")
    later = statistics.median(uvloop.run(until_ready(servers)) for _ in range(ROUNDS))
    figures.at_most("ready() returns after the last connection by", later, 10, " %")
    figures.leave()


if __name__ == "__main__":
    main()
