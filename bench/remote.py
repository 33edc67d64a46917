"""What a call to a remote server costs beside one over a pipe: `python -m bench.remote [SECONDS]`.

Three gateways in one run, each in a process of its own: before an echo server on a pipe, before one
behind streamable HTTP, and before the same with the transport of httpx2 instead of our own. They
are asked in turn, and what counts is the ratio of their processor time for each call.
"""

import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import uvloop

from bench.gateway import Compared, project
from bench.gateway_targets import ORDINARY, TOKEN, Target, running, session_of, yard
from bench.measuring import Figures
from tests.free_ports import free_port

WIDTHS: Final = (64, 8, 1)
MOST: Final = 4.0
"""Times the processor time of a call over a pipe, at the largest width."""

LIBRARY: Final = """
from mcpyard.__main__ import run
from mcpyard.wire.remote import remote_errors
from tests.free_ports import free_port
remote_errors.direct_transport = lambda url: None
run()
"""
PIPE, OURS, HTTPX = "pipe", "remote", "remote, transport of httpx2"


async def open_targets(stack: AsyncExitStack, folder: Path) -> list[Target]:
    port = free_port()
    await stack.enter_async_context(
        running([sys.executable, "-m", "bench.remote_server", str(port)])
    )
    remote = {"type": "http", "url": f"http://127.0.0.1:{port}/mcp"}
    ours = [sys.executable, "-m", "mcpyard"]
    kinds = {
        PIPE: (project(ORDINARY), ours),
        OURS: (remote, ours),
        HTTPX: (remote, [sys.executable, "-c", LIBRARY]),
    }
    targets: list[Target] = []
    for name, (server, program) in kinds.items():
        opened = yard(folder / name.replace(" ", "-"), {"echo": server}, program)
        door = (await stack.enter_async_context(opened))._replace(name=name)
        targets.append(await session_of(door, "mcp_echo_echo", WIDTHS[0], **TOKEN))
    return targets


async def measure(seconds: float, figures: Figures) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with AsyncExitStack() as stack:
            targets = await open_targets(stack, Path(folder))
            for width in WIDTHS:
                compared = Compared(targets)
                await compared.run(width, seconds)
                compared.show(figures, width)
                cpu = compared.cpu
                ratio, name = cpu[OURS] / cpu[PIPE], f"CPU of remote over pipe, {width} at once"
                if width == WIDTHS[0]:
                    figures.at_most(name, ratio, MOST, "x")
                else:
                    figures.show(name, f"{ratio:.3g}x")
                saved = cpu[HTTPX] / cpu[OURS]
                figures.show(
                    f"CPU with the transport of httpx2 over ours, {width}", f"{saved:.3g}x"
                )


def main() -> None:
    figures = Figures()
    uvloop.run(measure(float(sys.argv[1]) if len(sys.argv) > 1 else 2.0, figures))
    figures.leave()


if __name__ == "__main__":
    main()
