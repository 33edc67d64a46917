"""Round trips a second over pipes: our peer, and a session on it, against the bare minimum.

The yardstick is the least a program can do on the same event loop with the same child: write lines,
read lines, match ids. Run it with `python bench/wire.py [seconds]`.
"""

import asyncio
import itertools
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable

import uvloop

from mcpyard.domain.ports import CallTerms
from mcpyard.wire.call_attribution import CallsInFlight
from mcpyard.wire.eras import ClientFace, InitializeResult
from mcpyard.wire.peer import Peer
from mcpyard.wire.server_requests import refuse
from mcpyard.wire.session import ServerSession
from mcpyard.wire.stdio import StdioLink

CHILD = r"""
import os, re
number = re.compile(rb'"id":(\d+)')
answer = b'{"jsonrpc":"2.0","id":%b,"result":{"content":[{"type":"text","text":"hello"}]}}'
rest = b""
while data := os.read(0, 1 << 20):
    *lines, rest = (rest + data).split(b"\n")
    out = b"".join(answer % number.search(line)[1] + b"\n" for line in lines)
    while out:
        out = out[os.write(1, out):]
"""
PARAMS = b'{"name":"echo","arguments":{"text":"hello"}}'
ARGUMENTS = b'{"text":"hello"}'
TERMS = CallTerms(timeout=30)
ROUNDS = 3

Ask = Callable[[], Awaitable[object]]


def spawn() -> tuple[subprocess.Popen[bytes], int, int]:
    child_in, stdin = os.pipe()
    stdout, child_out = os.pipe()
    child = subprocess.Popen([sys.executable, "-c", CHILD], stdin=child_in, stdout=child_out)
    os.close(child_in)
    os.close(child_out)
    return child, stdin, stdout


class Bare(asyncio.Protocol):
    """The yardstick: no envelope, no time limits, no limits at all."""

    def __init__(self) -> None:
        self.waiting: dict[bytes, asyncio.Future[bytes]] = {}
        self.numbers = itertools.count(1)
        self.rest = b""
        self.out: asyncio.WriteTransport | None = None

    def data_received(self, data: bytes) -> None:
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            self.waiting.pop(line[22 : line.index(b",", 22)]).set_result(line)

    async def ask(self) -> bytes:
        number = b"%d" % next(self.numbers)
        future = asyncio.get_running_loop().create_future()
        self.waiting[number] = future
        assert self.out is not None
        body = b'{"jsonrpc":"2.0","id":%b,"method":"tools/call","params":%b}\n' % (number, PARAMS)
        self.out.write(body)
        return await future


async def rate(ask: Ask, width: int, seconds: float) -> float:
    end = time.perf_counter() + seconds
    done = 0

    async def worker() -> None:
        nonlocal done
        while time.perf_counter() < end:
            await ask()
            done += 1

    started = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(width)))
    return done / (time.perf_counter() - started)


async def with_bare(width: int, seconds: float) -> float:
    child, stdin, stdout = spawn()
    loop = asyncio.get_running_loop()
    bare = Bare()
    out, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, os.fdopen(stdin, "wb", 0))
    read, _ = await loop.connect_read_pipe(lambda: bare, os.fdopen(stdout, "rb", 0))
    bare.out = out
    try:
        return await rate(bare.ask, width, seconds)
    finally:
        out.close()
        read.close()
        await asyncio.to_thread(child.wait)


async def with_session(width: int, seconds: float) -> float:
    child, stdin, stdout = spawn()
    peer = Peer(StdioLink(stdin, stdout))
    await peer.open()
    result = InitializeResult("modern", "2026-07-28", {}, {}, None)
    session = ServerSession(peer, ClientFace("bench", "1"), result, CallsInFlight(refuse))
    try:
        return await rate(lambda: session.call_tool("echo", ARGUMENTS, TERMS), width, seconds)
    finally:
        await session.close()
        await asyncio.to_thread(child.wait)


async def with_peer(width: int, seconds: float) -> float:
    child, stdin, stdout = spawn()
    peer = Peer(StdioLink(stdin, stdout))
    await peer.open()
    try:
        return await rate(lambda: peer.request("tools/call", PARAMS, TERMS), width, seconds)
    finally:
        await peer.close()
        await asyncio.to_thread(child.wait)


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    for width in (1, 64):
        rounds = [
            [uvloop.run(way(width, seconds)) for way in (with_bare, with_peer, with_session)]
            for _ in range(ROUNDS)
        ]
        bare, peer, session = (statistics.median(column) for column in zip(*rounds, strict=True))
        print(
            f"concurrency {width:3}: bare {bare:9,.0f}/s  peer {peer:9,.0f}/s ({peer / bare:.2f})"
            f"  modern session {session:9,.0f}/s ({session / bare:.2f})"
        )


if __name__ == "__main__":
    main()
