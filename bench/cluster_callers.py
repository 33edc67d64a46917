"""Hundreds of callers of a cluster in one thread; each answer must repeat the nonce of its call.

Half of them use the REST API, the others the gateway without sessions.
"""

import asyncio
import contextlib
import random
import threading
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

import orjson

from bench.gateway import META, MODERN
from bench.gateway_load import post
from tests.cluster.nodes import TOKEN
from tests.cluster.recording import boot_time

LIMIT: Final = 60.0
"""Seconds after which a call counts as unfinished: its own limit is 30 s."""

_HEADERS: Final = {"Authorization": f"Bearer {TOKEN}"}
_GATEWAY: Final = {**_HEADERS, **MODERN, "Mcp-Method": "tools/call"}
_CONTENT: Final = b"content-length:"
_LONGEST_HEAD: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a call: no problem when it was answered."""

    node: str
    server: str
    nonce: str
    sent: float
    ended: float
    problem: str
    wrong: bool = False
    unfinished: bool = False


class Connection:
    """One connection to a node, made anew whenever it was lost."""

    def __init__(self) -> None:
        self.port = 0
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, port: int, request: bytes) -> tuple[int, bytes]:
        """Send a request; status and body of its answer."""
        if self._streams is None or port != self.port:
            self.close()
            self.port = port
            self._streams = await asyncio.open_connection("127.0.0.1", port, limit=_LONGEST_HEAD)
        reader, writer = self._streams
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        at = head.lower().find(_CONTENT)
        if at < 0:
            return int(head[9:12]), await _chunks(reader)
        length = int(head[at + len(_CONTENT) : head.find(b"\r", at)])
        return int(head[9:12]), await reader.readexactly(length)

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    parts: list[bytes] = []
    while size := int(await reader.readuntil(b"\r\n"), 16):
        parts.append(await reader.readexactly(size))
        await reader.readexactly(2)
    await reader.readexactly(2)
    return b"".join(parts)


class CallerPool:
    """Callers that go on until the end; each at a node of those that it may call."""

    def __init__(
        self, ports: Mapping[str, int], servers: Sequence[str], width: int, pause: float, seed: int
    ) -> None:
        self.ports = dict(ports)
        self.ended: list[Ended] = []
        self._servers = servers
        self._width = width
        self._pause = pause
        self._seed = seed
        self._over = threading.Event()
        self._thread = ThreadPoolExecutor(1, "callers")
        self._running: Future[None] | None = None

    def start(self) -> None:
        self._running = self._thread.submit(lambda: asyncio.run(self._run()))

    def stop(self) -> None:
        """End all callers; if one of them failed itself, nothing was measured."""
        self._over.set()
        self._thread.shutdown()
        if self._running is not None:
            self._running.result()

    def leave(self, node: str) -> None:
        """Call a node no more; calls in flight go on."""
        self.ports = {name: port for name, port in self.ports.items() if name != node}

    def join(self, node: str, port: int) -> None:
        """Call a node from now on, at this port."""
        self.ports = {**self.ports, node: port}

    def failed(self) -> list[Ended]:
        """The calls that were not answered."""
        return [each for each in self.ended if each.problem]

    async def _run(self) -> None:
        await asyncio.gather(*(self._call_on(number) for number in range(self._width)))

    async def _call_on(self, caller: int) -> None:
        dice = random.Random(f"{self._seed} {caller}")  # noqa: S311  a choice, not a secret
        connection = Connection()
        for number in count():
            if self._over.is_set():
                break
            # A tick of its own for each caller, so that they do not call all at once.
            await asyncio.sleep(self._pause * dice.uniform(0.5, 1.5))
            if not self.ports:
                continue
            node, port = dice.choice([*self.ports.items()])
            server = dice.choice(self._servers)
            nonce = f"{caller}-{number}-{dice.getrandbits(48):x}"
            make = _rest_call if caller % 2 else _gateway_call
            ended = await _call(connection, (node, port), server, nonce, make(server, nonce))
            self.ended.append(ended)
            if ended.problem:
                connection.close()
        connection.close()


async def _call(
    connection: Connection, at: tuple[str, int], server: str, nonce: str, request: bytes
) -> Ended:
    sent, problem, wrong, unfinished = boot_time(), "", False, False
    try:
        async with asyncio.timeout(LIMIT):
            status, body = await connection.ask(at[1], request)
        text = _text(body) if status == 200 else None
        if text is None:
            problem = f"{status} {body[:400].decode(errors='replace')}"
        elif text != nonce:
            problem, wrong = f"the answer to another call: {text}", True
    except TimeoutError:
        problem, unfinished = f"no end within {LIMIT:g} s", True
    except (OSError, EOFError, ValueError) as error:
        problem = repr(error)
    return Ended(at[0], server, nonce, sent, boot_time(), problem, wrong, unfinished)


def _text(body: bytes) -> str | None:
    """What the tool said; None for an error."""
    answer: Any = orjson.loads(body.partition(b"data: ")[2] or body)
    result = answer.get("result", answer)
    if "content" not in result or result.get("isError"):
        return None
    return result["content"][0]["text"]


def _rest_call(server: str, nonce: str) -> bytes:
    body = orjson.dumps({"arguments": {"text": nonce}})
    return post(f"/api/mcp/servers/{server}/tools/record/call", body, **_HEADERS)


def _gateway_call(server: str, nonce: str) -> bytes:
    name = f"mcp_{server}_record"
    params = {"name": name, "arguments": {"text": nonce}, "_meta": META}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return post("/mcp", orjson.dumps(message), **_GATEWAY, Mcp_Name=name)


@contextlib.contextmanager
def calling_all(
    ports: Mapping[str, int], servers: Sequence[str], *, width: int, pause: float, seed: int
) -> Generator[CallerPool]:
    """Call servers at all nodes for as long as the block runs."""
    pool = CallerPool(ports, servers, width, pause, seed)
    pool.start()
    try:
        yield pool
    finally:
        pool.stop()
