"""A TCP relay that stands for the network between two nodes, and can be cut."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class Relay:
    """Forwards bytes to an address.

    Attributes:
        address: Where it listens, as HOST:PORT.
        accepted: How many connections were made to it.
        forwarded: How many bytes went through.
    """

    def __init__(self, target: str) -> None:
        host, _, port = target.rpartition(":")
        self._target = host, int(port)
        self._server: asyncio.Server | None = None
        self._open = asyncio.Event()
        self._open.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self.address = ""
        self.accepted = 0
        self.forwarded = 0

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, self._target[0], 0)
        host, port = self._server.sockets[0].getsockname()
        self.address = f"{host}:{port}"

    def cut(self) -> None:
        """Lose every packet, in silence: connections stay open, and nothing comes through."""
        self._open.clear()

    def reset(self) -> None:
        """Cut every connection at once, as a killed process does."""
        for writer in self._writers:
            writer.transport.abort()

    def heal(self) -> None:
        """Let packets through again; what was lost meanwhile stays lost."""
        self.reset()
        self._open.set()

    async def close(self) -> None:
        if self._server:
            self._server.close()
        self.reset()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        self.accepted += 1
        self._writers.add(writer)
        out: asyncio.StreamWriter | None = None
        try:
            back, out = await asyncio.open_connection(*self._target)
            self._writers.add(out)
            await asyncio.gather(self._pump(reader, out), self._pump(back, writer))
        except OSError:
            return
        except asyncio.CancelledError:
            return
        finally:
            self._tasks.discard(task)
            for each in (writer, out):
                if each is not None:
                    self._writers.discard(each)
                    each.transport.abort()

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            await self._open.wait()
            self.forwarded += len(data)
            writer.write(data)
            await writer.drain()
        writer.close()


@asynccontextmanager
async def relay_to(target: str) -> AsyncGenerator[Relay]:
    relay = Relay(target)
    await relay.start()
    try:
        yield relay
    finally:
        await relay.close()
