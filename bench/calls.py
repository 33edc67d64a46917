"""Calls a second, at concurrency 64, over stdio: `python -m bench.calls [SECONDS] [--long]`.

The same echo server is called through a yard, through the official client, and by the least a
client can do on the same event loop: write JSON lines, read JSON lines, match ids. The server is an
ordinary one, which reads and writes an object a line; a second one, which cuts corners that no
real server can, shows what the clients alone could do, and is held against nothing. With `--long`,
100,000 calls more show whether memory or descriptors grow.
"""

import asyncio
import os
import statistics
import subprocess
import sys
from itertools import count

import orjson
import uvloop
from mcp import Client, StdioServerParameters

from bench.measuring import ECHO, Figures, definition, open_files, rate, rss
from mcpyard import Yard

ORDINARY = [*ECHO, "ordinary"]
WIDTH = 64
ROUNDS = 3
LONG = 100_000
ARGUMENTS = {"text": "hello"}
CALL = {
    "method": "tools/call",
    "params": {"name": "echo", "arguments": ARGUMENTS},
}


class Bare(asyncio.Protocol):
    """The yardstick: no time limits, no size limits, no checks."""

    def __init__(self) -> None:
        self.waiting: dict[int, asyncio.Future[object]] = {}
        self.numbers = count(1)
        self.rest = b""
        self.out: asyncio.WriteTransport | None = None

    def data_received(self, data: bytes) -> None:
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            message = orjson.loads(line)
            self.waiting.pop(message["id"]).set_result(message["result"])

    async def ask(self) -> object:
        number = next(self.numbers)
        future = self.waiting[number] = asyncio.get_running_loop().create_future()
        assert self.out is not None
        self.out.write(orjson.dumps({"jsonrpc": "2.0", "id": number, **CALL}) + b"\n")
        return await future


async def with_bare(seconds: float, server: list[str]) -> float:
    child = subprocess.Popen(server, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: ASYNC220
    loop = asyncio.get_running_loop()
    bare = Bare()
    assert child.stdin
    assert child.stdout
    bare.out, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, child.stdin)
    reading, _ = await loop.connect_read_pipe(lambda: bare, child.stdout)
    try:
        return await rate(bare.ask, WIDTH, seconds)
    finally:
        bare.out.close()
        reading.close()
        await asyncio.to_thread(child.wait)


async def with_sdk(seconds: float, server: list[str]) -> float:
    program, *args = server
    async with Client(StdioServerParameters(command=program, args=args)) as client:
        return await rate(lambda: client.call_tool("echo", ARGUMENTS), WIDTH, seconds)


async def with_yard(seconds: float, server: list[str]) -> float:
    async with Yard.open(servers={"echo": definition(server)}) as yard:
        await yard.settled("echo")
        name = str(yard.tools("echo")[0].exposed_name)
        return await rate(lambda: yard.call(name, ARGUMENTS), WIDTH, seconds)


async def long_run(figures: Figures) -> None:
    async with Yard.open(servers={"echo": definition(ECHO)}) as yard:
        await yard.settled("echo")
        name = str(yard.tools("echo")[0].exposed_name)

        async def many(calls: int) -> None:
            for _ in range(calls // WIDTH):
                await yard.call(name, ARGUMENTS)

        await asyncio.gather(*(many(LONG // 10) for _ in range(WIDTH)))
        memory, files = rss(), open_files()
        await asyncio.gather(*(many(LONG) for _ in range(WIDTH)))
        figures.at_most(f"{LONG:,} calls: memory grows by", rss() - memory, 1, " MB")
        figures.at_most(f"{LONG:,} calls: descriptors grow by", open_files() - files, 0)


def _measured(server: list[str], seconds: float) -> tuple[float, ...]:
    rounds = [
        [uvloop.run(way(seconds, server)) for way in (with_bare, with_sdk, with_yard)]
        for _ in range(ROUNDS)
    ]
    return tuple(statistics.median(column) for column in zip(*rounds, strict=True))


def main() -> None:
    words = [word for word in sys.argv[1:] if word != "--long"]
    seconds = float(words[0]) if words else 2.0
    figures = Figures()
    figures.show("cores", str(os.cpu_count()))
    bare, sdk, yard = _measured(ORDINARY, seconds)
    figures.show(f"bare pipes, {WIDTH} at once", f"{bare:,.0f}/s")
    figures.show(f"official client, {WIDTH} at once", f"{sdk:,.0f}/s")
    figures.show(f"yard.call, {WIDTH} at once", f"{yard:,.0f}/s")
    figures.at_least("mcpyard against the official client", yard / sdk, 8, "x")
    figures.at_least("mcpyard against bare pipes", yard / bare, 0.25, "x")
    bare, sdk, yard = _measured(ECHO, seconds)
    figures.show("a minimal server: bare pipes", f"{bare:,.0f}/s")
    figures.show("a minimal server: yard.call", f"{yard:,.0f}/s, {yard / bare:.2f}x")
    figures.show("a minimal server: official client", f"{sdk:,.0f}/s")
    if "--long" in sys.argv:
        uvloop.run(long_run(figures))
    figures.leave()


if __name__ == "__main__":
    main()
