"""A network that can be cut: a TCP relay in front of a database, or of a node."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Literal

CutAt = Literal["", "before", "after"]
"""Where a COMMIT is cut: before the database gets it, or after, before its answer arrives."""


class Relay:
    """Passes bytes on between clients and one port, until it is cut.

    Attributes:
        plan: Says for each COMMIT that passes whether it is cut.
        cuts: How many were.
        open: Whether new connections are taken; bytes of others stand still otherwise.
    """

    def __init__(self, target: int, host: str = "127.0.0.1") -> None:
        self.target = target
        self.host = host
        self.plan: Callable[[], CutAt] = lambda: ""
        self.cuts = 0
        self.port = 0
        self._server: asyncio.Server | None = None
        self._links: set[asyncio.StreamWriter] = set()
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        self._flowing.set()
        if self._server:
            self._server.close()
        self.cut()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._server:
            await self._server.wait_closed()

    def cut(self) -> None:
        """End every connection."""
        for link in [*self._links]:
            link.transport.abort()

    def freeze(self) -> None:
        """Let nothing through, and close nothing: as a machine that is gone."""
        self._flowing.clear()

    def thaw(self) -> None:
        self._flowing.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await self._relay(reader, writer)
        self._tasks.discard(task)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link = _Link(self, writer)
        self._links.add(writer)
        await self._flowing.wait()
        try:
            far_reader, far_writer = await asyncio.open_connection(self.host, self.target)
        except OSError:
            writer.transport.abort()
            self._links.discard(writer)
            return
        self._links.add(far_writer)
        link.far = far_writer
        try:
            await asyncio.gather(link.requests(reader), link.answers(far_reader))
        finally:
            for each in (writer, far_writer):
                each.transport.abort()
                self._links.discard(each)

    async def flowing(self) -> None:
        await self._flowing.wait()


class _Link:
    """One connection through the relay."""

    def __init__(self, relay: Relay, near: asyncio.StreamWriter) -> None:
        self.relay = relay
        self.near = near
        self.far: asyncio.StreamWriter = near
        self._swallow = False

    async def requests(self, reader: asyncio.StreamReader) -> None:
        while content := await reader.read(65536):
            await self.relay.flowing()
            where = self.relay.plan() if b"COMMIT\0" in content else ""
            if where:
                self.relay.cuts += 1
            if where == "before":
                break
            self._swallow = where == "after"
            self.far.write(content)
            await self.far.drain()
        self._abort()

    async def answers(self, reader: asyncio.StreamReader) -> None:
        while content := await reader.read(65536):
            await self.relay.flowing()
            if self._swallow:
                break
            self.near.write(content)
            await self.near.drain()
        self._abort()

    def _abort(self) -> None:
        self.near.transport.abort()
        self.far.transport.abort()


@asynccontextmanager
async def relayed(target: int) -> AsyncGenerator[Relay]:
    """A relay in front of a port for the block."""
    relay = Relay(target)
    await relay.start()
    try:
        yield relay
    finally:
        await relay.close()
