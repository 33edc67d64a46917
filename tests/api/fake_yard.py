"""The application over servers without processes, but with a real store and a real project file."""

import asyncio
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from starlette.types import ASGIApp

from mcpyard.api.app import build
from mcpyard.api.http_server.uvicorn_server import WebServer
from mcpyard.api.security.keys import AdminKey, Keys
from mcpyard.app import open_gateway
from mcpyard.domain.cluster import Cluster
from mcpyard.formats.locations import ClientFolders
from mcpyard.runtime.clock import SystemClock
from mcpyard.runtime.variables import Variables
from mcpyard.sources.database import DatabaseSource
from mcpyard.sources.project_file import ProjectFile
from mcpyard.store.sqlite.store import Store
from mcpyard.testing import FakeClientFiles, FakeServers
from mcpyard.yard.clients.transaction import ClientReach
from mcpyard.yard.secrets import SecretPorts
from mcpyard.yard.yard import Ports, YardCore
from tests.api.asgi import BEARER, TOKEN, client_of

SERVERS = "/api/mcp/servers"
ECHO_TOOL = {
    "name": "echo",
    "description": "Say it again.",
    "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}},
}

CODEX = '[mcp_servers.known]\ncommand = "run"\nargs = ["a"]\n'
"""What another program's file says."""


class _Same(dict[str, Any]):
    """The same for whatever name is asked for, unless it was told otherwise."""

    def __init__(self, value: object) -> None:
        super().__init__()
        self._value = value

    def get(self, key: str, default: object = None) -> Any:  # noqa: ANN401  like `dict.get`
        del default
        return super().get(key, self._value)


@dataclass(frozen=True, slots=True)
class Faked:
    """A yard of fakes, and somebody who may ask it anything."""

    yard: YardCore
    servers: FakeServers
    keys: Keys
    app: ASGIApp
    client: httpx2.AsyncClient
    closing: asyncio.Event

    async def register(self, name: str, **more: object) -> dict[str, Any]:
        body = {"name": name, "command": "run", "args": ["a"], "transport": "stdio", **more}
        answer = await self.client.post(SERVERS, json=body)
        assert answer.status_code == 201, answer.text
        return answer.json()


@asynccontextmanager
async def faked(
    home: Path, project: Path | None = None, cluster: Cluster | None = None
) -> AsyncGenerator[Faked]:
    """A yard that keeps its state in a folder and writes a project's file, if there is one."""
    store = await Store.open(home)
    servers, closing, clock = FakeServers(), asyncio.Event(), SystemClock()
    servers.tools = _Same([ECHO_TOOL])
    servers.answers = _Same(lambda _tool, arguments: b'{"content":[],"echo":%b}' % arguments)
    sources = [DatabaseSource(store.definitions), *([ProjectFile(project)] if project else [])]
    programs = FakeClientFiles({"/home/me/.codex/config.toml": CODEX})
    reach = ClientReach(
        programs,
        store.edits,
        store.dropped_fields,
        ClientFolders({}, "/home/me"),
        owned=store.owned_entries,
        approvals=store.approvals,
        home="/home/me/.mcpyard",
        secrets=store.secrets,
        consents=store.secret_consents,
    )
    yard = YardCore(
        Ports(
            sources,
            store.memory,
            store.policies,
            servers,
            clock,
            {}.get,
            store.journal,
            clients=lambda: reach,
            secret_store=SecretPorts(
                store.secrets, store.secret_consents, Variables({}, store.secrets)
            ),
            cluster=cluster,
            gateway=open_gateway,
        )
    )
    keys = Keys(AdminKey(TOKEN), store.tokens, store.sessions, clock)
    await yard.begin()
    try:
        app = build(yard, keys=keys, hosts=[], closing=closing)
        async with client_of(app) as client:
            yield Faked(yard, servers, keys, app, client, closing)
    finally:
        closing.set()
        await yard.close()
        await store.close()


@asynccontextmanager
async def served(app: ASGIApp) -> AsyncGenerator[httpx2.AsyncClient]:
    """The application behind a real port of loopback: what streams needs it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        web = WebServer(app)
        serving = asyncio.create_task(web.serve([listener]))
        await web.ready.wait()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        try:
            async with httpx2.AsyncClient(base_url=url, headers=BEARER, timeout=20) as client:
                yield client
        finally:
            web.stop()
            await serving
