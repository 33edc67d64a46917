"""`mcpyard stdio`: the running yard, for programs that only speak over pipes."""

import asyncio
import contextlib
import os
import signal
import stat
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final
from urllib.parse import quote

from mcpyard.cli.autostart import reach_yard
from mcpyard.cli.cli_errors import CliError
from mcpyard.client.gateway import Bridge
from mcpyard.client.http import HttpClient, NotReached
from mcpyard.store.home import Home
from mcpyard.wire.framer import LineFramer, OversizeLine
from mcpyard.wire.jsonrpc import RpcError, failure

_STDIN: Final = 0
_STDOUT: Final = 1
_PART: Final = 256 * 1024
_LAST_LINES: Final = 1.0

LONGEST_LINE: Final = 16 * 1024 * 1024
"""Far beyond what the gateway takes, so that it is the gateway that says no, and to whom."""

_UNANSWERABLE: Final = failure("", RpcError(-32600, "the message is too long")).replace(
    b'"id":""', b'"id":null'
)


def bridge(home: Path, profile: str | None) -> int:
    """Carry messages between our standard streams and the yard until the input ends."""
    path = "/mcp" if profile is None else f"/mcp/{quote(profile, safe='')}"
    try:
        asyncio.run(_run(home, path))
    finally:
        # They may be somebody else's terminal, too.
        for each in (_STDIN, _STDOUT):
            os.set_blocking(each, True)
    return 0


async def _run(home: Path, path: str) -> None:
    ended = asyncio.Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(each, ended.set)
    output = _Output()
    await output.open()
    bridge = Bridge(path, lambda: _reach(home), output.write_line)
    reading = asyncio.create_task(_read(bridge, output))
    waiting = asyncio.create_task(ended.wait())
    await asyncio.wait({reading, waiting}, return_when=asyncio.FIRST_COMPLETED)
    for task in (reading, waiting):
        task.cancel()
    await bridge.finish(force=ended.is_set())
    await output.close()
    # Where the program no longer reads, there is nobody left to tell.
    with contextlib.suppress(asyncio.CancelledError, ConnectionError):
        await reading


async def _reach(home: Path) -> HttpClient:
    try:
        running = await reach_yard(home)
    except CliError as error:
        print(error, file=sys.stderr, flush=True)
        raise NotReached(str(error)) from None
    return HttpClient(running, Home(home).token())


async def _read(bridge: Bridge, output: "_Output") -> None:
    framer = LineFramer(LONGEST_LINE)
    async for data in _input():
        for line in framer.feed(data):
            if isinstance(line, bytes):
                await bridge.take(line)
            elif isinstance(line, OversizeLine):
                await output.write_line(_UNANSWERABLE)


def _can_be_waited_for(stream: int) -> bool:
    """A file, or a device such as /dev/null, has at once all it will ever have."""
    mode = os.fstat(stream).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(stream)


async def _input() -> AsyncIterator[bytes]:
    if not _can_be_waited_for(_STDIN):
        while data := os.read(_STDIN, _PART):
            yield data
        return
    reader = asyncio.StreamReader(limit=_PART)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(_STDIN, "rb", 0, closefd=False)
    )
    try:
        while data := await reader.read(_PART):
            yield data
    finally:
        transport.close()


class _Output:
    """Our standard output; whoever writes waits until it is read."""

    def __init__(self) -> None:
        self._writer: asyncio.StreamWriter | None = None

    async def open(self) -> None:
        """Make it one that can be waited for, where that is possible."""
        if not _can_be_waited_for(_STDOUT):
            return
        loop, unread = asyncio.get_running_loop(), asyncio.StreamReader()
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(unread),
            os.fdopen(_STDOUT, "wb", 0, closefd=False),
        )
        self._writer = asyncio.StreamWriter(transport, protocol, None, loop)

    async def write_line(self, line: bytes) -> None:
        """Write a line."""
        if self._writer is None:
            os.write(_STDOUT, line + b"\n")
            return
        self._writer.write(line + b"\n")
        await self._writer.drain()

    async def close(self) -> None:
        """Write what is left, unless nobody reads it."""
        if self._writer is not None:
            self._writer.close()
            with contextlib.suppress(OSError, TimeoutError):
                await asyncio.wait_for(self._writer.wait_closed(), _LAST_LINES)
