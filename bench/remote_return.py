"""How soon a remote server that was away answers calls again: `python -m bench.remote_return`.

The server is ended, stays away for some time, and is started anew; an agent calls a tool of it four
times a second all the while. What counts is the time from the moment when the server accepts
connections to the end of the first call that it answers.
"""

import asyncio
import sys
import time
from contextlib import suppress
from typing import Final

from bench.gateway_targets import running
from bench.measuring import Figures
from mcpyard import Yard
from mcpyard.domain.errors import YardError
from tests.free_ports import free_port

ABSENCES: Final = (1.0, 3.0, 8.0, 20.0)
"""Seconds: within the restarts, between two of them, and after them."""

MOST: Final = 2.0


async def accepts(port: int) -> float:
    """When something listens there."""
    while True:
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return time.monotonic()
        await asyncio.sleep(0.005)


async def answered(yard: Yard) -> float:
    """When a call is answered at last."""
    while True:
        with suppress(YardError):
            await yard.call("mcp_echo_echo", {"text": "x"}, timeout=5)
            return time.monotonic()
        await asyncio.sleep(0.25)


async def measure(figures: Figures) -> None:
    port = free_port()
    command = [sys.executable, "-m", "bench.remote_server", str(port)]
    server = {"type": "http", "url": f"http://127.0.0.1:{port}/mcp", "wanted": "running"}
    async with Yard.open(servers={"echo": server}) as yard:
        for absence in ABSENCES:
            async with running(command):
                await accepts(port)
                await answered(yard)
            caller = asyncio.create_task(answered(yard))
            await asyncio.sleep(absence)
            offered = [each.stale for each in yard.tools()]
            figures.at_least(f"cached tools after {absence:g} s away", len(offered), 1)
            async with running(command):
                back = await accepts(port)
                seconds = await caller - back
                figures.at_most(f"first answer after {absence:g} s away", seconds, MOST, " s")


def main() -> None:
    figures = Figures()
    asyncio.run(measure(figures))
    figures.leave()


if __name__ == "__main__":
    main()
