"""An authorization server that protects an MCP server, and a person's browser."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.wire.issuer import Issuer

TOOL = {"name": "greet", "description": "Greets.", "inputSchema": {"type": "object"}}


@dataclass
class Office(Issuer):
    """An issuer with a real resource.

    Where the resource describes its sign-in can be moved to a place that only the 401 tells, and
    the sign-in itself to another issuer.
    """

    described_at: str = "/.well-known/oauth-protected-resource/mcp"
    other: Issuer | None = None

    def app(self) -> Starlette:
        base_app = Issuer.app(self)
        elsewhere = Route(self.described_at, self.resource)
        others = [
            each
            for each in base_app.routes
            if "protected-resource" not in getattr(each, "path", "")
        ]
        return Starlette(routes=[elsewhere, *others])

    async def resource(self, _request: Request) -> Response:
        issuer = self.other or self
        return JSONResponse(
            {"resource": f"{self.base}/mcp", "authorization_servers": [issuer.base]}
        )

    async def mcp(self, request: Request) -> Response:
        token = request.headers.get("authorization", "").removeprefix("Bearer ")
        if token not in self.valid:
            where = f'Bearer resource_metadata="{self.base}{self.described_at}"'
            return Response("", 401, {"WWW-Authenticate": where})
        message = await request.json()
        if "id" not in message:
            return Response(status_code=202)
        return JSONResponse({"jsonrpc": "2.0", "id": message["id"], **answered(message)})


def answered(message: dict[str, Any]) -> dict[str, Any]:
    match message["method"]:
        case "initialize":
            version = message["params"]["protocolVersion"]
            me = {"name": "office", "version": "1"}
            facts = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": me}
            return {"result": facts}
        case "tools/list":
            return {"result": {"tools": [TOOL]}}
        case "tools/call":
            return {"result": {"content": [{"type": "text", "text": "good day"}]}}
        case "ping":
            return {"result": {}}
        case method:
            return {"error": {"code": -32601, "message": f"unknown method {method}"}}


async def consent(url: str) -> str:
    """Do what a person's browser does at the sign-in page; where it is sent back to."""
    async with httpx2.AsyncClient() as browser:
        return (await browser.get(url)).headers["location"]


def local_part(url: str) -> str:
    """Path and query of an address."""
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}"
