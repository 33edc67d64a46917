"""A client of the gateway that writes every byte of its requests itself."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from tests.gateway.serving import BEARER, Served, served
from tests.gateway.talking import BOTH, odd_server

PATH = "/mcp/servers/one"
END = b"\r\n\r\n"


@dataclass(slots=True)
class Caller:
    """A client with a session of the handshake era."""

    served: Served
    headers: dict[str, str] = field(default_factory=dict[str, str])
    ids: "count[int]" = field(default_factory=lambda: count(1))

    @asynccontextmanager
    async def connected(self) -> AsyncGenerator["Connected"]:
        port = int(self.served.url.rpartition(":")[2])
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
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
async def calling(home: Path | None = None, **definition: object) -> AsyncGenerator[Caller]:
    """A caller of an odd server."""
    async with served({"one": odd_server("legacy", **definition)}, home=home) as yard:
        caller = Caller(yard)
        client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}}
        async with caller.connected() as connected:
            connected.writer.write(caller.request("initialize", client))
            head = (await connected.reader.readuntil(END)).decode()
        caller.headers["Mcp-Session-Id"] = head.split("mcp-session-id: ")[1].split("\r\n")[0]
        yield caller
