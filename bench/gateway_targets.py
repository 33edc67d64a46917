"""What the gateway is measured beside, each in a process of its own before the same echo server.

The peers are installed into a scratch folder when they are not there yet; the project does not
depend on them.
"""

import asyncio
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import httpx2
import psutil

from bench.gateway_load import post
from tests.free_ports import free_port

ORDINARY: Final = [sys.executable, "-I", "-S", str(Path(__file__).with_name("plain_server.py"))]
SCRATCH: Final = Path(tempfile.gettempdir()) / "mcpyard-bench"
HUB: Final = "mcp-hub@4.2.1"
PROXY: Final = "mcp-proxy==0.13.0"
BARE: Final = """
import sys, uvicorn
size = int(sys.argv[2])
answer = b'{"jsonrpc":"2.0","id":1,"result":{"text":"' + b"x" * size + b'"}}'
headers = [(b"content-type", b"application/json"), (b"content-length", str(len(answer)).encode())]
async def app(scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer})
uvicorn.run(app, port=int(sys.argv[1]), log_level="critical", access_log=False,
            date_header=False, server_header=False)
"""
PIPED: Final = """
import asyncio, fcntl, os, sys, uvicorn
from tests.free_ports import free_port
answered = None
class Lines(asyncio.Protocol):
    def __init__(self):
        self.parts = []
    def data_received(self, data):
        self.parts.append(data)
        if data.endswith(b"\\n"):
            answered.set_result(b"".join(self.parts))
            self.parts = []
async def start():
    pipe = asyncio.subprocess.PIPE
    out, into = os.pipe()
    fcntl.fcntl(out, fcntl.F_SETPIPE_SZ, 1024 * 1024)
    child = await asyncio.create_subprocess_exec(*sys.argv[2:], stdin=pipe, stdout=into)
    os.close(into)
    await asyncio.get_running_loop().connect_read_pipe(Lines, os.fdopen(out, "rb"))
    return child
child = None
async def app(scope, receive, send):
    global child, answered
    asked = (await receive())["body"]
    child = child or await start()
    answered = asyncio.get_running_loop().create_future()
    child.stdin.write(asked + b"\\n")
    line = await answered
    length = (b"content-length", b"%d" % len(line))
    headers = [(b"content-type", b"application/json"), length]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": line})
uvicorn.run(app, port=int(sys.argv[1]), log_level="critical", access_log=False,
            date_header=False, server_header=False)
"""
RELAY: Final = str(Path(__file__).with_name("raw_relay.py"))
_LENGTHS: Final = random.Random(16).sample(range(20, 180), 16)  # noqa: S311  the same each time
TEXTS: Final = tuple("x" * length for length in _LENGTHS)
"""Arguments of about 100 bytes, no two of one length: real clients send no others."""

ONE_LENGTH: Final = ("x" * 100,)
_ACCEPT: Final = {"Accept": "application/json, text/event-stream"}
_TIMEOUT: Final = 60.0
_SECRET: Final = "bench" * 8
TOKEN: Final = {"Authorization": f"Bearer {_SECRET}"}


@dataclass(frozen=True, slots=True)
class Target:
    """Something to ask: where, with what over each connection, and which process answers."""

    name: str
    port: int
    requests: Sequence[Sequence[bytes]]
    good: bytes
    process: psutil.Process

    def cpu(self) -> float:
        """Seconds of processor time that it has used."""
        used = self.process.cpu_times()
        return used.user + used.system


@asynccontextmanager
async def running(command: Sequence[str], **env: str) -> AsyncGenerator[psutil.Process]:
    """A process for as long as the block lasts."""
    quiet = subprocess.DEVNULL
    child = subprocess.Popen(  # noqa: ASYNC220  it is awaited by what it answers
        command, stdin=quiet, stdout=quiet, stderr=quiet, env=os.environ | env
    )
    try:
        yield psutil.Process(child.pid)
    finally:
        child.terminate()
        await asyncio.to_thread(child.wait)


async def until_answered(port: int, path: str, body: object, **headers: str) -> httpx2.Response:
    """The first good answer of something that is coming up."""
    until = time.monotonic() + _TIMEOUT
    async with httpx2.AsyncClient(timeout=10) as client:
        while True:
            try:
                url = f"http://127.0.0.1:{port}{path}"
                answer = await client.post(url, json=body, headers={**_ACCEPT, **headers})
                if answer.is_success and b'"error"' not in answer.content:
                    return answer
            except httpx2.TransportError:
                pass
            if time.monotonic() > until:
                raise TimeoutError(f"nothing good from port {port}{path}")
            await asyncio.sleep(0.1)


def call(number: int, name: str, text: str, **more: object) -> bytes:
    params = {"name": name, "arguments": {"text": text}, **more}
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    return json.dumps(message).encode()


