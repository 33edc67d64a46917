"""Waiting for things that processes do."""

import asyncio
import os
from collections.abc import Callable

from mcpyard.runtime.processes.table import read_process


async def eventually(condition: Callable[[], bool], seconds: float = 1.0) -> bool:
    """Whether a condition that nothing tells us about comes true in time."""
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while not condition():
        if loop.time() > until:
            return False
        await asyncio.sleep(0.01)
    return True


def alive(pid: int) -> bool:
    row = read_process(pid)
    return row is not None and not row.dying


def none_alive(pids: list[int]) -> Callable[[], bool]:
    return lambda: not any(map(alive, pids))


async def read_some(fd: int) -> bytes:
    """What comes next out of a non-blocking descriptor; nothing at its end."""
    loop = asyncio.get_running_loop()
    readable = loop.create_future()
    loop.add_reader(fd, lambda: readable.done() or readable.set_result(None))
    try:
        await asyncio.wait_for(readable, 10)
    finally:
        loop.remove_reader(fd)
    return os.read(fd, 1 << 16)


async def read_line(fd: int) -> str:
    text = b""
    while not text.endswith(b"\n") and (part := await read_some(fd)):
        text += part
    return text.decode().strip()


async def read_pids(fd: int) -> list[int]:
    return [int(word) for word in (await read_line(fd)).split()]
