"""A load generator that is not the bottleneck: sockets, requests made beforehand, answers counted.

Each connection sends its requests in turn, the next one when the answer to the last is whole, by
its length or by the end of its chunks; nothing of it is decoded.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Final, cast

_END_OF_HEAD: Final = b"\r\n\r\n"
_LENGTH: Final = b"content-length:"
_LAST_CHUNK: Final = b"0\r\n\r\n"


@dataclass(slots=True)
class Tally:
    """What came back: times in seconds, and answers that were none."""

    times: list[float] = field(default_factory=list[float])
    bad: int = 0
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Answers a second."""
        return len(self.times) / self.seconds


class Connection(asyncio.Protocol):
    """One connection that asks without a pause."""

    def __init__(
        self, requests: Sequence[bytes], tally: Tally, more: Callable[[], bool], good: bytes
    ) -> None:
        self._requests = cycle(requests)
        self._tally = tally
        self._more = more
        self._good = good
        self._came: list[bytes] = []
        self._missing = -1
        self._began = 0.0
        self._transport: asyncio.Transport | None = None
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._ask()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_result(None)
            self._tally.bad += exc is not None or bool(self._came)

    def data_received(self, data: bytes) -> None:
        self._came.append(data)
        if self._missing < 0:
            self._read_head()
        else:
            self._missing -= len(data)
        chunked = self._missing < 0 and data.endswith(_LAST_CHUNK)
        if self._missing == 0 or chunked:
            self._answered()

    def _read_head(self) -> None:
        came = b"".join(self._came)
        self._came = [came]
        end = came.find(_END_OF_HEAD)
        at = came[: max(end, 0)].lower().find(_LENGTH)
        if end >= 0 and at >= 0:
            length = int(came[at + len(_LENGTH) : came.find(b"\r", at)])
            self._missing = end + len(_END_OF_HEAD) + length - len(came)

    def _answered(self) -> None:
        self._tally.times.append(time.perf_counter() - self._began)
        if self._good not in self._came[0][:4096] and self._good not in b"".join(self._came):
            self._tally.bad += 1
        self._came.clear()
        self._missing = -1
        if self._more():
            self._ask()
        elif self._transport is not None:
            self._transport.close()

    def _ask(self) -> None:
        self._began = time.perf_counter()
        if self._transport is not None:
            self._transport.write(next(self._requests))


async def load(
    port: int,
    requests: Sequence[Sequence[bytes]],
    good: bytes,
    *,
    seconds: float = 0,
    count: int = 0,
) -> Tally:
    """Ask over a connection for each row of requests; each answer must hold `good`."""
    tally, began = Tally(), time.perf_counter()
    until = began + seconds

    def more() -> bool:
        return len(tally.times) < count if count else time.perf_counter() < until

    loop = asyncio.get_running_loop()
    connections = [
        (await loop.create_connection(_maker(each, tally, more, good), "127.0.0.1", port))[1]
        for each in requests
    ]
    await asyncio.gather(*(each.done for each in connections))
    tally.seconds = time.perf_counter() - began
    return tally


def _maker(
    requests: Sequence[bytes], tally: Tally, more: Callable[[], bool], good: bytes
) -> Callable[[], Connection]:
    return lambda: Connection(requests, tally, more, good)


def post(path: str, body: bytes, **headers: str) -> bytes:
    """A POST as bytes; an underscore in a header's name stands for a dash."""
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{lines}Content-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