def initialize_result() -> dict[str, Any]:
    me = {"name": "bench", "version": "1"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": me}
    return {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}


@asynccontextmanager
async def bare(width: int, size: int) -> AsyncGenerator[Target]:
    """A bare ASGI route on uvicorn, which answers so many bytes to anything."""
    port = free_port()
    async with running([sys.executable, "-c", BARE, str(port), str(size)]) as process:
        await until_answered(port, "/", {})
        requests = [post("/", call(1, "echo", text), **_ACCEPT) for text in TEXTS]
        yield Target("bare uvicorn route", port, [requests] * width, b'"result"', process)


@asynccontextmanager
async def piped(tool: str, text: str) -> AsyncGenerator[Target]:
    """A bare ASGI route that asks the echo server over a pipe, and reads none of what it passes."""
    port, body = free_port(), call(1, tool, text)
    async with running([sys.executable, "-c", PIPED, str(port), *ORDINARY]) as process:
        await until_answered(port, "/", json.loads(body))
        request = post("/", body, **_ACCEPT)
        yield Target("bare route and a pipe", port, [[request]], b'"result"', process)


class Door(NamedTuple):
    """Where something answers as an MCP server."""

    name: str
    port: int
    path: str
    process: psutil.Process


@asynccontextmanager
async def relay(*options: str) -> AsyncGenerator[Door]:
    """The raw relay before the echo server."""
    port = free_port()
    async with running([sys.executable, RELAY, *options, str(port), *ORDINARY]) as process:
        await until_answered(port, "/", json.loads(call(1, "echo", "up")))
        yield Door(" ".join(("raw relay", *options)), port, "/", process)


async def session_headers(door: Door, tool: str, **more: str) -> dict[str, str]:
    """The headers of a new session of the handshake era, once it can call a tool."""
    _, port, path, _ = door
    answer = await until_answered(port, path, initialize_result(), **more)
    session = {"Mcp-Session-Id": answer.headers["mcp-session-id"], **_ACCEPT, **more}
    headers = {"MCP-Protocol-Version": "2025-06-18", **session}
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    async with httpx2.AsyncClient() as client:
        await client.post(f"http://127.0.0.1:{port}{path}", json=ready, headers=headers)
    await until_answered(port, path, json.loads(call(1, tool, "up")), **headers)
    return headers


def calling(
    door: Door, tool: str, width: int, texts: Sequence[str] = TEXTS, **headers: str
) -> Target:
    """Calls of a tool with these texts in turn, over so many connections."""
    name, port, path, process = door
    requests = [
        [post(path, call(n, tool, text), **headers) for text in texts] for n in range(2, width + 2)
    ]
    return Target(name, port, requests, b'"xxx', process)


async def session_of(door: Door, tool: str, width: int, **more: str) -> Target:
    """Calls within a session of the handshake era."""
    return calling(door, tool, width, **await session_headers(door, tool, **more))


def hub_program() -> str:
    """The program of mcp-hub, installed when it is not there yet."""
    folder = SCRATCH / "hub"
    program = folder / "node_modules" / ".bin" / "mcp-hub"
    if not program.exists():
        folder.mkdir(parents=True, exist_ok=True)
        install = ["npm", "install", "--prefix", str(folder), "--silent", "--no-audit", HUB]
        subprocess.run(install, stdout=subprocess.DEVNULL, check=True)
    return str(program)


@asynccontextmanager
async def hub(width: int) -> AsyncGenerator[Target]:
    """mcp-hub, by its REST call."""
    program = hub_program()
    config, port = SCRATCH / "hub" / "config.json", free_port()
    server = {"command": ORDINARY[0], "args": ORDINARY[1:]}
    config.write_text(json.dumps({"mcpServers": {"echo": server}}))
    async with running([program, "--port", str(port), "--config", str(config)]) as process:
        bodies = [
            {"server_name": "echo", "tool": "echo", "arguments": {"text": text}} for text in TEXTS
        ]
        path = "/api/servers/tools"
        await until_answered(port, path, bodies[0])
        requests = [post(path, json.dumps(body).encode(), **_ACCEPT) for body in bodies]
        yield Target("mcp-hub 4.2.1, REST", port, [requests] * width, b'"xxx', process)


@asynccontextmanager
async def proxy(width: int) -> AsyncGenerator[Target]:
    """mcp-proxy, by streamable HTTP."""
    folder = SCRATCH / "proxy"
    program = folder / "bin" / "mcp-proxy"
    if not program.exists():
        await _done(sys.executable, "-m", "venv", "--without-pip", str(folder))
        pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python")]
        await _done(*pip, "install", "--quiet", PROXY)
    port = free_port()
    async with running([str(program), "--port", str(port), "--", *ORDINARY]) as process:
        yield await session_of(Door("mcp-proxy 0.13", port, "/mcp", process), "echo", width)


@asynccontextmanager
async def yard(
    folder: Path,
    servers: Mapping[str, object],
    program: Sequence[str] = (sys.executable, "-m", "mcpyard"),
) -> AsyncGenerator[Door]:
    """`mcpyard up` with a project of these servers; asked with `TOKEN`."""
    project, port = folder / "project", free_port()
    project.mkdir(parents=True, exist_ok=True)
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    home = str(folder / "home")
    command = [*program, "up", "--json", "--port", str(port)]
    named = ["--home", home, "--project", str(project)]
    async with running([*command, *named], MCPYARD_TOKEN=_SECRET) as process:
        yield Door("mcpyard", port, "/mcp", process)


async def _done(*command: str) -> None:
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.DEVNULL)
    if await process.wait():
        raise RuntimeError(f"{command[0]} failed")
