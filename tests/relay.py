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
        origin: Says by its port who made a connection, for cuts of some connections only; blocks.
    """

    def __init__(self, target: int, host: str = "127.0.0.1") -> None:
        self.target = target
        self.host = host
        self.plan: Callable[[], CutAt] = lambda: ""
        self.cuts = 0
        self.port = 0
        self._server: asyncio.Server | None = None
        self.origin: Callable[[int], str] | None = None
        self._links: dict[asyncio.StreamWriter, str] = {}
        self._frozen: set[str] = set()
        self._thawed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        self._frozen.clear()
        self._thawed.set()
        if self._server:
            self._server.close()
        self.cut()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._server:
            await self._server.wait_closed()

    def cut(self, origin: str = "") -> None:
        """End every connection, or those of one origin."""
        for link, made_by in [*self._links.items()]:
            if origin in ("", made_by):
                link.transport.abort()

    def freeze(self, origin: str = "") -> None:
        """Let nothing, or nothing of one origin, through, but close nothing: a machine is gone."""
        self._frozen.add(origin)

    def thaw(self, origin: str = "") -> None:
        self._frozen.discard(origin)
        self._thawed.set()

    async def flowing(self, origin: str) -> None:
        while self._frozen & {"", origin}:
            self._thawed.clear()
            await self._thawed.wait()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await self._relay(reader, writer)
        self._tasks.discard(task)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        origin = ""
        self._links[writer] = origin
        if self.origin is not None:
            port: int = writer.get_extra_info("peername")[1]
            origin = self._links[writer] = await asyncio.to_thread(self.origin, port)
        await self.flowing(origin)
        try:
            far_reader, far_writer = await asyncio.open_connection(self.host, self.target)
        except OSError:
            writer.transport.abort()
            self._links.pop(writer, None)
            return
        self._links[far_writer] = origin
        link = _Link(self, writer, far_writer, origin)
        try:
            await asyncio.gather(link.requests(reader), link.answers(far_reader))
        finally:
            for each in (writer, far_writer):
                each.transport.abort()
                self._links.pop(each, None)


class _Link:
    """One connection through the relay."""

    def __init__(
        self, relay: Relay, near: asyncio.StreamWriter, far: asyncio.StreamWriter, origin: str
    ) -> None:
        self.relay = relay
        self.near = near
        self.far = far
        self._origin = origin
        self._swallow = False

    async def requests(self, reader: asyncio.StreamReader) -> None:
        while content := await reader.read(65536):
            await self.relay.flowing(self._origin)
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
            await self.relay.flowing(self._origin)
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
