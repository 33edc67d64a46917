"""A request that was answered is freed at once: garbage collections are rare by design."""

import asyncio
import gc
import json
import tracemalloc
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import pytest

from tests.gateway.serving import BEARER, served
from tests.gateway.talking import BOTH, odd_server
from tests.runtime.waiting import eventually

pytestmark = pytest.mark.real

LONG = 100_000
TIMES = 12
PATH = "/mcp/servers/one"
END = b"\r\n\r\n"


@dataclass(slots=True)
class Caller:
    """One connection; each request has a long body, which nobody here keeps."""

    port: int
    headers: dict[str, str] = field(default_factory=dict[str, str])
    ids: "count[int]" = field(default_factory=lambda: count(1))

    @asynccontextmanager
    async def connected(self) -> AsyncGenerator["Connected"]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            yield Connected(self, reader, writer)
        finally:
            writer.close()
            await writer.wait_closed()

    def request(self, method: str, params: dict[str, Any], **more: str) -> bytes:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if not method.startswith("notifications/"):
            message["id"] = next(self.ids)
        body = json.dumps(message).encode()
        fields = {
            "Host": "127.0.0.1",
            "Authorization": BEARER,
            "Content-Type": "application/json",
            "Accept": BOTH,
            **self.headers,
            **more,
            "Content-Length": str(len(body)),
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return f"POST {PATH} HTTP/1.1\r\n{head}\r\n".encode() + body


@dataclass(frozen=True, slots=True)
class Connected:
    caller: Caller
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """The status of an answer, and the beginning of its body."""
        self.writer.write(request)
        async with asyncio.timeout(10):
            head = (await self.reader.readuntil(END)).lower()
            if b"chunked" in head:
                body = await self.reader.readuntil(b"0" + END)
            else:
                length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
                body = await self.reader.readexactly(length)
        return int(head.split(b" ")[1]), body


@asynccontextmanager
async def calling() -> AsyncGenerator[Caller]:
    async with served({"one": odd_server()}) as yard:
        caller = Caller(int(yard.url.rpartition(":")[2]))
        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}
        async with caller.connected() as connected:
            connected.writer.write(caller.request("initialize", client))
            head = (await connected.reader.readuntil(END)).decode()
        caller.headers["Mcp-Session-Id"] = head.split("mcp-session-id: ")[1].split("\r\n")[0]
        yield caller


@pytest.fixture
def uncollected() -> Generator[None]:
    """Garbage that holds itself stays."""
    gc.collect()
    gc.disable()
    tracemalloc.start()
    yield
    tracemalloc.stop()
    gc.enable()


async def forgotten(before: int) -> bool:
    """Whether less is held than two of the bodies that were sent."""
    return await eventually(lambda: tracemalloc.get_traced_memory()[0] - before < 2 * LONG, 5)


def tool(name: str, **arguments: object) -> dict[str, Any]:
    return {"name": name, "arguments": {"text": "x" * LONG, **arguments}}


PATHS: dict[str, tuple[str, dict[str, Any], dict[str, str], int, bytes]] = {
    "a short answer": ("tools/call", tool("cancelled"), {}, 200, b'"result"'),
    "a long answer": ("tools/call", tool("nonce"), {}, 200, b"xxx"),
    "a streamed answer": (
        "tools/call",
        {**tool("steps"), "_meta": {"progressToken": 1}},
        {},
        200,
        b"data: ",
    ),
    "a notification": ("notifications/x", {"text": "x" * LONG}, {}, 202, b""),
    "an unknown tool": ("tools/call", tool("none"), {}, 200, b"Unknown tool"),
    "invalid arguments": ("tools/call", tool("nonce", text=[1] * LONG), {}, 200, b'"isError":true'),
    "an error of the server": (
        "resources/read",
        {"uri": "odd://thing", "text": "x" * LONG},
        {},
        200,
        b"not known",
    ),
    "an invalid result": ("tools/call", tool("list"), {}, 200, b'"error"'),
    "an unknown session": ("tools/call", tool("nonce"), {"Mcp-Session-Id": "x"}, 404, b"Session"),
    "a refused type": ("tools/call", tool("nonce"), {"Accept": "text/html"}, 406, b'"error"'),
    "a stranger": ("tools/call", tool("nonce"), {"Authorization": "Bearer x"}, 401, b"token"),
}


@pytest.mark.usefixtures("uncollected")
async def test_no_request_is_held_after_its_answer() -> None:
    async with calling() as caller:
        for path, (method, params, headers, status, part) in PATHS.items():
            async with caller.connected() as connected:
                request = caller.request(method, params, **headers)
                await connected.ask(request)
                before = tracemalloc.get_traced_memory()[0]
                for _ in range(TIMES):
                    answered, body = await connected.ask(request)
                    assert (answered, part in body) == (status, True), path
                    del body
                assert await forgotten(before), path


@pytest.mark.usefixtures("uncollected")
async def test_no_request_is_held_after_its_client_hung_up_or_its_connection_closed() -> None:
    async with calling() as caller:
        for name in ("hang", "cancelled"):
            before = tracemalloc.get_traced_memory()[0]
            for _ in range(TIMES):
                async with caller.connected() as connected:
                    request = caller.request("tools/call", tool(name))
                    if name == "hang":
                        connected.writer.write(request)
                        await connected.writer.drain()
                    else:
                        assert (await connected.ask(request))[0] == 200
                    del request
            assert await forgotten(before), name
