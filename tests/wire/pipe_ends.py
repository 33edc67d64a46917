"""The other ends of a link's pipes, played by a test."""

import asyncio
import contextlib
import os
from collections.abc import AsyncGenerator
from dataclasses import dataclass

from mcpyard.domain.cause import Cause
from mcpyard.wire.stdio import ExplainLoss, StdioLink


@dataclass
class Child:
    """The other ends of the pipes, played by the test."""

    stdin: int
    stdout: int
    ours: tuple[int, int]

    def say(self, data: bytes) -> None:
        os.write(self.stdout, data)

    async def say_all(self, data: bytes) -> None:
        os.set_blocking(self.stdout, True)
        view = memoryview(data)
        await asyncio.to_thread(
            lambda: [
                os.write(self.stdout, view[at : at + 65536]) for at in range(0, len(view), 65536)
            ]
        )

    async def hear(self) -> list[bytes]:
        return (await asyncio.to_thread(os.read, self.stdin, 1 << 20)).splitlines()

    def die(self) -> None:
        for number in (self.stdin, self.stdout):
            with contextlib.suppress(OSError):
                os.close(number)


class Recording:
    """A receiver that keeps everything."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []
        self.lost_with: asyncio.Future[Cause] = asyncio.get_running_loop().create_future()
        self.notices: list[object] = []
        self.wanted = 0
        self.enough = asyncio.Event()

    def message(self, frame: bytes, stream: int | None) -> bool:
        assert stream is None
        self.frames.append(frame)
        if len(self.frames) >= self.wanted:
            self.enough.set()
        return not frame.startswith(b"useless")

    def noise(self, reason: str, sample: bytes) -> None:
        self.notices.append((reason, sample[:20]))

    def failed(self, request: int, cause: Cause) -> None:
        self.notices.append((request, cause.code))

    def lost(self, cause: Cause) -> None:
        self.lost_with.set_result(cause)

    async def until(self, count: int) -> None:
        self.wanted = count
        if len(self.frames) < count:
            self.enough.clear()
            await self.enough.wait()


def child() -> Child:
    theirs_in, ours_out = os.pipe()
    ours_in, theirs_out = os.pipe()
    return Child(theirs_in, theirs_out, (ours_out, ours_in))


@contextlib.asynccontextmanager
async def linked(
    receiver: Recording, limit: int = 1 << 20, explain: ExplainLoss | None = None
) -> AsyncGenerator[tuple[StdioLink, Child]]:
    other = child()
    link = StdioLink(*other.ours, limit=limit, explain_loss=explain)
    await link.open(receiver)
    try:
        yield link, other
    finally:
        await link.close()
        other.die()
