"""Clients of both eras, over a real socket, that look at bytes."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import httpx2

from tests.gateway.serving import BEARER, Served, served
from tests.runtime.waiting import eventually

ODD_SERVER = Path(__file__).with_name("odd_server.py")
PREFIX = "io.modelcontextprotocol/"
MODERN = "2026-07-28"
BOTH = "application/json, text/event-stream"
ASKS = {"elicitation": {"form": {}}}

Message = dict[str, Any]


def odd_server(era: str = "legacy", **more: object) -> dict[str, Any]:
    """The definition of the odd server."""
    args = ["-I", "-S", str(ODD_SERVER), era]
    return {"command": sys.executable, "args": args, "wanted": "running", **more}


@asynccontextmanager
async def talking(
    servers: Mapping[str, Mapping[str, object]] | None = None,
    home: Path | None = None,
) -> AsyncGenerator["Talk"]:
    """A yard with a legacy and a modern odd server, and somebody who talks to it."""
    both = {"old": odd_server("legacy"), "new": odd_server("modern")}
    limits = httpx2.Limits(max_connections=200)
    async with (
        served(both if servers is None else servers, home=home) as yard,
        httpx2.AsyncClient(base_url=yard.url, timeout=20, limits=limits) as http,
    ):
        yield Talk(yard, http)


@dataclass(frozen=True, slots=True)
class Talk:
    """Somebody who may ask anything."""

    served: Served
    http: httpx2.AsyncClient
    ids: "count[int]" = field(default_factory=lambda: count(1))
    key: str = BEARER

    def heads(self, more: Mapping[str, str]) -> dict[str, str]:
        return heads({"Authorization": self.key, **more})

    async def post(
        self, body: bytes | object, path: str = "/mcp", **headers: str
    ) -> httpx2.Response:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await self.http.post(path, content=content, headers=self.heads(headers))

    async def until(self, server: str, line: str) -> None:
        """Wait until a server has written a line to its standard error."""
        log = self.served.yard.log
        wrote = await eventually(lambda: any(each.text == line for each in log(server)), 10)
        assert wrote, log(server)

    def modern(
        self, method: str, params: Message, capabilities: object = None, **meta: object
    ) -> tuple[Message, dict[str, str]]:
        """A request of the modern era, and its headers."""
        stamped = {
            PREFIX + "protocolVersion": MODERN,
            PREFIX + "clientCapabilities": capabilities or {},
            **meta,
        }
        members = {**params, "_meta": stamped}
        body = {"jsonrpc": "2.0", "id": next(self.ids), "method": method, "params": members}
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method}
        if name := params.get("name") or params.get("uri"):
            headers["Mcp-Name"] = name
        return body, headers

    async def ask_modern(
        self, method: str, path: str = "/mcp", capabilities: object = None, **params: object
    ) -> Message:
        """The answer to a request of the modern era."""
        body, headers = self.modern(method, params, capabilities)
        return answer_in(await self.post(body, path, **headers))

    async def call(
        self, path: str, name: str, capabilities: object = None, **params: object
    ) -> Message:
        """The answer to a tool call of the modern era."""
        members = {"name": name, "arguments": {}, **params}
        return await self.ask_modern("tools/call", path, capabilities, **members)

    async def meet(
        self, path: str = "/mcp", version: str = "2025-11-25", capabilities: object = None
    ) -> "Legacy":
        """A session of the handshake era."""
        client = {"clientInfo": {"name": "t", "version": "1"}, "capabilities": capabilities or {}}
        params = {"protocolVersion": version, **client}
        body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        met = await self.post(body, path)
        return Legacy(self, path, met.headers["mcp-session-id"], met.json()["result"])


@dataclass(frozen=True, slots=True)
class Legacy:
    """A client with a session."""

    talk: Talk
    path: str
    session: str
    initialize_result: Message

    @property
    def headers(self) -> dict[str, str]:
        return {"Mcp-Session-Id": self.session, "MCP-Protocol-Version": "2025-11-25"}

    async def send(self, **message: object) -> httpx2.Response:
        return await self.talk.post({"jsonrpc": "2.0", **message}, self.path, **self.headers)

    async def ask(self, method: str, **params: object) -> Message:
        number = next(self.talk.ids)
        return answer_in(await self.send(id=number, method=method, params=params))

    async def call(self, name: str, **params: object) -> Message:
        return await self.ask("tools/call", **{"name": name, "arguments": {}, **params})

    @asynccontextmanager
    async def streaming(self, **message: object) -> AsyncGenerator[AsyncIterator["Event"]]:
        """The events of the answer to a request, as they come."""
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        stream = self.talk.http.stream(
            "POST", self.path, content=content, headers=self.talk.heads(self.headers)
        )
        async with stream as response:
            yield events(response)

    @asynccontextmanager
    async def listening(self, last: str = "") -> AsyncGenerator[AsyncIterator["Event"]]:
        """The events of the GET stream."""
        more = {"Last-Event-ID": last} if last else {}
        headers = {**self.talk.heads(self.headers), "accept": "text/event-stream", **more}
        async with self.talk.http.stream("GET", self.path, headers=headers) as response:
            assert response.status_code == 200, await response.aread()
            yield events(response)


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event; what is no message has none."""

    id: str
    message: Message | None


async def events(response: httpx2.Response) -> AsyncIterator[Event]:
    """The events of a stream, those without data left out."""
    name, data = "", ""
    async for line in response.aiter_lines():
        key, _, value = line.partition(": ")
        if key == "id":
            name = value
        elif key == "data":
            data += value
        elif not line:
            if name or data:
                yield Event(name, json.loads(data) if data else None)
            name, data = "", ""


async def messages(stream: AsyncIterator[Event]) -> AsyncIterator[Message]:
    async for event in stream:
        if event.message is not None:
            yield event.message


async def next_of(stream: AsyncIterator[Event], method: str) -> Message:
    """The next message of that method; others are passed over."""
    async with asyncio.timeout(10):
        async for message in messages(stream):
            if message.get("method") == method:
                return message
    raise AssertionError(f"the stream ended without {method}")


def heads(more: Mapping[str, str]) -> dict[str, str]:
    base = {"authorization": BEARER, "content-type": "application/json", "accept": BOTH}
    return base | {name.lower(): value for name, value in more.items()}


def answer_in(response: httpx2.Response) -> Message:
    """The answer, which may be the last event of a stream."""
    if response.headers["content-type"].startswith("application/json"):
        return response.json()
    lines = [line[6:] for line in response.text.splitlines() if line.startswith("data: ")]
    return json.loads(lines[-1])


def text_of(answer: Message) -> str:
    return answer["result"]["content"][0]["text"]
