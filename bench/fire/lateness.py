"""How late an event loop answers, beside a bare one: `python -m bench.fire.lateness`.

The addresses of yards come on standard input, a line each; an empty line says that there is none.
Yard and control are asked at the same fixed rate by this process, which does nothing else. The
control is an asyncio loop in a process of its own that does nothing but answer: what holds it up is
the machine, so what holds up the yard beyond that is the yard. At the end of the input the times
are written to standard output, in milliseconds.
"""

import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from bench.measuring import percentile

PERIOD = 0.05
TIMEOUT = 20.0
"""Seconds after which an answer counts as that late."""

ROOT = Path(__file__).parents[2]
MODULE = (sys.executable, "-m", "bench.fire.lateness")
CONTROL = "control"
LINE = 64 * 1024 * 1024
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Lateness:
    """Milliseconds to each answer."""

    yard: list[float] = field(default_factory=list[float])
    control: list[float] = field(default_factory=list[float])

    @property
    def excess(self) -> float:
        """How much later the latest answer of the yard was than the latest of the control."""
        return max(self.yard, default=0.0) - max(self.control, default=0.0)

    def lines(self) -> dict[str, str]:
        return {"yard": summary(self.yard), "control": summary(self.control)}


def summary(times: list[float]) -> str:
    if not times:
        return "not asked"
    middle, late = percentile(times, 0.5), percentile(times, 0.99)
    return f"{middle:.1f} ms, 99 % {late:.1f} ms, latest {max(times):.1f} ms, {len(times):,} times"


class Probe:
    """The measuring process, seen from outside."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls) -> "Probe":
        pipe = asyncio.subprocess.PIPE
        return cls(
            await asyncio.create_subprocess_exec(
                *MODULE, stdin=pipe, stdout=pipe, cwd=ROOT, limit=LINE
            )
        )

    def set_address(self, address: str) -> None:
        """Ask this yard from now on; none when it is empty."""
        assert self._process.stdin
        self._process.stdin.write(address.encode() + b"\n")

    async def finish(self) -> Lateness:
        # Without an input Python 3.11 leaves the pipe open.
        output, _ = await self._process.communicate(b"")
        return Lateness(**json.loads(output))


@dataclass(slots=True)
class _Target:
    address: str
    times: list[float]


async def _probe(current: Callable[[], _Target]) -> None:
    loop = asyncio.get_running_loop()
    due = loop.time()
    while True:
        due = max(due + PERIOD, loop.time())
        await asyncio.sleep(due - loop.time())
        target = current()
        address, began = target.address, loop.time()
        answered = bool(address) and await _answered(address)
        # What was asked of a yard that has gone meanwhile tells nothing about its loop.
        if answered and address == current().address:
            target.times.append((loop.time() - began) * 1000)


async def _answered(address: str) -> bool:
    """Whether there was an answer, or the time was up; a connection that broke is no answer."""
    place = urlsplit(address)
    try:
        async with asyncio.timeout(TIMEOUT):
            reader, writer = await asyncio.open_connection(place.hostname, place.port)
            try:
                head = f"GET /livez HTTP/1.1\r\nHost: {place.netloc}\r\nConnection: close\r\n\r\n"
                writer.write(head.encode())
                return bool(await reader.read())
            finally:
                writer.transport.abort()
    except TimeoutError:
        return True
    except OSError:
        return False


async def _measure() -> Lateness:
    control = await asyncio.create_subprocess_exec(
        *MODULE, CONTROL, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, cwd=ROOT
    )
    assert control.stdout
    lateness = Lateness()
    address = (await control.stdout.readline()).decode().strip()
    targets = _Target("", lateness.yard), _Target(address, lateness.control)
    probes = [asyncio.create_task(_probe(lambda each=each: each)) for each in targets]
    reader = await _standard_input()
    while line := await reader.readline():
        targets[0].address = line.decode().strip()
    for each in probes:
        each.cancel()
    await asyncio.wait(probes)
    await control.communicate(b"")
    return lateness


async def _control() -> None:
    """Answer everybody until the input ends."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(ANSWER)
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    print(f"http://{host}:{port}", flush=True)
    await (await _standard_input()).read()


async def _standard_input() -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


def main() -> None:
    if CONTROL in sys.argv:
        asyncio.run(_control())
    else:
        lateness = asyncio.run(_measure())
        print(json.dumps({"yard": lateness.yard, "control": lateness.control}), flush=True)


if __name__ == "__main__":
    main()
