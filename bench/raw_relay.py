"""The least that a gateway in Python can do: `python raw_relay.py PORT COMMAND...`.

One process on uvloop parses POSTs with httptools, gives each message another id, writes it to the
pipe of one server, and sends the answer back under its own id. It knows no sessions, names, keys,
limits, time limits or journal.
"""

import asyncio
import contextlib
import fcntl
import subprocess
import sys
from itertools import count
from typing import Any, cast

import httptools
import orjson
import uvloop

PIPE_BYTES = 1024 * 1024


class Back(asyncio.Protocol):
    """The pipes of the server."""

    def __init__(self) -> None:
        self.waiting: dict[int, tuple[asyncio.WriteTransport, Any]] = {}
        self.numbers = count(1)
        self.parts: list[bytes] = []
        self.input: asyncio.WriteTransport | None = None

    def ask(self, client: asyncio.WriteTransport, body: bytes) -> None:
        message, number = orjson.loads(body), next(self.numbers)
        self.waiting[number] = client, message["id"]
        message["id"] = number
        assert self.input
        self.input.write(orjson.dumps(message) + b"\n")

    def data_received(self, data: bytes) -> None:
        self.parts.append(data)
        if b"\n" not in data:
            return
        *lines, rest = b"".join(self.parts).split(b"\n")
        self.parts = [rest] if rest else []
        for line in lines:
            message = orjson.loads(line)
            client, message["id"] = self.waiting.pop(message["id"])
            body = orjson.dumps(message)
            head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "
            client.write(b"%b%d\r\n\r\n%b" % (head, len(body), body))


class Front(asyncio.Protocol):
    """One client, whose requests are parsed as any HTTP server has to."""

    def __init__(self, back: Back) -> None:
        self._back = back
        self._parser = httptools.HttpRequestParser(self)
        self._headers: list[tuple[bytes, bytes]] = []
        self._body: list[bytes] = []
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.WriteTransport", transport)

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers.append((name.lower(), value))

    def on_body(self, body: bytes) -> None:
        self._body.append(body)

    def on_message_complete(self) -> None:
        assert self._transport
        self._back.ask(self._transport, b"".join(self._body))
        self._headers.clear()
        self._body.clear()


async def main() -> None:
    loop, back = asyncio.get_running_loop(), Back()
    pipe = subprocess.PIPE
    child = subprocess.Popen(sys.argv[2:], stdin=pipe, stdout=pipe)  # noqa: ASYNC220  once
    assert child.stdin
    assert child.stdout
    for each in (child.stdin, child.stdout):
        with contextlib.suppress(OSError):
            fcntl.fcntl(each, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    back.input, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, child.stdin)
    await loop.connect_read_pipe(lambda: back, child.stdout)
    server = await loop.create_server(lambda: Front(back), "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
