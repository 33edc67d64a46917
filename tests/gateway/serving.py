"""A yard behind a real socket, for clients that know nothing of its keys."""

import asyncio
import socket
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec.structs import replace
from starlette.types import ASGIApp, Receive, Scope, Send

from mcpyard.api.app import build
from mcpyard.api.http_server.uvicorn_server import WebServer
from mcpyard.api.security.keys import AdminKey
from mcpyard.app import WiredYard, open_yard
from mcpyard.gateway.app import Gateway
from tests.api.asgi import TOKEN, keys_of

BEARER = f"Bearer {TOKEN}"


def everything(era: str, **more: object) -> dict[str, Any]:
    """The definition of the fixture server of an era."""
    args = ["-W", "ignore", "-m", "tests.gateway.everything", era]
    return {"command": sys.executable, "args": args, "wanted": "running", **more}


@dataclass(frozen=True, slots=True)
class Served:
    """A yard and the address of its faces."""

    yard: WiredYard
    url: str

    def gateway(self, path: str = "") -> str:
        return f"{self.url}/mcp{path}"


@asynccontextmanager
async def served(
    servers: Mapping[str, Mapping[str, object]],
    *,
    open_door: bool = False,
    home: Path | None = None,
) -> AsyncGenerator[Served]:
    """A yard whose servers are settled; with an open door anybody is let in as its admin."""
    closing = asyncio.Event()
    async with open_yard(servers=dict(servers), home=home) as yard:
        for name in servers:
            await yard.settled(name)
        gateway = Gateway(yard, closing)
        admin = AdminKey(TOKEN, lambda: "another")
        keys = replace(keys_of(yard), admin=admin)
        keys.revocations.listen(gateway.dismiss)
        app = build(yard, keys=keys, hosts=[], closing=closing, gateway=gateway)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            web = WebServer(_as_admin(app) if open_door else app)
            serving = asyncio.create_task(web.serve([listener]))
            await web.ready.wait()
            try:
                yield Served(yard, f"http://127.0.0.1:{listener.getsockname()[1]}")
            finally:
                closing.set()
                web.stop()
                web.force_close()
                await serving


def _as_admin(app: ASGIApp) -> ASGIApp:
    async def opened(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [*scope.get("headers", ()), (b"authorization", BEARER.encode())]
        await app({**scope, "headers": headers}, receive, send)

    return opened
