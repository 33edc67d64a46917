"""The least that a gateway in Python can do: `python raw_relay.py [OPTION] PORT COMMAND...`.

One process on uvloop parses POSTs with httptools, gives each message another id, writes it to the
pipe of one server, and sends the answer back under its own id. It knows no sessions, names, keys,
limits, time limits or journal.

It writes everything from callbacks. With `--tasks` each request has a task that awaits a future, as
in any gateway that is written with coroutines. With `--asgi` it is an ASGI application on uvicorn,
as a gateway is that has other routes besides.
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
import uvicorn
import uvloop

PIPE_BYTES = 1024 * 1024
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "


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
            client.write(b"%b%d\r\n\r\n%b" % (HEAD, len(body), body))


class TaskBack(Back):
    """The same with a task and a future for each request."""

    def __init__(self) -> None:
        super().__init__()
        self.futures: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        self.loop = asyncio.get_running_loop()

    def ask(self, client: asyncio.WriteTransport, body: bytes) -> None:
        task = self.loop.create_task(self.relay(client, body))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    async def relay(self, client: asyncio.WriteTransport, body: bytes) -> None:
        answer = await self.answer(body)
        client.write(b"%b%d\r\n\r\n%b" % (HEAD, len(answer), answer))

    async def answer(self, body: bytes) -> bytes:
        message, number = orjson.loads(body), next(self.numbers)
        own, message["id"] = message["id"], number
        self.futures[number] = future = self.loop.create_future()
        assert self.input
        self.input.write(orjson.dumps(message) + b"\n")
        answer = await future
        answer["id"] = own
        return orjson.dumps(answer)

    def data_received(self, data: bytes) -> None:
        self.parts.append(data)
        if b"\n" not in data:
            return
        *lines, rest = b"".join(self.parts).split(b"\n")
        self.parts = [rest] if rest else []
        for line in lines:
            message = orjson.loads(line)
            self.futures.pop(message["id"]).set_result(message)


def application(back: TaskBack) -> Any:  # noqa: ANN401  an ASGI application
    """The relay as a route."""

    async def app(_scope: object, receive: Any, send: Any) -> None:  # noqa: ANN401
        message = await receive()
        body = message["body"]
        while message.get("more_body"):
            message = await receive()
            body += message["body"]
        answer = await back.answer(body)
        length = (b"content-length", b"%d" % len(answer))
        headers = [(b"content-type", b"application/json"), length]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    return app


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
    words = sys.argv[1:]
    option = words.pop(0) if words[0].startswith("--") else ""
    port, *command = words
    loop, back = asyncio.get_running_loop(), TaskBack() if option else Back()
    pipe = subprocess.PIPE
    child = subprocess.Popen(command, stdin=pipe, stdout=pipe)  # noqa: ASYNC220  once
    assert child.stdin
    assert child.stdout
    for each in (child.stdin, child.stdout):
        with contextlib.suppress(OSError):
            fcntl.fcntl(each, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    back.input, _ = await loop.connect_write_pipe(asyncio.BaseProtocol, child.stdin)
    await loop.connect_read_pipe(lambda: back, child.stdout)
    if option == "--asgi" and isinstance(back, TaskBack):
        settings = uvicorn.Config(
            application(back),
            port=int(port),
            log_level="critical",
            access_log=False,
            lifespan="off",
            date_header=False,
            server_header=False,
        )
        await uvicorn.Server(settings).serve()
        return
    server = await loop.create_server(lambda: Front(back), "127.0.0.1", int(port))
    await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main())
